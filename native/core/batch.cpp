#include "batch.h"

#include <algorithm>
#include <chrono>

#include "block.h"
#include "platform/system.h"

namespace pixelmill {

namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t spare_buffers = 8;
constexpr size_t least_shared = size_t{64} << 10;  // smaller ones are sent faster than mapped
constexpr size_t overrun = 64;                     // vector stores may run over the end of a block, as in new_block

size_t bytes_of(const Value& value) { return static_cast<size_t>(value.elements() * size_of(value.dtype)); }

void free_memory(const PoolMemory& memory) {
    if (memory.shared()) {
        unmap_shared(memory.start, memory.bytes, memory.file);
    } else {
        free_block(memory.start);
    }
}

}  // namespace

BufferPool::BufferPool(bool shares) : shares_(shares), owner_(process_id()) {
    spare_.reserve(spare_buffers);  // giving back a buffer must not need memory: a destructor does it
}

BufferPool::~BufferPool() {
    for (const PoolMemory& memory : spare_) free_memory(memory);
}

Buffer BufferPool::take_block(size_t bytes) { return owned(take_memory(bytes, shares_ && bytes >= least_shared)); }

PoolMemory BufferPool::take_memory(size_t bytes, bool shared) {
    if (const auto spare = take_spare(bytes, shared)) return *spare;
    if (shared) {
        if (const PoolMemory memory = new_shared(bytes); memory.shared()) return memory;
    }
    return {new_block(bytes), bytes};
}

std::optional<PoolMemory> BufferPool::take_spare(size_t bytes, bool shared) {
    // Shared ones may be larger than needed: what lists of images are copied to has another size for each batch.
    const size_t least = shared ? bytes + overrun : bytes, most = shared ? 2 * least : bytes;
    const std::lock_guard lock(mutex_);
    const auto found = std::find_if(spare_.begin(), spare_.end(), [&](const PoolMemory& spare) {
        return spare.shared() == shared && spare.bytes >= least && spare.bytes <= most;
    });
    if (found == spare_.end()) return std::nullopt;
    const PoolMemory memory = *found;
    spare_.erase(found);
    return memory;
}

PoolMemory BufferPool::new_shared(size_t bytes) {
    constexpr size_t page = 4096;
    PoolMemory memory{nullptr, (bytes + overrun + page - 1) / page * page};
    memory.start = map_shared(memory.bytes, memory.file);
    if (!memory.shared()) return memory;
    static std::atomic<int64_t> numbers = 0;
    memory.number = ++numbers;
    try {
        const std::lock_guard lock(mutex_);
        shared_.push_back(memory);
    } catch (...) {
        free_memory(memory);
        throw;
    }
    return memory;
}

Buffer BufferPool::owned(PoolMemory memory) {
    return Buffer(memory.start, [pool = weak_from_this(), memory](std::byte*) {
        if (const auto alive = pool.lock()) {
            alive->give_back(memory);
        } else {
            free_memory(memory);
        }
    });
}

void BufferPool::give_back(PoolMemory memory) {
    if (owner_ != process_id()) return free_memory(memory);
    const std::lock_guard lock(mutex_);
    if (spare_.size() == spare_buffers) {
        forget(spare_.front());
        free_memory(spare_.front());
        spare_.erase(spare_.begin());
    }
    spare_.push_back(memory);
}

void BufferPool::forget(const PoolMemory& memory) {
    std::erase_if(shared_, [&](const PoolMemory& one) { return one.start == memory.start; });
}

std::optional<PoolMemory> BufferPool::find(const std::byte* address) {
    const std::lock_guard lock(mutex_);
    const auto found = std::find_if(shared_.begin(), shared_.end(), [&](const PoolMemory& one) {
        return one.start <= address && address < one.start + one.bytes;
    });
    return found == shared_.end() ? std::nullopt : std::optional(*found);
}

Batch::Batch(std::shared_ptr<const Program> program, Limits limits, std::vector<Sample> samples,
             std::shared_ptr<const void> inputs, std::shared_ptr<BufferPool> pool)
    : program_(std::move(program)),
      limits_(limits),
      samples_(std::move(samples)),
      inputs_(std::move(inputs)),
      outcomes_(samples_.size()),
      pool_(std::move(pool)),
      missing_(samples_.size()) {
    for (int i = 0; i < program_->outputs(); ++i) {
        outputs_.push_back(std::make_unique<Output>());
        outputs_.back()->values.resize(samples_.size());
        outputs_.back()->own.resize(samples_.size());
    }
}

// Allocates the outputs of one sample. Most batches have one shape, so the first sample to arrive allocates a block for
// all of them, and a batch whose samples all fit needs no copy to become one array. Samples of other shapes get their
// own memory. Only the worker that runs sample `index` touches its entries; the lock covers the making of the block.
class Batch::Place : public Sink {
   public:
    Place(Batch& batch, size_t index) : batch_(batch), index_(index) {}

    std::byte* place(int number, DType dtype, std::span<const int64_t> shape) override {
        Output& output = *batch_.outputs_[static_cast<size_t>(number)];
        Value row;
        row.dtype = dtype;
        row.ndim = static_cast<int>(shape.size());
        std::copy(shape.begin(), shape.end(), row.shape.begin());
        row.stride = packed_strides(row.ndim, row.shape);
        Value& placed = output.values[index_];
        if (placed.present() && same(placed, row)) return placed.data;

        if (!output.has_block.load(std::memory_order_acquire)) make_block(output, row);
        if (same(output.block_row, row)) {
            row.data = output.block.get() + index_ * bytes_of(row);
            output.own[index_].reset();
        } else {
            output.own[index_] = batch_.pool_->take(bytes_of(row));
            row.data = output.own[index_].get();
        }
        placed = row;
        return row.data;
    }

    bool passes_caches(int64_t bytes) const override {
        // Four samples of 3 MiB are written faster into a third-level cache of 32 MiB; sixteen of 0.75 MiB, whose
        // inputs pass through it too, past it, and so are batches of 36 MiB.
        const int64_t kept = int64_t{batch_.size() > 8 ? 4 : 16} << 20;
        return bytes * static_cast<int64_t>(batch_.size()) > kept;
    }

   private:
    static bool same(const Value& a, const Value& b) {
        return a.dtype == b.dtype && a.ndim == b.ndim && a.shape == b.shape;
    }
    void make_block(Output& output, const Value& row) const {
        const std::lock_guard lock(output.mutex);
        if (output.block) return;
        output.block = batch_.pool_->take_block(bytes_of(row) * batch_.size());
        output.block_row = row;
        output.has_block.store(true, std::memory_order_release);
    }
    Batch& batch_;
    size_t index_;
};

void Batch::run_sample(ThreadState& thread, size_t index) {
    Place place(*this, index);
    Context context(thread, limits_);
    const Sample& sample = samples_[index];
    context.id = sample.id;
    context.items = sample.items;
    context.inputs = sample.inputs;
    context.fetched = sample.fetched;
    context.fill = sample.fill;
    context.sink = &place;
    outcomes_[index] = program_->attempt(context);
    thread.arena.reset();
}

void Batch::finish(size_t count, std::chrono::nanoseconds time) {
    nanoseconds_ += time.count();
    if (missing_.fetch_sub(count) > count) return;
    program_->took(std::chrono::nanoseconds(nanoseconds_));
    // With the lock: a thread that has found the batch unfinished is either waiting already or has not yet looked.
    const std::lock_guard lock(mutex_);
    finished_.notify_all();
}

// Samples are taken one at a time, so that a slow one holds up one thread only. What is counted together is counted
// once a thread: dozens of threads that write to one place for each sample would wait for each other.
void Batch::run(ThreadState& thread) {
    const auto begin = Clock::now();
    size_t done = 0;
    for (size_t index; (index = next_.fetch_add(1, std::memory_order_relaxed)) < size(); ++done)
        run_sample(thread, index);
    if (done > 0) finish(done, Clock::now() - begin);
}

void Batch::run_at_once(ThreadState& thread, std::chrono::nanoseconds patience) {
    const auto begin = Clock::now();
    auto now = begin;
    size_t done = 0;
    for (; left() > 0 && now - begin < patience; now = Clock::now(), ++done) run_sample(thread, next_++);
    if (done > 0) finish(done, now - begin);
}

size_t Batch::left() const { return size() - std::min(size(), next_.load()); }

bool Batch::wait(double seconds) {
    std::unique_lock lock(mutex_);
    const bool over = finished_.wait_for(lock, std::chrono::duration<double>(seconds),
                                         [this] { return missing_ == 0 || abandoned_; });
    if (abandoned_) throw Closed();
    return over;
}

void Batch::abandon() {
    if (next_.exchange(size()) >= size()) return;
    const std::lock_guard lock(mutex_);
    abandoned_ = true;
    finished_.notify_all();
}

bool Batch::clean() const {
    return std::none_of(outcomes_.begin(), outcomes_.end(),
                        [](const Outcome& outcome) { return outcome.failed || outcome.notes != 0; });
}

Buffer Batch::owner(int number, size_t index) const {
    const Output& output = *outputs_[static_cast<size_t>(number)];
    return output.own[index] ? output.own[index] : output.block;
}

Value Batch::first_row(int number) const {
    const Output& output = *outputs_[static_cast<size_t>(number)];
    Value row = output.block_row;
    row.data = output.block.get();
    return row;
}

bool Batch::dense(int number) const {
    const Output& output = *outputs_[static_cast<size_t>(number)];
    return output.block &&
           std::none_of(output.own.begin(), output.own.end(), [](const Buffer& own) { return own != nullptr; });
}

}  // namespace pixelmill

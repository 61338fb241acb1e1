// A batch while it is computed: its samples, the memory of their outputs, and their faults.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <vector>

#include "platform/system.h"
#include "program.h"

namespace pixelmill {

using Buffer = std::shared_ptr<std::byte>;

// The memory of a buffer, and the file by which other processes can map it if it is shared.
struct PoolMemory {
    std::byte* start = nullptr;
    size_t bytes = 0;
    FileHandle file = no_file;
    int64_t number = 0;  // another one for each file of this process

    bool shared() const { return file != no_file; }
};

// Reuses large buffers: a fresh one costs a page fault every 4 KiB, a tenth of the time that decoding takes. Arrays in
// Python may outlive the pool; a buffer that is freed after it goes back to the system.
class BufferPool : public std::enable_shared_from_this<BufferPool> {
   public:
    // `shares`: blocks of whole batches can be mapped by other processes, if the system has memory of that kind.
    explicit BufferPool(bool shares);
    ~BufferPool();
    BufferPool(const BufferPool&) = delete;
    BufferPool& operator=(const BufferPool&) = delete;

    Buffer take(size_t bytes) { return owned(take_memory(bytes, false)); }
    // A buffer that is shared if the pool shares and it is worth a file.
    Buffer take_block(size_t bytes);
    // The shared buffer in which an address lies.
    std::optional<PoolMemory> find(const std::byte* address);

   private:
    PoolMemory take_memory(size_t bytes, bool shared);
    std::optional<PoolMemory> take_spare(size_t bytes, bool shared);
    PoolMemory new_shared(size_t bytes);
    Buffer owned(PoolMemory memory);
    void give_back(PoolMemory memory);
    void forget(const PoolMemory& memory);

    const bool shares_;
    const int64_t owner_;  // a child process must not touch the lock: a thread of its parent may have held it
    std::mutex mutex_;
    std::vector<PoolMemory> spare_;
    std::vector<PoolMemory> shared_;  // all that are shared, taken or spare
};

// The threads that a batch needs were stopped.
class Closed : public std::runtime_error {
   public:
    Closed() : std::runtime_error("the worker threads were stopped") {}
};

// The operating system starts no more threads.
class NoThreads : public std::runtime_error {
   public:
    explicit NoThreads(const std::string& which) : std::runtime_error("cannot start worker thread " + which) {}
};

class Batch {
   public:
    struct Sample {
        SampleId id;
        std::vector<int64_t> items;
        std::vector<Value> inputs;
        std::vector<Fetched> fetched;
        bool fill = false;
    };

    // `inputs` owns what the samples' inputs point to: workers may read it after all other owners have released the
    // batch.
    Batch(std::shared_ptr<const Program> program, Limits limits, std::vector<Sample> samples,
          std::shared_ptr<const void> inputs, std::shared_ptr<BufferPool> pool);

    // Runs samples until all are taken; several workers do this at the same time.
    void run(ThreadState& thread);
    bool wait(double seconds);  // false: not yet; throws Closed if it was abandoned
    // Drops the samples that no worker has taken. If there are any, the batch will not be finished, and all waiting
    // ends.
    void abandon();
    // Leaves the batch to the thread that waits for it if running it takes less time than waking a worker; returns
    // whether it does.
    bool defer() { return deferred_ = program_->quick(); }
    // Hands a deferred batch to the first caller.
    bool claim() { return deferred_.exchange(false); }
    // Takes it back from a caller that could not run all of it; the next one continues there.
    void unclaim() { deferred_ = true; }
    // Runs samples until all are done or `patience` has passed.
    void run_at_once(ThreadState& thread, std::chrono::nanoseconds patience);

    size_t left() const;  // samples that no worker has taken
    size_t size() const { return samples_.size(); }
    const Outcome& outcome(size_t index) const { return outcomes_[index]; }
    bool clean() const;  // neither faults nor notes

    // Value `index` of output `number`, and who owns its memory.
    Value value(int number, size_t index) const { return outputs_[static_cast<size_t>(number)]->values[index]; }
    Buffer owner(int number, size_t index) const;
    Buffer block_owner(int number) const { return outputs_[static_cast<size_t>(number)]->block; }
    // All samples lie in one block, in order, because there is only one shape. Rows of failed samples are undefined.
    bool dense(int number) const;
    // The first row of that block.
    Value first_row(int number) const;

   private:
    struct Output {
        std::mutex mutex;
        std::atomic<bool> has_block = false;  // the two below are there, and stay as they are
        Buffer block;                         // speculation: all samples have the shape of the first that arrives
        Value block_row;                      // description of one sample in the block
        std::vector<Value> values;
        std::vector<Buffer> own;  // of samples that do not fit the block
    };
    class Place;
    void run_sample(ThreadState& thread, size_t index);
    void finish(size_t count, std::chrono::nanoseconds time);

    std::shared_ptr<const Program> program_;
    Limits limits_;
    std::vector<Sample> samples_;
    std::shared_ptr<const void> inputs_;
    std::vector<Outcome> outcomes_;
    std::shared_ptr<BufferPool> pool_;
    std::vector<std::unique_ptr<Output>> outputs_;
    std::mutex mutex_;
    std::condition_variable finished_;
    bool abandoned_ = false;
    std::atomic<size_t> missing_;
    std::atomic<int64_t> nanoseconds_ = 0;  // that the samples took together
    std::atomic<bool> deferred_ = false;
    std::atomic<size_t> next_ = 0;  // sample that is taken next; may run past the last one
};

}  // namespace pixelmill

#include "call.h"

#include <algorithm>
#include <memory>

#include "platform/per_thread.h"

namespace pixelmill {

namespace {

// What a thread keeps between calls. Decoding a large image may need more; that is freed when the call returns.
constexpr size_t kept_bytes = size_t{32} << 20;

// The calling thread's state. A decoder written in Python may run a finalizer that calls us again on the same thread;
// the inner call then gets a state of its own.
class Borrowed {
   public:
    Borrowed() : nested_(busy_) {
        std::unique_ptr<ThreadState>& state = nested_ ? own_ : kept();
        if (state == nullptr) state = std::make_unique<ThreadState>();
        state_ = state.get();
        busy_ = true;
    }
    Borrowed(const Borrowed&) = delete;
    Borrowed& operator=(const Borrowed&) = delete;
    ~Borrowed() {
        state_->arena.reset_to(kept_bytes);
        busy_ = nested_;
    }
    ThreadState& operator*() const { return *state_; }

   private:
    static std::unique_ptr<ThreadState>& kept() {
        PER_THREAD(std::unique_ptr<ThreadState>, state);
        return state;
    }
    static thread_local bool busy_;
    bool nested_;
    std::unique_ptr<ThreadState> own_;
    ThreadState* state_ = nullptr;
};

thread_local bool Borrowed::busy_ = false;

// Allocates output 0 once its shape is known, so that the last step writes straight into the result.
class OwnBlock final : public Sink {
   public:
    explicit OwnBlock(CallResult& result) : result_(result) {}

    std::byte* place(int, DType dtype, std::span<const int64_t> shape) override {
        Value& value = result_.value;
        const bool same = value.present() && value.dtype == dtype &&
                          std::ranges::equal(shape, std::span(value.shape.data(), static_cast<size_t>(value.ndim)));
        if (same) return value.data;
        value.data = nullptr;
        value.dtype = dtype;
        value.ndim = static_cast<int>(shape.size());
        std::copy(shape.begin(), shape.end(), value.shape.begin());
        value.stride = packed_strides(value.ndim, value.shape);
        // A view that the program still holds may lie in the old block, so it lives on until the new one is filled.
        replaced_ = std::move(result_.memory);
        result_.memory = Block(new_block(static_cast<size_t>(value.elements() * size_of(dtype))));
        return value.data = result_.memory.get();
    }

   private:
    CallResult& result_;
    Block replaced_;
};

}  // namespace

CallResult call_program(const Program& program, const Limits& limits, std::span<const Value> inputs) {
    CallResult result;
    OwnBlock sink(result);
    const Borrowed state;
    Context context(*state, limits);
    context.inputs = inputs;
    context.sink = &sink;
    result.outcome = program.attempt(context);
    if (result.outcome.failed) result.value = {};
    return result;
}

}  // namespace pixelmill

#include "program.h"

#include <algorithm>
#include <cstring>
#include <new>

#include "kernels/copy.h"
#include "kernels/pointwise.h"
#include "kernels/stream.h"
#include "platform/system.h"

namespace pixelmill {

void Program::reserve(int slot) {
    if (slot >= static_cast<int>(initial_.size())) initial_.resize(slot + 1);
}

void Program::add_constant(int slot, const Value& value) {
    reserve(slot);
    const size_t bytes = static_cast<size_t>(value.elements() * size_of(value.dtype));
    memory_.push_back(std::make_unique<std::byte[]>(bytes + 64));
    Value constant = value;
    constant.data = memory_.back().get();
    constant.stride = packed_strides(value.ndim, value.shape);
    copy_elements(constant, value);
    initial_[slot] = constant;
}

void Program::add_input(int slot, int number) {
    reserve(slot);
    inputs_.emplace_back(slot, number);
}

void Program::check_known(const std::string& kind, int slot) const {
    if (slot < static_cast<int>(initial_.size())) return;
    throw StepError(kind, "nothing before it fills slot " + std::to_string(slot));
}

void Program::add_step(const std::string& kind, const Params& params,
                       const std::vector<std::pair<std::string, int>>& inputs, std::vector<int> out,
                       std::vector<Guard> guards) {
    const Declaration& declaration = declaration_of(kind);
    std::unique_ptr<Step> step = make_step(kind, params);
    std::vector<int> in = declaration.slots(kind, inputs);
    declaration.check_outputs(kind, out.size());
    for (int slot : in) check_known(kind, slot);
    for (const Guard& guard : guards) check_known(kind, guard.slot);
    for (int slot : out) reserve(slot);
    std::vector<int16_t> leaving(out.size(), -1);
    instructions_.push_back({std::move(step), std::move(in), std::move(out), std::move(leaving), std::move(guards)});
}

bool Program::wanted(const Instruction& instruction, const std::vector<Value>& slots) {
    return std::all_of(instruction.guards.begin(), instruction.guards.end(), [&](const Guard& guard) {
        const Value& condition = slots[static_cast<size_t>(guard.slot)];
        return condition.present() && (condition.number() == static_cast<double>(guard.number)) == guard.equal;
    });
}

void Program::set_outputs(std::vector<int> slots) {
    outputs_ = std::move(slots);
    for (Instruction& instruction : instructions_) {
        for (size_t i = 0; i < instruction.out.size(); ++i) {
            const auto found = std::find(outputs_.begin(), outputs_.end(), instruction.out[i]);
            if (found != outputs_.end()) instruction.leaving[i] = static_cast<int16_t>(found - outputs_.begin());
        }
    }
}

namespace {

// A value is not where it must leave from when it is a view, a constant, an input, or leaves twice.
void deliver(Sink& sink, int number, const Value& value, Arena& arena) {
    std::byte* place = sink.place(number, value.dtype, {value.shape.data(), static_cast<size_t>(value.ndim)});
    if (place == value.data && value.contiguous()) return;
    Value target = value;
    target.data = place;
    target.stride = packed_strides(value.ndim, value.shape);
    if (sink.passes_caches(value.elements() * size_of(value.dtype))) return stream_elements(target, value, arena);
    pack(target, value, arena);
}

// Short enough for a string to hold without memory of its own: 15 characters.
constexpr const char* out_of_memory = "out of memory";
constexpr const char* internal_error = "internal error";

void append(std::string& message, const char* detail) noexcept {
    try {
        message = message + ": " + detail;
    } catch (const std::bad_alloc&) {  // NOLINT(bugprone-empty-catch): the message stays without the detail
    }
}

}  // namespace

void Program::watch() { spent_ = std::make_unique<std::atomic<int64_t>[]>(instructions_.size() + 1); }

std::vector<int64_t> Program::watched() const {
    if (!spent_) return {};
    return {spent_.get(), spent_.get() + instructions_.size() + 1};
}

// Charges the time since the last step to the one that has just run, even if it failed.
class Program::Stopwatch {
   public:
    Stopwatch(std::atomic<int64_t>* spent, const int& number) : spent_(spent), number_(number) {
        if (spent_ != nullptr) last_ = thread_nanoseconds();
    }
    ~Stopwatch() { lap(); }
    void lap() {
        if (spent_ == nullptr) return;
        const int64_t now = thread_nanoseconds();
        spent_[number_].fetch_add(now - last_, std::memory_order_relaxed);
        last_ = now;
    }

   private:
    std::atomic<int64_t>* spent_;
    const int& number_;
    int64_t last_ = 0;
};

void Program::run(Context& context) const {
    auto& [slots, in, out] = context.thread.slots;
    slots = initial_;
    for (const auto& [slot, number] : inputs_) slots[slot] = context.inputs[number];
    int number = 0;
    Stopwatch stopwatch(spent_.get(), number);
    try {
        for (const Instruction& instruction : instructions_) {
            if (!wanted(instruction, slots)) {
                ++number;
                continue;
            }
            in.clear();
            for (int slot : instruction.in) in.push_back(slot < 0 ? Value{} : slots[slot]);
            out.assign(instruction.out.size(), Value{});
            context.leaving = instruction.leaving;
            instruction.step->run(context, in, out);
            for (size_t i = 0; i < out.size(); ++i) slots[instruction.out[i]] = out[i];
            stopwatch.lap();
            ++number;
        }
        for (size_t i = 0; i < outputs_.size(); ++i) {
            const Value& value = slots[outputs_[i]];  // absent in a sample that takes another branch
            if (value.present()) deliver(*context.sink, static_cast<int>(i), value, context.thread.arena);
        }
    } catch (const Fault& fault) {
        throw StepFault{fault.kind, fault.what(), number};
    } catch (const std::bad_alloc&) {
        throw StepFault{FaultKind::too_large, out_of_memory, number};
    }
}

Outcome Program::attempt(Context& context) const noexcept {
    Outcome outcome;
    try {
        run(context);
        outcome.message = std::move(context.note_text);
    } catch (StepFault& fault) {
        outcome = {true, fault.kind, fault.step, 0, std::move(fault.message)};
    } catch (const std::bad_alloc&) {
        outcome = {true, FaultKind::too_large, -1, 0, out_of_memory};
    } catch (const std::exception& error) {  // a bug of ours; it must not take the process down
        outcome = {true, FaultKind::corrupt, -1, 0, internal_error};
        append(outcome.message, error.what());
    }
    outcome.notes = context.notes;
    return outcome;
}

}  // namespace pixelmill

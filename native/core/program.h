// A program: steps on numbered slots, run from the first to the last for each sample.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "declaration.h"
#include "step.h"

namespace pixelmill {

// When an instruction runs: only where the number in a slot is this one, or where it is not.
struct Guard {
    int slot;
    int64_t number;
    bool equal;
};

struct Outcome {
    bool failed = false;
    FaultKind kind = FaultKind::corrupt;
    int step = -1;
    uint32_t notes = 0;
    std::string message;  // of the fault, or of the first note
};

class Program {
   public:
    Program() = default;
    Program(const Program&) = delete;
    Program& operator=(const Program&) = delete;

    // Slots are numbered by the caller. A constant slot keeps its memory in the program.
    void add_constant(int slot, const Value& value);
    void add_input(int slot, int number);  // set by the caller with every batch
    // Inputs are slots by the names that the kind of step has for them, -1 for one that is left out; a step that does
    // not fit the declaration of its kind is refused (StepError).
    void add_step(const std::string& kind, const Params& params, const std::vector<std::pair<std::string, int>>& inputs,
                  std::vector<int> out, std::vector<Guard> guards = {});
    void set_outputs(std::vector<int> slots);

    int outputs() const { return static_cast<int>(outputs_.size()); }

    // Whether a batch took so little time that it is not worth waking a thread for.
    bool quick() const { return quick_; }
    void took(std::chrono::nanoseconds time) const { quick_ = time < quick_batch; }
    static constexpr std::chrono::microseconds quick_batch{150};

    // Runs every step for the sample that `context` describes. A Fault is annotated with the step's number.
    void run(Context& context) const;

    // The same, with exceptions returned as an outcome.
    Outcome attempt(Context& context) const noexcept;

    // Adds up the processor time of every step, for measuring. To be called before the first sample is run; it costs a
    // microsecond or two a sample.
    void watch();
    std::vector<int64_t> watched() const;  // nanoseconds of each step, and of handing the outputs over

   private:
    struct Instruction {
        std::unique_ptr<Step> step;
        std::vector<int> in, out;
        std::vector<int16_t> leaving;
        std::vector<Guard> guards;
    };
    class Stopwatch;
    static bool wanted(const Instruction& instruction, const std::vector<Value>& slots);
    void reserve(int slot);
    void check_known(const std::string& kind, int slot) const;

    std::vector<Instruction> instructions_;
    std::vector<Value> initial_;                        // constants in place, everything else absent
    std::vector<std::unique_ptr<std::byte[]>> memory_;  // of the constants
    std::vector<std::pair<int, int>> inputs_;           // slot, number
    std::vector<int> outputs_;
    mutable std::atomic<bool> quick_ = false;
    std::unique_ptr<std::atomic<int64_t>[]> spent_;  // while it is watched
};

// Which instruction of the program failed; thrown by Program::run around a Fault.
struct StepFault {
    FaultKind kind;
    std::string message;
    int step;
};

}  // namespace pixelmill

// A program run once, on the calling thread: no workers, no batch, no queue.
#pragma once

#include "block.h"
#include "program.h"

namespace pixelmill {

struct CallResult {
    Outcome outcome;
    Value value;   // output 0 of the program, packed; absent if the call failed
    Block memory;  // owns `value`
};

// Safe from any number of threads at once, and in a child process after a fork: the only state is the thread's own.
CallResult call_program(const Program& program, const Limits& limits, std::span<const Value> inputs);

}  // namespace pixelmill

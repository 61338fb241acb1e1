// Philox4x32-10: the numbers of (key, counter), with no state to save.
#pragma once

#include <array>
#include <cstdint>

#include "step.h"

namespace pixelmill {

std::array<uint32_t, 4> philox(std::array<uint32_t, 4> counter, uint64_t key);

// The key of an operator: its pipeline's seed folded with the operator's stable id.
uint64_t operator_key(uint64_t seed, uint64_t operator_id);

// Which stream of numbers: one for each operator and sample. Block n of it is philox({n, sample, epoch, rest}, key).
struct StreamId {
    uint64_t key;
    uint32_t sample, epoch, rest;
};
StreamId stream_id(uint64_t key, const SampleId& id);

// One operator's numbers for one sample. Word n is always the same, whichever thread asks and in whatever order.
class Stream {
   public:
    Stream(uint64_t key, const SampleId& id, uint64_t first_word = 0);
    uint32_t word();
    double unit();                            // [0, 1), 32 bits
    int64_t below(int64_t bound);             // 0 .. bound - 1
    double uniform(double low, double high);  // [low, high)

   private:
    uint64_t key_;
    std::array<uint32_t, 4> counter_;
    std::array<uint32_t, 4> block_{};
    int used_ = 4;
};

}  // namespace pixelmill

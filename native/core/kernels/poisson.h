// Poisson numbers, as made by light that comes in grains. Only basic arithmetic, so every machine draws the same.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace pixelmill {

// How many grains come when as many as in `means` are expected, each from two words of a stream: number i from words
// 2i and 2i + 1. Means are overwritten.
void draw_grains(double* grains, double* means, const uint32_t* words, int64_t count);

// Bytes whose level is a number of grains times a factor, from one word each: a table for every level.
class ByteGrains {
   public:
    // Does nothing when the factor is the one of before.
    void prepare(float factor);
    uint8_t draw(uint8_t level, uint32_t word) const {
        const Level& row = levels_[level];
        const uint32_t* limit = limits_.data() + row.first + row.start[word >> guide_shift];
        while (word > *limit) ++limit;
        return results_[static_cast<size_t>(limit - limits_.data())];
    }

   private:
    static constexpr int guide_shift = 26;
    struct Level {
        uint32_t first;                           // in limits_
        uint16_t start[1 << (32 - guide_shift)];  // where the search begins for a word with these upper bits
    };
    void add_level(int level, double mean, float factor);

    float factor_ = 0;
    Level levels_[256];
    std::vector<uint32_t> limits_;  // for each number of grains, the largest word that draws that number or fewer
    std::vector<uint8_t> results_;
};

}  // namespace pixelmill

// Random surfaces whose details are finer and finer, as those of clouds, rocks and grass.
#pragma once

#include <cstdint>

#include "../arena.h"
#include "../rng.h"

namespace pixelmill {

struct Texture {
    const float* data = nullptr;  // height rows of width numbers of mean 0 and deviation 1
    int64_t height = 0, width = 0;

    const float* row(int64_t y) const { return data + y * width; }
};

// Each octave has `gain` times the amplitude of the one below; 1 gives a power spectrum that falls with the square of
// the frequency.
Texture make_texture(int64_t height, int64_t width, const StreamId& stream, double gain, Arena& scratch);

// Numbers of mean 0 and deviation 1, from word 4 * block of the stream on; returns the next unused block.
uint32_t white_noise(float* out, int64_t count, const StreamId& stream, uint32_t block);

}  // namespace pixelmill

#include "texture.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "../kernels/draws.h"

namespace pixelmill {

namespace {

struct Level {
    int64_t height, width;
};

// Row y of the image twice as large, before its columns are doubled: quadratic B-splines, so no grid shows.
void blend_rows(float* out, const float* from, const Level& level, int64_t y) {
    const int64_t near = y / 2, far = std::clamp<int64_t>(y % 2 ? near + 1 : near - 1, 0, level.height - 1);
    const float *a = from + near * level.width, *b = from + far * level.width;
    for (int64_t x = 0; x < level.width; ++x) out[x] = 0.75f * a[x] + 0.25f * b[x];
}

void add_doubled(float* out, int64_t count, const float* row, int64_t width) {
    out[0] += row[0];
    const int64_t pairs = (count - 1) / 2;
    for (int64_t i = 0; i < pairs; ++i) {
        const float a = row[i], b = row[std::min(i + 1, width - 1)];
        out[2 * i + 1] += 0.75f * a + 0.25f * b;
        out[2 * i + 2] += 0.25f * a + 0.75f * b;
    }
    if (count % 2 == 0) out[count - 1] += row[width - 1];
}

void normalize(float* data, int64_t count) {
    double sum = 0, squares = 0;
    for (int64_t i = 0; i < count; ++i) {
        sum += data[i];
        squares += static_cast<double>(data[i]) * data[i];
    }
    const double mean = sum / static_cast<double>(count), variance = squares / static_cast<double>(count) - mean * mean;
    const auto center = static_cast<float>(mean), scale = static_cast<float>(1 / std::sqrt(std::max(variance, 1e-6)));
    for (int64_t i = 0; i < count; ++i) data[i] = (data[i] - center) * scale;
}

}  // namespace

uint32_t white_noise(float* out, int64_t count, const StreamId& stream, uint32_t block) {
    constexpr float deviation = 104.51f;  // of the sum of two bytes
    alignas(64) uint32_t words[words_at_once];
    for (int64_t first = 0; first < count;) {
        const int64_t part = std::min(2 * words_at_once, count - first), blocks = (part + 7) / 8;
        draws().words(words, stream, block, blocks);
        block += static_cast<uint32_t>(blocks);
        uint8_t bytes[4 * words_at_once];
        std::memcpy(bytes, words, static_cast<size_t>(16 * blocks));
        for (int64_t i = 0; i < part; ++i) {
            out[first + i] = static_cast<float>(bytes[2 * i] + bytes[2 * i + 1] - 255) * (1.0f / deviation);
        }
        first += part;
    }
    return block;
}

Texture make_texture(int64_t height, int64_t width, const StreamId& stream, double gain, Arena& scratch) {
    constexpr int most_levels = 20;
    Level levels[most_levels] = {{height, width}};
    int count = 1;
    while (count < most_levels && std::max(levels[count - 1].height, levels[count - 1].width) > 3) {
        levels[count] = {(levels[count - 1].height + 1) / 2, (levels[count - 1].width + 1) / 2};
        ++count;
    }
    auto* row = scratch.take<float>(static_cast<size_t>(width));
    const float* below = nullptr;
    float* data = nullptr;
    uint32_t block = 0;
    double amplitude = 1;
    for (int i = count - 1; i >= 0; --i, amplitude *= gain) {
        const Level& level = levels[i];
        data = scratch.take<float>(static_cast<size_t>(level.height * level.width));
        block = white_noise(data, level.height * level.width, stream, block);
        const auto scale = static_cast<float>(amplitude);
        for (int64_t n = 0; n < level.height * level.width; ++n) data[n] *= scale;
        for (int64_t y = 0; below != nullptr && y < level.height; ++y) {
            blend_rows(row, below, levels[i + 1], y);
            add_doubled(data + y * level.width, level.width, row, levels[i + 1].width);
        }
        below = data;
    }
    normalize(data, height * width);
    return {data, height, width};
}

}  // namespace pixelmill

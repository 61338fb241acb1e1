#include "levels.h"

#include <algorithm>

#include "convolve.h"
#include "simd.h"

namespace pixelmill {

#define KERNELS "levels.inl"
#include "both_levels.inl"

const LevelPasses& level_passes() { return AT_THIS_LEVEL(passes); }

namespace {

// Sums of `extent` neighbors along a row; `line` has room for the row and what is reflected at both ends.
void sum_row(int32_t* sums, const uint8_t* row, uint8_t* line, int64_t width, int64_t channels, int64_t extent) {
    const int64_t reach = extent / 2;
    for (int64_t i = -reach; i < width + reach; ++i) {
        const bool inside = i >= 0 && i < width;
        const int64_t from = inside ? i : border_index(i, width, Border::reflect_101);
        if (inside) {
            std::copy_n(row, width * channels, line + reach * channels);
            i = width - 1;
            continue;
        }
        std::copy_n(row + from * channels, channels, line + (i + reach) * channels);
    }
    for (int64_t c = 0; c < channels; ++c) {
        int32_t sum = 0;
        for (int64_t k = 0; k < extent; ++k) sum += line[k * channels + c];
        sums[c] = sum;
    }
    for (int64_t i = channels; i < width * channels; ++i)
        sums[i] = sums[i - channels] + line[i + (extent - 1) * channels] - line[i - channels];
}

}  // namespace

void box_mean(const Raster& out, const Raster& in, int64_t height, int64_t width, Arena& arena) {
    const LevelPasses& kernels = level_passes();
    const int64_t length = in.width * in.channels, reach = height / 2;
    auto* line = arena.take<uint8_t>(static_cast<size_t>((in.width + width) * in.channels));
    auto* rows = arena.take<int32_t>(static_cast<size_t>((height + 1) * length));  // a ring of the last rows
    auto* sums = arena.take<int32_t>(static_cast<size_t>(length));
    std::fill_n(sums, length, 0);
    std::fill_n(rows, (height + 1) * length, 0);
    const float factor = 1.0f / static_cast<float>(height * width);
    for (int64_t y = -reach; y < in.height + reach; ++y) {
        const int64_t from = y >= 0 && y < in.height ? y : border_index(y, in.height, Border::reflect_101);
        const int64_t step = y + reach;
        int32_t* now = rows + step % (height + 1) * length;
        sum_row(now, reinterpret_cast<const uint8_t*>(in.at(from, 0)), line, in.width, in.channels, width);
        int32_t* old = rows + (step + 1) % (height + 1) * length;  // the row that leaves the window, zeros at first
        kernels.slide(sums, now, old, length);
        if (y >= reach) kernels.scaled(reinterpret_cast<uint8_t*>(out.at(y - reach, 0)), sums, length, factor);
    }
}

}  // namespace pixelmill

#include "superpixels.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace pixelmill {

namespace {

constexpr int iterations = 5;
constexpr int64_t looked_at = 8;      // pixels along a side of a segment that its center is computed from
constexpr double compactness = 60.0;  // a segment's side of distance weighs as much as this difference of colors

}  // namespace

Superpixels::Superpixels(const Raster& image, int64_t wanted, Arena& arena) : image_(image) {
    const auto height = static_cast<double>(image.height), width = static_cast<double>(image.width);
    const double side = std::sqrt(height * width / static_cast<double>(wanted));
    rows_ = std::clamp<int64_t>(std::llround(height / side), 1, image.height);
    columns_ = std::clamp<int64_t>(std::llround(width / side), 1, image.width);
    step_ = std::max<int64_t>(1, static_cast<int64_t>(side) / looked_at);
    weight_ = static_cast<float>(compactness * compactness / (side * side));
    const auto centers = static_cast<size_t>(count()), across = static_cast<size_t>(image.width);
    const auto channels = static_cast<size_t>(image.channels);
    center_y_ = arena.take<float>(centers);
    center_x_ = arena.take<float>(centers);
    colors_ = arena.take<float>(centers * channels);
    sums_ = arena.take<Sums>(centers);
    color_sums_ = arena.take<int64_t>(centers * channels);
    places_ = arena.take<float>(across);
    planes_ = arena.take<float>(across * channels);
    distance_ = arena.take<float>(across);
    nearest_ = arena.take<float>(across);
    segment_ = arena.take<int32_t>(across);
    move_centers(true);
    for (int i = 0; i < iterations; ++i) move_centers(false);
}

// The first place along an axis that is looked at. Small images have one at least.
static int64_t first_place(int64_t step, int64_t extent) { return std::min(step / 2, (extent - 1) / 2); }

void Superpixels::load_row(int64_t y, int64_t step) {
    const auto* row = reinterpret_cast<const uint8_t*>(image_.at(y, 0));
    const int64_t first = step == 1 ? 0 : first_place(step, image_.width);
    length_ = (image_.width - first + step - 1) / step;
    for (int64_t i = 0; i < length_; ++i) places_[i] = static_cast<float>(first + i * step);
    for (int64_t c = 0; c < image_.channels; ++c) {
        float* plane = planes_ + c * image_.width;
        const uint8_t* from = row + first * image_.channels + c;
        for (int64_t i = 0; i < length_; ++i) plane[i] = from[i * step * image_.channels];
    }
}

int64_t Superpixels::run_end(int64_t cell_column, int64_t first) const {
    const int64_t border = ((cell_column + 1) * image_.width + columns_ - 1) / columns_;
    int64_t last = first;
    while (last < length_ && places_[last] < static_cast<float>(border)) ++last;
    return last;
}

void Superpixels::assign_home(int64_t y) {
    const int64_t cell_row = y * rows_ / image_.height;
    for (int64_t column = 0, first = 0; column < columns_; ++column) {
        const int64_t last = run_end(column, first);
        std::fill(segment_ + first, segment_ + last, static_cast<int32_t>(cell_row * columns_ + column));
        first = last;
    }
}

void Superpixels::assign_row(int64_t y) {
    const int64_t cell_row = y * rows_ / image_.height;
    for (int64_t column = 0, first = 0; column < columns_; ++column) {
        const int64_t last = run_end(column, first);
        assign_run(y, cell_row, column, first, last);
        first = last;
    }
}

// Only the centers of the cell of a pixel and of the eight around it are candidates; of equal ones the first counts.
// Loops over pixels are innermost and free of branches, so that the compiler vectorizes them.
void Superpixels::assign_run(int64_t y, int64_t cell_row, int64_t cell_column, int64_t first, int64_t last) {
    std::fill(nearest_ + first, nearest_ + last, std::numeric_limits<float>::infinity());
    for (int64_t r = std::max<int64_t>(cell_row - 1, 0); r <= std::min(cell_row + 1, rows_ - 1); ++r) {
        for (int64_t c = std::max<int64_t>(cell_column - 1, 0); c <= std::min(cell_column + 1, columns_ - 1); ++c) {
            const int64_t center = r * columns_ + c;
            const float down = static_cast<float>(y) - center_y_[center], x = center_x_[center];
            for (int64_t i = first; i < last; ++i) {
                const float across = places_[i] - x;
                distance_[i] = weight_ * (down * down + across * across);
            }
            for (int64_t k = 0; k < image_.channels; ++k) {
                const float* plane = planes_ + k * image_.width;
                const float color = colors_[k * count() + center];
                for (int64_t i = first; i < last; ++i) distance_[i] += (plane[i] - color) * (plane[i] - color);
            }
            const auto number = static_cast<int32_t>(center);
            for (int64_t i = first; i < last; ++i) {
                segment_[i] = distance_[i] < nearest_[i] ? number : segment_[i];
                nearest_[i] = std::min(distance_[i], nearest_[i]);
            }
        }
    }
}

void Superpixels::add_row(int64_t y) {
    for (int64_t i = 0; i < length_; ++i) {
        Sums& sums = sums_[segment_[i]];
        sums.y += y;
        sums.x += static_cast<int64_t>(places_[i]);
        ++sums.pixels;
        for (int64_t k = 0; k < image_.channels; ++k)
            color_sums_[k * count() + segment_[i]] += static_cast<int64_t>(planes_[k * image_.width + i]);
    }
}

void Superpixels::move_centers(bool at_home) {
    std::fill_n(sums_, count(), Sums{0, 0, 0});
    std::fill_n(color_sums_, count() * image_.channels, int64_t{0});
    for (int64_t y = first_place(step_, image_.height); y < image_.height; y += step_) {
        load_row(y, step_);
        at_home ? assign_home(y) : assign_row(y);
        add_row(y);
    }
    for (int64_t i = 0; i < count(); ++i) {
        const auto pixels = static_cast<double>(sums_[i].pixels);
        if (pixels == 0) continue;  // a center that no pixel is nearest to stays
        center_y_[i] = static_cast<float>(static_cast<double>(sums_[i].y) / pixels);
        center_x_[i] = static_cast<float>(static_cast<double>(sums_[i].x) / pixels);
        for (int64_t k = 0; k < image_.channels; ++k)
            colors_[k * count() + i] = static_cast<float>(static_cast<double>(color_sums_[k * count() + i]) / pixels);
    }
}

void Superpixels::paint(const Raster& out, const uint8_t* replaced) {
    const int64_t channels = image_.channels;
    for (int64_t y = 0; y < image_.height; ++y) {
        auto* to = reinterpret_cast<uint8_t*>(out.at(y, 0));
        std::memcpy(to, image_.at(y, 0), static_cast<size_t>(image_.width * channels));
        load_row(y, 1);
        assign_row(y);
        for (int64_t x = 0; x < image_.width; ++x) {
            if (!replaced[segment_[x]]) continue;
            for (int64_t k = 0; k < channels; ++k)
                to[x * channels + k] = static_cast<uint8_t>(colors_[k * count() + segment_[x]] + 0.5f);
        }
    }
}

}  // namespace pixelmill

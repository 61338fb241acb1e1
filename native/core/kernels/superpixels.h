// Segments of neighboring pixels with similar colors (SLIC, Achanta et al.): a grid of centers that move to the means
// of the pixels nearest to them, by color and place.
#pragma once

#include <cstdint>

#include "../arena.h"
#include "pointwise.h"

namespace pixelmill {

class Superpixels {
   public:
    // Finds about `wanted` segments of packed bytes, whose memory must outlive this, as the arena's must.
    Superpixels(const Raster& image, int64_t wanted, Arena& arena);

    int64_t count() const { return rows_ * columns_; }
    // Copies the image; pixels of segments whose `replaced` is not 0 get the mean color of the segment.
    void paint(const Raster& out, const uint8_t* replaced);

   private:
    struct Sums {
        int64_t y, x, pixels;
    };
    // Every `step`-th pixel of a row.
    void load_row(int64_t y, int64_t step);
    void assign_row(int64_t y);
    void assign_run(int64_t y, int64_t cell_row, int64_t cell_column, int64_t first, int64_t last);
    void assign_home(int64_t y);
    int64_t run_end(int64_t cell_column, int64_t first) const;
    void add_row(int64_t y);
    void move_centers(bool at_home);

    Raster image_;
    int64_t rows_, columns_;                 // of the grid of centers
    int64_t step_;                           // centers move by the means of every `step_`-th pixel along both axes
    float weight_;                           // of squared distances between places, next to those between colors
    float *center_y_, *center_x_, *colors_;  // colors: one plane of centers for each channel
    Sums* sums_;
    int64_t* color_sums_;
    // One row: how many pixels are looked at, their columns, colors in planes, distances and segments.
    int64_t length_ = 0;
    float *places_, *planes_, *distance_, *nearest_;
    int32_t* segment_;
};

}  // namespace pixelmill

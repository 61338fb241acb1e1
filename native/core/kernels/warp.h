// Affine warps: every output pixel looks at one place of the source.
#pragma once

#include <cstddef>
#include <cstdint>

#include "../arena.h"
#include "../value.h"

namespace pixelmill {

class SourcePlaces;

// From the centers of output pixels to places in the source; rows and columns are in the order x, y, z.
struct AffineMap {
    int axes = 2;
    float at[3][4] = {};  // the last of the first `axes` + 1 columns is the shift
};

// An image or a volume; arrays are in the order x, y, z, strides in elements.
struct Grid {
    std::byte* data = nullptr;
    DType dtype = DType::u8;
    int64_t size[3] = {1, 1, 1};
    int64_t stride[3] = {};
    int64_t channels = 1, channel = 1;

    std::byte* at(int64_t x, int64_t y, int64_t z = 0) const {
        return data + (x * stride[0] + y * stride[1] + z * stride[2]) * size_of(dtype);
    }
};

struct WarpOptions {
    bool linear = true;
    bool repeats_edge = true;  // what lies outside of the source: its edge, or `fill`
    double fill = 0;
    int64_t left = 0, top = 0;  // where the output lies in the canvas that the map is of
};

// `out` is packed in its own order of axes; its type may differ from that of `in`.
void warp(const Grid& out, const Grid& in, const AffineMap& map, const WarpOptions& options, Arena& arena);

// Steps through the output in DALI's order and precision: a coordinate is a running sum in single precision that
// restarts every 256 columns. Eight rows are stepped through side by side, in strips of 64 columns.
struct WarpCoordinates {
    static constexpr int rows = 8, columns = 64, restart = 256;

    WarpCoordinates(const AffineMap& map, int64_t y, int64_t z);
    void strip(int64_t column);  // fills `place`; columns are asked for one strip after the other

    alignas(32) float place[3][rows][columns];  // by axis, in the order x, y, z

   private:
    int axes_;
    float tile_[3][rows], here_[3][rows], step_[3];
};

// The images that have their own passes: one, three or four channels side by side, of bytes or floats; and pixels of
// any kind that are only copied.
bool fits_warp_image(const Grid& out, const Grid& in, const AffineMap& map, bool linear);
void warp_image(const Grid& out, const Grid& in, const AffineMap& map, const WarpOptions& options);

// Takes pixels from any places instead of those of a map. Returns false for images that have no passes of their own.
bool warp_by_places(const Grid& out, const Grid& in, const SourcePlaces& places, const WarpOptions& options,
                    Arena& arena);

}  // namespace pixelmill

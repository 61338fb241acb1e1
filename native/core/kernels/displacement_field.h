// Displacements that are given at the nodes of a coarse grid: elastic, grid and lens distortions.
#pragma once

#include <array>
#include <cstdint>

#include "../arena.h"
#include "source_places.h"

namespace pixelmill {

// Pairs (x, y), packed, as fractions of the width and height of the image. The nodes span the image from edge to edge.
struct FieldNodes {
    const float* data = nullptr;
    int64_t rows = 0, columns = 0;
    bool smooth = false;  // cubic (Catmull and Rom) instead of linear between the nodes
};

// Pairs (x, y) of the corners, in order.
struct ConvexPolygon {
    const double* points = nullptr;
    int count = 0;  // 0 holds everything
};

// The place of a pixel is displaced, and then mapped to the source. What is displaced out of the polygon comes from
// nowhere.
class DisplacedPlaces : public SourcePlaces {
   public:
    DisplacedPlaces(const FieldNodes& nodes, const std::array<double, 9>& matrix, const ConvexPolygon& polygon,
                    int64_t height, int64_t width, Arena& arena);
    void row(float* x, float* y, int64_t at, int64_t width) const override;

   private:
    double inside_edge(int number, double x, double y) const;
    bool is_inside(double x, double y) const;
    void keep_inside(float* x, float* y, int64_t count) const;
    void map_row(float* x, float* y, int64_t width) const;

    FieldNodes nodes_;
    std::array<double, 9> matrix_;
    ConvexPolygon polygon_;
    int64_t height_, width_;
    bool turns_left_ = false;
    float* line_;  // the nodes of the current row, blended
    struct Cell {
        int64_t end;  // of its columns
        int32_t nodes[4];
    };
    Cell* cells_;
    float* weights_;  // of the nodes of each column, those of all columns for the first node, then for the next
};

}  // namespace pixelmill

// The samples of a JPEG image on their way to pixels: the planes of its components, one row of MCUs at a time, as much
// of them as a window needs.
#pragma once

#include <array>
#include <cstdint>

#include "../arena.h"
#include "../view.h"
#include "jpeg.h"
#include "jpeg_frame.h"
#include "jpeg_kernels.h"

namespace pixelmill {

// How a component gets to the resolution of the image: as it is, smoothly, or by repeating samples.
enum class Upsampling : uint8_t { none, h2v1, h1v2, h2v2, repeat };

struct JpegPlane {
    bool needed = false;
    int h = 1, v = 1;               // blocks of an MCU
    int size = 8;                   // samples a side that a block becomes: 8, 4, 2 or 1
    int64_t width = 0, height = 0;  // samples of the whole component
    int h_expand = 1, v_expand = 1;
    Upsampling upsampling = Upsampling::none;
    InverseTransform* transform = nullptr;
    int16_t* quant = nullptr;

    int64_t origin = 0;          // column of the first sample that is kept
    int64_t stride = 0;          // from row to row
    uint8_t* samples = nullptr;  // row -1, which is the last of the MCUs before, and the rows of one row of MCUs
    uint8_t* line = nullptr;     // one row after upsampling

    bool smooth_rows() const { return upsampling == Upsampling::h1v2 || upsampling == Upsampling::h2v2; }
    bool smooth_columns() const { return upsampling == Upsampling::h2v1 || upsampling == Upsampling::h2v2; }
    int64_t rows() const { return int64_t{v} * size; }  // of a row of MCUs
    uint8_t* row(int64_t at) const { return samples + at * stride; }
};

class JpegPlanes {
   public:
    // Prepares for a request. Memory comes from `arena` and lasts as long as that keeps it.
    void plan(const JpegFrame& frame, const JpegTables& tables, const JpegRequest& request, Arena& arena);

    // The MCUs that the window needs. libjpeg reads up to `last_row`; so do we, to meet the same damage.
    int64_t first_column() const { return first_column_; }
    int64_t end_column() const { return end_column_; }
    int64_t first_row() const { return first_row_; }
    int64_t last_row() const { return last_row_; }

    const JpegPlane& plane(int component) const { return planes_[static_cast<size_t>(component)]; }

    // Turns blocks into samples: `row` holds blocks of row `block_row` of a component in the current row of MCUs, from
    // MCU `column` on.
    void transform(int component, int block_row, int64_t column, BlockRow row) const;

    // Writes the rows of `out` that row `mcu_row` of MCUs completes, then keeps what the next one needs of it.
    void emit(const View<uint8_t>& out, int64_t mcu_row);

   private:
    void plan_plane(JpegPlane& plane, const JpegComponent& component, const JpegFrame& frame) const;
    void plan_window(const JpegFrame& frame);
    void allocate(JpegPlane& plane, Arena& arena) const;
    bool can_emit(int64_t y, int64_t mcu_row) const;
    const uint8_t* upsampled(const JpegPlane& plane, int64_t y, int64_t mcu_row) const;
    void repeat_edges(const JpegPlane& plane) const;
    void write_row(uint8_t* out, const View<uint8_t>& view, const uint8_t* const* rows) const;

    std::array<JpegPlane, JpegFrame::most_components> planes_{};
    const JpegKernels* kernels_ = nullptr;
    JpegRequest request_;
    JpegSpace space_ = JpegSpace::ycc;
    int count_ = 0;
    int block_ = 8;  // samples a side that a block of full resolution becomes
    int64_t first_column_ = 0, end_column_ = 0, first_row_ = 0, last_row_ = 0;
    int64_t next_ = 0;  // row of the image that is written next
};

}  // namespace pixelmill

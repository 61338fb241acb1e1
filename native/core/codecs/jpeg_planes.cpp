#include "jpeg_planes.h"

#include <algorithm>
#include <cstring>

#include "cmyk.h"

namespace pixelmill {
namespace {

constexpr int64_t margin = 64;  // bytes at either end of a row that vectors may touch

int64_t ceil_divide(int64_t a, int64_t b) { return (a + b - 1) / b; }

struct RowPair {
    int64_t near, far;
};

// The two rows of a component between which row y of the image lies.
RowPair rows_of(const JpegPlane& plane, int64_t y) {
    const int64_t near = y >> 1, far = y & 1 ? near + 1 : near - 1;
    return {near, std::clamp<int64_t>(far, 0, plane.height - 1)};
}

void repeat_samples(uint8_t* out, const uint8_t* in, int64_t count, int times) {
    for (int64_t i = 0; i < count; ++i) {
        for (int k = 0; k < times; ++k) *out++ = in[i];
    }
}

}  // namespace

void JpegPlanes::plan(const JpegFrame& frame, const JpegTables& tables, const JpegRequest& request, Arena& arena) {
    kernels_ = &jpeg_kernels();
    request_ = request;
    space_ = frame.space;
    count_ = frame.count;
    block_ = 8 / request.denominator;
    next_ = request.window.y;
    for (int i = 0; i < count_; ++i) {
        JpegPlane& plane = planes_[static_cast<size_t>(i)];
        const JpegComponent& component = frame.components[static_cast<size_t>(i)];
        plane.needed = i == 0 || request.color != JpegColor::gray || frame.space == JpegSpace::rgb;
        plan_plane(plane, component, frame);
        plane.quant = arena.take<int16_t>(64);
        const auto& table = tables.quant[static_cast<size_t>(component.quant)];
        std::transform(table.begin(), table.end(), plane.quant, [](uint16_t q) { return static_cast<int16_t>(q); });
    }
    plan_window(frame);
    for (int i = 0; i < count_; ++i) {
        if (planes_[static_cast<size_t>(i)].needed) allocate(planes_[static_cast<size_t>(i)], arena);
    }
}

// A component of lower resolution is scaled less where that saves upsampling it: at 1/2, the colors of a 4:2:0 file are
// transformed in full.
void JpegPlanes::plan_plane(JpegPlane& plane, const JpegComponent& component, const JpegFrame& frame) const {
    plane.h = component.h;
    plane.v = component.v;
    plane.size = block_;
    while (plane.size < 8 && frame.max_h * block_ % (plane.h * plane.size * 2) == 0 &&
           frame.max_v * block_ % (plane.v * plane.size * 2) == 0)
        plane.size *= 2;
    plane.width = ceil_divide(frame.width * plane.h * plane.size, int64_t{frame.max_h} * 8);
    plane.height = ceil_divide(frame.height * plane.v * plane.size, int64_t{frame.max_v} * 8);
    plane.h_expand = frame.max_h * block_ / (plane.h * plane.size);
    plane.v_expand = frame.max_v * block_ / (plane.v * plane.size);
    // libjpeg-turbo's choices: no smoothing at 1/8, and none across a plane of one or two columns.
    const bool smooth = block_ > 1, wide = plane.width > 2;
    plane.upsampling = Upsampling::repeat;
    if (plane.h_expand == 1 && plane.v_expand == 1) plane.upsampling = Upsampling::none;
    if (plane.h_expand == 2 && plane.v_expand == 1 && smooth && wide) plane.upsampling = Upsampling::h2v1;
    if (plane.h_expand == 1 && plane.v_expand == 2 && smooth) plane.upsampling = Upsampling::h1v2;
    if (plane.h_expand == 2 && plane.v_expand == 2 && smooth && wide) plane.upsampling = Upsampling::h2v2;
    plane.transform = plane.size == 8   ? kernels_->idct8
                      : plane.size == 4 ? kernels_->idct4
                      : plane.size == 2 ? kernels_->idct2
                                        : kernels_->idct1;
}

void JpegPlanes::plan_window(const JpegFrame& frame) {
    const Window& window = request_.window;
    const int64_t last_x = window.x + window.width - 1, last_y = window.y + window.height - 1;
    const int64_t groups = last_y / frame.max_v;  // of rows that belong together in an MCU, before the last one needed
    const int64_t rows = ceil_divide(frame.height, int64_t{frame.max_v} * 8);
    first_column_ = first_row_ = INT64_MAX;
    end_column_ = 0;
    last_row_ = groups / block_;
    for (int i = 0; i < count_; ++i) {
        const JpegPlane& plane = planes_[static_cast<size_t>(i)];
        if (!plane.needed) continue;
        const int64_t reach = plane.smooth_columns(), side = int64_t{plane.h} * plane.size;
        first_column_ = std::min(first_column_, std::max<int64_t>(window.x / plane.h_expand - reach, 0) / side);
        end_column_ = std::max(end_column_, std::min(last_x / plane.h_expand + reach, plane.width - 1) / side + 1);
        const RowPair pair = rows_of(plane, window.y);
        const int64_t top = plane.smooth_rows() ? std::min(pair.near, pair.far) : window.y / plane.v_expand;
        first_row_ = std::min(first_row_, top / plane.rows());
        // libjpeg makes a group of rows only when the row below it is there.
        if (plane.smooth_rows()) last_row_ = (groups + 1) / block_;
    }
    last_row_ = last_row_ / frame.rows_at_once * frame.rows_at_once + frame.rows_at_once - 1;
    last_row_ = std::min(last_row_, rows - 1);
}

void JpegPlanes::allocate(JpegPlane& plane, Arena& arena) const {
    const int64_t side = int64_t{plane.h} * plane.size;
    plane.origin = first_column_ * side;
    plane.stride = 2 * margin + (end_column_ - first_column_ + 1) * side + margin;  // an odd block may be one too many
    plane.stride = ceil_divide(plane.stride, margin) * margin;
    plane.samples = arena.take<uint8_t>(static_cast<size_t>((plane.rows() + 1) * plane.stride)) + plane.stride + margin;
    plane.line = arena.take<uint8_t>(static_cast<size_t>(plane.stride * plane.h_expand + 4 * margin));
}

void JpegPlanes::transform(int component, int block_row, int64_t column, BlockRow row) const {
    const JpegPlane& plane = planes_[static_cast<size_t>(component)];
    row.quant = plane.quant;
    uint8_t* out = plane.row(int64_t{block_row} * plane.size) + (column - first_column_) * plane.h * plane.size;
    plane.transform(out, plane.stride, row);
}

// Beyond the borders of the image samples repeat, for the upsampling that looks at neighbors.
void JpegPlanes::repeat_edges(const JpegPlane& plane) const {
    const int64_t end = plane.width - plane.origin;
    const bool right = end <= (end_column_ - first_column_) * plane.h * plane.size;
    for (int64_t y = 0; y < plane.rows(); ++y) {
        uint8_t* row = plane.row(y);
        if (plane.origin == 0) row[-1] = row[0];
        if (right) row[end] = row[end - 1];
    }
}

bool JpegPlanes::can_emit(int64_t y, int64_t mcu_row) const {
    for (int i = 0; i < count_; ++i) {
        const JpegPlane& plane = planes_[static_cast<size_t>(i)];
        if (!plane.needed) continue;
        const RowPair pair = rows_of(plane, y);
        const int64_t needed = plane.smooth_rows() ? std::max(pair.near, pair.far) : y / plane.v_expand;
        if (needed >= (mcu_row + 1) * plane.rows()) return false;
    }
    return true;
}

// The samples of row y of the image from the window's first column on.
const uint8_t* JpegPlanes::upsampled(const JpegPlane& plane, int64_t y, int64_t mcu_row) const {
    const Window& window = request_.window;
    const int64_t base = mcu_row * plane.rows();
    const int64_t first = window.x / plane.h_expand, last = (window.x + window.width - 1) / plane.h_expand;
    const int64_t count = last - first + 1, skipped = window.x - first * plane.h_expand;
    const auto row = [&](int64_t at) { return plane.row(at - base) + first - plane.origin; };
    const RowPair pair = rows_of(plane, y);
    switch (plane.upsampling) {
        case Upsampling::none: return row(y);
        case Upsampling::h2v1: kernels_->upsample_h2v1(plane.line, row(y), count); break;
        case Upsampling::h1v2:
            kernels_->upsample_h1v2(plane.line, row(pair.near), row(pair.far), 1 + static_cast<int>(y & 1), count);
            break;
        case Upsampling::h2v2: kernels_->upsample_h2v2(plane.line, row(pair.near), row(pair.far), count); break;
        case Upsampling::repeat:
            if (plane.h_expand == 1) return row(y / plane.v_expand);
            repeat_samples(plane.line, row(y / plane.v_expand), count, plane.h_expand);
            break;
    }
    return plane.line + skipped;
}

void JpegPlanes::emit(const View<uint8_t>& out, int64_t mcu_row) {
    for (int i = 0; i < count_; ++i) {
        const JpegPlane& plane = planes_[static_cast<size_t>(i)];
        if (plane.needed && plane.smooth_columns()) repeat_edges(plane);
    }
    const int64_t end = request_.window.y + request_.window.height;
    for (; next_ < end && can_emit(next_, mcu_row); ++next_) {
        const uint8_t* rows[JpegFrame::most_components] = {};
        for (int i = 0; i < count_; ++i) {
            const JpegPlane& plane = planes_[static_cast<size_t>(i)];
            if (plane.needed) rows[i] = upsampled(plane, next_, mcu_row);
        }
        write_row(out.at(next_ - request_.window.y, 0), out, rows);
    }
    for (int i = 0; i < count_; ++i) {
        const JpegPlane& plane = planes_[static_cast<size_t>(i)];
        if (!plane.needed) continue;
        std::memcpy(plane.row(-1) - margin, plane.row(plane.rows() - 1) - margin, static_cast<size_t>(plane.stride));
    }
}

void JpegPlanes::write_row(uint8_t* out, const View<uint8_t>& view, const uint8_t* const* rows) const {
    const int64_t count = view.width, pixel = view.pixel;
    const bool bgr = request_.color == JpegColor::bgr;
    if (request_.color == JpegColor::gray) {
        if (space_ != JpegSpace::rgb) {
            std::memcpy(out, rows[0], static_cast<size_t>(count));
        } else {
            for (int64_t i = 0; i < count; ++i) out[i] = static_cast<uint8_t>(luma(rows[0][i], rows[1][i], rows[2][i]));
        }
        return;
    }
    if (space_ == JpegSpace::ycc) {
        const PixelOrder order =
            pixel == 4 ? (bgr ? PixelOrder::bgrx : PixelOrder::rgbx) : (bgr ? PixelOrder::bgr : PixelOrder::rgb);
        return kernels_->ycc_to_pixels(out, rows[0], rows[1], rows[2], count, order);
    }
    const bool gray = space_ == JpegSpace::gray;
    const uint8_t *red = rows[0], *green = gray ? red : rows[1], *blue = gray ? red : rows[2];
    if (bgr) std::swap(red, blue);
    for (int64_t i = 0; i < count; ++i, out += pixel) {
        out[0] = red[i];
        out[1] = green[i];
        out[2] = blue[i];
        if (pixel == 4) out[3] = 255;
    }
}

}  // namespace pixelmill

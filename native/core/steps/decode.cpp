// Steps "image_shape" and "decode". What decode leaves out (rows, columns, resolution) is decided here; how, in
// codecs/.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "../codecs/decode_image.h"
#include "../kernels/axis.h"
#include "declared/codecs.h"

namespace pixelmill {

namespace {

constexpr int64_t fill_side = 256;  // of an image whose header cannot be read
constexpr std::byte fill_level{128};

// Beyond its edge an image repeats its outermost pixels, and in a scaled one those are averages. The difference shows
// in the outermost row of the output only: too much of a smaller output than this, at 38 dB for an image with a frame.
constexpr double smallest_scaled_output = 64;

using Axes = std::array<Axis, 2>;

struct Extents2 {
    int64_t height, width;
};

Bytes bytes_of(const Value& value) {
    if (value.dtype != DType::u8 || value.ndim != 1 || (value.shape[0] > 1 && value.stride[0] != 1))
        throw Fault(FaultKind::argument, "decode: encoded images are uint8 of one dimension, got " + describe(value));
    return {value.data, static_cast<size_t>(value.shape[0])};
}

Extents2 seen_extents(const ImageInfo& info, bool orient) {
    if (orient && info.sideways()) return {info.width, info.height};
    return {info.height, info.width};
}

// With a fill, this replaces a damaged file.
ImageInfo info_or_fill(Bytes file, const Context& context) {
    try {
        return read_info(file, context.limits);
    } catch (const Fault&) {
        if (!context.fill) throw;
        return {ImageFormat::unknown, fill_side, fill_side, 3};
    }
}

Window window_of(const Value& value) {
    return {value.integer(0), value.integer(1), value.integer(2), value.integer(3)};
}

std::string describe(const Window& window) {
    return "y " + std::to_string(window.y) + ", x " + std::to_string(window.x) + ", height " +
           std::to_string(window.height) + ", width " + std::to_string(window.width);
}

void check_inside(const Window& window, const Extents2& image) {
    const bool inside = window.y >= 0 && window.x >= 0 && window.height > 0 && window.width > 0 &&
                        window.height <= image.height && window.y <= image.height - window.height &&
                        window.width <= image.width && window.x <= image.width - window.width;
    if (!inside)
        throw Fault(FaultKind::argument, "decode: the window (" + describe(window) +
                                             ") does not lie inside the image of " + std::to_string(image.height) +
                                             " x " + std::to_string(image.width) + " pixels (height x width)");
}

Axes axes_of(const Value& value, const Window& window) {
    Axes axes;
    if (value.dtype != DType::f64 || value.elements() != 16 || !value.contiguous())
        throw std::logic_error("decode: a geometry is two records of eight float64");
    std::memcpy(axes.data(), value.data, sizeof axes);
    if (axes[0].source != static_cast<double>(window.height) || axes[1].source != static_cast<double>(window.width))
        throw Fault(FaultKind::argument, "decode: the geometry is for another image than that of " +
                                             std::to_string(window.height) + " x " + std::to_string(window.width) +
                                             " pixels (height x width)");
    return axes;
}

struct Interval {
    int64_t first, length;
};

// Turns an axis over pixels `wanted` of a side of `extent` pixels into one over the side scaled by 1/denominator, and
// returns the scaled pixels it covers. Scaled pixel i covers the stored pixels from i * denominator on; seen from the
// other end, a side that is no multiple of the denominator begins with a part of a pixel.
Interval scale_axis(Axis& axis, Interval wanted, int64_t extent, int64_t denominator, bool flipped) {
    if (denominator == 1) return wanted;
    const int64_t whole = (extent + denominator - 1) / denominator * denominator;
    const int64_t start = wanted.first + (flipped ? whole - extent : 0);
    const int64_t first = start / denominator, end = (start + wanted.length + denominator - 1) / denominator;
    const auto scaled = [&](double at) {
        return (at + static_cast<double>(start - first * denominator)) / static_cast<double>(denominator);
    };
    axis.low = scaled(axis.low);
    axis.high = scaled(axis.high);
    axis.source = static_cast<double>(end - first);
    return {first, end - first};
}

// The pixels an axis reads, of those it is about.
Interval narrow(Axis& axis, Interval covered, const FilterChoice& filters) {
    const Range range = source_range(axis, filters);
    axis.origin = static_cast<double>(range.first);
    return {covered.first + range.first, range.last - range.first};
}

class Decode final : public Step {
   public:
    explicit Decode(const DecodeParams& params)
        : as_stored_(!params.dtype.has_value()), margin_(static_cast<double>(params.scaling)) {
        request_.color = color_of(params.color);
        if (params.dtype) request_.dtype = *params.dtype;
        request_.orient = params.orientation;
        request_.padded = params.padded_pixels;
        filters_ = {params.filter_min, params.filter_mag, params.antialias};
    }

    void run(Context& context, std::span<const Value> values, std::span<Value> out) const override {
        const DecodeInputs in(values);
        const Bytes file = bytes_of(in.encoded);
        try {
            decode(context, file, in, out);
        } catch (const Fault& fault) {
            if (!context.fill || fault.kind == FaultKind::argument) throw;
            fill(context, file, in, out);
        }
    }

   private:
    void decode(Context& context, Bytes file, const DecodeInputs& in, std::span<Value> out) const {
        const ImageInfo info = read_info(file, context.limits);
        const Extents2 seen = seen_extents(info, request_.orient);
        DecodeRequest request = request_;
        if (as_stored_ && info.bits == 16) request.dtype = DType::u16;
        request.part = {0, 0, seen.height, seen.width};
        if (in.window.present()) {
            request.part = window_of(in.window);
            check_inside(request.part, seen);
        }
        if (in.geometry.present()) {
            Axes axes = axes_of(in.geometry, request.part);
            reduce(request, axes, info);
            out[1] = store(context, axes);
        }
        out[0] = decode_image(context, file, info, request);
    }

    // Leaves out of the request what the axes do not look at, and adapts them to what is left.
    void reduce(DecodeRequest& request, Axes& axes, const ImageInfo& info) const {
        const Orientation turn = orientation_of(info, request);
        const Extents2 seen = seen_extents(info, request.orient);
        Window& part = request.part;
        request.denominator = denominator(axes, info);
        Interval rows = scale_axis(axes[0], {part.y, part.height}, seen.height, request.denominator,
                                   turn.swap ? turn.flip_columns : turn.flip_rows);
        Interval columns = scale_axis(axes[1], {part.x, part.width}, seen.width, request.denominator,
                                      turn.swap ? turn.flip_rows : turn.flip_columns);
        rows = narrow(axes[0], rows, filters_);
        columns = narrow(axes[1], columns, filters_);
        part = {rows.first, columns.first, rows.length, columns.length};
    }

    // Only a filter that averages what it leaves out makes the same image of a scaled one, and it needs a margin of
    // twice the pixels of the output for it. A margin of one is for callers that prefer speed.
    int denominator(const Axes& axes, const ImageInfo& info) const {
        const bool averages =
            filters_.min != Filter::nearest &&
            (filters_.antialias || filters_.min == Filter::triangular || filters_.min == Filter::gaussian);
        if (margin_ == 0 || !averages || !scales(info.format)) return 1;
        if (margin_ > 1 && std::min(axes[0].out, axes[1].out) < smallest_scaled_output) return 1;
        const auto room = [&](const Axis& axis) { return std::abs(axis.high - axis.low) / (margin_ * axis.out); };
        const double most = std::min(room(axes[0]), room(axes[1]));
        return most >= 8 ? 8 : most >= 4 ? 4 : most >= 2 ? 2 : 1;
    }

    static Value store(Context& context, const Axes& axes) {
        const Value value = context.allocate(1, DType::f64, std::array<int64_t, 2>{2, 8});
        std::memcpy(value.data, axes.data(), sizeof axes);
        return value;
    }

    // A gray image of the extents the good one would have had.
    void fill(Context& context, Bytes file, const DecodeInputs& in, std::span<Value> out) const {
        const ImageInfo info = info_or_fill(file, context);
        const Extents2 seen = seen_extents(info, request_.orient);
        Window part{0, 0, seen.height, seen.width};
        if (in.window.present()) part = window_of(in.window);
        if (in.geometry.present()) {
            Axes axes = axes_of(in.geometry, part);
            axes[0].origin = axes[1].origin = 0;
            out[1] = store(context, axes);
        }
        const std::array<int64_t, 3> shape{part.height, part.width, channels_of(info, request_.color)};
        std::byte level = fill_level;
        const Value gray{&level, DType::u8, 3, {part.height, part.width, 3}, {}};
        out[0] = context.allocate(0, request_.dtype, shape);
        convert_pixels(out[0], gray, request_.color);
    }

    DecodeRequest request_;  // all but the part
    FilterChoice filters_;
    bool as_stored_;  // 16-bit samples stay 16-bit ones
    double margin_;   // a scaled JPEG has at least this many times the output's pixels a side; 0 never scales
};

class ImageShape final : public Step {
   public:
    explicit ImageShape(const ImageShapeParams& params) : color_(color_of(params.color)), orient_(params.orientation) {}

    void run(Context& context, std::span<const Value> values, std::span<Value> out) const override {
        const ImageShapeInputs in(values);
        const ImageInfo info = info_or_fill(bytes_of(in.encoded), context);
        const Extents2 seen = seen_extents(info, orient_);
        out[0] = context.allocate(0, DType::i64, std::array<int64_t, 1>{3});
        int64_t* shape = out[0].as<int64_t>();
        shape[0] = seen.height;
        shape[1] = seen.width;
        shape[2] = channels_of(info, color_);
    }

   private:
    Color color_;
    bool orient_;
};

}  // namespace

std::unique_ptr<Step> make_decode(const DecodeParams& params) { return std::make_unique<Decode>(params); }

std::unique_ptr<Step> make_image_shape(const ImageShapeParams& params) { return std::make_unique<ImageShape>(params); }

}  // namespace pixelmill

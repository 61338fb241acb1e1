// Comparisons of floats may then be vectorized; no value depends on it.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("no-trapping-math")
#endif

#include "pointwise.h"

#include <cstdlib>
#include <cstring>

#include "convert.h"
#include "copy.h"
#include "four_bytes.h"
#include "simd.h"

namespace pixelmill {

#define KERNELS "pointwise.inl"
#include "both_levels.inl"

#if PIXELMILL_WIDE_SUMS
BEGIN_WIDE_SUMS_CODE
namespace wide_sums {
#include "pointwise_wide.inl"
}  // namespace wide_sums
END_WIDE_SUMS_CODE
#endif

const PixelRows& pixel_rows() {
#if PIXELMILL_WIDE_SUMS
    if (uses_wide_sums()) return wide_sums::pixel_rows;
#endif
    return AT_THIS_LEVEL_OR_NEON(pixel_rows);
}

Raster mirrored(const Raster& image) {
    Raster result = image;
    result.data = image.at(0, image.width - 1);
    result.pixel = -image.pixel;
    return result;
}

namespace {

template <class Out, class In>
void convert_rows(const Value& out, const Value& in, int dim, int64_t to, int64_t from) {
    const int64_t count = in.ndim == 0 ? 1 : in.shape[dim];
    if (dim + 1 < in.ndim) {
        for (int64_t i = 0; i < count; ++i) {
            convert_rows<Out, In>(out, in, dim + 1, to + i * out.stride[dim], from + i * in.stride[dim]);
        }
        return;
    }
    Out* destination = out.as<Out>() + to;
    const In* source = in.as<In>() + from;
    const int64_t step = in.ndim == 0 ? 1 : in.stride[dim];
    if (step == 1) {
        for (int64_t i = 0; i < count; ++i) destination[i] = convert<Out>(source[i]);
    } else {
        for (int64_t i = 0; i < count; ++i) destination[i] = convert<Out>(source[i * step]);
    }
}

// A packed value is one long row, and so is every tail of axes that is packed.
Value flattened(const Value& value) {
    Value flat = value;
    while (flat.ndim > 1 && flat.stride[flat.ndim - 1] == 1 &&
           flat.stride[flat.ndim - 2] == flat.shape[flat.ndim - 1]) {
        flat.shape[flat.ndim - 2] *= flat.shape[flat.ndim - 1];
        flat.stride[flat.ndim - 2] = 1;
        --flat.ndim;
    }
    return flat;
}

// Three channels side by side on both sides.
template <class Out, class In>
void normalize_threes(const Raster& out, const Raster& in, const Scaling& scaling) {
    const float subtract[3] = {scaling.subtract[0], scaling.subtract[1], scaling.subtract[2]};
    const float multiply[3] = {scaling.multiply[0], scaling.multiply[1], scaling.multiply[2]};
    for (int64_t y = 0; y < out.height; ++y) {
        auto* __restrict to = reinterpret_cast<Out*>(out.at(y, 0));
        const auto* __restrict from = reinterpret_cast<const In*>(in.at(y, 0));
        for (int64_t x = 0; x < out.width; ++x, to += out.pixel, from += in.pixel) {
            for (int c = 0; c < 3; ++c) to[c] = convert<Out>((convert<float>(from[c]) - subtract[c]) * multiply[c]);
        }
    }
}

template <class Out, class In>
void normalize_any(const Raster& out, const Raster& in, const Scaling& scaling) {
    if (in.channels == 3 && in.channel == 1 && out.channel == 1) return normalize_threes<Out, In>(out, in, scaling);
    auto* to = reinterpret_cast<Out*>(out.data);
    const auto* from = reinterpret_cast<const In*>(in.data);
    const auto one = [&](int64_t at, int64_t c) {
        return convert<Out>((convert<float>(from[at]) - scaling.subtract[c]) * scaling.multiply[c]);
    };
    for (int64_t y = 0; y < out.height; ++y) {
        if (out.pixel != 1) {
            for (int64_t x = 0; x < out.width; ++x) {
                Out* pixel = to + y * out.row + x * out.pixel;
                for (int64_t c = 0; c < in.channels; ++c)
                    pixel[c * out.channel] = one(y * in.row + x * in.pixel + c * in.channel, c);
            }
            continue;
        }
        for (int64_t c = 0; c < in.channels; ++c) {
            Out* row = to + y * out.row + c * out.channel;
            const int64_t at = y * in.row + c * in.channel;
            for (int64_t x = 0; x < out.width; ++x) row[x] = one(at + x * in.pixel, c);
        }
    }
}

void zero_channels(const Raster& out, int64_t from) {
    const auto size = static_cast<size_t>(size_of(out.dtype));
    for (int64_t c = from; c < out.channels; ++c) {
        for (int64_t y = 0; y < out.height; ++y) {
            for (int64_t x = 0; x < out.width; ++x) std::memset(out.at(y, x, c), 0, size);
        }
    }
}

void normalize_bytes(const Raster& out, const Raster& in, const Scaling& scaling, Arena& arena) {
    const PixelRows& rows = pixel_rows();
    const FourByteRows source(in, arena);
    const auto channels = static_cast<int>(in.channels);
    auto* to_planes = out.leaves ? rows.stream_planes : rows.to_planes;
    for (int64_t y = 0; y < out.height; ++y) {
        auto* to = reinterpret_cast<float*>(out.at(y, 0));
        const uint8_t* from = source.row(rows, y);
        if (out.pixel == 1) {
            to_planes(to, out.channel, from, in.width, channels, scaling);
        } else {
            rows.to_pixels(to, from, in.width, channels, scaling);
        }
    }
    rows.fence();
}

Raster image_of(const Value& value) {
    return {value.data,     value.dtype,     value.shape[0],  value.shape[1],
            value.shape[2], value.stride[0], value.stride[1], value.stride[2]};
}

Value value_of(const Raster& image) {
    Value value;
    value.data = image.data;
    value.dtype = image.dtype;
    value.ndim = 3;
    value.shape = {image.height, image.width, image.channels};
    value.stride = {image.row, image.pixel, image.channel};
    return value;
}

bool changes_nothing(const Scaling& scaling, int64_t channels) {
    bool same = true;
    for (int64_t c = 0; c < channels; ++c) same &= scaling.subtract[c] == 0 && scaling.multiply[c] == 1;
    return same;
}

void pack_bytes(const Raster& out, const Raster& in, Arena& arena) {
    const PixelRows& rows = pixel_rows();
    const FourByteRows source(in, arena);
    for (int64_t y = 0; y < out.height; ++y) {
        auto* to = reinterpret_cast<uint8_t*>(out.at(y, 0));
        const uint8_t* from = source.row(rows, y);
        if (in.channels == 3) {
            rows.pack3(to, from, in.width);
        } else {
            std::memcpy(to, from, static_cast<size_t>(4 * in.width));
        }
    }
}

}  // namespace

void convert_elements(const Value& out, const Value& in) {
    if (in.elements() == 0) return;
    if (out.dtype == in.dtype) return copy_elements(out, in);
    if (in.dtype == DType::f32 && out.dtype == DType::u8 && in.contiguous()) {
        return pixel_rows().to_bytes(out.as<uint8_t>(), in.as<float>(), in.elements());
    }
    Value from = flattened(in), to = out;
    to.ndim = from.ndim;
    to.shape = from.shape;
    to.stride = packed_strides(to.ndim, to.shape);
    with_type(out.dtype, [&](auto o) {
        with_type(in.dtype, [&](auto i) { convert_rows<decltype(o), decltype(i)>(to, from, 0, 0, 0); });
    });
}

void normalize(const Raster& out, const Raster& in, const Scaling& scaling, Arena& arena) {
    if (out.height == 0 || out.width == 0) return;
    const bool planes = out.pixel == 1, pixels = out.channel == 1 && out.channels == in.channels;
    if (out.dtype == DType::f32 && FourByteRows::fit(in) && (planes || pixels)) {
        normalize_bytes(out, in, scaling, arena);
    } else if (out.dtype == DType::u8 && in.dtype == DType::u8 && changes_nothing(scaling, in.channels)) {
        Raster same = out;
        same.channels = in.channels;
        copy_elements(value_of(same), value_of(in));
    } else {
        const auto to = [&](auto o) {
            with_type(in.dtype, [&](auto i) { normalize_any<decltype(o), decltype(i)>(out, in, scaling); });
        };
        switch (out.dtype) {
            case DType::f16: to(Half{}); break;
            case DType::u8: to(uint8_t{}); break;
            case DType::i8: to(int8_t{}); break;
            default: to(float{});
        }
    }
    zero_channels(out, in.channels);
}

void pack(const Value& out, const Value& in, Arena& arena) {
    if (in.elements() == 0) return;
    if (in.ndim == 3 && !in.contiguous()) {
        const Raster from = image_of(in);
        const bool packed_pixels = std::abs(from.pixel) == from.channels;
        if (!packed_pixels && FourByteRows::fit(from)) return pack_bytes(image_of(out), from, arena);
    }
    copy_elements(out, in);
}

}  // namespace pixelmill

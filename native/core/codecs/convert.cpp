#include "convert.h"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <type_traits>
#include <vector>

#include "../kernels/convert.h"
#include "cmyk.h"

namespace pixelmill {
namespace {

template <class T>
T nearest(float value) {
    return static_cast<T>(std::clamp(value + 0.5f, 0.0f, static_cast<float>(std::numeric_limits<T>::max())));
}

// BT.601, studio range: Y from 16 to 235 and chroma around 128, of 255.
template <class T>
void to_ycbcr(T* pixel, float r, float g, float b) {
    constexpr float unit = std::numeric_limits<T>::max() / 255.0f;
    pixel[0] = nearest<T>(0.25678824f * r + 0.50412941f * g + 0.09790588f * b + 16.0f * unit);
    pixel[1] = nearest<T>(-0.14822290f * r - 0.29099279f * g + 0.43921569f * b + 128.0f * unit);
    pixel[2] = nearest<T>(0.43921569f * r - 0.36778831f * g - 0.07142737f * b + 128.0f * unit);
}

template <class T>
struct Pixel {
    T r, g, b, alpha;
};

template <class T>
Pixel<T> load(const T* at, int64_t channel, int64_t channels) {
    constexpr T opaque = std::numeric_limits<T>::max();
    if (channels <= 2) return {at[0], at[0], at[0], channels == 2 ? at[channel] : opaque};
    return {at[0], at[channel], at[2 * channel], channels == 4 ? at[3 * channel] : opaque};
}

template <class T>
T gray(const Pixel<T>& pixel) {
    return static_cast<T>(luma(pixel.r, pixel.g, pixel.b));
}

template <class T>
void store(T* out, const Pixel<T>& pixel, Color color, int64_t channels) {
    if (color == Color::ycbcr) return to_ycbcr(out, pixel.r, pixel.g, pixel.b);
    if (channels <= 2) {
        out[0] = gray(pixel);
        if (channels == 2) out[1] = pixel.alpha;
        return;
    }
    out[0] = color == Color::bgr ? pixel.b : pixel.r;
    out[1] = pixel.g;
    out[2] = color == Color::bgr ? pixel.r : pixel.b;
    if (channels == 4) out[3] = pixel.alpha;
}

// A sample of type In in the range of type Out.
template <class Out, class In>
Out normalized(In sample) {
    constexpr In top = std::numeric_limits<In>::max();
    if constexpr (std::is_same_v<Out, Half>)
        return to_half(sample / static_cast<float>(top));
    else if constexpr (std::is_floating_point_v<Out>)
        return sample / static_cast<Out>(top);
    else if constexpr (std::is_same_v<Out, In>)
        return sample;
    else if constexpr (std::is_same_v<Out, uint8_t>)
        return static_cast<uint8_t>(sample >> 8);
    else {
        // 255 and 65535 divide every 2^n - 1 of the wider unsigned types; the others need rounding.
        constexpr auto most = static_cast<uint64_t>(std::numeric_limits<Out>::max());
        if constexpr (most % top == 0) return static_cast<Out>(most / top * sample);
        constexpr uint64_t whole = most / top, rest = most % top;
        return static_cast<Out>(whole * sample + (rest * sample + top / 2) / top);
    }
}

template <class Out, class In>
void write_row(std::byte* out, const In* in, int64_t count) {
    auto* target = reinterpret_cast<Out*>(out);
    if constexpr (std::is_same_v<In, uint8_t> && !std::is_same_v<Out, uint8_t>) {
        static const std::vector<Out> table = [] {
            std::vector<Out> values;
            for (int i = 0; i < 256; i++) values.push_back(normalized<Out>(static_cast<uint8_t>(i)));
            return values;
        }();
        for (int64_t i = 0; i < count; i++) target[i] = table[in[i]];
    } else {
        for (int64_t i = 0; i < count; i++) target[i] = normalized<Out>(in[i]);
    }
}

template <class In>
using RowWriter = void (*)(std::byte*, const In*, int64_t);

template <class In>
RowWriter<In> row_writer(DType dtype) {
    if (dtype == DType::boolean) throw std::logic_error("decode: an image of booleans");
    return with_type(dtype, [](auto zero) -> RowWriter<In> { return write_row<decltype(zero), In>; });
}

template <class In>
void convert(const Value& out, const Value& in, Color color) {
    const int64_t width = out.shape[1], channels = out.shape[2], row_bytes = width * channels * size_of(out.dtype);
    const RowWriter<In> write = row_writer<In>(out.dtype);
    std::vector<In> row(static_cast<size_t>(width * channels));
    for (int64_t y = 0; y < out.shape[0]; y++) {
        const In* from = in.as<const In>() + y * in.stride[0];
        for (int64_t x = 0; x < width; x++)
            store(&row[static_cast<size_t>(x * channels)], load(from + x * in.stride[1], in.stride[2], in.shape[2]),
                  color, channels);
        write(out.data + y * row_bytes, row.data(), width * channels);
    }
}

}  // namespace

Color color_of(const std::string& name) {
    if (name == "rgb") return Color::rgb;
    if (name == "bgr") return Color::bgr;
    if (name == "gray") return Color::gray;
    if (name == "ycbcr") return Color::ycbcr;
    if (name == "any") return Color::any;
    if (name == "index") return Color::index;
    throw std::logic_error("decode: unknown color type " + name);
}

void convert_pixels(const Value& out, const Value& in, Color color) {
    if (in.dtype == DType::u16)
        convert<uint16_t>(out, in, color);
    else
        convert<uint8_t>(out, in, color);
}

}  // namespace pixelmill

#include "copy.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "simd.h"

namespace pixelmill {

namespace {

template <class T>
struct CopyLoops {
    void (*split3)(T* out, int64_t plane, const T* in, int64_t pixels);
    void (*split4)(T* out, int64_t plane, const T* in, int64_t pixels);
    void (*join3)(T* out, const T* in, int64_t plane, int64_t pixels);
    void (*thin2)(T* out, const T* in, int64_t count);
    void (*thin3)(T* out, const T* in, int64_t count);
    int64_t (*reversed_pixels)(T* out, const T* in, int64_t pixels);
    void (*weave2)(T* out, const T* const* in, int64_t count);
    void (*weave3)(T* out, const T* const* in, int64_t count);
    void (*weave4)(T* out, const T* const* in, int64_t count);
};

// Pixels of three and of four bytes.
struct TurnLoops {
    using Turn = void(uint8_t* out, int64_t out_row, const uint8_t* in, int64_t in_row, int64_t rows, int64_t columns);
    Turn *turn3, *turn4;
};

}  // namespace

#define KERNELS "copy.inl"
#include "both_levels.inl"

namespace {

template <class T>
const CopyLoops<T>& loops() {
    return AT_THIS_LEVEL(copy_loops<T>);
}

// The axes of a copy, from the outermost to the innermost. Axes with even strides on both sides are merged.
struct Axes {
    int count = 0;
    Extents extent{}, to{}, from{};
};

Axes axes_of(const Value& out, const Value& in) {
    Axes axes;
    for (int d = 0; d < in.ndim; ++d) {
        const int64_t extent = in.shape[d];
        if (extent == 1) continue;
        const int before = axes.count - 1;
        if (before >= 0 && axes.to[before] == out.stride[d] * extent && axes.from[before] == in.stride[d] * extent) {
            axes.extent[before] *= extent;
            axes.to[before] = out.stride[d];
            axes.from[before] = in.stride[d];
            continue;
        }
        axes.extent[axes.count] = extent;
        axes.to[axes.count] = out.stride[d];
        axes.from[axes.count++] = in.stride[d];
    }
    return axes;
}

#if PIXELMILL_WIDE_TABLES

// Where the bytes of 64 reversed ones come from, which begin with byte `phase` of a pixel: 66 bytes, of which the first
// 64 are in one register and the last 64 in the other.
struct ReversedBytes {
    alignas(64) uint8_t place[3][64]{};

    constexpr ReversedBytes() {
        for (int phase = 0; phase < 3; ++phase) {
            for (int i = 0; i < 64; ++i) {
                const int pixel = (phase + i) / 3, at = 3 * (21 - pixel) + (phase + i) % 3;
                place[phase][i] = static_cast<uint8_t>(at < 64 ? at : 64 + at - 2);
            }
        }
    }
};

// Pixels of three bytes from right to left; `in` is the rightmost one. Returns how many were copied.
WIDE_TABLES_CODE int64_t reverse_wide(uint8_t* out, const uint8_t* in, int64_t pixels) {
    static constexpr ReversedBytes bytes;
    const __m512i order[3] = {_mm512_load_si512(bytes.place[0]), _mm512_load_si512(bytes.place[1]),
                              _mm512_load_si512(bytes.place[2])};
    int64_t x = 0;
    for (; x + 64 <= pixels; x += 64) {
        for (int k = 0; k < 3; ++k) {
            const int64_t first = x + 64 * k / 3;  // the pixel of the first byte
            const uint8_t* from = in - 3 * (first + 21);
            const __m512i low = _mm512_loadu_si512(from), high = _mm512_loadu_si512(from + 2);
            _mm512_storeu_si512(out + 3 * x + 64 * k, _mm512_permutex2var_epi8(low, order[64 * k % 3], high));
        }
    }
    return x;
}

#endif

int64_t reverse_many(uint8_t* out, const uint8_t* in, int64_t pixels) {
#if PIXELMILL_WIDE_TABLES
    if (uses_wide_tables()) return reverse_wide(out, in, pixels);
#endif
    (void)out, (void)in, (void)pixels;
    return 0;
}
template <class T>
int64_t reverse_many(T*, const T*, int64_t) {
    return 0;
}

template <class T>
void copy_run(T* out, int64_t to, const T* in, int64_t from, int64_t count) {
    if (to == 1 && from == 1) {
        std::memcpy(out, in, static_cast<size_t>(count) * sizeof(T));
    } else if (to == 1 && from == 2) {
        loops<T>().thin2(out, in, count);
    } else if (to == 1 && from == 3) {
        loops<T>().thin3(out, in, count);
    } else if (to == 1) {
        for (int64_t i = 0; i < count; ++i) out[i] = in[i * from];
    } else if (from == 1) {
        for (int64_t i = 0; i < count; ++i) out[i * to] = in[i];
    } else {
        for (int64_t i = 0; i < count; ++i) out[i * to] = in[i * from];
    }
}

// Pixels of `channels` elements that lie side by side on both sides; a call for each would cost more than the copy.
template <class T, int channels>
void copy_pixels(T* out, int64_t to, const T* in, int64_t from, int64_t pixels) {
    for (int64_t x = 0; x < pixels; ++x) std::memcpy(out + x * to, in + x * from, channels * sizeof(T));
}

// Packed pixels of three, each written as four: the fourth element is overwritten by the next pixel. That of the last
// one would lie beyond the end, and that of the rightmost one would be read from there.
template <class T>
void copy_threes(T* out, const T* in, int64_t from, int64_t pixels) {
    int64_t x = from == -3 ? reverse_many(out, in, pixels) : 0;
    if (from == -3) x += loops<T>().reversed_pixels(out + 3 * x, in - 3 * x, pixels - x);
    if (from < 0 && x == 0 && pixels > 0) {
        std::memcpy(out, in, 3 * sizeof(T));
        ++x;
    }
    for (; x < pixels - 1; ++x) std::memcpy(out + 3 * x, in + x * from, 4 * sizeof(T));
    for (; x < pixels; ++x) std::memcpy(out + 3 * x, in + x * from, 3 * sizeof(T));
}

template <class T>
void copy_short_runs(T* out, const T* in, const Axes& axes, int axis) {
    const int64_t pixels = axes.extent[axis], to = axes.to[axis], from = axes.from[axis];
    const int64_t channels = axes.extent[axis + 1], to_channel = axes.to[axis + 1], from_channel = axes.from[axis + 1];
    if (to_channel == 1 && from_channel == 1) {
        if (channels == 3 && to == 3 && (from >= 3 || from <= -3)) return copy_threes(out, in, from, pixels);
        if (channels == 2) return copy_pixels<T, 2>(out, to, in, from, pixels);
        if (channels == 3) return copy_pixels<T, 3>(out, to, in, from, pixels);
        if (channels == 4) return copy_pixels<T, 4>(out, to, in, from, pixels);
    } else if (to_channel == 1 && from == 1 && to == channels && channels == 3) {
        return loops<T>().join3(out, in, from_channel, pixels);
    }
    for (int64_t x = 0; x < pixels; ++x) {
        for (int64_t c = 0; c < channels; ++c) out[x * to + c * to_channel] = in[x * from + c * from_channel];
    }
}

// Whether rows become columns: then a row of the result needs a cache line of the source for each pixel.
bool transposes(const Axes& axes, int axis) {
    return std::abs(axes.from[axis]) < std::abs(axes.from[axis + 1]) && axes.extent[axis + 2] <= 4;
}

// Whether rows of packed pixels of three or four bytes become columns, which vectors do eight by eight.
bool turns_pixels(const Axes& axes, int axis) {
    const int64_t step = axes.to[axis + 1];
    return (step == 3 || step == 4) && axes.extent[axis + 2] == step && axes.to[axis + 2] == 1 &&
           axes.from[axis + 2] == 1 && std::abs(axes.from[axis]) == step;
}

void turn_pixels(uint8_t* out, const uint8_t* in, const Axes& axes, int axis) {
    constexpr int64_t side = 64;
    const int64_t rows = axes.extent[axis], columns = axes.extent[axis + 1], step = axes.to[axis + 1];
    int64_t out_row = axes.to[axis];
    const int64_t in_row = axes.from[axis + 1];
    if (axes.from[axis] < 0) {  // from its other end
        in += (rows - 1) * axes.from[axis];
        out += (rows - 1) * out_row;
        out_row = -out_row;
    }
    const TurnLoops& loops = AT_THIS_LEVEL(turn_loops);
    auto* turn = step == 3 ? loops.turn3 : loops.turn4;
    for (int64_t y = 0; y < rows; y += side) {
        for (int64_t x = 0; x < columns; x += side) {
            turn(out + y * out_row + x * step, out_row, in + x * in_row + y * step, in_row, std::min(side, rows - y),
                 std::min(side, columns - x));
        }
    }
}

// Square by square, so that the other pixels of a cache line are used while it is there.
template <class T>
void copy_squares(T* out, const T* in, const Axes& axes, int axis) {
    constexpr int64_t side = 32;
    if constexpr (sizeof(T) == 1) {
        if (turns_pixels(axes, axis)) return turn_pixels(out, in, axes, axis);
    }
    Axes row = axes;
    int64_t& pixels = row.extent[axis + 1];
    for (int64_t y = 0; y < axes.extent[axis]; y += side) {
        const int64_t end = std::min(y + side, axes.extent[axis]);
        for (int64_t x = 0; x < axes.extent[axis + 1]; x += side) {
            pixels = std::min(side, axes.extent[axis + 1] - x);
            const int64_t to = x * axes.to[axis + 1], from = x * axes.from[axis + 1];
            for (int64_t i = y; i < end; ++i)
                copy_short_runs(out + i * axes.to[axis] + to, in + i * axes.from[axis] + from, row, axis + 1);
        }
    }
}

// Whether channels side by side are to become planes of packed rows.
bool splits(const Axes& axes, int axis) {
    const int last = axes.count - 1;
    return axes.extent[axis] >= 2 && axes.extent[axis] <= 4 && axes.from[axis] == 1 && axes.to[last] == 1;
}

template <class T>
void split_row(T* out, int64_t plane, const T* in, int64_t from, int64_t pixels, int64_t channels) {
    if (from == 3 && channels == 3) return loops<T>().split3(out, plane, in, pixels);
    if (from == 4 && channels == 4) return loops<T>().split4(out, plane, in, pixels);
    if (channels == 3) {
        for (int64_t x = 0; x < pixels; ++x) {
            for (int c = 0; c < 3; ++c) out[c * plane + x] = in[x * from + c];
        }
        return;
    }
    for (int64_t c = 0; c < channels; ++c) copy_run(out + c * plane, int64_t{1}, in + c, from, pixels);
}

template <class T>
void copy_axes(T* out, const T* in, const Axes& axes, int axis) {
    const int left = axes.count - axis;
    if (left == 1) return copy_run(out, axes.to[axis], in, axes.from[axis], axes.extent[axis]);
    const int64_t extent = axes.extent[axis], to = axes.to[axis], from = axes.from[axis];
    if (left == 2 && splits(axes, axis))
        return split_row(out, to, in, axes.from[axis + 1], axes.extent[axis + 1], extent);
    if (left == 3 && splits(axes, axis)) {
        for (int64_t y = 0; y < axes.extent[axis + 1]; ++y) {
            split_row(out + y * axes.to[axis + 1], to, in + y * axes.from[axis + 1], axes.from[axis + 2],
                      axes.extent[axis + 2], extent);
        }
        return;
    }
    if (left == 3 && transposes(axes, axis)) return copy_squares(out, in, axes, axis);
    if (left == 2 && axes.extent[axis + 1] <= 16) return copy_short_runs(out, in, axes, axis);
    for (int64_t i = 0; i < extent; ++i) copy_axes(out + i * to, in + i * from, axes, axis + 1);
}

template <class T>
void copy_typed(const Value& out, const Value& in) {
    const Axes axes = axes_of(out, in);
    if (axes.count == 0)
        *out.as<T>() = *in.as<T>();
    else
        copy_axes(out.as<T>(), in.as<T>(), axes, 0);
}

template <class T>
void weave_typed(const Value& out, std::span<const Value> parts) {
    const T* in[4];
    for (size_t k = 0; k < parts.size(); ++k) in[k] = parts[k].as<const T>();
    const CopyLoops<T>& row = loops<T>();
    (parts.size() == 2   ? row.weave2
     : parts.size() == 3 ? row.weave3
                         : row.weave4)(out.as<T>(), in, parts[0].elements());
}

}  // namespace

bool weave_elements(const Value& out, std::span<const Value> parts) {
    if (parts.size() < 2 || parts.size() > 4) return false;
    for (const Value& part : parts) {
        if (!part.contiguous() || part.shape[part.ndim - 1] != 1) return false;
    }
    switch (size_of(out.dtype)) {
        case 1: weave_typed<uint8_t>(out, parts); break;
        case 2: weave_typed<uint16_t>(out, parts); break;
        case 4: weave_typed<uint32_t>(out, parts); break;
        default: weave_typed<uint64_t>(out, parts);
    }
    return true;
}

void reverse_pixels(uint8_t* out, const uint8_t* in, int64_t pixels) { copy_threes(out, in, -3, pixels); }

void copy_elements(const Value& out, const Value& in) {
    const int64_t count = in.elements();
    if (count == 0) return;
    const int64_t size = size_of(in.dtype);
    if (in.contiguous() && out.contiguous()) {
        std::memcpy(out.data, in.data, static_cast<size_t>(count * size));
        return;
    }
    switch (size) {
        case 1: return copy_typed<uint8_t>(out, in);
        case 2: return copy_typed<uint16_t>(out, in);
        case 4: return copy_typed<uint32_t>(out, in);
        default: return copy_typed<uint64_t>(out, in);
    }
}

}  // namespace pixelmill

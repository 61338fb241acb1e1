#include "convolve.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>
#include <type_traits>

#include "convert.h"
#include "simd.h"

namespace pixelmill {

#define KERNELS "convolve.inl"
#include "both_levels.inl"

const Convolution& convolution() { return AT_THIS_LEVEL(convolution); }

int64_t border_index(int64_t i, int64_t extent, Border border) {
    if (i >= 0 && i < extent) return i;
    const auto remainder = [](int64_t a, int64_t b) { return (a % b + b) % b; };
    switch (border) {
        case Border::constant: return -1;
        case Border::clamp: return i < 0 ? 0 : extent - 1;
        case Border::wrap: return remainder(i, extent);
        case Border::reflect_1001: {
            const int64_t at = remainder(i, 2 * extent);
            return at < extent ? at : 2 * extent - 1 - at;
        }
        case Border::reflect_101: break;
    }
    if (extent == 1) return 0;
    const int64_t period = 2 * extent - 2, at = remainder(i, period);
    return at < extent ? at : period - at;
}

namespace {

// Repeats pixels of a line beyond its ends: `line` points to its first pixel, with space for `before` and `after`.
template <class T>
void extend_line(T* line, int64_t width, int64_t channels, int64_t before, int64_t after, Border border, T fill) {
    const auto put = [&](int64_t x) {
        const int64_t from = border_index(x, width, border);
        for (int64_t c = 0; c < channels; ++c) line[x * channels + c] = from < 0 ? fill : line[from * channels + c];
    };
    for (int64_t x = -before; x < 0; ++x) put(x);
    for (int64_t x = width; x < width + after; ++x) put(x);
}

// Two output rows at a time: they share most of what they read.
class PlaneConvolver {
   public:
    PlaneConvolver(int64_t width, int64_t channels, const Taps& vertical, const Taps& horizontal, Arena& arena)
        : vertical_(vertical),
          horizontal_(horizontal),
          rows_(arena.take<const float*>(static_cast<size_t>(vertical.count + 1))) {
        for (float*& line : lines_) {
            line = arena.take<float>(static_cast<size_t>((width + horizontal.count) * channels)) +
                   horizontal.before * channels;
        }
    }

    void run(const Plane& out, const Plane& in, bool add) const {
        const int64_t length = in.width * in.channels, margin = horizontal_.before * in.channels;
        const Window2d down{rows_, vertical_.weights, vertical_.count, 1, 0};
        const float* starts[2] = {lines_[0] - margin, lines_[1] - margin};
        const Window2d along{starts, horizontal_.weights, 1, horizontal_.count, in.channels};
        for (int64_t y = 0; y < in.height; y += 2) {
            const int count = y + 1 < in.height ? 2 : 1;
            for (int k = 0; k <= vertical_.count; ++k) {
                rows_[k] = in.data + border_index(y - vertical_.before + k, in.height, Border::reflect_101) * in.row;
            }
            kernels_.correlate(lines_, count, down, length, false);
            for (int i = 0; i < count; ++i) {
                const int64_t after = horizontal_.count - 1 - horizontal_.before;
                extend_line(lines_[i], in.width, in.channels, horizontal_.before, after, Border::reflect_101, 0.0f);
            }
            float* const to[2] = {out.data + y * out.row, out.data + (y + 1) * out.row};
            kernels_.correlate(to, count, along, length, add);
        }
    }

   private:
    const Convolution& kernels_ = convolution();
    const Taps &vertical_, &horizontal_;
    const float** rows_;
    float* lines_[2];
};

// The taps in parts of 2^14, the middle first, and a zero after the last; what rounding loses goes to the middle.
int16_t* fixed_weights(const Taps& taps, Arena& arena) {
    const int reach = taps.count / 2;
    auto* weights = arena.take<int16_t>(static_cast<size_t>(reach + 2));
    weights[reach + 1] = 0;
    int sum = 0;
    for (int k = 1; k <= reach; ++k) {
        weights[k] = static_cast<int16_t>(std::lround(taps.weights[reach + k] * 16384));
        sum += 2 * weights[k];
    }
    weights[0] = static_cast<int16_t>(16384 - sum);
    return weights;
}

}  // namespace

void convolve(const Volume& out, const Volume& in, const Taps (&taps)[3], bool add, Arena& arena) {
    const PlaneConvolver planes(in.width, in.channels, taps[1], taps[2], arena);
    const bool flat = taps[0].count == 1 && taps[0].weights[0] == 1.0f;
    const int64_t size = in.height * in.width * in.channels;
    auto* between = flat ? nullptr : arena.take<float>(static_cast<size_t>(size));
    const auto** slices = arena.take<const float*>(static_cast<size_t>(taps[0].count));
    for (int64_t z = 0; z < in.depth; ++z) {
        Plane source = in.slice(z);
        if (!flat) {
            for (int k = 0; k < taps[0].count; ++k) {
                slices[k] = in.slice(border_index(z - taps[0].before + k, in.depth, Border::reflect_101)).data;
            }
            convolution().correlate(&between, 1, {slices, taps[0].weights, taps[0].count, 1, 0}, size, false);
            source.data = between;
        }
        planes.run(out.slice(z), source, add);
    }
}

void blur_bytes(View<uint8_t> out, View<const uint8_t> in, const Taps& vertical, const Taps& horizontal, Arena& arena) {
    const Convolution& kernels = convolution();
    const int above = vertical.count / 2, aside = horizontal.count / 2;
    const int64_t length = in.width * in.channels, margin = aside * in.channels;
    const int16_t *down = fixed_weights(vertical, arena), *along = fixed_weights(horizontal, arena);
    auto* line = arena.take<int16_t>(static_cast<size_t>(length + 2 * margin)) + margin;
    const auto** rows = arena.take<const uint8_t*>(static_cast<size_t>(vertical.count));
    for (int64_t y = 0; y < in.height; ++y) {
        for (int k = -above; k <= above; ++k)
            rows[above + k] = in.at(border_index(y + k, in.height, Border::reflect_101), 0);
        kernels.blur_rows(line, rows, down, above, length);
        extend_line<int16_t>(line, in.width, in.channels, aside, aside, Border::reflect_101, 0);
        kernels.blur_line(out.at(y, 0), line - margin, along, aside, in.channels, length);
    }
}

namespace {

// Source rows with their margins, kept in turn: the row above those needed makes place for the next. They are floats,
// or bytes with seven more bits.
template <class T>
class SourceRows {
   public:
    SourceRows(const Raster& in, const Filter2d& filter, Arena& arena)
        : in_(in),
          filter_(filter),
          before_(filter.valid ? 0 : filter.anchor_x),
          after_(filter.valid ? 0 : filter.width - 1 - filter.anchor_x),
          stride_((in.width + before_ + after_) * in.channels),
          fill_(std::is_same_v<T, float> ? static_cast<T>(filter.fill) : static_cast<T>(filter.fill * 128)),
          memory_(arena.take<T>(static_cast<size_t>((filter.height + 1) * stride_))) {}

    // The row `y` of the source, or what stands for it beyond the edges; the margin comes first.
    T* place(int64_t y) const {
        const int64_t rows = filter_.height + 1;
        return memory_ + (y % rows + rows) % rows * stride_;
    }

    void load(int64_t y) const {
        const int64_t from = border_index(y, in_.height, filter_.border);
        if (from < 0) {
            std::fill_n(place(y), stride_, fill_);
            return;
        }
        T* line = place(y) + before_ * in_.channels;
        if (in_.dtype != DType::f32) fetch(from + 2);
        convert_row(line, from);
        extend_line(line, in_.width, in_.channels, before_, after_, filter_.border, fill_);
    }

   private:
    // Rows that are read soon: each is too short for what processors foresee.
    void fetch([[maybe_unused]] int64_t y) const {
#if defined(__GNUC__)
        if (y >= in_.height) return;
        const int64_t bytes = in_.width * in_.channels * size_of(in_.dtype);
        for (int64_t i = 0; i < bytes; i += 64) __builtin_prefetch(in_.at(y, 0) + i);
#endif
    }

    void convert_row(T* line, int64_t y) const {
        const int64_t count = in_.width * in_.channels;
        const auto* bytes = reinterpret_cast<const uint8_t*>(in_.at(y, 0));
        if constexpr (std::is_same_v<T, int16_t>) {
            convolution().widen_bytes(line, bytes, count);
        } else if (in_.dtype == DType::u8) {
            convolution().load_bytes(line, bytes, count);
        } else if (in_.dtype == DType::f32) {
            std::memcpy(line, bytes, static_cast<size_t>(count) * sizeof(float));
        } else {
            with_type(in_.dtype, [&](auto zero) {
                const auto* source = reinterpret_cast<const decltype(zero)*>(in_.at(y, 0));
                for (int64_t i = 0; i < count; ++i) line[i] = convert<float>(source[i]);
            });
        }
    }

    const Raster& in_;
    const Filter2d& filter_;
    int64_t before_, after_, stride_;
    T fill_;
    T* memory_;
};

void store_row(const Raster& out, int64_t y, const float* in) {
    const int64_t length = out.width * out.channels;
    if (out.dtype == DType::u8) return convolution().store_bytes(reinterpret_cast<uint8_t*>(out.at(y, 0)), in, length);
    with_type(out.dtype, [&](auto zero) {
        using T = decltype(zero);
        auto* to = reinterpret_cast<T*>(out.at(y, 0));
        for (int64_t i = 0; i < length; ++i) to[i] = convert<T>(in[i]);
    });
}

struct Place {
    int64_t row, column;
};

// The weights of a filter that are not zero, and where they are: lines and disks have many zeros.
template <class T>
struct SparseTaps {
    T* weights;
    Place* places;
    int64_t count = 0;

    SparseTaps(int64_t size, Arena& arena)
        : weights(arena.take<T>(static_cast<size_t>(size))), places(arena.take<Place>(static_cast<size_t>(size))) {}
    void add(T weight, Place place) {
        weights[count] = weight;
        places[count++] = place;
    }
};

SparseTaps<float> sparse_taps(const Filter2d& filter, Arena& arena) {
    const int64_t size = filter.height * filter.width;
    SparseTaps<float> taps(size, arena);
    for (int64_t i = 0; i < size; ++i) {
        if (filter.weights[i] != 0) taps.add(filter.weights[i], {i / filter.width, i % filter.width});
    }
    return taps;
}

// Bytes to bytes or floats to floats: sums never leave the registers.
template <class Out, class T>
void filter_sparse(const Raster& out, const Raster& in, const Filter2d& filter, const SparseTaps<T>& taps,
                   void (*correlate)(Out*, const T* const*, const T*, int64_t, int64_t), Arena& arena) {
    const SourceRows<T> source(in, filter, arena);
    const int64_t length = out.width * out.channels, above = filter.valid ? 0 : filter.anchor_y;
    const auto** from = arena.take<const T*>(static_cast<size_t>(taps.count));
    const auto** rows = arena.take<const T*>(static_cast<size_t>(filter.height));
    for (int64_t y = -above; y < filter.height - 1 - above; ++y) source.load(y);
    for (int64_t y = 0; y < out.height; ++y) {
        source.load(y - above + filter.height - 1);
        for (int64_t k = 0; k < filter.height; ++k) rows[k] = source.place(y - above + k);
        for (int64_t k = 0; k < taps.count; ++k)
            from[k] = rows[taps.places[k].row] + taps.places[k].column * in.channels;
        correlate(reinterpret_cast<Out*>(out.at(y, 0)), from, taps.weights, taps.count, length);
    }
}

// Weights of a mean, in parts of 2^15, if they are few enough for products that are rounded to 16 bits. What rounding
// loses goes to the largest, so that an even area stays as it is.
std::optional<SparseTaps<int16_t>> mean_taps(const Filter2d& filter, Arena& arena) {
    constexpr int most = 32;
    constexpr double unit = 1 << 15;
    const int64_t size = filter.height * filter.width;
    const bool whole = filter.fill >= 0 && filter.fill <= 255 && filter.fill == std::floor(filter.fill);
    if (!whole) return std::nullopt;
    double sum = 0;
    int64_t count = 0;
    for (int64_t i = 0; i < size; ++i) {
        const float weight = filter.weights[i];
        if (!(weight >= 0 && weight < 0.99f)) return std::nullopt;
        sum += weight;
        count += weight != 0;
    }
    if (count > most || std::abs(sum - 1) > 1e-5) return std::nullopt;
    SparseTaps<int16_t> taps(count, arena);
    int64_t largest = 0;
    int rest = 1 << 15;
    for (int64_t i = 0; i < size; ++i) {
        if (filter.weights[i] == 0) continue;
        taps.add(static_cast<int16_t>(std::lround(filter.weights[i] * unit)), {i / filter.width, i % filter.width});
        rest -= taps.weights[taps.count - 1];
        if (taps.weights[taps.count - 1] > taps.weights[largest]) largest = taps.count - 1;
    }
    taps.weights[largest] = static_cast<int16_t>(taps.weights[largest] + rest);
    return taps;
}

void filter_bytes(const Raster& out, const Raster& in, const Filter2d& filter, Arena& arena) {
    if (const auto taps = mean_taps(filter, arena))
        return filter_sparse(out, in, filter, *taps, convolution().correlate_words, arena);
    filter_sparse(out, in, filter, sparse_taps(filter, arena), convolution().correlate_bytes, arena);
}

}  // namespace

void filter(const Raster& out, const Raster& in, const Filter2d& filter, Arena& arena) {
    if (in.dtype == DType::u8 && out.dtype == DType::u8) return filter_bytes(out, in, filter, arena);
    if (filter.sparse && in.dtype == DType::f32 && out.dtype == DType::f32)
        return filter_sparse(out, in, filter, sparse_taps(filter, arena), convolution().correlate_taps, arena);
    const SourceRows<float> source(in, filter, arena);
    const int64_t length = out.width * out.channels, above = filter.valid ? 0 : filter.anchor_y;
    float* lines[2] = {arena.take<float>(static_cast<size_t>(length)), arena.take<float>(static_cast<size_t>(length))};
    const auto** rows = arena.take<const float*>(static_cast<size_t>(filter.height + 1));
    const Window2d window{rows, filter.weights, filter.height, filter.width, in.channels};
    for (int64_t y = -above; y < filter.height - 1 - above; ++y) source.load(y);
    for (int64_t y = 0; y < out.height; y += 2) {
        const int count = y + 1 < out.height ? 2 : 1;
        for (int i = 0; i < count; ++i) source.load(y + i - above + filter.height - 1);
        for (int64_t k = 0; k <= filter.height; ++k) rows[k] = source.place(y - above + k);
        float* results[2] = {lines[0], lines[1]};
        for (int i = 0; i < count && out.dtype == DType::f32; ++i)
            results[i] = reinterpret_cast<float*>(out.at(y + i, 0));
        convolution().correlate(results, count, window, length, false);
        for (int i = 0; i < count && out.dtype != DType::f32; ++i) store_row(out, y + i, lines[i]);
    }
}

}  // namespace pixelmill

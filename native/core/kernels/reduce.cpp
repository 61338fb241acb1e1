#include "reduce.h"

#include <algorithm>
#include <limits>

#include "convert.h"
#include "simd.h"

namespace pixelmill {

namespace {

template <class T>
auto widened(T x) {
    if constexpr (std::is_same_v<T, Half>)
        return to_float(x);
    else if constexpr (std::is_same_v<T, bool>)
        return static_cast<uint8_t>(x);
    else
        return x;
}

// How one element is taken into a short-lived block accumulator, and that into the long-lived total. Blocks of short
// integers are 32 bits wide, and so are given up before they can overflow.
constexpr int64_t block_rows = 1 << 15;

// Elements that are taken at a time: a multiple of every usual number of channels.
constexpr int lanes = 48;
constexpr int64_t longest_short = 64;  // as many elements for one result are added up one by one

template <class T>
struct SumRule {
    using Element = T;
    static constexpr bool real = std::is_floating_point_v<T> || std::is_same_v<T, Half>, centered = false;
    using Whole = std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>;
    using Short = std::conditional_t<std::is_signed_v<T>, int32_t, uint32_t>;
    using Total = std::conditional_t<real, double, Whole>;
    using Block = std::conditional_t<real, double, std::conditional_t<sizeof(T) <= 2, Short, Whole>>;
    static constexpr Block block_start() { return 0; }
    static constexpr Total start() { return 0; }
    template <class X>
    static void take(Block& block, X x, double) {
        if constexpr (real)
            block += x;
        else
            block = static_cast<Block>(static_cast<std::make_unsigned_t<Block>>(block) +
                                       static_cast<std::make_unsigned_t<Block>>(x));
    }
    static void merge(Total& total, Block block) {
        if constexpr (real)
            total += block;
        else
            total = static_cast<Total>(static_cast<uint64_t>(total) + static_cast<uint64_t>(static_cast<Total>(block)));
    }
};

template <class T>
struct SquareRule {
    using Element = T;
    static constexpr bool exact = sizeof(T) <= 2 && !std::is_same_v<T, Half>, centered = false;
    using Total = std::conditional_t<exact, uint64_t, double>;
    using Block = std::conditional_t<exact && sizeof(T) == 1, uint32_t, Total>;
    static constexpr Block block_start() { return 0; }
    static constexpr Total start() { return 0; }
    template <class X>
    static void take(Block& block, X x, double) {
        if constexpr (exact) {
            const auto wide = static_cast<int64_t>(x);
            block += static_cast<Block>(wide * wide);
        } else {
            block += static_cast<double>(x) * static_cast<double>(x);
        }
    }
    static void merge(Total& total, Block block) { total += block; }
};

template <class T>
struct DeviationRule {
    using Element = T;
    static constexpr bool centered = true;
    using Total = double;
    using Block = double;
    static constexpr Block block_start() { return 0; }
    static constexpr Total start() { return 0; }
    template <class X>
    static void take(Block& block, X x, double mean) {
        const double apart = static_cast<double>(x) - mean;
        block += apart * apart;
    }
    static void merge(Total& total, Block block) { total += block; }
};

// Halves are compared as floats.
template <class T, bool least>
struct ExtremeRule {
    using Element = T;
    static constexpr bool centered = false;
    using Total = decltype(widened(T{}));
    using Block = Total;
    static constexpr Block block_start() {
        return least ? std::numeric_limits<Block>::max() : std::numeric_limits<Block>::lowest();
    }
    static constexpr Total start() { return block_start(); }
    static void take(Block& block, Block x, double) {
        if constexpr (least)
            block = x < block ? x : block;
        else
            block = x > block ? x : block;
    }
    static void merge(Total& total, Block block) { take(total, block, 0); }
};

}  // namespace

#define KERNELS "reduce.inl"
#include "both_levels.inl"

namespace {

template <class Rule>
void take_rows(typename Rule::Block* block, const typename Rule::Element* x, int64_t rows, const double* mean) {
#if PIXELMILL_AVX2
    using T = typename Rule::Element;
    if constexpr (std::is_same_v<T, uint8_t> || std::is_same_v<T, float>) {  // the types of images
        if (simd_level() == SimdLevel::avx2) return avx2::take_rows<Rule>(block, x, rows, mean);
    }
#endif
    base::take_rows<Rule>(block, x, rows, mean);
}

// Rows of `columns` packed elements, several of them at a time. Returns the number of rows that were taken.
template <class Rule>
[[gnu::noinline]] int64_t reduce_packed(typename Rule::Total* out, const typename Rule::Element* x, int64_t rows,
                                        int64_t columns, const double* mean) {
    const int64_t together = lanes / columns, wide = rows / together;
    double means[lanes];
    for (int i = 0; i < lanes; ++i) means[i] = Rule::centered ? mean[i % columns] : 0;
    typename Rule::Block block[lanes];
    for (int64_t done = 0; done < wide; done += block_rows) {
        take_rows<Rule>(block, x + done * lanes, std::min(block_rows, wide - done), means);
        for (int i = 0; i < lanes; ++i) Rule::merge(out[i % columns], block[i]);
    }
    return wide * together;
}

template <class Rule>
void reduce_rows(typename Rule::Total* out, const typename Rule::Element* x, int64_t rows, int64_t row_stride,
                 int64_t columns, int64_t stride, const double* mean) {
    int64_t row = 0;
    if (stride == 1 && row_stride == columns && lanes % columns == 0)
        row = reduce_packed<Rule>(out, x, rows, columns, mean);
    for (; row < rows; ++row) {
        const auto* line = x + row * row_stride;
        for (int64_t i = 0; i < columns; ++i) {
            auto block = Rule::block_start();
            Rule::take(block, widened(line[i * stride]), Rule::centered ? mean[i] : 0.0);
            Rule::merge(out[i], block);
        }
    }
}

// A few elements for each result, such as the channels of pixels. Their number is known to the compiler, or 0.
template <class Rule, int known>
void reduce_each(typename Rule::Total* out, const typename Rule::Element* x, int64_t results, int64_t step,
                 int64_t count, int64_t stride, const double* mean) {
    const int64_t length = known > 0 ? known : count;
    for (int64_t i = 0; i < results; ++i, x += step) {
        auto block = Rule::block_start();
        for (int64_t j = 0; j < length; ++j) Rule::take(block, widened(x[j * stride]), Rule::centered ? mean[i] : 0.0);
        Rule::merge(out[i], block);
    }
}

template <class Rule>
void reduce_short(typename Rule::Total* out, const typename Rule::Element* x, int64_t results, int64_t step,
                  int64_t count, int64_t stride, const double* mean) {
    if (count == 3 && stride == 1 && step == 3) return reduce_each<Rule, 3>(out, x, results, 3, 3, 1, mean);
    if (count == 4 && stride == 1 && step == 4) return reduce_each<Rule, 4>(out, x, results, 4, 4, 1, mean);
    reduce_each<Rule, 0>(out, x, results, step, count, stride, mean);
}

// Axes that lie together and are treated alike have become one.
struct Axes {
    int count = 0;
    Extents extent{}, stride{};
    std::array<bool, max_dims> reduced{};
};

Axes collapsed(const Value& in, const std::array<bool, max_dims>& reduced) {
    Axes axes;
    for (int d = 0; d < in.ndim; ++d) {
        if (in.shape[d] == 1) continue;
        const int before = axes.count - 1;
        if (before >= 0 && axes.reduced[before] == reduced[d] && axes.stride[before] == in.stride[d] * in.shape[d]) {
            axes.extent[before] *= in.shape[d];
            axes.stride[before] = in.stride[d];
            continue;
        }
        axes.extent[axes.count] = in.shape[d];
        axes.stride[axes.count] = in.stride[d];
        axes.reduced[axes.count++] = reduced[d];
    }
    return axes;
}

template <class Rule>
void reduce_axes(const Axes& axes, int axis, typename Rule::Total* out, const typename Rule::Element* x,
                 const double* mean) {
    // At most one axis that is reduced and one after it that is kept: rows and columns.
    const int left = axes.count - axis, last = axes.count - 1;
    const bool ends_reduced = left > 0 && axes.reduced[last];
    if (left <= 1 || (left == 2 && axes.reduced[axis] && !ends_reduced)) {
        const bool has_rows = left == 2 || ends_reduced, has_columns = left > 0 && !ends_reduced;
        return reduce_rows<Rule>(out, x, has_rows ? axes.extent[axis] : 1, has_rows ? axes.stride[axis] : 0,
                                 has_columns ? axes.extent[last] : 1, has_columns ? axes.stride[last] : 1, mean);
    }
    if (left == 2 && ends_reduced && axes.extent[last] <= longest_short) {
        return reduce_short<Rule>(out, x, axes.extent[axis], axes.stride[axis], axes.extent[last], axes.stride[last],
                                  mean);
    }
    int64_t kept = 0;  // elements of the result that one step along this axis passes
    if (!axes.reduced[axis]) {
        kept = 1;
        for (int a = axis + 1; a < axes.count; ++a) kept *= axes.reduced[a] ? 1 : axes.extent[a];
    }
    for (int64_t i = 0; i < axes.extent[axis]; ++i) {
        reduce_axes<Rule>(axes, axis + 1, out + i * kept, x + i * axes.stride[axis],
                          Rule::centered ? mean + i * kept : nullptr);
    }
}

template <class Rule>
[[gnu::noinline]] void reduce_by(std::byte* out, const Value& in, const std::array<bool, max_dims>& reduced,
                                 const double* mean) {
    using Total = typename Rule::Total;
    int64_t kept = 1;
    for (int d = 0; d < in.ndim; ++d) kept *= reduced[d] ? 1 : in.shape[d];
    auto* totals = reinterpret_cast<Total*>(out);
    std::fill_n(totals, kept, Rule::start());
    if (in.elements() > 0) reduce_axes<Rule>(collapsed(in, reduced), 0, totals, in.as<typename Rule::Element>(), mean);
}

}  // namespace

DType reduced_type(Reduction reduction, DType dtype) {
    const bool real = dtype == DType::f16 || dtype == DType::f32 || dtype == DType::f64;
    switch (reduction) {
        case Reduction::sum:
            return real ? DType::f64 : dtype >= DType::i8 && dtype <= DType::i64 ? DType::i64 : DType::u64;
        case Reduction::sum_of_squares: return real || size_of(dtype) > 2 ? DType::f64 : DType::u64;
        case Reduction::deviations: return DType::f64;
        default: return dtype == DType::f16 ? DType::f32 : dtype;
    }
}

void reduce(std::byte* out, const Value& in, const std::array<bool, max_dims>& reduced, Reduction reduction,
            const double* mean) {
    with_type(in.dtype, [&](auto zero) {
        using T = decltype(zero);
        switch (reduction) {
            case Reduction::sum: return reduce_by<SumRule<T>>(out, in, reduced, mean);
            case Reduction::sum_of_squares: return reduce_by<SquareRule<T>>(out, in, reduced, mean);
            case Reduction::deviations: return reduce_by<DeviationRule<T>>(out, in, reduced, mean);
            case Reduction::min: return reduce_by<ExtremeRule<T, true>>(out, in, reduced, mean);
            case Reduction::max: return reduce_by<ExtremeRule<T, false>>(out, in, reduced, mean);
        }
    });
}

}  // namespace pixelmill

// Filters that are a product of one for each axis of space: Gaussian blur and Laplacian.
#include <cmath>

#include "../kernels/convert.h"
#include "declared/pixels.h"
#include "filtered_axes.h"
#include "strided_access.h"

namespace pixelmill {

namespace {

Taps no_taps(Arena& arena) {
    auto* one = arena.take<float>(1);
    *one = 1;
    return {one, 1, 0};
}

Value as_floats(Context& context, const Value& x) {
    if (x.dtype == DType::f32 && x.contiguous()) return x;
    const Value floats = context.scratch(DType::f32, shape_of(x));
    if (x.dtype == DType::u8) {
        convolution().load_bytes(floats.as<float>(), packed(context, x).as<uint8_t>(), x.elements());
    } else {
        convert_elements(floats, x);
    }
    return floats;
}

// Writes output 0: the sum of several filters, in single precision.
Value filtered(Context& context, const Value& x, const FilteredAxes& axes, DType dtype,
               std::span<const Taps[3]> terms) {
    const Value out = context.allocate(0, dtype, shape_of(x)), source = as_floats(context, x);
    const Value sums = dtype == DType::f32 ? out : context.scratch(DType::f32, shape_of(x));
    for (int64_t i = 0; i < axes.images; ++i) {
        bool add = false;
        for (const auto& taps : terms) {
            convolve(axes.volume(sums, i), axes.volume(source, i), taps, add, context.thread.arena);
            add = true;
        }
    }
    if (dtype == DType::u8) {
        convolution().store_bytes(out.as<uint8_t>(), sums.as<float>(), out.elements());
    } else if (dtype != DType::f32) {
        convert_elements(out, sums);
    }
    return out;
}

class GaussianBlur : public Step {
   public:
    explicit GaussianBlur(const GaussianBlurParams& params) : layout_(params.layout), dtype_(params.dtype) {}

    void run(Context& context, std::span<const Value> values, std::span<Value> out) const override {
        const GaussianBlurInputs in(values);
        const Value& x = in.image;
        const FilteredAxes axes(x, layout_, "gaussian_blur");
        const DType dtype = dtype_.value_or(x.dtype);
        if (dtype != x.dtype && dtype != DType::f32) {
            throw Fault(FaultKind::argument, "gaussian_blur: dtype must be FLOAT or that of the input, " + describe(x));
        }
        Taps taps[1][3];
        for (int axis = 0; axis < 3; ++axis) {
            const int number = axis - (3 - axes.count);
            taps[0][axis] = number < 0 ? no_taps(context.thread.arena)
                                       : window(in.sigma, in.window_size, number, axes.count, context.thread.arena);
        }
        if (x.elements() == 0) {
            out[0] = context.allocate(0, dtype, shape_of(x));
            return;
        }
        const bool narrow = taps[0][1].count <= most_byte_taps && taps[0][2].count <= most_byte_taps;
        const bool bytes = x.dtype == DType::u8 && dtype == DType::u8 && axes.count <= 2 && narrow;
        out[0] = bytes ? blurred(context, x, axes, taps[0]) : filtered(context, x, axes, dtype, taps);
    }

   private:
    static Taps window(const Value& sigmas, const Value& sizes, int axis, int axes, Arena& arena) {
        double sigma = number_of_axis(sigmas, axis, axes, "gaussian_blur: sigma");
        double size = number_of_axis(sizes, axis, axes, "gaussian_blur: window_size");
        if (!(sigma >= 0) || size < 0 || (sigma == 0 && size == 0)) {
            throw Fault(FaultKind::argument, "gaussian_blur: sigma or window_size must be above 0, got " +
                                                 std::to_string(sigma) + " and " +
                                                 std::to_string(static_cast<int64_t>(size)));
        }
        if (size == 0) size = 2 * std::ceil(3 * static_cast<float>(sigma)) + 1;
        if (sigma == 0) sigma = 0.3 * ((size - 1) / 2 - 1) + 0.8;
        if (size > 65535 || std::fmod(size, 2) != 1) {
            throw Fault(FaultKind::argument, "gaussian_blur: window_size must be odd and at most 65535, got " +
                                                 std::to_string(static_cast<int64_t>(size)));
        }
        return bell(sigma, static_cast<int>(size), arena);
    }

    static Taps bell(double sigma, int size, Arena& arena) {
        auto* weights = arena.take<float>(static_cast<size_t>(size));
        const int reach = size / 2;
        double sum = 0;
        for (int i = -reach; i <= reach; ++i) sum += std::exp(-i * double(i) / (2 * sigma * sigma));
        for (int i = -reach; i <= reach; ++i) {
            weights[reach + i] = static_cast<float>(std::exp(-i * double(i) / (2 * sigma * sigma)) / sum);
        }
        return {weights, size, reach};
    }

    static Value blurred(Context& context, const Value& x, const FilteredAxes& axes, const Taps (&taps)[3]) {
        const Value out = context.allocate(0, DType::u8, shape_of(x));
        const Value source = axes.rows_packed(x) ? x : packed(context, x);
        for (int64_t i = 0; i < axes.images; ++i) {
            const Raster to = axes.raster(out, i), from = axes.raster(source, i);
            const auto view = [](const Raster& r) {
                return View<uint8_t>{
                    reinterpret_cast<uint8_t*>(r.data), r.height, r.width, r.channels, r.row, r.pixel, 1};
            };
            blur_bytes(view(to), view(from), taps[1], taps[2], context.thread.arena);
        }
        return out;
    }

    std::string layout_;
    std::optional<DType> dtype_;
};

constexpr int64_t largest_window = 23;

// The sum of the second derivatives along all axes.
class Laplacian : public Step {
   public:
    explicit Laplacian(const LaplacianParams& params)
        : layout_(params.layout), dtype_(params.dtype), normalized_(params.normalized) {}

    void run(Context& context, std::span<const Value> values, std::span<Value> out) const override {
        const LaplacianInputs in(values);
        const Value& x = in.image;
        const FilteredAxes axes(x, layout_, "laplacian");
        const DType dtype = dtype_.value_or(x.dtype);
        if (x.dtype == DType::f64 || x.dtype == DType::boolean) {
            throw Fault(FaultKind::argument,
                        "laplacian: elements of type " + std::string(name_of(x.dtype)) + " are not supported");
        }
        Taps terms[3][3];
        for (int along = 0; along < axes.count; ++along)
            partial(terms[along], in, along, axes.count, context.thread.arena);
        if (x.elements() == 0) {
            out[0] = context.allocate(0, dtype, shape_of(x));
            return;
        }
        Filter2d joined;
        if (axes.count == 2 && joins(joined, terms, x.dtype, dtype, context.thread.arena)) {
            out[0] = context.allocate(0, dtype, shape_of(x));
            const Value source = axes.rows_packed(x) ? x : packed(context, x);
            for (int64_t i = 0; i < axes.images; ++i)
                filter(axes.raster(out[0], i), axes.raster(source, i), joined, context.thread.arena);
            return;
        }
        out[0] = filtered(context, x, axes, dtype, {terms, static_cast<size_t>(axes.count)});
    }

   private:
    // The filters along both axes as one of two dimensions, most of whose weights are zero if it is small. Only for
    // bytes whose sums are all whole numbers that floats hold exactly, whatever the order, and for floats where the
    // window is the smallest.
    static bool joins(Filter2d& joined, const Taps (&terms)[3][3], DType from, DType to, Arena& arena) {
        const bool bytes = from == DType::u8 && (to == DType::u8 || to == DType::f32);
        const bool floats = from == DType::f32 && to == DType::f32;
        const int64_t height = std::max(terms[0][1].count, terms[1][1].count);
        const int64_t width = std::max(terms[0][2].count, terms[1][2].count);
        const int64_t largest = bytes ? 5 : floats ? 3 : 0;
        if (height > largest || width > largest) return false;
        auto* weights = arena.take<float>(static_cast<size_t>(height * width));
        std::fill_n(weights, height * width, 0.0f);
        for (int t = 0; t < 2; ++t) {
            const Taps &down = terms[t][1], &along = terms[t][2];
            for (int64_t i = 0; i < int64_t{down.count} * along.count; ++i) {
                const int64_t y = i / along.count, x = i % along.count;
                const float weight = down.weights[y] * along.weights[x];
                if (bytes && (weight != std::floor(weight) || std::abs(weight) > 1024)) return false;
                weights[(height / 2 - down.before + y) * width + width / 2 - along.before + x] += weight;
            }
        }
        joined = {weights, height, width, height / 2, width / 2};
        joined.sparse = true;
        return true;
    }

    // The derivative along one axis, smoothed along the others.
    void partial(Taps (&taps)[3], const LaplacianInputs& in, int along, int axes, Arena& arena) const {
        const int64_t size = window(in.window_size, along, axes, 3, "laplacian: window_size");
        int64_t total = 0;
        for (int axis = 0; axis < 3; ++axis) {
            const int number = axis - (3 - axes);
            if (number < 0) {
                taps[axis] = no_taps(arena);
                continue;
            }
            const bool smooth = number != along;
            int64_t own = size;
            if (smooth && in.smoothing_size.present())
                own = window(in.smoothing_size, number, axes, 1, "laplacian: smoothing_size");
            total += own;
            taps[axis] = smooth ? binomial(own, arena) : derivative(own, arena);
        }
        const double given = in.scale.present() ? number_of_axis(in.scale, along, axes, "laplacian: scale") : 1;
        const auto scale = static_cast<float>(normalized_ ? std::exp2(static_cast<double>(axes + 2 - total)) : given);
        auto* weights = const_cast<float*>(taps[3 - axes + along].weights);  // our own, made above
        for (int64_t k = 0; k < size; ++k) weights[k] *= scale;
    }

    static int64_t window(const Value& sizes, int axis, int axes, int64_t least, const std::string& name) {
        const auto size = static_cast<int64_t>(number_of_axis(sizes, axis, axes, name));
        if (size >= least && size <= largest_window && size % 2 == 1) return size;
        throw Fault(FaultKind::argument, name + " must be odd and from " + std::to_string(least) + " to " +
                                             std::to_string(largest_window) + ", got " + std::to_string(size));
    }

    static Taps binomial(int64_t size, Arena& arena) {
        auto* weights = arena.take<float>(static_cast<size_t>(size));
        weights[0] = 1;
        for (int64_t n = 1; n < size; ++n) {
            weights[n] = weights[n - 1];
            for (int64_t k = n - 1; k > 0; --k) weights[k] += weights[k - 1];
        }
        return {weights, static_cast<int>(size), static_cast<int>(size / 2)};
    }

    // The binomial window that is shorter by two, differentiated twice.
    static Taps derivative(int64_t size, Arena& arena) {
        const Taps smooth = binomial(size - 2, arena);
        auto* weights = arena.take<float>(static_cast<size_t>(size));
        const auto at = [&](int64_t k) { return k < 0 || k >= smooth.count ? 0.0f : smooth.weights[k]; };
        for (int64_t k = 0; k < size; ++k) weights[k] = at(k) - 2 * at(k - 1) + at(k - 2);
        return {weights, static_cast<int>(size), static_cast<int>(size / 2)};
    }

    std::string layout_;
    std::optional<DType> dtype_;
    bool normalized_;
};

}  // namespace

std::unique_ptr<Step> make_gaussian_blur(const GaussianBlurParams& params) {
    return std::make_unique<GaussianBlur>(params);
}
std::unique_ptr<Step> make_laplacian(const LaplacianParams& params) { return std::make_unique<Laplacian>(params); }

}  // namespace pixelmill

// Reductions along axes, and what `normalize` needs of them.
#include <cmath>
#include <cstring>

#include "../kernels/convert.h"
#include "../kernels/elementwise.h"
#include "../kernels/pointwise.h"
#include "../kernels/reduce.h"
#include "axes.h"
#include "declared/elements.h"

namespace pixelmill {

namespace {

// The axes of a reduction: by number, all of them, or those along which another value has an extent of 1.
class ReducedAxes {
   public:
    template <class Params>
    explicit ReducedAxes(const Params& params)
        : name_(params.name), axes_(params.axes), all_(params.all), like_(params.like), keeps_(params.keep_dims) {}

    AxisSet of(const Value& x, const Value& other) const {
        if (like_) return without_extent(x, other);
        if (!all_) return marked_axes(axes_, x.ndim, name_);
        AxisSet marked{};
        std::fill_n(marked.begin(), x.ndim, true);
        return marked;
    }

    bool none() const { return !all_ && axes_.empty(); }
    const std::string& name() const { return name_; }

    std::vector<int64_t> shape(const Value& x, const AxisSet& reduced) const {
        std::vector<int64_t> extents;
        for (int d = 0; d < x.ndim; ++d) {
            if (!reduced[static_cast<size_t>(d)])
                extents.push_back(x.shape[d]);
            else if (keeps_)
                extents.push_back(1);
        }
        return extents;
    }

   private:
    AxisSet without_extent(const Value& x, const Value& other) const {
        AxisSet found{};
        for (int d = 0; d < x.ndim; ++d) {
            if (other.ndim != x.ndim || (other.shape[d] != 1 && other.shape[d] != x.shape[d])) {
                throw Fault(FaultKind::argument, name_ + ": a mean or deviation of shape " + describe(other) +
                                                     " does not fit " + describe(x));
            }
            found[static_cast<size_t>(d)] = other.shape[d] == 1;
        }
        return found;
    }

    std::string name_;
    std::vector<int64_t> axes_;
    bool all_, like_, keeps_;
};

int64_t reduced_count(const Value& x, const AxisSet& reduced) {
    int64_t count = 1;
    for (int d = 0; d < x.ndim; ++d) count *= reduced[static_cast<size_t>(d)] ? x.shape[d] : 1;
    return count;
}

int64_t kept_count(const Value& x, const AxisSet& reduced) {
    int64_t count = 1;
    for (int d = 0; d < x.ndim; ++d) count *= reduced[static_cast<size_t>(d)] ? 1 : x.shape[d];
    return count;
}

// A mean for each element that is kept, in double precision.
const double* means_of(Context& context, const Value& mean, int64_t kept, const std::string& name) {
    const int64_t given = mean.elements();
    if (given != 1 && given != kept) {
        throw Fault(FaultKind::argument,
                    name + ": a mean of shape " + describe(mean) + " for " + std::to_string(kept) + " results");
    }
    const Value wide = context.scratch(DType::f64, {mean.shape.data(), static_cast<size_t>(mean.ndim)});
    convert_elements(wide, mean);
    if (given == kept) return wide.as<double>();
    auto* means = context.thread.arena.take<double>(static_cast<size_t>(kept));
    std::fill_n(means, kept, *wide.as<double>());
    return means;
}

class Reduce : public Step {
   public:
    explicit Reduce(const ReduceParams& params) : axes_(params), dtype_(params.dtype), ddof_(params.ddof) {
        const std::string kind = params.operation;
        extreme_ = kind == "min" || kind == "max";
        centered_ = kind == "variance" || kind == "std_dev";
        sum_ = kind == "sum";
        rooted_ = kind == "rms" || kind == "std_dev";
        reduction_ = kind == "min"                            ? Reduction::min
                     : kind == "max"                          ? Reduction::max
                     : centered_                              ? Reduction::deviations
                     : kind == "rms" || kind == "mean_square" ? Reduction::sum_of_squares
                                                              : Reduction::sum;
    }

    void run(Context& context, std::span<const Value> values, std::span<Value> out) const override {
        const ReduceInputs in(values);
        const Value& x = in.data;
        const AxisSet reduced = axes_.of(x, in.guide.present() ? in.guide : x);
        const int64_t kept = kept_count(x, reduced);
        out[0] = context.allocate(0, result_type(x.dtype), axes_.shape(x, reduced));
        if (centered_ && axes_.none()) {
            std::memset(out[0].data, 0, static_cast<size_t>(kept) * sizeof(float));
            return;
        }
        const DType made = reduced_type(reduction_, x.dtype);
        const double* means = centered_ ? means_of(context, in.guide, kept, axes_.name()) : nullptr;
        std::byte* totals = context.thread.arena.take(static_cast<size_t>(kept * 8));
        reduce(totals, x, reduced, reduction_, means);
        finish(out[0], totals, made, kept, reduced_count(x, reduced) - (centered_ ? ddof_ : 0));
    }

   private:
    DType result_type(DType in) const {
        if (dtype_) return *dtype_;
        if (extreme_) return in;
        if (!sum_) return DType::f32;
        if (in == DType::f16 || in == DType::f32 || in == DType::f64) return in;
        return reduced_type(Reduction::sum, in);
    }

    // Whole sums are cut to the width of the result, everything with fractions is brought to it as C does.
    void finish(const Value& out, const std::byte* totals, DType made, int64_t kept, int64_t count) const {
        with_type(out.dtype, [&](auto zero) {
            using Out = decltype(zero);
            with_type(made, [&](auto one) {
                const auto* from = reinterpret_cast<const decltype(one)*>(totals);
                auto* to = out.as<Out>();
                if (extreme_) {
                    for (int64_t i = 0; i < kept; ++i) to[i] = convert<Out>(from[i]);
                } else if constexpr (!std::is_same_v<decltype(one), Half>) {  // no sum is made in halves
                    if (sum_) {
                        for (int64_t i = 0; i < kept; ++i) to[i] = whole_sum<Out>(from[i]);
                    } else {
                        const auto divisor = static_cast<double>(count);
                        for (int64_t i = 0; i < kept; ++i) to[i] = shared<Out>(static_cast<double>(from[i]) / divisor);
                    }
                }
            });
        });
    }

    template <class Out, class Total>
    static Out whole_sum(Total total) {
        if constexpr (std::is_integral_v<Out> && std::is_integral_v<Total> && !std::is_same_v<Out, bool>) {
            return static_cast<Out>(total);
        } else {
            return convert<Out>(total);
        }
    }

    template <class Out>
    Out shared(double value) const {
        if (rooted_) value = std::sqrt(value);
        if constexpr (std::is_integral_v<Out>) value = std::trunc(value);
        return convert<Out>(value);
    }

    ReducedAxes axes_;
    std::optional<DType> dtype_;
    int64_t ddof_;
    bool extreme_ = false, centered_ = false, sum_ = false, rooted_ = false;
    Reduction reduction_;
};

// What a distance from the mean is multiplied with: scale / sqrt(variance + epsilon), and 0 where that has no value.
struct Spread {
    template <class Params>
    explicit Spread(const Params& params) : ddof(params.ddof), epsilon(params.epsilon), scale(params.scale) {}

    float of_squares(double squares, int64_t count) const {
        if (count <= ddof && epsilon == 0) return 0;
        return of_variance(count > ddof ? squares / static_cast<double>(count - ddof) : 0);
    }
    float of_variance(double variance) const {
        const double whole = variance + epsilon;
        return whole == 0 ? 0.0f : static_cast<float>(scale / std::sqrt(whole));
    }

    int64_t ddof;
    double epsilon, scale;
};

class InverseDeviation : public Step {
   public:
    explicit InverseDeviation(const InverseDeviationParams& params) : axes_(params), spread_(params) {}

    void run(Context& context, std::span<const Value> values, std::span<Value> out) const override {
        const InverseDeviationInputs in(values);
        const Value &x = in.data, &mean = in.mean;
        const AxisSet reduced = axes_.of(x, mean);
        const int64_t kept = kept_count(x, reduced), count = reduced_count(x, reduced);
        out[0] = context.allocate(0, DType::f32, axes_.shape(x, reduced));
        const double* means = means_of(context, mean, kept, axes_.name());
        auto* squares = context.thread.arena.take<double>(static_cast<size_t>(kept));
        reduce(reinterpret_cast<std::byte*>(squares), x, reduced, Reduction::deviations, means);
        for (int64_t i = 0; i < kept; ++i) out[0].as<float>()[i] = spread_.of_squares(squares[i], count);
    }

   private:
    ReducedAxes axes_;
    Spread spread_;
};

class InverseOf : public Step {
   public:
    explicit InverseOf(const InverseOfParams& params) : spread_(params) {}

    void run(Context& context, std::span<const Value> values, std::span<Value> out) const override {
        const InverseOfInputs in(values);
        const Value wide = context.scratch(DType::f64, {in.stddev.shape.data(), static_cast<size_t>(in.stddev.ndim)});
        convert_elements(wide, in.stddev);
        out[0] = context.allocate(0, DType::f32, {in.stddev.shape.data(), static_cast<size_t>(in.stddev.ndim)});
        for (int64_t i = 0; i < wide.elements(); ++i) {
            const double deviation = wide.as<double>()[i];
            out[0].as<float>()[i] = spread_.of_variance(deviation * deviation);
        }
    }

   private:
    Spread spread_;
};

class Moments : public Step {
   public:
    explicit Moments(const MomentsParams& params) : axes_(params) {}

    void run(Context& context, std::span<const Value> values, std::span<Value> out) const override {
        const MomentsInputs in(values);
        const Value& x = in.data;
        const AxisSet reduced = axes_.of(x, x);
        const int64_t kept = kept_count(x, reduced), count = reduced_count(x, reduced);
        out[0] = context.allocate(0, DType::i64, {});
        *out[0].as<int64_t>() = count;
        out[1] = context.allocate(1, DType::f64, axes_.shape(x, reduced));
        out[2] = context.allocate(2, DType::f64, axes_.shape(x, reduced));
        std::byte* sums = context.thread.arena.take(static_cast<size_t>(kept * 8));
        reduce(sums, x, reduced, Reduction::sum, nullptr);
        with_type(reduced_type(Reduction::sum, x.dtype), [&](auto zero) {
            if constexpr (std::is_arithmetic_v<decltype(zero)>) {
                const auto* from = reinterpret_cast<const decltype(zero)*>(sums);
                for (int64_t i = 0; i < kept; ++i) {
                    out[1].as<double>()[i] =
                        count > 0 ? static_cast<double>(from[i]) / static_cast<double>(count) : 0.0;
                }
            }
        });
        reduce(out[2].data, x, reduced, Reduction::deviations, out[1].as<double>());
    }

   private:
    ReducedAxes axes_;
};

}  // namespace

std::unique_ptr<Step> make_inverse_deviation(const InverseDeviationParams& params) {
    return std::make_unique<InverseDeviation>(params);
}
std::unique_ptr<Step> make_inverse_of(const InverseOfParams& params) { return std::make_unique<InverseOf>(params); }
std::unique_ptr<Step> make_moments(const MomentsParams& params) { return std::make_unique<Moments>(params); }
std::unique_ptr<Step> make_reduce(const ReduceParams& params) { return std::make_unique<Reduce>(params); }

}  // namespace pixelmill

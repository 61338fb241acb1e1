// Parameters, which are read once, and inputs, which each sample has, of the steps of steps/elements.py.
// Written by scripts/write_api.py from src/pixelmill/steps; `make api` writes it again.
// clang-format off
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "../../kernels/axis.h"
#include "../../step.h"

namespace pixelmill {

// Change the type of elements, rounding and clamping them.
struct CastParams {
    DType dtype;
};
struct CastInputs {
    const Value &data;
    explicit CastInputs(std::span<const Value> in)
        : data(in[0]) {}
};
std::unique_ptr<Step> make_cast(const CastParams& params);

// Change the type of elements to that of another value.
struct CastLikeParams {
};
struct CastLikeInputs {
    const Value &data, &like;
    explicit CastLikeInputs(std::span<const Value> in)
        : data(in[0]), like(in[1]) {}
};
std::unique_ptr<Step> make_cast_like(const CastLikeParams& params);

// Subtract the mean of each channel, scale, and write another layout; `channel_fill` fills padding channels.
struct NormalizeParams {
    std::string layout;
    std::string out_layout;
    DType dtype;
    bool pad_channels;
    std::string name;
};
struct NormalizeInputs {
    const Value &image, &mirror, &mean, &std, &scale, &shift, &channel_fill;
    explicit NormalizeInputs(std::span<const Value> in)
        : image(in[0]), mirror(in[1]), mean(in[2]), std(in[3]), scale(in[4]), shift(in[5]), channel_fill(in[6]) {}
};
std::unique_ptr<Step> make_normalize(const NormalizeParams& params);

// Apply one arithmetic operation.
struct ArithmeticParams {
    std::string operation;
};
struct ArithmeticInputs {
    std::span<const Value> operands;
    explicit ArithmeticInputs(std::span<const Value> in)
        : operands(in.subspan(0)) {}
};
std::unique_ptr<Step> make_arithmetic(const ArithmeticParams& params);

// Apply several arithmetic operations in one pass, in the notation of engine/fusion.py.
struct ExpressionParams {
    std::string code;
};
struct ExpressionInputs {
    std::span<const Value> operands;
    explicit ExpressionInputs(std::span<const Value> in)
        : operands(in.subspan(0)) {}
};
std::unique_ptr<Step> make_expression(const ExpressionParams& params);

// Reduce axes to one number; `guide` is the mean if the reduction needs it, or the value that defines the axes.
struct ReduceParams {
    std::vector<int64_t> axes;
    bool all;
    bool like;
    bool keep_dims;
    std::string name;
    std::string operation;
    std::optional<DType> dtype;
    int64_t ddof;
};
struct ReduceInputs {
    const Value &data, &guide;
    explicit ReduceInputs(std::span<const Value> in)
        : data(in[0]), guide(in[1]) {}
};
std::unique_ptr<Step> make_reduce(const ReduceParams& params);

// Return scale / sqrt(variance + epsilon) along axes.
struct InverseDeviationParams {
    std::vector<int64_t> axes;
    bool all;
    bool like;
    bool keep_dims;
    std::string name;
    int64_t ddof;
    double epsilon;
    double scale;
};
struct InverseDeviationInputs {
    const Value &data, &mean;
    explicit InverseDeviationInputs(std::span<const Value> in)
        : data(in[0]), mean(in[1]) {}
};
std::unique_ptr<Step> make_inverse_deviation(const InverseDeviationParams& params);

// Return scale / sqrt(deviation^2 + epsilon).
struct InverseOfParams {
    int64_t ddof;
    double epsilon;
    double scale;
};
struct InverseOfInputs {
    const Value &stddev;
    explicit InverseOfInputs(std::span<const Value> in)
        : stddev(in[0]) {}
};
std::unique_ptr<Step> make_inverse_of(const InverseOfParams& params);

// Return the count, the mean and the sum of squared deviations along axes.
struct MomentsParams {
    std::vector<int64_t> axes;
    bool all;
    bool like;
    bool keep_dims;
    std::string name;
};
struct MomentsInputs {
    const Value &data;
    explicit MomentsInputs(std::span<const Value> in)
        : data(in[0]) {}
};
std::unique_ptr<Step> make_moments(const MomentsParams& params);

// Fill a shape with a value; with `like`, the shape of another value, otherwise a vector of extents.
struct FullParams {
    std::string name;
    std::optional<DType> dtype;
    bool like;
    std::optional<int64_t> names;
};
struct FullInputs {
    const Value &fill_value, &shape;
    explicit FullInputs(std::span<const Value> in)
        : fill_value(in[0]), shape(in[1]) {}
};
std::unique_ptr<Step> make_full(const FullParams& params);

// Turn class numbers into one-hot rows; `single` is whether every sample of the batch is one number.
struct OneHotParams {
    int64_t classes;
    int64_t axis;
    DType dtype;
    double on_value;
    double off_value;
    std::optional<int64_t> names;
};
struct OneHotInputs {
    const Value &data, &single;
    explicit OneHotInputs(std::span<const Value> in)
        : data(in[0]), single(in[1]) {}
};
std::unique_ptr<Step> make_one_hot(const OneHotParams& params);

// Replace integers by elements of a table; its last element is for all other integers.
struct LookUpParams {
};
struct LookUpInputs {
    const Value &data, &table;
    explicit LookUpInputs(std::span<const Value> in)
        : data(in[0]), table(in[1]) {}
};
std::unique_ptr<Step> make_look_up(const LookUpParams& params);

}  // namespace pixelmill

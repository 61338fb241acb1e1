// Affine matrices of translations, scales, rotations, shears and windows.
#include <algorithm>
#include <cmath>
#include <utility>

#include "affine.h"
#include "declared/warping.h"

namespace pixelmill {

namespace {

constexpr int most_axes = 6;

// A square matrix whose last row is 0 ... 0 1. Products are summed in the order of DALI, in single precision.
struct Matrix {
    int axes = 0;
    float at[most_axes + 1][most_axes + 1] = {};

    static Matrix unit(int axes) {
        Matrix made;
        made.axes = axes;
        for (int i = 0; i <= axes; ++i) made.at[i][i] = 1;
        return made;
    }

    Matrix times(const Matrix& other) const {
        Matrix product = unit(axes);
        for (int i = 0; i < axes; ++i) {
            for (int j = 0; j <= axes; ++j) {
                float sum = 0;
                for (int k = 0; k <= axes; ++k) sum += at[i][k] * other.at[k][j];
                product.at[i][j] = sum;
            }
        }
        return product;
    }

    // The same about another center than the origin.
    void center(const Value& center) {
        for (int i = 0; i < axes; ++i) {
            float sum = 0;
            for (int j = 0; j < axes; ++j) sum += at[i][j] * -static_cast<float>(center.number(j));
            at[i][axes] = sum + static_cast<float>(center.number(i));
        }
    }
};

[[noreturn]] void refuse(const std::string& message) { throw Fault(FaultKind::argument, message); }

void check_count(const Value& value, int count, const char* name) {
    if (value.present() && value.elements() != count) {
        refuse(std::string(name) + " must be " + std::to_string(count) + " numbers, got " + describe(value));
    }
}

int axes_in(const Value& value, const char* name) {
    if (value.elements() < 1 || value.elements() > most_axes) {
        refuse(std::string(name) + " must be 1 to 6 numbers, got " + describe(value));
    }
    return static_cast<int>(value.elements());
}

Matrix read_matrix(const Value& value) {
    if (value.ndim != 2 || value.shape[1] != value.shape[0] + 1 || value.shape[0] < 1 || value.shape[0] > most_axes) {
        refuse("a transform must be a matrix with one column more than rows, got " + describe(value));
    }
    Matrix matrix = Matrix::unit(static_cast<int>(value.shape[0]));
    for (int64_t i = 0; i < value.shape[0]; ++i) {
        for (int64_t j = 0; j < value.shape[1]; ++j) {
            matrix.at[i][j] = static_cast<float>(value.number(i * value.stride[0] + j * value.stride[1]));
        }
    }
    return matrix;
}

Value put_matrix(Context& context, const Matrix& matrix) {
    const int64_t shape[2] = {matrix.axes, matrix.axes + 1};
    const Value out = context.allocate(0, DType::f32, shape);
    for (int i = 0; i < matrix.axes; ++i)
        std::copy_n(matrix.at[i], matrix.axes + 1, out.as<float>() + i * (matrix.axes + 1));
    return out;
}

// A matrix that another one, which may be absent, is combined with.
class Transform : public Step {
   public:
    explicit Transform(bool reverse) : reverse_(reverse) {}

   protected:
    Value combined(Context& context, const Value& other, Matrix made) const {
        if (other.present()) {
            const Matrix before = read_matrix(other);
            if (before.axes != made.axes) {
                refuse("the input is a transform of " + std::to_string(before.axes) + " axes, the arguments are for " +
                       std::to_string(made.axes));
            }
            made = reverse_ ? before.times(made) : made.times(before);
        }
        return put_matrix(context, made);
    }

   private:
    bool reverse_;
};

class Translation : public Transform {
   public:
    explicit Translation(const TranslationParams& params) : Transform(params.reverse_order) {}

    void run(Context& context, std::span<const Value> values, std::span<Value> out) const override {
        const TranslationInputs in(values);
        out[0] = combined(context, in.matrix, defined(in));
    }

   private:
    static Matrix defined(const TranslationInputs& in) {
        Matrix made = Matrix::unit(axes_in(in.offset, "offset"));
        for (int i = 0; i < made.axes; ++i) made.at[i][made.axes] = static_cast<float>(in.offset.number(i));
        return made;
    }
};

class Rescaling : public Transform {
   public:
    explicit Rescaling(const ScalingParams& params)
        : Transform(params.reverse_order), axes_(static_cast<int>(params.ndim)) {}

    void run(Context& context, std::span<const Value> values, std::span<Value> out) const override {
        const ScalingInputs in(values);
        out[0] = combined(context, in.matrix, defined(in));
    }

   private:
    Matrix defined(const ScalingInputs& in) const {
        int axes = axes_in(in.scale, "scale");
        const bool repeats = axes == 1 && axes_ > 0;
        if (repeats) axes = axes_;
        check_count(in.center, axes, "center");
        Matrix made = Matrix::unit(axes);
        for (int i = 0; i < axes; ++i) {
            const auto scale = static_cast<float>(in.scale.number(repeats ? 0 : i));
            made.at[i][i] = scale;
            if (in.center.present()) made.at[i][axes] = static_cast<float>(in.center.number(i)) * (1.0f - scale);
        }
        return made;
    }

    int axes_;
};

class Rotation : public Transform {
   public:
    explicit Rotation(const RotationParams& params) : Transform(params.reverse_order) {}

    void run(Context& context, std::span<const Value> values, std::span<Value> out) const override {
        const RotationInputs in(values);
        out[0] = combined(context, in.matrix, defined(in));
    }

   private:
    static Matrix defined(const RotationInputs& in) {
        const float angle = radians(static_cast<float>(in.angle.number()));
        Matrix made = Matrix::unit(in.axis.present() ? 3 : 2);
        check_count(in.center, made.axes, "center");
        if (in.axis.present()) {
            const Turn turn(in.axis, angle);
            for (int i = 0; i < 3; ++i) std::copy_n(turn.row(i), 3, made.at[i]);
        } else {
            made.at[0][0] = made.at[1][1] = std::cos(angle);
            made.at[1][0] = std::sin(angle);
            made.at[0][1] = -made.at[1][0];
        }
        if (in.center.present()) made.center(in.center);
        return made;
    }
};

// Every axis is moved along by all of the others.
class Shear : public Transform {
   public:
    explicit Shear(const ShearParams& params) : Transform(params.reverse_order) {}

    void run(Context& context, std::span<const Value> values, std::span<Value> out) const override {
        const ShearInputs in(values);
        out[0] = combined(context, in.matrix, defined(in));
    }

   private:
    static Matrix defined(const ShearInputs& in) {
        const bool angles = !in.shear.present();
        const Value& given = angles ? in.angles : in.shear;
        if (given.elements() != 2 && given.elements() != 6)
            refuse("a shear must be 2 or 6 numbers, got " + describe(given));
        Matrix made = Matrix::unit(given.elements() == 2 ? 2 : 3);
        check_count(in.center, made.axes, "center");
        const bool table = given.ndim == 2;
        const int64_t columns = made.axes - 1, down = table ? given.stride[0] : columns,
                      across = table ? given.stride[1] : 1;
        for (int i = 0; i < made.axes; ++i) {
            for (int64_t j = 0; j < columns; ++j) {
                const auto number = static_cast<float>(given.number(i * down + j * across));
                if (angles && !(number >= -90 && number <= 90)) {
                    refuse("the angles of a shear must be from -90 to 90, got " + std::to_string(number));
                }
                made.at[i][j < i ? j : j + 1] = angles ? std::tan(radians(number)) : number;
            }
        }
        if (in.center.present()) made.center(in.center);
        return made;
    }
};

class CropTransform : public Transform {
   public:
    explicit CropTransform(const CropTransformParams& params)
        : Transform(params.reverse_order), absolute_(params.absolute) {}

    void run(Context& context, std::span<const Value> values, std::span<Value> out) const override {
        const CropTransformInputs in(values);
        out[0] = combined(context, in.matrix, defined(in));
    }

   private:
    Matrix defined(const CropTransformInputs& in) const {
        const Value* const bounds[] = {&in.from_start, &in.from_end, &in.to_start, &in.to_end};
        int axes = 1;
        for (const Value* bound : bounds) axes = std::max(axes, axes_in(*bound, "a bound of a window"));
        Matrix made = Matrix::unit(axes);
        for (int i = 0; i < axes; ++i) {
            float at[4];
            for (size_t k = 0; k < 4; ++k) {
                const Value& bound = *bounds[k];
                if (bound.elements() != 1) check_count(bound, axes, "a bound of a window");
                at[k] = static_cast<float>(bound.number(bound.elements() == 1 ? 0 : i));
            }
            if (absolute_ && at[0] > at[1]) std::swap(at[0], at[1]);
            if (absolute_ && at[2] > at[3]) std::swap(at[2], at[3]);
            made.at[i][i] = (at[3] - at[2]) / (at[1] - at[0]);
            made.at[i][axes] = at[2] - made.at[i][i] * at[0];
        }
        return made;
    }

    bool absolute_;
};

// The first matrix is the first to be applied.
class Combine : public Step {
   public:
    explicit Combine(const CombineParams& params) : reverse_(params.reverse_order) {}

    void run(Context& context, std::span<const Value> values, std::span<Value> out) const override {
        const CombineInputs in(values);
        Matrix whole = read_matrix(in.matrices[0]);
        for (const Value& next : in.matrices.subspan(1)) {
            const Matrix matrix = read_matrix(next);
            if (matrix.axes != whole.axes) refuse("transforms of different numbers of axes cannot be combined");
            whole = reverse_ ? whole.times(matrix) : matrix.times(whole);
        }
        out[0] = put_matrix(context, whole);
    }

   private:
    bool reverse_;
};

}  // namespace

std::unique_ptr<Step> make_translation(const TranslationParams& params) {
    return std::make_unique<Translation>(params);
}
std::unique_ptr<Step> make_scaling(const ScalingParams& params) { return std::make_unique<Rescaling>(params); }
std::unique_ptr<Step> make_rotation(const RotationParams& params) { return std::make_unique<Rotation>(params); }
std::unique_ptr<Step> make_shear(const ShearParams& params) { return std::make_unique<Shear>(params); }
std::unique_ptr<Step> make_crop_transform(const CropTransformParams& params) {
    return std::make_unique<CropTransform>(params);
}
std::unique_ptr<Step> make_combine(const CombineParams& params) { return std::make_unique<Combine>(params); }

}  // namespace pixelmill

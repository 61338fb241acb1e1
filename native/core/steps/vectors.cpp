// Short vectors of numbers: shapes and windows on their way from one step to the next.
#include <cmath>

#include "../kernels/axis.h"
#include "declared/shapes.h"
#include "layout.h"

namespace pixelmill {

namespace {

class Join : public Step {
   public:
    void run(Context& context, std::span<const Value> values, std::span<Value> out) const override {
        const JoinInputs in(values);
        int64_t count = 0;
        for (const Value& part : in.parts) count += part.elements();
        out[0] = context.allocate(0, DType::i64, std::array{count});
        auto* joined = out[0].as<int64_t>();
        for (const Value& part : in.parts) {
            for (int64_t i = 0; i < part.elements(); ++i) *joined++ = part.integer(i);
        }
    }
};

// One number for the sample, passed on unchanged; readers use the first element only.
class Scalar : public Step {
   public:
    explicit Scalar(const ScalarParams& params) : name_(params.name) {}
    void run(Context&, std::span<const Value> values, std::span<Value> out) const override {
        const ScalarInputs in(values);
        if (in.number.elements() != 1) {
            throw Fault(FaultKind::argument, name_ + " must be one number for each sample, got " + describe(in.number));
        }
        out[0] = in.number;
    }

   private:
    std::string name_;
};

class Element : public Step {
   public:
    explicit Element(const ElementParams& params) : index_(params.index) {}
    void run(Context& context, std::span<const Value> values, std::span<Value> out) const override {
        const ElementInputs in(values);
        if (index_ >= in.vector.elements()) {
            throw Fault(FaultKind::argument, "a vector of at least " + std::to_string(index_ + 1) +
                                                 " numbers is needed, got " + describe(in.vector));
        }
        out[0] = context.allocate(0, DType::f64, {});
        *out[0].as<double>() = in.vector.number(index_);
    }

   private:
    int64_t index_;
};

// The extents of a shape that are space.
class SpatialShape : public Step {
   public:
    explicit SpatialShape(const SpatialShapeParams& params) : layout_(params.layout) {}
    void run(Context& context, std::span<const Value> values, std::span<Value> out) const override {
        const SpatialShapeInputs in(values);
        const std::string layout = layout_of(layout_, static_cast<int>(in.shape.elements()), "resize");
        std::vector<int32_t> extents;
        for (size_t axis = 0; axis < layout.size(); ++axis) {
            if (!is_spatial(layout[axis])) continue;
            extents.push_back(static_cast<int32_t>(in.shape.integer(static_cast<int64_t>(axis))));
        }
        out[0] = context.allocate(0, DType::i32, std::array{static_cast<int64_t>(extents.size())});
        std::copy(extents.begin(), extents.end(), out[0].as<int32_t>());
    }

   private:
    std::string layout_;
};

// The shape an image has after resampling: in [geometry, its shape before].
class GeometryShape : public Step {
   public:
    explicit GeometryShape(const GeometryShapeParams& params) : layout_(params.layout) {}
    void run(Context& context, std::span<const Value> values, std::span<Value> out) const override {
        const GeometryShapeInputs in(values);
        const std::string layout = layout_of(layout_, static_cast<int>(in.shape.elements()), "resize");
        const auto* axis = in.geometry.as<const Axis>();
        out[0] = context.allocate(0, DType::i64, std::array{in.shape.elements()});
        for (int64_t d = 0; d < in.shape.elements(); ++d) {
            const bool space = is_spatial(layout[static_cast<size_t>(d)]);
            out[0].as<int64_t>()[d] = space ? static_cast<int64_t>((axis++)->count) : in.shape.integer(d);
        }
    }

   private:
    std::string layout_;
};

// The branch that was not taken has not been run.
class Merge : public Step {
   public:
    void run(Context&, std::span<const Value> values, std::span<Value> out) const override {
        const MergeInputs in(values);
        out[0] = in.condition.number() != 0 ? in.taken : in.otherwise;
    }
};

// Only the value with that number has been made.
class Choose : public Step {
   public:
    void run(Context&, std::span<const Value> values, std::span<Value> out) const override {
        const ChooseInputs in(values);
        const double number = in.number.number();
        const auto last = static_cast<double>(in.choices.size()) - 1;
        if (!(number >= 0 && number <= last) || number != std::floor(number)) {
            throw Fault(FaultKind::argument, "the number of a choice must be a whole one from 0 to " +
                                                 std::to_string(in.choices.size() - 1) + ", got " +
                                                 std::to_string(number));
        }
        out[0] = in.choices[static_cast<size_t>(number)];
    }
};

}  // namespace

std::unique_ptr<Step> make_choose(const ChooseParams&) { return std::make_unique<Choose>(); }
std::unique_ptr<Step> make_merge(const MergeParams&) { return std::make_unique<Merge>(); }
std::unique_ptr<Step> make_geometry_shape(const GeometryShapeParams& params) {
    return std::make_unique<GeometryShape>(params);
}
std::unique_ptr<Step> make_join(const JoinParams&) { return std::make_unique<Join>(); }
std::unique_ptr<Step> make_scalar(const ScalarParams& params) { return std::make_unique<Scalar>(params); }
std::unique_ptr<Step> make_element(const ElementParams& params) { return std::make_unique<Element>(params); }
std::unique_ptr<Step> make_spatial_shape(const SpatialShapeParams& params) {
    return std::make_unique<SpatialShape>(params);
}

}  // namespace pixelmill

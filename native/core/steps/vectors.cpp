// Short vectors of numbers: shapes and windows on their way from one step to the next.
#include <cmath>

#include "../kernels/axis.h"
#include "layout.h"
#include "steps.h"

namespace pixelmill {

namespace {

class Join : public Step {
   public:
    void run(Context& context, std::span<const Value> in, std::span<Value> out) const override {
        int64_t count = 0;
        for (const Value& part : in) count += part.elements();
        out[0] = context.allocate(0, DType::i64, std::array{count});
        auto* joined = out[0].as<int64_t>();
        for (const Value& part : in) {
            for (int64_t i = 0; i < part.elements(); ++i) *joined++ = part.integer(i);
        }
    }
};

// One number for the sample, passed on as it is; who reads it reads the first element only.
class Scalar : public Step {
   public:
    explicit Scalar(const Params& params) : name_(params.text("name")) {}
    void run(Context&, std::span<const Value> in, std::span<Value> out) const override {
        if (in[0].elements() != 1) {
            throw Fault(FaultKind::argument, name_ + " must be one number for each sample, got " + describe(in[0]));
        }
        out[0] = in[0];
    }

   private:
    std::string name_;
};

class Element : public Step {
   public:
    explicit Element(const Params& params) : index_(params.integer("index")) {}
    void run(Context& context, std::span<const Value> in, std::span<Value> out) const override {
        if (index_ >= in[0].elements()) {
            throw Fault(FaultKind::argument, "a vector of at least " + std::to_string(index_ + 1) +
                                                 " numbers is needed, got " + describe(in[0]));
        }
        out[0] = context.allocate(0, DType::f64, {});
        *out[0].as<double>() = in[0].number(index_);
    }

   private:
    int64_t index_;
};

// The extents of a shape that are space.
class SpatialShape : public Step {
   public:
    explicit SpatialShape(const Params& params) : layout_(params.text("layout")) {}
    void run(Context& context, std::span<const Value> in, std::span<Value> out) const override {
        const std::string layout = layout_of(layout_, static_cast<int>(in[0].elements()), "resize");
        std::vector<int32_t> extents;
        for (size_t axis = 0; axis < layout.size(); ++axis) {
            if (!is_spatial(layout[axis])) continue;
            extents.push_back(static_cast<int32_t>(in[0].integer(static_cast<int64_t>(axis))));
        }
        out[0] = context.allocate(0, DType::i32, std::array{static_cast<int64_t>(extents.size())});
        std::copy(extents.begin(), extents.end(), out[0].as<int32_t>());
    }

   private:
    std::string layout_;
};

// The shape a picture has after resampling: in [geometry, its shape before].
class GeometryShape : public Step {
   public:
    explicit GeometryShape(const Params& params) : layout_(params.text("layout")) {}
    void run(Context& context, std::span<const Value> in, std::span<Value> out) const override {
        const std::string layout = layout_of(layout_, static_cast<int>(in[1].elements()), "resize");
        const auto* axis = in[0].as<const Axis>();
        out[0] = context.allocate(0, DType::i64, std::array{in[1].elements()});
        for (int64_t d = 0; d < in[1].elements(); ++d) {
            const bool space = is_spatial(layout[static_cast<size_t>(d)]);
            out[0].as<int64_t>()[d] = space ? static_cast<int64_t>((axis++)->count) : in[1].integer(d);
        }
    }

   private:
    std::string layout_;
};

// in [condition, value if true, value if false]; the branch that was not taken has not been run.
class Merge : public Step {
   public:
    void run(Context&, std::span<const Value> in, std::span<Value> out) const override {
        out[0] = in[in[0].number() != 0 ? 1 : 2];
    }
};

// in [number, value 0, value 1, ...]; only the value with that number has been made.
class Choose : public Step {
   public:
    void run(Context&, std::span<const Value> in, std::span<Value> out) const override {
        const double number = in[0].number();
        const auto last = static_cast<double>(in.size() - 2);
        if (!(number >= 0 && number <= last) || number != std::floor(number)) {
            throw Fault(FaultKind::argument, "the number of a choice must be a whole one from 0 to " +
                                                 std::to_string(in.size() - 2) + ", got " + std::to_string(number));
        }
        out[0] = in[static_cast<size_t>(number) + 1];
    }
};

}  // namespace

std::unique_ptr<Step> make_choose(const Params&) { return std::make_unique<Choose>(); }
std::unique_ptr<Step> make_merge(const Params&) { return std::make_unique<Merge>(); }
std::unique_ptr<Step> make_geometry_shape(const Params& params) { return std::make_unique<GeometryShape>(params); }
std::unique_ptr<Step> make_join(const Params&) { return std::make_unique<Join>(); }
std::unique_ptr<Step> make_scalar(const Params& params) { return std::make_unique<Scalar>(params); }
std::unique_ptr<Step> make_element(const Params& params) { return std::make_unique<Element>(params); }
std::unique_ptr<Step> make_spatial_shape(const Params& params) { return std::make_unique<SpatialShape>(params); }

}  // namespace pixelmill

// New values from old ones: joined, filled, looked up, and what is known about them.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "../kernels/convert.h"
#include "../kernels/copy.h"
#include "../kernels/pointwise.h"
#include "../kernels/walk.h"
#include "../resources.h"
#include "axes.h"
#include "layout.h"
#include "steps.h"

namespace pixelmill {

namespace {

std::span<const int64_t> extents_of(const Value& value) {
    return {value.shape.data(), static_cast<size_t>(value.ndim)};
}

// in: the parts. Side by side along an axis, or along a new one.
class Concatenate : public Step {
   public:
    explicit Concatenate(const Params& params)
        : name_(params.text("name")),
          axis_(params.number("axis")),
          stacks_(params.flag("stacks")),
          names_(static_cast<int>(params.integer("names"))) {}

    void run(Context& context, std::span<const Value> in, std::span<Value> out) const override {
        const Value& first = in[0];
        if (stacks_ && axis_ < 0 && -axis_ > first.ndim) {
            throw Fault(FaultKind::argument, name_ + ": there is no axis " + std::to_string(static_cast<int>(axis_)));
        }
        const int axis = checked_axis(axis_, first.ndim + (stacks_ ? 1 : 0), name_);
        std::vector<Value> parts;
        for (const Value& part : in) {
            if (part.dtype != first.dtype || part.ndim != first.ndim) {
                throw Fault(FaultKind::argument, name_ + ": inputs must have one type and number of axes, got " +
                                                     describe(first) + " and " + describe(part));
            }
            if (stacks_ || part.elements() > 0) parts.push_back(stacks_ ? with_axis(part, axis) : part);
        }
        if (parts.empty()) parts.push_back(first);
        Value whole = parts[0];
        whole.shape[axis] = 0;
        for (const Value& part : parts) {
            check(whole, part, axis);
            whole.shape[axis] += part.shape[axis];
        }
        check_names(names_, static_cast<size_t>(whole.ndim), name_);
        out[0] = context.allocate(0, whole.dtype, extents_of(whole));
        Value place = out[0];
        for (const Value& part : parts) {
            place.shape = part.shape;
            copy_elements(place, part);
            place.data += part.shape[axis] * out[0].stride[axis] * size_of(part.dtype);
        }
    }

   private:
    static Value with_axis(const Value& part, int axis) {
        if (part.ndim == max_dims) throw Fault(FaultKind::argument, "stack: more than 6 axes");
        Value wide = part;
        ++wide.ndim;
        std::copy_backward(part.shape.begin() + axis, part.shape.begin() + part.ndim, wide.shape.begin() + wide.ndim);
        std::copy_backward(part.stride.begin() + axis, part.stride.begin() + part.ndim,
                           wide.stride.begin() + wide.ndim);
        wide.shape[axis] = 1;
        wide.stride[axis] = 0;
        return wide;
    }

    void check(const Value& whole, const Value& part, int axis) const {
        for (int d = 0; d < part.ndim; ++d) {
            if (d == axis || part.shape[d] == whole.shape[d]) continue;
            throw Fault(FaultKind::argument, name_ + ": the shapes " + listed(whole.shape.data(), whole.ndim) +
                                                 " and " + listed(part.shape.data(), part.ndim) +
                                                 " do not fit together");
        }
    }

    std::string name_;
    double axis_;
    bool stacks_;
    int names_;
};

// in: value, shape or a value whose shape is taken
class Full : public Step {
   public:
    explicit Full(const Params& params)
        : name_(params.text("name")),
          dtype_(static_cast<int>(params.integer("dtype"))),
          like_(params.flag("like")),
          names_(static_cast<int>(params.integer("names"))) {}

    void run(Context& context, std::span<const Value> in, std::span<Value> out) const override {
        const std::vector<int64_t> shape =
            like_ ? std::vector(in[1].shape.begin(), in[1].shape.begin() + in[1].ndim) : asked(in[1]);
        check_names(names_, shape.size(), name_);
        double elements = 1;
        for (int64_t extent : shape) elements *= static_cast<double>(extent);
        if (elements > 4.0 * static_cast<double>(context.limits.pixels)) {
            throw Fault(FaultKind::too_large, name_ + ": " + listed(shape.data(), static_cast<int>(shape.size())) +
                                                  " passes the limit of " + std::to_string(context.limits.pixels) +
                                                  " pixels");
        }
        out[0] = context.allocate(0, result_type(in), shape);
        fill(out[0], in[0]);
    }

   private:
    DType result_type(std::span<const Value> in) const {
        if (dtype_ >= 0) return static_cast<DType>(dtype_);
        return like_ ? in[1].dtype : in[0].dtype;
    }

    std::vector<int64_t> asked(const Value& shape) const {
        std::vector<int64_t> extents;
        for (int64_t i = 0; shape.present() && i < shape.elements(); ++i) {
            extents.push_back(shape.integer(i));
            if (extents.back() < 0) throw Fault(FaultKind::argument, name_ + ": extents cannot be negative");
        }
        return extents;
    }

    void fill(const Value& out, const Value& value) const {
        int ndim = out.ndim;
        Extents shape = out.shape;
        const bool fits = broadcast(ndim, shape, value) && ndim == out.ndim && shape == out.shape;
        if (!fits && !(out.ndim == 0 && value.elements() > 0)) {
            throw Fault(FaultKind::argument, name_ + ": a value of shape " + listed(value.shape.data(), value.ndim) +
                                                 " cannot fill the shape " + listed(out.shape.data(), out.ndim));
        }
        if (out.elements() == 0) return;
        Value wide = out;  // the value, stretched
        wide.data = value.data;
        wide.dtype = value.dtype;
        for (int d = 0; d < out.ndim; ++d) {
            const int own = d - (out.ndim - value.ndim);
            wide.stride[d] = own < 0 || value.shape[own] == 1 ? 0 : value.stride[own];
        }
        if (value.elements() != 1) return convert_elements(out, wide);
        wide.ndim = 0;
        Value one = out;
        one.ndim = 0;
        convert_elements(one, wide);
        repeat_first(out);
    }

    static void repeat_first(const Value& out) {
        const auto size = static_cast<size_t>(size_of(out.dtype)), bytes = static_cast<size_t>(out.elements()) * size;
        const std::byte first = *out.data;
        if (std::all_of(out.data, out.data + size, [&](std::byte byte) { return byte == first; })) {
            std::memset(out.data, static_cast<int>(first), bytes);
            return;
        }
        constexpr size_t block = 4096;  // stays in the first-level cache
        for (size_t filled = size; filled < bytes;) {
            const size_t more = std::min({filled, block, bytes - filled});
            std::memcpy(out.data + filled, out.data, more);
            filled += more;
        }
    }

    std::string name_;
    int dtype_;
    bool like_;
    int names_;
};

// in: classes, whether every sample of the batch is a single number
class OneHot : public Step {
   public:
    explicit OneHot(const Params& params)
        : classes_(params.integer("classes")),
          axis_(params.number("axis")),
          dtype_(static_cast<DType>(params.integer("dtype"))),
          on_(params.number("on")),
          off_(params.number("off")),
          names_(static_cast<int>(params.integer("names"))) {}

    void run(Context& context, std::span<const Value> in, std::span<Value> out) const override {
        Value x = in[0];
        if (in[1].number() != 0) x.ndim = 0;
        const int axis = axis_ < 0 ? x.ndim : static_cast<int>(axis_);
        if (axis > x.ndim) {
            throw Fault(FaultKind::argument,
                        "one_hot: there is no place " + std::to_string(axis) + " for an axis in " + describe(x));
        }
        std::vector<int64_t> shape(x.shape.begin(), x.shape.begin() + x.ndim);
        shape.insert(shape.begin() + axis, classes_);
        if (shape.size() > 1) check_names(names_, shape.size(), "one_hot");
        out[0] = context.allocate(0, dtype_, shape);
        int64_t inner = 1;
        for (int d = axis; d < x.ndim; ++d) inner *= x.shape[d];
        const Value numbers = context.scratch(DType::f64, extents_of(x));
        convert_elements(numbers, x);
        with_type(dtype_, [&](auto zero) { mark<decltype(zero)>(out[0], numbers, inner); });
    }

   private:
    // Fractions of the two values are cut off, as DALI does it.
    template <class T>
    static T value(double given) {
        if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
            return static_cast<T>(static_cast<int64_t>(given));
        } else {
            return convert<T>(static_cast<float>(given));
        }
    }

    template <class T>
    void mark(const Value& out, const Value& numbers, int64_t inner) const {
        T* to = out.as<T>();
        std::fill_n(to, out.elements(), value<T>(off_));
        const int64_t count = numbers.elements();
        for (int64_t i = 0; i < count; ++i) {
            const double number = std::trunc(numbers.as<double>()[i]);
            if (!(number >= 0 && number < static_cast<double>(classes_))) continue;
            const int64_t outer = i / inner, rest = i % inner;
            to[(outer * classes_ + static_cast<int64_t>(number)) * inner + rest] = value<T>(on_);
        }
    }

    int64_t classes_;
    double axis_;
    DType dtype_;
    double on_, off_;
    int names_;
};

// in: keys, table (in the type of the result; its last element stands for everything else)
class LookUp : public Step {
   public:
    void run(Context& context, std::span<const Value> in, std::span<Value> out) const override {
        const Value &x = in[0], &table = in[1];
        if (x.dtype > DType::i64) {
            throw Fault(FaultKind::argument, "lookup_table: keys must be integers, got " + describe(x));
        }
        out[0] = context.allocate(0, table.dtype, extents_of(x));
        Value keys = x;
        if (!x.contiguous()) {
            keys = context.scratch(x.dtype, extents_of(x));
            pack(keys, x, context.thread.arena);
        }
        with_type(x.dtype, [&](auto zero) {
            if constexpr (std::is_integral_v<decltype(zero)>) {
                switch (size_of(table.dtype)) {
                    case 1: return look_up<decltype(zero), uint8_t>(out[0], keys, table);
                    case 2: return look_up<decltype(zero), uint16_t>(out[0], keys, table);
                    case 4: return look_up<decltype(zero), uint32_t>(out[0], keys, table);
                    default: return look_up<decltype(zero), uint64_t>(out[0], keys, table);
                }
            }
        });
    }

   private:
    template <class Key, class T>
    static void look_up(const Value& out, const Value& keys, const Value& table) {
        const auto last = static_cast<uint64_t>(table.shape[0] - 1);
        const T* known = table.as<T>();
        const Key* from = keys.as<Key>();
        T* to = out.as<T>();
        const int64_t count = keys.elements();
        const auto found = [&](int64_t i) {
            const auto key = static_cast<uint64_t>(from[i]);  // a negative one becomes very large
            return known[key < last ? key : last];
        };
        // Written together: single stores would hold up loads from memory whose addresses end alike.
        int64_t i = 0;
        for (; i + 8 <= count; i += 8) {
            T eight[8];
            for (int64_t k = 0; k < 8; ++k) eight[k] = found(i + k);
            std::memcpy(to + i, eight, sizeof eight);
        }
        for (; i < count; ++i) to[i] = found(i);
    }
};

// in: x, a value of the type that is wanted
class CastLike : public Step {
   public:
    void run(Context& context, std::span<const Value> in, std::span<Value> out) const override {
        if (in[0].dtype == in[1].dtype) {
            out[0] = in[0];
            return;
        }
        out[0] = context.allocate(0, in[1].dtype, extents_of(in[0]));
        convert_elements(out[0], in[0]);
    }
};

// Where the item of a reader lies.
class SourceInfo : public Step {
   public:
    explicit SourceInfo(const Params& params)
        : ranges_(params.resource<ByteRanges>("ranges")),
          reader_(static_cast<size_t>(params.integer("reader"))),
          root_(params.text("root")) {}

    void run(Context& context, std::span<const Value>, std::span<Value> out) const override {
        const int64_t item = context.items[reader_];
        std::string text = ranges_->path_of(item);
        if (text.starts_with(root_)) text.erase(0, root_.size());
        if (!ranges_->offset.empty()) text += " at index " + std::to_string(ranges_->offset[static_cast<size_t>(item)]);
        out[0] = context.allocate(0, DType::u8, std::array{static_cast<int64_t>(text.size())});
        std::memcpy(out[0].data, text.data(), text.size());
    }

   private:
    std::shared_ptr<const ByteRanges> ranges_;
    size_t reader_;
    std::string root_;  // the beginning of paths that the user did not write
};

}  // namespace

std::unique_ptr<Step> make_concatenate(const Params& params) { return std::make_unique<Concatenate>(params); }
std::unique_ptr<Step> make_full(const Params& params) { return std::make_unique<Full>(params); }
std::unique_ptr<Step> make_one_hot(const Params& params) { return std::make_unique<OneHot>(params); }
std::unique_ptr<Step> make_look_up(const Params&) { return std::make_unique<LookUp>(); }
std::unique_ptr<Step> make_cast_like(const Params&) { return std::make_unique<CastLike>(); }
std::unique_ptr<Step> make_source_info(const Params& params) { return std::make_unique<SourceInfo>(params); }

}  // namespace pixelmill

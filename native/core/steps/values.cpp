// Values made from others: concatenated, filled, looked up, and their properties.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "../kernels/broadcast.h"
#include "../kernels/convert.h"
#include "../kernels/copy.h"
#include "../kernels/pointwise.h"
#include "../resources.h"
#include "axes.h"
#include "declared/elements.h"
#include "declared/shapes.h"
#include "declared/sources.h"
#include "layout.h"

namespace pixelmill {

namespace {

std::span<const int64_t> extents_of(const Value& value) {
    return {value.shape.data(), static_cast<size_t>(value.ndim)};
}

// Side by side along an axis, or along a new one.
class Concatenate : public Step {
   public:
    explicit Concatenate(const ConcatenateParams& params)
        : name_(params.name), axis_(params.axis), stacks_(params.stacks), names_(params.names) {}

    void run(Context& context, std::span<const Value> values, std::span<Value> out) const override {
        const ConcatenateInputs in(values);
        const Value& first = in.parts[0];
        if (stacks_ && axis_ < 0 && -axis_ > first.ndim) {
            throw Fault(FaultKind::argument, name_ + ": there is no axis " + std::to_string(axis_));
        }
        const int axis = checked_axis(axis_, first.ndim + (stacks_ ? 1 : 0), name_);
        std::vector<Value> parts;
        for (const Value& part : in.parts) {
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
        if (axis == whole.ndim - 1 && weave_elements(out[0], parts)) return;
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
    int64_t axis_;
    bool stacks_;
    std::optional<int64_t> names_;
};

class Full : public Step {
   public:
    explicit Full(const FullParams& params)
        : name_(params.name), dtype_(params.dtype), like_(params.like), names_(params.names) {}

    void run(Context& context, std::span<const Value> values, std::span<Value> out) const override {
        const FullInputs in(values);
        const std::vector<int64_t> shape =
            like_ ? std::vector(in.shape.shape.begin(), in.shape.shape.begin() + in.shape.ndim) : asked(in.shape);
        check_names(names_, shape.size(), name_);
        double elements = 1;
        for (int64_t extent : shape) elements *= static_cast<double>(extent);
        if (elements > 4.0 * static_cast<double>(context.limits.pixels)) {
            throw Fault(FaultKind::too_large, name_ + ": " + listed(shape.data(), static_cast<int>(shape.size())) +
                                                  " passes the limit of " + std::to_string(context.limits.pixels) +
                                                  " pixels");
        }
        out[0] = context.allocate(0, result_type(in), shape);
        fill(out[0], in.fill_value);
    }

   private:
    DType result_type(const FullInputs& in) const {
        if (dtype_) return *dtype_;
        return like_ ? in.shape.dtype : in.fill_value.dtype;
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
        Value wide = out;  // the value, broadcast
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
    std::optional<DType> dtype_;
    bool like_;
    std::optional<int64_t> names_;
};

class OneHot : public Step {
   public:
    explicit OneHot(const OneHotParams& params)
        : classes_(params.classes),
          axis_(params.axis),
          dtype_(params.dtype),
          on_(params.on_value),
          off_(params.off_value),
          names_(params.names) {}

    void run(Context& context, std::span<const Value> values, std::span<Value> out) const override {
        const OneHotInputs in(values);
        Value x = in.data;
        if (in.single.number() != 0) x.ndim = 0;
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
    int64_t axis_;
    DType dtype_;
    double on_, off_;
    std::optional<int64_t> names_;
};

// The table is in the type of the result; its last element stands for everything else.
class LookUp : public Step {
   public:
    void run(Context& context, std::span<const Value> values, std::span<Value> out) const override {
        const LookUpInputs in(values);
        const Value &x = in.data, &table = in.table;
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

class CastLike : public Step {
   public:
    void run(Context& context, std::span<const Value> values, std::span<Value> out) const override {
        const CastLikeInputs in(values);
        if (in.data.dtype == in.like.dtype) {
            out[0] = in.data;
            return;
        }
        out[0] = context.allocate(0, in.like.dtype, extents_of(in.data));
        convert_elements(out[0], in.data);
    }
};

// Where the item of a reader lies.
class SourceInfo : public Step {
   public:
    explicit SourceInfo(const SourceInfoParams& params)
        : ranges_(params.ranges), reader_(params.reader), root_(params.root) {}

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

std::unique_ptr<Step> make_concatenate(const ConcatenateParams& params) {
    return std::make_unique<Concatenate>(params);
}
std::unique_ptr<Step> make_full(const FullParams& params) { return std::make_unique<Full>(params); }
std::unique_ptr<Step> make_one_hot(const OneHotParams& params) { return std::make_unique<OneHot>(params); }
std::unique_ptr<Step> make_look_up(const LookUpParams&) { return std::make_unique<LookUp>(); }
std::unique_ptr<Step> make_cast_like(const CastLikeParams&) { return std::make_unique<CastLike>(); }
std::unique_ptr<Step> make_source_info(const SourceInfoParams& params) { return std::make_unique<SourceInfo>(params); }

}  // namespace pixelmill

#include <algorithm>

#include "../kernels/convert.h"
#include "declared/elements.h"
#include "layout.h"
#include "normalize.h"

namespace pixelmill {

int64_t padded_channels(int64_t channels, bool pads) {
    int64_t count = 1;
    while (pads && count < channels) count *= 2;
    return pads ? count : channels;
}

Scaling scaling_of(Context& context, const Value& mean, const Value& std, const Value& scale, const Value& shift,
                   int64_t channels, const std::string& name) {
    for (const Value* values : {&mean, &std}) {
        const int64_t count = values->present() ? values->elements() : 1;
        if (count != 1 && count != channels) {
            throw Fault(FaultKind::argument, name + ": mean and std need one value or one per channel, got " +
                                                 std::to_string(count) + " for " + std::to_string(channels) +
                                                 " channels");
        }
    }
    const auto at = [](const Value& values, int64_t c, float absent) {
        return values.present() ? static_cast<float>(values.number(values.elements() == 1 ? 0 : c)) : absent;
    };
    auto* subtract = context.thread.arena.take<float>(static_cast<size_t>(channels));
    auto* multiply = context.thread.arena.take<float>(static_cast<size_t>(channels));
    for (int64_t c = 0; c < channels; ++c) {
        multiply[c] = at(scale, 0, 1) / at(std, c, 1);
        subtract[c] = at(mean, c, 0) - at(shift, 0, 0) / multiply[c];
    }
    return {subtract, multiply};
}

namespace {

// The axes of an output layout that is a permutation of the input's; an empty one keeps it.
std::string checked_out_layout(const std::string& wanted, const std::string& layout, const std::string& name) {
    if (wanted.empty()) return layout;
    if (!std::is_permutation(wanted.begin(), wanted.end(), layout.begin(), layout.end())) {
        throw Fault(FaultKind::argument,
                    name + ": output_layout \"" + wanted + "\" is no permutation of \"" + layout + "\"");
    }
    return wanted;
}

// Calls `body` with the offsets, in elements, of every image in two values that hold several.
template <class Body>
void for_each_image(const Value& out, const std::string& out_layout, const Value& in, const std::string& layout,
                    Body&& body, size_t dim = 0, int64_t to = 0, int64_t from = 0) {
    while (dim < layout.size() && (layout[dim] == 'H' || layout[dim] == 'W' || layout[dim] == 'C')) ++dim;
    if (dim == layout.size()) return body(to, from);
    const int64_t step = out.stride[axis_named(out_layout, layout[dim])];
    for (int64_t i = 0; i < in.shape[dim]; ++i) {
        for_each_image(out, out_layout, in, layout, body, dim + 1, to + i * step, from + i * in.stride[dim]);
    }
}

Raster raster_of(const Value& value, const std::string& layout) {
    const int h = axis_named(layout, 'H'), w = axis_named(layout, 'W'), c = axis_named(layout, 'C');
    return {value.data,     value.dtype,     value.shape[h],  value.shape[w],
            value.shape[c], value.stride[h], value.stride[w], value.stride[c]};
}

void fill_channels(const Raster& out, int64_t from, double value) {
    with_type(out.dtype, [&](auto zero) {
        using T = decltype(zero);
        const T filled = convert<T>(value);
        for (int64_t c = from; c < out.channels; ++c) {
            for (int64_t y = 0; y < out.height; ++y) {
                for (int64_t x = 0; x < out.width; ++x) *reinterpret_cast<T*>(out.at(y, x, c)) = filled;
            }
        }
    });
}

}  // namespace

Value normalized(Context& context, int index, const Value& x, bool mirror, const Value& mean, const Value& std,
                 const Value& scale, const Value& shift, const NormalizeArguments& arguments) {
    const std::string layout = layout_of(arguments.layout, x.ndim, arguments.name);
    const std::string out_layout = checked_out_layout(arguments.out_layout, layout, arguments.name);
    for (char needed : {'H', 'W', 'C'}) {
        if (axis_named(layout, needed) < 0) {
            throw Fault(FaultKind::argument, arguments.name + ": the layout \"" + layout + "\" has no axis " + needed);
        }
    }
    Extents shape{};
    for (size_t d = 0; d < out_layout.size(); ++d) {
        shape[d] = x.shape[axis_named(layout, out_layout[d])];
        if (out_layout[d] == 'C') shape[d] = padded_channels(shape[d], arguments.pads_channels);
    }
    const Value out = context.allocate(index, arguments.dtype, {shape.data(), out_layout.size()});
    if (out.elements() == 0) return out;
    Raster from = raster_of(x, layout), to = raster_of(out, out_layout);
    to.leaves = context.leaves(index);
    const Scaling scaling = scaling_of(context, mean, std, scale, shift, from.channels, arguments.name);
    if (mirror) from = mirrored(from);
    for_each_image(out, out_layout, x, layout, [&](int64_t to_offset, int64_t from_offset) {
        Raster one = to, other = from;
        one.data += to_offset * size_of(out.dtype);
        other.data += from_offset * size_of(x.dtype);
        normalize(one, other, scaling, context.thread.arena);
        if (arguments.channel_fill != 0) fill_channels(one, other.channels, arguments.channel_fill);
    });
    return out;
}

namespace {

class Normalize : public Step {
   public:
    explicit Normalize(const NormalizeParams& params)
        : arguments_{params.layout, params.out_layout, params.dtype, params.pad_channels, params.name} {}

    void run(Context& context, std::span<const Value> values, std::span<Value> out) const override {
        const NormalizeInputs in(values);
        const bool mirror = in.mirror.present() && in.mirror.number() != 0;
        NormalizeArguments arguments = arguments_;
        if (in.channel_fill.present()) arguments.channel_fill = in.channel_fill.number();
        out[0] = normalized(context, 0, in.image, mirror, in.mean, in.std, in.scale, in.shift, arguments);
    }

   private:
    NormalizeArguments arguments_;
};

class Cast : public Step {
   public:
    explicit Cast(const CastParams& params) : dtype_(params.dtype) {}

    void run(Context& context, std::span<const Value> values, std::span<Value> out) const override {
        const CastInputs in(values);
        const Value& x = in.data;
        if (x.dtype == dtype_) {
            out[0] = x;
            return;
        }
        out[0] = context.allocate(0, dtype_, {x.shape.data(), static_cast<size_t>(x.ndim)});
        convert_elements(out[0], x);
    }

   private:
    DType dtype_;
};

}  // namespace

std::unique_ptr<Step> make_normalize(const NormalizeParams& params) { return std::make_unique<Normalize>(params); }
std::unique_ptr<Step> make_cast(const CastParams& params) { return std::make_unique<Cast>(params); }

}  // namespace pixelmill

// Access to the images and rows of values of any strides.
#pragma once

#include <string>

#include "../kernels/pointwise.h"
#include "../step.h"
#include "layout.h"

namespace pixelmill {

inline std::span<const int64_t> shape_of(const Value& value) {
    return {value.shape.data(), static_cast<size_t>(value.ndim)};
}

// The same elements, contiguous: the value itself, or a copy.
inline Value packed(Context& context, const Value& value) {
    if (value.contiguous()) return value;
    const Value copy = context.scratch(value.dtype, shape_of(value));
    pack(copy, value, context.thread.arena);
    return copy;
}

// How many of the last elements are contiguous.
inline int64_t run_length(const Value& value) {
    int64_t run = 1;
    for (int d = value.ndim - 1; d >= 0 && (value.shape[d] == 1 || value.stride[d] == run); --d) run *= value.shape[d];
    return run;
}

// Calls `body(offset in out, offset in value, count)` for the contiguous pieces of a value; out is packed.
template <class Body>
void for_each_run(const Value& value, Body&& body) {
    const int64_t count = value.elements(), run = run_length(value);
    for (int64_t done = 0; done < count; done += run) {
        int64_t at = 0, rest = done;
        for (int d = value.ndim - 1; d >= 0; --d) {
            at += rest % value.shape[d] * value.stride[d];
            rest /= value.shape[d];
        }
        body(done, at, run);
    }
}

// The number of images in a value whose last axes are rows, columns and channels.
inline int64_t image_count(const Value& value) {
    int64_t count = 1;
    for (int d = 0; d < value.ndim - 3; ++d) count *= value.shape[d];
    return count;
}

inline Raster image_at(const Value& value, int64_t index) {
    int64_t at = 0;
    for (int d = value.ndim - 4; d >= 0; --d) {
        at += index % value.shape[d] * value.stride[d];
        index /= value.shape[d];
    }
    const int64_t* shape = value.shape.data() + value.ndim - 3;
    const int64_t* stride = value.stride.data() + value.ndim - 3;
    return {value.data + at * size_of(value.dtype),
            value.dtype,
            shape[0],
            shape[1],
            shape[2],
            stride[0],
            stride[1],
            stride[2]};
}

// The number an argument holds for this sample.
inline double argument(const Value& value, const std::string& name) {
    if (value.elements() == 1) return value.number();
    throw Fault(FaultKind::argument, name + ": one number is needed, got " + describe(value));
}

inline void require_type(const Value& value, std::initializer_list<DType> types, const std::string& name) {
    std::string allowed;
    for (DType type : types) {
        if (value.dtype == type) return;
        allowed += (allowed.empty() ? "" : ", ") + std::string(name_of(type));
    }
    throw Fault(FaultKind::argument, name + ": the elements must be of type " + allowed + "; got " + describe(value));
}

}  // namespace pixelmill

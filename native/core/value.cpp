#include "value.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <stdexcept>

namespace pixelmill {

int64_t size_of(DType dtype) {
    switch (dtype) {
        case DType::boolean:
        case DType::u8:
        case DType::i8: return 1;
        case DType::u16:
        case DType::i16:
        case DType::f16: return 2;
        case DType::u32:
        case DType::i32:
        case DType::f32: return 4;
        case DType::u64:
        case DType::i64:
        case DType::f64: return 8;
    }
    throw std::logic_error("unknown dtype");
}

const char* name_of(DType dtype) {
    static constexpr const char* names[] = {"uint8", "uint16", "uint32",  "uint64",  "int8",    "int16",
                                            "int32", "int64",  "float16", "float32", "float64", "bool"};
    return names[static_cast<int>(dtype)];
}

int64_t Value::elements() const {
    int64_t count = 1;
    for (int d = 0; d < ndim; ++d) count *= shape[d];
    return count;
}

bool Value::contiguous() const {
    int64_t expected = 1;
    for (int d = ndim - 1; d >= 0; --d) {
        if (shape[d] == 0) return true;
        if (shape[d] != 1 && stride[d] != expected) return false;
        expected *= shape[d];
    }
    return true;
}

double Value::number(int64_t index) const {
    if (ndim == 1) index *= stride[0];
    switch (dtype) {
        case DType::boolean: return as<uint8_t>()[index] != 0;
        case DType::u8: return as<uint8_t>()[index];
        case DType::u16: return as<uint16_t>()[index];
        case DType::u32: return as<uint32_t>()[index];
        case DType::u64: return static_cast<double>(as<uint64_t>()[index]);
        case DType::i8: return as<int8_t>()[index];
        case DType::i16: return as<int16_t>()[index];
        case DType::i32: return as<int32_t>()[index];
        case DType::i64: return static_cast<double>(as<int64_t>()[index]);
        case DType::f32: return as<float>()[index];
        case DType::f64: return as<double>()[index];
        case DType::f16: break;
    }
    throw std::logic_error("a float16 value cannot be an argument");
}

int64_t Value::integer(int64_t index) const {
    if (dtype == DType::i64) return as<int64_t>()[ndim == 1 ? index * stride[0] : index];
    const double value = number(index);
    if (!(value > -0x1p63)) return std::isnan(value) ? 0 : std::numeric_limits<int64_t>::min();
    return value < 0x1p63 ? static_cast<int64_t>(value) : std::numeric_limits<int64_t>::max();
}

Extents packed_strides(int ndim, const Extents& shape) {
    Extents stride{};
    int64_t step = 1;
    for (int d = ndim - 1; d >= 0; --d) {
        stride[d] = step;
        step *= shape[d];
    }
    return stride;
}

std::string describe(const Value& value) {
    std::string text = std::string(name_of(value.dtype)) + " (";
    for (int d = 0; d < value.ndim; ++d) text += (d ? ", " : "") + std::to_string(value.shape[d]);
    return text + (value.ndim == 1 ? ",)" : ")");
}

namespace {

template <class T>
void copy_typed(const Value& out, const Value& in, int dim, int64_t to, int64_t from) {
    const int64_t n = in.shape[dim], step_out = out.stride[dim], step_in = in.stride[dim];
    if (dim + 2 == in.ndim && in.shape[dim + 1] <= 16) {  // pixels: a call for each would cost more than the copy
        const int64_t channels = in.shape[dim + 1], channel_out = out.stride[dim + 1], channel_in = in.stride[dim + 1];
        for (int64_t i = 0; i < n; ++i) {
            T* pixel = out.as<T>() + to + i * step_out;
            const T* other = in.as<T>() + from + i * step_in;
            for (int64_t c = 0; c < channels; ++c) pixel[c * channel_out] = other[c * channel_in];
        }
        return;
    }
    if (dim + 1 < in.ndim) {
        for (int64_t i = 0; i < n; ++i) copy_typed<T>(out, in, dim + 1, to + i * step_out, from + i * step_in);
        return;
    }
    T* destination = out.as<T>() + to;
    const T* source = in.as<T>() + from;
    if (step_out == 1 && step_in == 1) {
        std::memcpy(destination, source, static_cast<size_t>(n) * sizeof(T));
        return;
    }
    for (int64_t i = 0; i < n; ++i) destination[i * step_out] = source[i * step_in];
}

template <class T>
void copy_any(const Value& out, const Value& in) {
    if (in.ndim == 0) {
        *out.as<T>() = *in.as<T>();
        return;
    }
    // The pixels of a row, and their channels, are one run where they are packed on both sides.
    Value to = out, from = in;
    while (from.ndim > 1) {
        const int last = from.ndim - 1;
        const int64_t run = from.shape[last];
        if (from.stride[last] != 1 || to.stride[last] != 1 || from.stride[last - 1] != run || to.stride[last - 1] != run) break;
        from.shape[last - 1] *= run;
        from.stride[last - 1] = to.stride[last - 1] = 1;
        --from.ndim;
    }
    copy_typed<T>(to, from, 0, 0, 0);
}

}  // namespace

void copy_elements(const Value& out, const Value& in) {
    const int64_t count = in.elements();
    if (count == 0) return;
    const int64_t size = size_of(in.dtype);
    if (in.contiguous() && out.contiguous()) {
        std::memcpy(out.data, in.data, static_cast<size_t>(count * size));
        return;
    }
    switch (size) {
        case 1: return copy_any<uint8_t>(out, in);
        case 2: return copy_any<uint16_t>(out, in);
        case 4: return copy_any<uint32_t>(out, in);
        default: return copy_any<uint64_t>(out, in);
    }
}

}  // namespace pixelmill

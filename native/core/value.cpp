#include "value.h"

#include <cmath>
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

}  // namespace pixelmill

// What the slots of a program hold: a described piece of memory. A Value never owns its memory.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "view.h"

namespace pixelmill {

inline constexpr int max_dims = 6;

// The numbers are those of pixelmill.types.DALIDataType.
enum class DType : uint8_t { u8, u16, u32, u64, i8, i16, i32, i64, f16, f32, f64, boolean };

int64_t size_of(DType dtype);
const char* name_of(DType dtype);

using Extents = std::array<int64_t, max_dims>;

struct Value {
    std::byte* data = nullptr;
    DType dtype = DType::u8;
    int ndim = 0;
    Extents shape{};
    Extents stride{};  // in elements

    bool present() const { return data != nullptr; }
    int64_t elements() const;
    bool contiguous() const;
    template <class T>
    T* as() const {
        return reinterpret_cast<T*>(data);
    }
    // Element `index` of a small vector or a scalar, whatever its type.
    double number(int64_t index = 0) const;
    int64_t integer(int64_t index = 0) const;
};

// Contiguous strides for the shape of `value`.
Extents packed_strides(int ndim, const Extents& shape);

std::string describe(const Value& value);  // "uint8 (480, 640, 3)"

}  // namespace pixelmill

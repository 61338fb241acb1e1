// One number from one type to another by DALI's rules: round half away from zero, saturate.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "../value.h"
#include "half.h"

namespace pixelmill {

// Calls `body` with a zero of the C++ type that a DType stands for; booleans are stored as bool.
template <class Body>
decltype(auto) with_type(DType dtype, Body&& body) {
    switch (dtype) {
        case DType::boolean: return body(bool{});
        case DType::u8: return body(uint8_t{});
        case DType::u16: return body(uint16_t{});
        case DType::u32: return body(uint32_t{});
        case DType::u64: return body(uint64_t{});
        case DType::i8: return body(int8_t{});
        case DType::i16: return body(int16_t{});
        case DType::i32: return body(int32_t{});
        case DType::i64: return body(int64_t{});
        case DType::f16: return body(Half{});
        case DType::f64: return body(double{});
        default: return body(float{});
    }
}

// Small integers: clamped first, so that the conversion to int32 is defined and vectorizes.
template <class Out>
Out rounded_small(float x) {
    constexpr auto low = static_cast<float>(std::numeric_limits<Out>::min());
    constexpr auto high = static_cast<float>(std::numeric_limits<Out>::max());
    if constexpr (std::is_signed_v<Out>) x = x == x ? x : 0.0f;
    x = x > low ? x : low;  // the order of operands is that of the machine's maximum, which turns NaN into `low`
    x = x < high ? x : high;
    const auto whole = static_cast<int32_t>(x);
    const float rest = x - static_cast<float>(whole);
    int32_t rounded = whole + (rest >= 0.5f ? 1 : 0);
    if constexpr (std::is_signed_v<Out>) rounded -= rest <= -0.5f ? 1 : 0;
    return static_cast<Out>(rounded);
}

// What NaN becomes: 0, but in large integers the result of the machine's own conversion, which is DALI's.
template <class Out>
constexpr Out no_number() {
    if constexpr (std::is_same_v<Out, uint64_t>) return uint64_t{1} << 63;
    return sizeof(Out) >= 4 ? std::numeric_limits<Out>::min() : 0;
}

template <class Out>
Out rounded_large(double x) {
    constexpr auto low = static_cast<double>(std::numeric_limits<Out>::min());
    constexpr auto high = static_cast<double>(std::numeric_limits<Out>::max());  // rounds up to 2^63 or 2^64
    if (x != x) return no_number<Out>();
    x = std::round(x);
    if (x <= low) return std::numeric_limits<Out>::min();
    if (x >= high) return std::numeric_limits<Out>::max();
    return static_cast<Out>(x);
}

template <class Out, class In>
Out saturated(In x) {
    if constexpr (std::is_signed_v<In> && std::is_unsigned_v<Out>) {
        if (x < 0) return 0;
        if (static_cast<std::make_unsigned_t<In>>(x) > std::numeric_limits<Out>::max())
            return std::numeric_limits<Out>::max();
    } else if constexpr (std::is_unsigned_v<In> && std::is_signed_v<Out>) {
        if (x > static_cast<std::make_unsigned_t<Out>>(std::numeric_limits<Out>::max()))
            return std::numeric_limits<Out>::max();
    } else {
        if (x < std::numeric_limits<Out>::min()) return std::numeric_limits<Out>::min();
        if (x > std::numeric_limits<Out>::max()) return std::numeric_limits<Out>::max();
    }
    return static_cast<Out>(x);
}

template <class Out, class In>
Out convert(In x) {
    if constexpr (std::is_same_v<Out, In>) {
        return x;
    } else if constexpr (std::is_same_v<In, Half>) {
        return convert<Out>(to_float(x));
    } else if constexpr (std::is_same_v<Out, Half>) {
        return std::is_floating_point_v<In> ? to_half(static_cast<float>(x)) : whole_to_half(static_cast<float>(x));
    } else if constexpr (std::is_floating_point_v<Out> || std::is_same_v<In, bool>) {
        return static_cast<Out>(x);
    } else if constexpr (std::is_same_v<Out, bool>) {
        if constexpr (std::is_floating_point_v<In>) return !(std::fabs(x) < In(0.5));  // NaN is true
        return x != 0;
    } else if constexpr (std::is_floating_point_v<In>) {
        if constexpr (sizeof(Out) <= 2 && std::is_same_v<In, float>) return rounded_small<Out>(x);
        return rounded_large<Out>(static_cast<double>(x));
    } else {
        return saturated<Out>(x);
    }
}

}  // namespace pixelmill

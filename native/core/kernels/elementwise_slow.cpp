// Operations that the compiler cannot vectorize: whole division, powers, and the functions of the C library.
#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>
#include <string>

#include "convert.h"
#include "elementwise.h"

namespace pixelmill {

namespace {

template <class T>
T whole_power(T base, T exponent) {
    if constexpr (std::is_signed_v<T>) {
        if (exponent < 0) return 0;
    }
    using U = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;
    U result = 1, factor = static_cast<U>(base);
    for (auto left = static_cast<std::make_unsigned_t<T>>(exponent); left > 0; left >>= 1) {
        if (left & 1) result *= factor;
        factor *= factor;
    }
    return static_cast<T>(result);
}

// The caller has checked that no divisor is zero. The smallest integer divided by -1 wraps instead of trapping.
struct Quotient {
    template <class T>
    static T run(T a, T b) {
        if constexpr (std::is_signed_v<T>) {
            using U = std::make_unsigned_t<T>;
            if (b == -1) return static_cast<T>(static_cast<U>(U{0} - static_cast<U>(a)));
        }
        return static_cast<T>(a / b);
    }
};
struct Remainder {
    template <class T>
    static T run(T a, T b) {
        if constexpr (std::is_floating_point_v<T>) {
            return std::fmod(a, b);
        } else {
            if constexpr (std::is_signed_v<T>) {
                if (b == -1) return 0;
            }
            return static_cast<T>(a % b);
        }
    }
};
struct Power {
    template <class T>
    static T run(T a, T b) {
        if constexpr (std::is_floating_point_v<T>)
            return std::pow(a, b);
        else
            return whole_power(a, b);
    }
};
struct Angle {
    template <class T>
    static T run(T a, T b) {
        return std::atan2(a, b);
    }
};

template <class Op, class T>
void two(void* out, const void* a, const void* b, const void*, int64_t count, unsigned) {
    auto* to = static_cast<T*>(out);
    const auto* x = static_cast<const T*>(a);
    const auto* y = static_cast<const T*>(b);
    for (int64_t i = 0; i < count; ++i) to[i] = Op::run(x[i], y[i]);
}

// A row of integers to one power, by multiplications of whole rows.
template <class T>
void power_row(void* out, const void* a, const void* b, const void* c, int64_t count, unsigned single) {
    const T exponent = *static_cast<const T*>(b);
    if ((single & 2) == 0 || exponent < 1 || exponent > 8) return two<Power, T>(out, a, b, c, count, single);
    using U = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;
    auto* __restrict to = static_cast<T*>(out);
    const auto* __restrict x = static_cast<const T*>(a);
    std::copy_n(x, count, to);
    for (T k = 1; k < exponent; ++k) {
        for (int64_t i = 0; i < count; ++i) to[i] = static_cast<T>(static_cast<U>(to[i]) * static_cast<U>(x[i]));
    }
}

RowLoop whole_power_loop(DType operand) {
    static constexpr RowLoop loops[] = {power_row<uint8_t>,  power_row<uint16_t>, power_row<uint32_t>,
                                        power_row<uint64_t>, power_row<int8_t>,   power_row<int16_t>,
                                        power_row<int32_t>,  power_row<int64_t>};
    return loops[static_cast<size_t>(operand)];
}

template <class Op>
RowLoop of_reals(DType operand) {
    return operand == DType::f32 ? two<Op, float> : operand == DType::f64 ? two<Op, double> : nullptr;
}

template <class Op>
RowLoop of_integers(DType operand) {
    static constexpr RowLoop loops[] = {two<Op, uint8_t>, two<Op, uint16_t>, two<Op, uint32_t>, two<Op, uint64_t>,
                                        two<Op, int8_t>,  two<Op, int16_t>,  two<Op, int32_t>,  two<Op, int64_t>};
    return operand <= DType::i64 ? loops[static_cast<size_t>(operand)] : nullptr;
}

// A function of the C library on a row of doubles; floats have their own, see functions.inl.
template <double (*function)(double)>
void library(void* out, const void* a, const void*, const void*, int64_t count, unsigned) {
    auto* to = static_cast<double*>(out);
    const auto* x = static_cast<const double*>(a);
    for (int64_t i = 0; i < count; ++i) to[i] = function(x[i]);
}

RowLoop library_loop(Operation operation, DType operand) {
    if (operand != DType::f64) return nullptr;
    switch (operation) {
        case Operation::cbrt: return library<::cbrt>;
        case Operation::exp: return library<::exp>;
        case Operation::log: return library<::log>;
        case Operation::log2: return library<::log2>;
        case Operation::log10: return library<::log10>;
        case Operation::sin: return library<::sin>;
        case Operation::cos: return library<::cos>;
        case Operation::tan: return library<::tan>;
        case Operation::asin: return library<::asin>;
        case Operation::acos: return library<::acos>;
        case Operation::atan: return library<::atan>;
        case Operation::sinh: return library<::sinh>;
        case Operation::cosh: return library<::cosh>;
        case Operation::tanh: return library<::tanh>;
        case Operation::asinh: return library<::asinh>;
        case Operation::acosh: return library<::acosh>;
        case Operation::atanh: return library<::atanh>;
        default: return nullptr;
    }
}

template <class Out, class In>
void convert_row(void* out, const void* in, const void*, const void*, int64_t count, unsigned) {
    for (int64_t i = 0; i < count; ++i) static_cast<Out*>(out)[i] = convert<Out>(static_cast<const In*>(in)[i]);
}

}  // namespace

RowLoop half_conversion(DType to, DType from) {
    if (from == DType::f16)
        return with_type(to, [](auto zero) -> RowLoop { return convert_row<decltype(zero), Half>; });
    return with_type(from, [](auto zero) -> RowLoop { return convert_row<Half, decltype(zero)>; });
}

RowLoop slow_row_loop(Operation operation, DType operand) {
    RowLoop found = nullptr;
    switch (operation) {
        case Operation::div: found = of_integers<Quotient>(operand); break;
        case Operation::mod:
            found = operand <= DType::i64 ? of_integers<Remainder>(operand) : of_reals<Remainder>(operand);
            break;
        case Operation::pow:
            found = operand <= DType::i64 ? whole_power_loop(operand) : of_reals<Power>(operand);
            break;
        case Operation::fpow: found = of_reals<Power>(operand); break;
        case Operation::atan2: found = of_reals<Angle>(operand); break;
        default: found = library_loop(operation, operand);
    }
    if (found == nullptr)
        throw std::logic_error(std::string("no loop for ") + name_of(operation) + " of " + name_of(operand));
    return found;
}

}  // namespace pixelmill

// Operations that the compiler cannot vectorise: whole division, powers, and the functions of the C library.
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

// The caller has seen to it that no divisor is zero. The smallest integer divided by -1 wraps instead of trapping.
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
        if constexpr (std::is_floating_point_v<T>) return std::pow(a, b);
        else return whole_power(a, b);
    }
};
struct Angle {
    template <class T>
    static T run(T a, T b) { return std::atan2(a, b); }
};

template <class Op, class T>
void two(void* out, const void* a, const void* b, const void*, int64_t count) {
    auto* to = static_cast<T*>(out);
    const auto* x = static_cast<const T*>(a);
    const auto* y = static_cast<const T*>(b);
    for (int64_t i = 0; i < count; ++i) {
        if constexpr (std::is_same_v<T, Half>) {
            to[i] = to_half(Op::run(to_float(x[i]), to_float(y[i])));
        } else {
            to[i] = Op::run(x[i], y[i]);
        }
    }
}

template <class Op>
RowLoop of_reals(DType operand) {
    switch (operand) {
        case DType::f16: return two<Op, Half>;
        case DType::f32: return two<Op, float>;
        case DType::f64: return two<Op, double>;
        default: return nullptr;
    }
}

template <class Op>
RowLoop of_integers(DType operand) {
    static constexpr RowLoop loops[] = {two<Op, uint8_t>, two<Op, uint16_t>, two<Op, uint32_t>, two<Op, uint64_t>,
                                        two<Op, int8_t>,  two<Op, int16_t>,  two<Op, int32_t>,  two<Op, int64_t>};
    return operand <= DType::i64 ? loops[static_cast<size_t>(operand)] : nullptr;
}

// A function of the C library on a row.
template <float (*of_float)(float), double (*of_double)(double)>
struct Library {
    template <class T>
    static void row(void* out, const void* a, const void*, const void*, int64_t count) {
        auto* to = static_cast<T*>(out);
        const auto* x = static_cast<const T*>(a);
        for (int64_t i = 0; i < count; ++i) {
            if constexpr (std::is_same_v<T, Half>) {
                to[i] = to_half(of_float(to_float(x[i])));
            } else if constexpr (std::is_same_v<T, float>) {
                to[i] = of_float(x[i]);
            } else {
                to[i] = of_double(x[i]);
            }
        }
    }
    static RowLoop loop(DType operand) {
        switch (operand) {
            case DType::f16: return row<Half>;
            case DType::f32: return row<float>;
            case DType::f64: return row<double>;
            default: return nullptr;
        }
    }
};

RowLoop library_loop(Operation operation, DType operand) {
    switch (operation) {
        case Operation::cbrt: return Library<::cbrtf, ::cbrt>::loop(operand);
        case Operation::exp: return Library<::expf, ::exp>::loop(operand);
        case Operation::log: return Library<::logf, ::log>::loop(operand);
        case Operation::log2: return Library<::log2f, ::log2>::loop(operand);
        case Operation::log10: return Library<::log10f, ::log10>::loop(operand);
        case Operation::sin: return Library<::sinf, ::sin>::loop(operand);
        case Operation::cos: return Library<::cosf, ::cos>::loop(operand);
        case Operation::tan: return Library<::tanf, ::tan>::loop(operand);
        case Operation::asin: return Library<::asinf, ::asin>::loop(operand);
        case Operation::acos: return Library<::acosf, ::acos>::loop(operand);
        case Operation::atan: return Library<::atanf, ::atan>::loop(operand);
        case Operation::sinh: return Library<::sinhf, ::sinh>::loop(operand);
        case Operation::cosh: return Library<::coshf, ::cosh>::loop(operand);
        case Operation::tanh: return Library<::tanhf, ::tanh>::loop(operand);
        case Operation::asinh: return Library<::asinhf, ::asinh>::loop(operand);
        case Operation::acosh: return Library<::acoshf, ::acosh>::loop(operand);
        case Operation::atanh: return Library<::atanhf, ::atanh>::loop(operand);
        default: return nullptr;
    }
}

}  // namespace

RowLoop slow_row_loop(Operation operation, DType operand) {
    RowLoop found = nullptr;
    switch (operation) {
        case Operation::div: found = of_integers<Quotient>(operand); break;
        case Operation::mod:
            found = operand <= DType::i64 ? of_integers<Remainder>(operand) : of_reals<Remainder>(operand);
            break;
        case Operation::pow:
            found = operand <= DType::i64 ? of_integers<Power>(operand) : of_reals<Power>(operand);
            break;
        case Operation::fpow: found = of_reals<Power>(operand); break;
        case Operation::atan2: found = of_reals<Angle>(operand); break;
        default: found = library_loop(operation, operand);
    }
    if (found == nullptr) throw std::logic_error(std::string("no loop for ") + name_of(operation) + " of " + name_of(operand));
    return found;
}

}  // namespace pixelmill

// Elementary functions of floats, worked out by the same few operations everywhere: the C library's differ from machine
// to machine and do not vectorize. Included once for each instruction set, see functions.cpp.

inline double pick(bool condition, double yes, double no) { return condition ? yes : no; }
// By masks: compilers make branches of choices between constants, and work out what follows once for each.
inline float pick(bool condition, float yes, float no) {
    const uint32_t mask = -static_cast<uint32_t>(condition);
    return std::bit_cast<float>((std::bit_cast<uint32_t>(yes) & mask) | (std::bit_cast<uint32_t>(no) & ~mask));
}
inline double limited(double x, double low, double high) {
#if AVX2_CODE
    const uint64_t below = -static_cast<uint64_t>(x < low), above = -static_cast<uint64_t>(x > high);
    const uint64_t limit = (std::bit_cast<uint64_t>(low) & below) | (std::bit_cast<uint64_t>(high) & above);
    return std::bit_cast<double>(limit | (std::bit_cast<uint64_t>(x) & ~(below | above)));
#else
    return x < low ? low : x > high ? high : x;  // masks of 64 bits do not vectorize here
#endif
}

// Series are written from the last coefficient to the first. Those with many digits interpolate the function at the
// nodes of Chebyshev, in as many terms as leave an error far below the last bit of a float.
template <class T, size_t n>
T series(T x, const T (&coefficients)[n]) {
    T sum = coefficients[0];
    for (size_t i = 1; i < n; ++i) sum = sum * x + coefficients[i];
    return sum;
}

// Adding this rounds to a whole number, which then stands in the low bits.
constexpr double rounder = 0x1.8p52;

inline double exp_of(double x) {
    x = pick(x < -200.0, -200.0, x);  // beyond what floats hold
    x = pick(x > 200.0, 200.0, x);
    const double shifted = x * 1.4426950408889634 + rounder;
    const double rest = x - (shifted - rounder) * 0.6931471805599453;
    const double power = std::bit_cast<double>((std::bit_cast<uint64_t>(shifted) + 1023) << 52);
    return power * series(rest, {0.0013941118940759135, 0.008375134774678761, 0.041666352770387056, 0.1666641541404117,
                                 0.500000004714632, 1.0000000377388703, 1.0});
}

// Of finite numbers above 0.
inline double log_of_positive(double x) {
    // The mantissa is taken from sqrt(1/2) to sqrt(2), where the series of the inverse hyperbolic tangent is short.
    constexpr uint64_t low = 0x3fe6a09e667f3bcd, one = 0x3ff0000000000000, mantissa = 0x000fffffffffffff;
    const uint64_t moved = std::bit_cast<uint64_t>(x) + (one - low);
    const double m = std::bit_cast<double>((moved & mantissa) + low);
    const double exponent = std::bit_cast<double>((moved >> 52) | 0x4330000000000000) - (0x1p52 + 1023);
    const double s = (m - 1) / (m + 1);
    const double tail =
        series(s * s, {0.1180824564780452, 0.1426752216821532, 0.20000192387742702, 0.3333333262350216, 1.0});
    return exponent * 0.6931471805599453 + 2 * s * tail;
}

inline double log_of(double x) {
    const double result = log_of_positive(x);
    constexpr double inf = std::numeric_limits<double>::infinity();
    const double special = pick(x == 0, -inf, pick(x == inf, inf, std::numeric_limits<double>::quiet_NaN()));
    return pick(x > 0 && x < inf, result, special);
}

// Quarter turns: sine for `turn` 0, cosine for 1. Good for |x| up to largest_angle.
constexpr float largest_angle = 1e5f;
inline double sine_of(double x, uint64_t turn) {
    const double shifted = x * 0.6366197723675814 + rounder, turns = shifted - rounder;
    // pi / 2 in two parts; the first has so few bits that its product with `turns` is exact.
    const double r = (x - turns * 0x1.921fb544p0) - turns * 0x1.0b4611a626331p-34;
    const double z = r * r;
    const double sine =
        r * series(z, {2.71733766842087e-06, -0.00019839201340575774, 0.008333328779546133, -0.1666666663156062, 1.0});
    const double cosine =
        series(z, {2.4379747280143e-05, -0.001388661709248211, 0.04166661666252168, -0.4999999961454848, 1.0});
    const uint64_t quadrant = std::bit_cast<uint64_t>(shifted) + turn;
    const uint64_t chosen = (quadrant & 1) != 0 ? std::bit_cast<uint64_t>(cosine) : std::bit_cast<uint64_t>(sine);
    return std::bit_cast<double>(chosen ^ ((quadrant & 2) << 62));
}

inline double atan_of(double x) {
    const double size = std::fabs(x), small = pick(size > 1, 1 / size, size);
    const double turned = pick(small > 0.41421356237309503, (small - 1) / (small + 1), small);
    const double z = turned * turned;
    const double angle = turned * series(z, {0.04707131280421851, -0.08456090306771671, 0.11040471173718121,
                                             -0.14281587322096606, 0.19999883804489776, -0.33333332096936497, 1.0});
    const double upright = pick(small > 0.41421356237309503, angle + 0.7853981633974483, angle);
    return std::copysign(pick(size > 1, 1.5707963267948966 - upright, upright), x);
}

// The angle whose sine is |x| where that is at most 1/2; beyond, half of what is left to a quarter turn.
inline double arc_of(double x) {
    const double size = std::fabs(x), small = pick(size > 0.5, std::sqrt((1 - size) * 0.5), size);
    return small * series(small * small,
                          {0.034749820169378144, 0.007399876748052252, 0.024651220309933577, 0.030102451188016705,
                           0.04466114372631434, 0.07499941892242484, 0.16666667364415033, 1.0});
}

#include "float_functions.inl"

struct Log2 {
    static double run(double x) { return log_of(x) * 1.4426950408889634; }
};
struct Log10 {
    static double run(double x) { return log_of(x) * 0.4342944819032518; }
};
struct Cbrt {
    static double run(double x) { return std::copysign(exp_of(log_of(std::fabs(x)) * (1.0 / 3)), x); }
};
struct Sin {
    static double run(double x) { return sine_of(x, 0); }
    static float exact(float x) { return std::sin(x); }
};
struct Cos {
    static double run(double x) { return sine_of(x, 1); }
    static float exact(float x) { return std::cos(x); }
};
struct Tan {
    static double run(double x) { return sine_of(x, 0) / sine_of(x, 1); }
    static float exact(float x) { return std::tan(x); }
};
struct Asin {
    static double run(double x) {
        const double arc = arc_of(x);
        return std::copysign(pick(std::fabs(x) > 0.5, 1.5707963267948966 - 2 * arc, arc), x);
    }
};
struct Acos {
    static double run(double x) {
        const double arc = arc_of(x), beyond = pick(x > 0, 2 * arc, 3.141592653589793 - 2 * arc);
        return pick(std::fabs(x) > 0.5, beyond, 1.5707963267948966 - std::copysign(arc, x));
    }
};
struct Atan {
    static double run(double x) { return atan_of(x); }
};
// Near 0 these are differences of nearly equal numbers; there their own series are used.
struct Sinh {
    static double run(double x) {
        const double z = x * x, e = exp_of(std::fabs(x));
        const double near = x * series(z, {1.0 / 5040, 1.0 / 120, 1.0 / 6, 1.0});
        return pick(std::fabs(x) < 0.1, near, std::copysign((e - 1 / e) * 0.5, x));
    }
};
struct Cosh {
    static double run(double x) {
        const double e = exp_of(std::fabs(x));
        return (e + 1 / e) * 0.5;
    }
};
struct Tanh {
    static double run(double x) {
        const double z = x * x, e = exp_of(2 * std::fabs(x));
        const double near = x * series(z, {62.0 / 2835, -17.0 / 315, 2.0 / 15, -1.0 / 3, 1.0});
        return pick(std::fabs(x) < 0.1, near, std::copysign((e - 1) / (e + 1), x));
    }
};
struct Asinh {
    static double run(double x) {
        const double size = std::fabs(x), z = x * x;
        const double near = x * series(z, {105.0 / 3456, -15.0 / 336, 3.0 / 40, -1.0 / 6, 1.0});
        return pick(size < 0.1, near, std::copysign(log_of(size + std::sqrt(z + 1)), x));
    }
};
struct Acosh {
    static double run(double x) { return log_of(pick(x >= 1, x + std::sqrt((x - 1) * (x + 1)), -1.0)); }
};
struct Atanh {
    static double run(double x) {
        const double near = x * series(x * x, {1.0 / 9, 1.0 / 7, 1.0 / 5, 1.0 / 3, 1.0});
        return pick(std::fabs(x) < 0.1, near, 0.5 * log_of((1 + x) / (1 - x)));
    }
};

template <class Function>
void function_row(void* out, const void* a, const void*, const void*, int64_t count, unsigned) {
    auto* __restrict to = static_cast<float*>(out);
    const auto* __restrict x = static_cast<const float*>(a);
    for (int64_t i = 0; i < count; ++i) to[i] = static_cast<float>(Function::run(x[i]));
}

// Few meet an angle so large that it takes hundreds of bits of pi.
template <class Function>
void angle_row(void* out, const void* a, const void* b, const void* c, int64_t count, unsigned single) {
    auto* to = static_cast<float*>(out);
    const auto* x = static_cast<const float*>(a);
    function_row<Function>(out, a, b, c, count, single);
    int far = 0;
    for (int64_t i = 0; i < count; ++i) far |= !(std::fabs(x[i]) <= largest_angle);
    for (int64_t i = 0; far != 0 && i < count; ++i) {
        if (!(std::fabs(x[i]) <= largest_angle)) to[i] = Function::exact(x[i]);
    }
}

// x to the power y by way of powers of 2. Of finite numbers above 0.
inline double power_of(double x, double y) {
    // The mantissa is taken from sqrt(1/2) to sqrt(2), as in log_of_positive.
    constexpr uint64_t low = 0x3fe6a09e667f3bcd, one = 0x3ff0000000000000, mantissa = 0x000fffffffffffff;
    const uint64_t moved = std::bit_cast<uint64_t>(x) + (one - low);
    const double m = std::bit_cast<double>((moved & mantissa) + low);
    const double exponent = std::bit_cast<double>((moved >> 52) | 0x4330000000000000) - (0x1p52 + 1023);
    const double s = (m - 1) / (m + 1), z = s * s;
    const double even = series(z * z, {0.3407329932431587, 0.5770835830070097, 2.885390081790048}),
                 odd = series(z * z, {0.411672687343722, 0.9617966733682309});
    const double t = limited(y * (exponent + s * (even + z * odd)), -200.0, 200.0);  // beyond what floats hold
    const double shifted = t + rounder, r = t - (shifted - rounder), w = r * r;
    const double upper = series(w, {0.0001546144469856913, 0.009618056678524637, 0.24022650922288757, 1.0}),
                 lower = series(w, {0.0013400428177615838, 0.05550327226670302, 0.6931472067028326});
    return std::bit_cast<double>(std::bit_cast<uint64_t>(upper + r * lower) + (std::bit_cast<uint64_t>(shifted) << 52));
}

// Numbers above 0 to any power, and 0 to powers that are not small: 0 is taken for 2^-1023.
inline bool plain_power(float x, float y) {
    constexpr float inf = std::numeric_limits<float>::infinity();
    const bool zero = (std::bit_cast<uint32_t>(x) == 0) & (y > 0.2f);
    return (((x > 0) & (x < inf)) | zero) & (std::fabs(y) < inf);
}

// Everything that is not plain is left to the C library.
inline void power_row(void* out, const void* a, const void* b, const void*, int64_t count, unsigned single) {
    auto* __restrict to = static_cast<float*>(out);
    const auto* __restrict x = static_cast<const float*>(a);
    const auto* __restrict y = static_cast<const float*>(b);
    if ((single & 2) != 0 && *y == 2) {
        for (int64_t i = 0; i < count; ++i) to[i] = x[i] * x[i];
        return;
    }
    for (int64_t i = 0; i < count; ++i) to[i] = static_cast<float>(power_of(x[i], y[i]));
    int odd = 0;
    for (int64_t i = 0; i < count; ++i) odd |= !plain_power(x[i], y[i]);
    for (int64_t i = 0; odd != 0 && i < count; ++i) {
        if (!plain_power(x[i], y[i])) to[i] = std::pow(x[i], y[i]);
    }
}

// In double precision quotients below 2^29 have products with the divisor that are exact, and so have their rests.
inline void remainder_row(void* out, const void* a, const void* b, const void*, int64_t count, unsigned) {
    auto* __restrict to = static_cast<float*>(out);
    const auto* __restrict x = static_cast<const float*>(a);
    const auto* __restrict y = static_cast<const float*>(b);
    constexpr double most = 0x1p29;
    constexpr float inf = std::numeric_limits<float>::infinity();
    for (int64_t i = 0; i < count; ++i) {
        const double size = std::fabs(x[i]), by = std::fabs(y[i]), quotient = size / by;
        const double whole = static_cast<double>(static_cast<int32_t>(pick(quotient < most, quotient, 0.0)));
        const double rest = size - whole * by;
        to[i] = static_cast<float>(std::copysign(pick(rest < 0, rest + by, rest), static_cast<double>(x[i])));
    }
    int odd = 0;
    for (int64_t i = 0; i < count; ++i)
        odd |= !(std::fabs(x[i]) / static_cast<double>(std::fabs(y[i])) < most && std::fabs(y[i]) < inf);
    for (int64_t i = 0; odd != 0 && i < count; ++i) {
        if (!(std::fabs(x[i]) / static_cast<double>(std::fabs(y[i])) < most && std::fabs(y[i]) < inf))
            to[i] = std::fmod(x[i], y[i]);
    }
}

inline RowLoop loop_of(Operation operation) {
    switch (operation) {
        case Operation::cbrt: return function_row<Cbrt>;
        case Operation::exp: return exp_row;
        case Operation::log: return log_row;
        case Operation::log2: return function_row<Log2>;
        case Operation::log10: return function_row<Log10>;
        case Operation::sin: return angle_row<Sin>;
        case Operation::cos: return angle_row<Cos>;
        case Operation::tan: return angle_row<Tan>;
        case Operation::asin: return function_row<Asin>;
        case Operation::acos: return function_row<Acos>;
        case Operation::atan: return function_row<Atan>;
        case Operation::sinh: return function_row<Sinh>;
        case Operation::cosh: return function_row<Cosh>;
        case Operation::tanh: return function_row<Tanh>;
        case Operation::asinh: return function_row<Asinh>;
        case Operation::acosh: return function_row<Acosh>;
        case Operation::atanh: return function_row<Atanh>;
        case Operation::pow:
        case Operation::fpow: return power_row;
        case Operation::atan2: return angle_of_two_row;
        case Operation::mod: return remainder_row;
        default: return nullptr;
    }
}

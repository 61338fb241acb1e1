// Loops that the compiler vectorizes; included once per SIMD level, see elementwise.cpp.

// Integers wrap: they are computed as unsigned ones, and short ones as 32-bit so that nothing is promoted to int.
template <class T>
using Wrapping = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;

template <class T>
inline constexpr bool is_whole = std::is_integral_v<T>;

// One functor per operation, as a table: clang-format would spread each over twice the lines.
// clang-format off
struct Minus {
    template <class T>
    static T run(T a) {
        if constexpr (is_whole<T>) return static_cast<T>(Wrapping<T>{0} - static_cast<Wrapping<T>>(a));
        else return -a;
    }
};
struct Abs {
    template <class T>
    static T run(T a) {
        if constexpr (std::is_unsigned_v<T>) return a;
        else return a < 0 ? Minus::run(a) : a;
    }
};
struct Fabs {
    template <class T>
    static T run(T a) { return std::fabs(a); }
};
struct Floor {
    template <class T>
    static T run(T a) { return std::floor(a); }
};
struct Ceil {
    template <class T>
    static T run(T a) { return std::ceil(a); }
};
struct Sqrt {
    template <class T>
    static T run(T a) { return std::sqrt(a); }
};
struct Rsqrt {
    template <class T>
    static T run(T a) { return T(1) / std::sqrt(a); }
};
struct Not {
    template <class T>
    static T run(T a) { return static_cast<T>(~a); }
};
struct NotBool {
    static uint8_t run(uint8_t a) { return a == 0; }
};
struct Add {
    template <class T>
    static T run(T a, T b) {
        if constexpr (is_whole<T>) return static_cast<T>(static_cast<Wrapping<T>>(a) + static_cast<Wrapping<T>>(b));
        else return a + b;
    }
};
struct Sub {
    template <class T>
    static T run(T a, T b) {
        if constexpr (is_whole<T>) return static_cast<T>(static_cast<Wrapping<T>>(a) - static_cast<Wrapping<T>>(b));
        else return a - b;
    }
};
struct Mul {
    template <class T>
    static T run(T a, T b) {
        if constexpr (is_whole<T>) return static_cast<T>(static_cast<Wrapping<T>>(a) * static_cast<Wrapping<T>>(b));
        else return a * b;
    }
};
struct Divide {
    template <class T>
    static T run(T a, T b) { return a / b; }
};
// Quotients of short integers are exact in floats, those of 32-bit ones in doubles. The caller has checked that no divisor
// is zero; the smallest integer divided by -1 wraps.
struct Quotient {
    template <class T>
    static T run(T a, T b) {
        if constexpr (sizeof(T) <= 2) {
            return static_cast<T>(static_cast<int32_t>(static_cast<float>(a) / static_cast<float>(b)));
        } else {
            const double quotient = b == -1 ? 0.0 : static_cast<double>(a) / static_cast<double>(b);
            return b == -1 ? Minus::run(a) : static_cast<T>(quotient);
        }
    }
};
struct Remainder {
    template <class T>
    static T run(T a, T b) { return Sub::run(a, Mul::run(Quotient::run(a, b), b)); }
};
struct Min {
    template <class T>
    static T run(T a, T b) { return a < b ? a : b; }
};
struct Max {
    template <class T>
    static T run(T a, T b) { return a > b ? a : b; }
};
struct Clamp {
    template <class T>
    static T run(T a, T low, T high) {
        const T raised = a < low ? low : a;
        return raised > high ? high : raised;
    }
};
struct Equal {
    template <class T>
    static bool run(T a, T b) { return a == b; }
};
struct NotEqual {
    template <class T>
    static bool run(T a, T b) { return a != b; }
};
struct Less {
    template <class T>
    static bool run(T a, T b) { return a < b; }
};
struct LessEqual {
    template <class T>
    static bool run(T a, T b) { return a <= b; }
};
struct Greater {
    template <class T>
    static bool run(T a, T b) { return a > b; }
};
struct GreaterEqual {
    template <class T>
    static bool run(T a, T b) { return a >= b; }
};
struct And {
    template <class T>
    static T run(T a, T b) { return a & b; }
};
struct Or {
    template <class T>
    static T run(T a, T b) { return a | b; }
};
struct Xor {
    template <class T>
    static T run(T a, T b) { return a ^ b; }
};
// A count beyond the width takes its low bits, as x86 has it; short integers are shifted as 32-bit ones.
template <class T>
int shift_count(T b) { return static_cast<int>(b & (sizeof(T) == 8 ? 63 : 31)); }
struct ShiftLeft {
    template <class T>
    static T run(T a, T b) { return static_cast<T>(static_cast<Wrapping<T>>(a) << shift_count(b)); }
};
struct ShiftRight {
    template <class T>
    static T run(T a, T b) { return static_cast<T>(a >> shift_count(b)); }
};
struct ShiftBoolLeft {
    static uint8_t run(uint8_t a, uint8_t) { return a; }
};
struct ShiftBoolRight {
    static uint8_t run(uint8_t a, uint8_t b) { return a > b; }
};
// clang-format on

template <class Op, class T>
void one(void* out, const void* a, const void*, const void*, int64_t count, unsigned) {
    auto* __restrict to = static_cast<T*>(out);
    const auto* __restrict x = static_cast<const T*>(a);
    for (int64_t i = 0; i < count; ++i) to[i] = Op::run(x[i]);
}

// The types of images; with others a number is read from a row like everything else.
template <class T>
inline constexpr bool is_frequent =
    std::is_same_v<T, float> || std::is_same_v<T, uint8_t> || std::is_same_v<T, int32_t>;

template <class Op, class T>
void two(void* out, const void* a, const void* b, const void*, int64_t count, [[maybe_unused]] unsigned single) {
    using R = decltype(Op::run(T{}, T{}));
    auto* __restrict to = static_cast<R*>(out);
    const auto* __restrict x = static_cast<const T*>(a);
    const auto* __restrict y = static_cast<const T*>(b);
    if constexpr (is_frequent<T>) {
        if ((single & 2) != 0) {
            const T number = *y;
            for (int64_t i = 0; i < count; ++i) to[i] = Op::run(x[i], number);
            return;
        }
        if ((single & 1) != 0) {
            const T number = *x;
            for (int64_t i = 0; i < count; ++i) to[i] = Op::run(number, y[i]);
            return;
        }
    }
    for (int64_t i = 0; i < count; ++i) to[i] = Op::run(x[i], y[i]);
}

template <class Op, class T>
void three(void* out, const void* a, const void* b, const void* c, int64_t count, [[maybe_unused]] unsigned single) {
    auto* __restrict to = static_cast<T*>(out);
    const auto* __restrict x = static_cast<const T*>(a);
    const auto* __restrict y = static_cast<const T*>(b);
    const auto* __restrict z = static_cast<const T*>(c);
    if constexpr (is_frequent<T>) {
        if ((single & 6) == 6) {
            const T low = *y, high = *z;
            for (int64_t i = 0; i < count; ++i) to[i] = Op::run(x[i], low, high);
            return;
        }
    }
    for (int64_t i = 0; i < count; ++i) to[i] = Op::run(x[i], y[i], z[i]);
}

struct Unchanged {
    static float run(float a, float) { return a; }
};

template <class In, class First, class Second>
void scale(void* out, const void* a, const void* b, const void* c, int64_t count, unsigned) {
    auto* __restrict to = static_cast<float*>(out);
    const auto* __restrict x = static_cast<const In*>(a);
    const float first = *static_cast<const float*>(b);
    const float second = c == nullptr ? 0 : *static_cast<const float*>(c);
    for (int64_t i = 0; i < count; ++i) to[i] = Second::run(First::run(static_cast<float>(x[i]), first), second);
}

template <class In, class First>
RowLoop scale_then(Operation second) {
    switch (second) {
        case Operation::add: return scale<In, First, Add>;
        case Operation::sub: return scale<In, First, Sub>;
        case Operation::mul: return scale<In, First, Mul>;
        case Operation::fdiv: return scale<In, First, Divide>;
        default: return scale<In, First, Unchanged>;
    }
}

template <class In>
RowLoop scale_of(Operation first, Operation second) {
    switch (first) {
        case Operation::add: return scale_then<In, Add>(second);
        case Operation::sub: return scale_then<In, Sub>(second);
        case Operation::mul: return scale_then<In, Mul>(second);
        default: return scale_then<In, Divide>(second);
    }
}

inline RowLoop scale_loop(Scale wanted) {
    return wanted.from == DType::u8 ? scale_of<uint8_t>(wanted.first, wanted.second)
                                    : scale_of<float>(wanted.first, wanted.second);
}

// One loop for each DType, in its order; types that an operation does not have stay null.
using Loops = std::array<RowLoop, 12>;

#define PIXELMILL_INTEGERS(form, Op)                                                                 \
    form<Op, uint8_t>, form<Op, uint16_t>, form<Op, uint32_t>, form<Op, uint64_t>, form<Op, int8_t>, \
        form<Op, int16_t>, form<Op, int32_t>, form<Op, int64_t>
// The bits of the result do not depend on the sign: one loop serves both.
#define PIXELMILL_BITS(form, Op)                                                                      \
    form<Op, uint8_t>, form<Op, uint16_t>, form<Op, uint32_t>, form<Op, uint64_t>, form<Op, uint8_t>, \
        form<Op, uint16_t>, form<Op, uint32_t>, form<Op, uint64_t>
// Division of wider integers does not vectorize.
#define PIXELMILL_NARROW(form, Op)                                                                                   \
    form<Op, uint8_t>, form<Op, uint16_t>, nullptr, nullptr, form<Op, int8_t>, form<Op, int16_t>, form<Op, int32_t>, \
        nullptr
#define PIXELMILL_REALS(form, Op) nullptr, form<Op, float>, form<Op, double>
#define PIXELMILL_NO_INTEGERS nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr
#define PIXELMILL_NO_REALS nullptr, nullptr, nullptr

inline const Loops* loops_of(Operation operation) {
    static constexpr Loops minus{PIXELMILL_BITS(one, Minus), PIXELMILL_REALS(one, Minus), nullptr};
    static constexpr Loops abs{PIXELMILL_INTEGERS(one, Abs), PIXELMILL_REALS(one, Fabs), nullptr};
    static constexpr Loops fabs{PIXELMILL_NO_INTEGERS, PIXELMILL_REALS(one, Fabs), nullptr};
    static constexpr Loops floor{PIXELMILL_NO_INTEGERS, PIXELMILL_REALS(one, Floor), nullptr};
    static constexpr Loops ceil{PIXELMILL_NO_INTEGERS, PIXELMILL_REALS(one, Ceil), nullptr};
    static constexpr Loops sqrt{PIXELMILL_NO_INTEGERS, PIXELMILL_REALS(one, Sqrt), nullptr};
    static constexpr Loops rsqrt{PIXELMILL_NO_INTEGERS, PIXELMILL_REALS(one, Rsqrt), nullptr};
    static constexpr Loops bitnot{PIXELMILL_BITS(one, Not), PIXELMILL_NO_REALS, one<NotBool, uint8_t>};
    static constexpr Loops add{PIXELMILL_BITS(two, Add), PIXELMILL_REALS(two, Add), nullptr};
    static constexpr Loops sub{PIXELMILL_BITS(two, Sub), PIXELMILL_REALS(two, Sub), nullptr};
    static constexpr Loops mul{PIXELMILL_BITS(two, Mul), PIXELMILL_REALS(two, Mul), two<And, uint8_t>};
    static constexpr Loops fdiv{PIXELMILL_NO_INTEGERS, PIXELMILL_REALS(two, Divide), nullptr};
    static constexpr Loops div{PIXELMILL_NARROW(two, Quotient), PIXELMILL_REALS(two, Divide), nullptr};
    static constexpr Loops mod{PIXELMILL_NARROW(two, Remainder), PIXELMILL_NO_REALS, nullptr};
    static constexpr Loops min{PIXELMILL_INTEGERS(two, Min), PIXELMILL_REALS(two, Min), nullptr};
    static constexpr Loops max{PIXELMILL_INTEGERS(two, Max), PIXELMILL_REALS(two, Max), nullptr};
    static constexpr Loops clamp{PIXELMILL_INTEGERS(three, Clamp), PIXELMILL_REALS(three, Clamp), nullptr};
    static constexpr Loops eq{PIXELMILL_BITS(two, Equal), PIXELMILL_REALS(two, Equal), two<Equal, uint8_t>};
    static constexpr Loops neq{PIXELMILL_BITS(two, NotEqual), PIXELMILL_REALS(two, NotEqual), two<NotEqual, uint8_t>};
    static constexpr Loops lt{PIXELMILL_INTEGERS(two, Less), PIXELMILL_REALS(two, Less), two<Less, uint8_t>};
    static constexpr Loops leq{PIXELMILL_INTEGERS(two, LessEqual), PIXELMILL_REALS(two, LessEqual),
                               two<LessEqual, uint8_t>};
    static constexpr Loops gt{PIXELMILL_INTEGERS(two, Greater), PIXELMILL_REALS(two, Greater), two<Greater, uint8_t>};
    static constexpr Loops geq{PIXELMILL_INTEGERS(two, GreaterEqual), PIXELMILL_REALS(two, GreaterEqual),
                               two<GreaterEqual, uint8_t>};
    static constexpr Loops bits_and{PIXELMILL_BITS(two, And), PIXELMILL_NO_REALS, two<And, uint8_t>};
    static constexpr Loops bits_or{PIXELMILL_BITS(two, Or), PIXELMILL_NO_REALS, two<Or, uint8_t>};
    static constexpr Loops bits_xor{PIXELMILL_BITS(two, Xor), PIXELMILL_NO_REALS, two<Xor, uint8_t>};
    static constexpr Loops lshift{PIXELMILL_BITS(two, ShiftLeft), PIXELMILL_NO_REALS, two<ShiftBoolLeft, uint8_t>};
    static constexpr Loops rshift{PIXELMILL_INTEGERS(two, ShiftRight), PIXELMILL_NO_REALS,
                                  two<ShiftBoolRight, uint8_t>};
    switch (operation) {
        case Operation::minus: return &minus;
        case Operation::abs: return &abs;
        case Operation::fabs: return &fabs;
        case Operation::floor: return &floor;
        case Operation::ceil: return &ceil;
        case Operation::sqrt: return &sqrt;
        case Operation::rsqrt: return &rsqrt;
        case Operation::bitnot: return &bitnot;
        case Operation::add: return &add;
        case Operation::sub: return &sub;
        case Operation::mul: return &mul;
        case Operation::fdiv: return &fdiv;
        case Operation::div: return &div;
        case Operation::mod: return &mod;
        case Operation::min: return &min;
        case Operation::max: return &max;
        case Operation::clamp: return &clamp;
        case Operation::eq: return &eq;
        case Operation::neq: return &neq;
        case Operation::lt: return &lt;
        case Operation::leq: return &leq;
        case Operation::gt: return &gt;
        case Operation::geq: return &geq;
        case Operation::bitand_: return &bits_and;
        case Operation::bitor_: return &bits_or;
        case Operation::bitxor_: return &bits_xor;
        case Operation::lshift: return &lshift;
        case Operation::rshift: return &rshift;
        default: return nullptr;
    }
}

#undef PIXELMILL_INTEGERS
#undef PIXELMILL_BITS
#undef PIXELMILL_NARROW
#undef PIXELMILL_REALS
#undef PIXELMILL_NO_INTEGERS
#undef PIXELMILL_NO_REALS

#if AVX2_CODE
// Twice the value, cut off, then half of it rounded up: halves round up, as `rounded_small` has it, and exactly.
inline __m256i doubled(const float* in) {
    const __m256 x = _mm256_max_ps(_mm256_loadu_ps(in), _mm256_setzero_ps());  // what is no number becomes 0
    const __m256 cut = _mm256_min_ps(x, _mm256_set1_ps(255.0f));
    return _mm256_cvttps_epi32(_mm256_add_ps(cut, cut));
}
inline int64_t bytes_of_floats(uint8_t* out, const float* in, int64_t count) {
    const __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7), zero = _mm256_setzero_si256();
    int64_t i = 0;
    for (; i + 32 <= count; i += 32) {
        const __m256i low = _mm256_packs_epi32(doubled(in + i), doubled(in + i + 8));
        const __m256i high = _mm256_packs_epi32(doubled(in + i + 16), doubled(in + i + 24));
        const __m256i all = _mm256_packus_epi16(_mm256_avg_epu16(low, zero), _mm256_avg_epu16(high, zero));
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + i), _mm256_permutevar8x32_epi32(all, order));
    }
    return i;
}
#endif

template <class Out, class In>
void convert_row(void* out, const void* in, const void*, const void*, int64_t count, unsigned) {
    if constexpr (std::is_same_v<Out, In>) {
        std::memcpy(out, in, static_cast<size_t>(count) * sizeof(Out));
    } else {
        auto* __restrict to = static_cast<Out*>(out);
        const auto* __restrict from = static_cast<const In*>(in);
        int64_t i = 0;
#if AVX2_CODE
        if constexpr (std::is_same_v<Out, uint8_t> && std::is_same_v<In, float>) i = bytes_of_floats(to, from, count);
#endif
        for (; i < count; ++i) to[i] = convert<Out>(from[i]);
    }
}

// Halves are converted elsewhere, one by one.
template <class Out>
constexpr Loops conversions_to{convert_row<Out, uint8_t>,  convert_row<Out, uint16_t>, convert_row<Out, uint32_t>,
                               convert_row<Out, uint64_t>, convert_row<Out, int8_t>,   convert_row<Out, int16_t>,
                               convert_row<Out, int32_t>,  convert_row<Out, int64_t>,  nullptr,
                               convert_row<Out, float>,    convert_row<Out, double>,   convert_row<Out, bool>};

inline RowLoop conversion(DType to, DType from) {
    return with_type(to, [&](auto zero) -> RowLoop {
        if constexpr (std::is_same_v<decltype(zero), Half>)
            return nullptr;
        else
            return conversions_to<decltype(zero)>[static_cast<size_t>(from)];
    });
}

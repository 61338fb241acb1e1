// Included once per SIMD level, see morphology.cpp: the extremes of rows, element by element.

template <class T>
struct Larger {
    static constexpr T neutral() { return std::numeric_limits<T>::lowest(); }
    static T of(T a, T b) { return a < b ? b : a; }
};

template <class T>
struct Smaller {
    static constexpr T neutral() { return std::numeric_limits<T>::max(); }
    static T of(T a, T b) { return b < a ? b : a; }
};

// Several rows in one pass: memory is written half as often as with two rows a pass. Out may be the first of them.
template <class T, template <class> class Extreme>
void extreme_of_rows(T* __restrict out, const T* const* in, int rows, int64_t count) {
    const T *a = in[0], *b = in[1], *c = in[2];
    const bool again = a == out;  // two loops, because compilers must know which it is
    if (rows == 1) {
        std::copy_n(a, count, out);
    } else if (rows == 2 && again) {
        for (int64_t i = 0; i < count; ++i) out[i] = Extreme<T>::of(out[i], b[i]);
    } else if (rows == 2) {
        for (int64_t i = 0; i < count; ++i) out[i] = Extreme<T>::of(a[i], b[i]);
    } else if (again) {
        for (int64_t i = 0; i < count; ++i) out[i] = Extreme<T>::of(Extreme<T>::of(out[i], b[i]), c[i]);
    } else {
        for (int64_t i = 0; i < count; ++i) out[i] = Extreme<T>::of(Extreme<T>::of(a[i], b[i]), c[i]);
    }
}

template <class T>
constexpr ExtremeRows<T> larger{extreme_of_rows<T, Larger>, Larger<T>::neutral()};
template <class T>
constexpr ExtremeRows<T> smaller{extreme_of_rows<T, Smaller>, Smaller<T>::neutral()};

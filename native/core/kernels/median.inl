// Included once per SIMD level; AVX2_CODE says which. Vectors are those of the compiler: the loops are the same for
// all.

template <class T>
struct Lanes {
    static constexpr int bytes = AVX2_CODE ? 32 : 16, count = bytes / sizeof(T);
    using Vector = typename VectorOf<T, bytes>::Type;
};

template <class V>
inline void exchange(V& low, V& high) {
    const V a = low, b = high;
#if AVX2_CODE && PIXELMILL_VECTORS
    // The compiler does not see that for floats too this is a minimum and a maximum.
    if constexpr (std::is_same_v<V, Lanes<float>::Vector>) {
        low = reinterpret_cast<V>(_mm256_min_ps(reinterpret_cast<__m256>(a), reinterpret_cast<__m256>(b)));
        high = reinterpret_cast<V>(_mm256_max_ps(reinterpret_cast<__m256>(b), reinterpret_cast<__m256>(a)));
        return;
    }
#endif
    if constexpr (PIXELMILL_VECTORS) {
        low = a < b ? a : b;
        high = a < b ? b : a;
    } else {
        V::order(low, high);
    }
}

// Moves the smallest of `size` values to the front and the largest to the end.
template <class V>
ALWAYS_INLINE void extremes_outwards(V* set, int size) {
    UNROLL_16
    for (int i = 0; i < size / 2; ++i) exchange(set[i], set[size - 1 - i]);
    UNROLL_16
    for (int i = 1; i < (size + 1) / 2; ++i) exchange(set[0], set[i]);
    UNROLL_16
    for (int i = size / 2; i < size - 1; ++i) exchange(set[i], set[size - 1]);
}

template <class V, class T>
inline V loaded(const T* from) {
    V values;
    std::memcpy(&values, from, sizeof values);
    return values;
}

// Of more than half of the values, neither the smallest nor the largest can be the median: both are forgotten, and the
// next value takes the place of one. `fixed` is the count where it is known to the compiler.
template <class V, int fixed, class T>
ALWAYS_INLINE V forgetful_median(const T* const* from, int64_t x, int given) {
    const int count = fixed > 0 ? fixed : given;
    V set[fixed > 0 ? fixed / 2 + 2 : most_selected / 2 + 2];
    int size = count / 2 + 2;
    if (count == 1) return loaded<V>(from[0] + x);
    UNROLL_16
    for (int i = 0; i < size; ++i) set[i] = loaded<V>(from[i] + x);
    UNROLL_16
    for (int next = count / 2 + 2; next < count; ++next) {
        extremes_outwards(set, size);
        set[0] = loaded<V>(from[next] + x);
        --size;
    }
    extremes_outwards(set, 3);
    return set[1];
}

template <class T, int fixed>
inline void median_row(T* out, const T* const* from, int count, int64_t length) {
    using V = typename Lanes<T>::Vector;
    int64_t x = 0;
    for (; x + Lanes<T>::count <= length; x += Lanes<T>::count) {
        const V median = forgetful_median<V, fixed>(from, x, count);
        std::memcpy(out + x, &median, sizeof median);
    }
    for (; x < length; ++x) {
        T values[most_selected];
        for (int i = 0; i < count; ++i) values[i] = from[i][x];
        std::nth_element(values, values + count / 2, values + count);
        out[x] = values[count / 2];
    }
}

template <class T>
void median_of_rows(T* out, const T* const* rows, int64_t height, int64_t width, int64_t step, int64_t length) {
    const T* from[most_selected];
    const auto count = static_cast<int>(height * width);
    for (int i = 0; i < count; ++i) from[i] = rows[i / width] + i % width * step;
    if (count == 9) return median_row<T, 9>(out, from, count, length);
    if (count == 25) return median_row<T, 25>(out, from, count, length);
    median_row<T, 0>(out, from, count, length);
}

constexpr Medians medians{median_of_rows<uint8_t>, median_of_rows<int8_t>,   median_of_rows<uint16_t>,
                          median_of_rows<int16_t>, median_of_rows<uint32_t>, median_of_rows<int32_t>,
                          median_of_rows<float>};

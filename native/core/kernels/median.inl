// Included once per SIMD level; AVX2_CODE says which, and 2 is AVX-512. Vectors are those of the compiler: the loops
// are the same for all.

template <class T>
struct Lanes {
    static constexpr int bytes = AVX2_CODE == 2 ? 64 : AVX2_CODE ? 32 : 16, count = bytes / sizeof(T);
    using Vector = typename VectorOf<T, bytes>::Type;
};

template <class V>
inline void exchange(V& low, V& high) {
    const V a = low, b = high;
#if AVX2_CODE && PIXELMILL_VECTORS
    // The compiler does not see that for floats too this is a minimum and a maximum.
    if constexpr (std::is_same_v<V, Lanes<float>::Vector>) {
#if AVX2_CODE == 2
        low = reinterpret_cast<V>(_mm512_min_ps(reinterpret_cast<__m512>(a), reinterpret_cast<__m512>(b)));
        high = reinterpret_cast<V>(_mm512_max_ps(reinterpret_cast<__m512>(b), reinterpret_cast<__m512>(a)));
#else
        low = reinterpret_cast<V>(_mm256_min_ps(reinterpret_cast<__m256>(a), reinterpret_cast<__m256>(b)));
        high = reinterpret_cast<V>(_mm256_max_ps(reinterpret_cast<__m256>(b), reinterpret_cast<__m256>(a)));
#endif
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

// Two sorted lists become one, by Batcher's exchanges of even and odd places. `step` counts the places from one value
// of the lists to the next.
template <int first, int second, int step = 1, class V>
ALWAYS_INLINE void merge_sorted(V* out, const V* a, const V* b) {
    if constexpr (first == 0 || second == 0) {
        UNROLL_16
        for (int i = 0; i < first + second; ++i) out[i] = (first == 0 ? b : a)[i * step];
    } else if constexpr (first == 1 && second == 1) {
        out[0] = a[0];
        out[1] = b[0];
        exchange(out[0], out[1]);
    } else {
        constexpr int evens = (first + 1) / 2 + (second + 1) / 2, odds = first / 2 + second / 2;
        V even[evens], odd[odds + 1];
        merge_sorted<(first + 1) / 2, (second + 1) / 2, 2 * step>(even, a, b);
        merge_sorted<first / 2, second / 2, 2 * step>(odd, a + step, b + step);
        out[0] = even[0];
        UNROLL_16
        for (int i = 0; i < odds; ++i) {
            out[2 * i + 1] = odd[i];
            if (i + 1 == evens) continue;
            out[2 * i + 2] = even[i + 1];
            exchange(out[2 * i + 1], out[2 * i + 2]);
        }
        if constexpr (evens == odds + 2) out[first + second - 1] = even[evens - 1];
    }
}

// Calls `body` with the beginnings of vectors that cover `count` elements, at least one of them: the last may overlap.
template <class T, class Body>
ALWAYS_INLINE void for_each_vector(int64_t count, Body&& body) {
    int64_t x = 0;
    for (; x + Lanes<T>::count <= count; x += Lanes<T>::count) body(x);
    if (x < count) body(count - Lanes<T>::count);
}

// What is kept between passes fits a first-level cache.
template <class T>
constexpr int64_t block_elements = 1536 / static_cast<int64_t>(sizeof(T));
constexpr int64_t largest_step = 16;

template <class T, int size>
struct SortedColumns {
    alignas(64) T values[size][block_elements<T> + 4 * largest_step];  // by rank; each a whole number of lines

    void load(const T* const* rows, int64_t from, int64_t count) {
        using V = typename Lanes<T>::Vector;
        for_each_vector<T>(count, [&](int64_t x) {
            V set[size];
            UNROLL_16
            for (int i = 0; i < size; ++i) set[i] = loaded<V>(rows[i] + from + x);
            if constexpr (size == 3) {
                extremes_outwards(set, 3);
            } else {
                extremes_outwards(set, 5);
                extremes_outwards(set + 1, 3);
            }
            UNROLL_16
            for (int i = 0; i < size; ++i) std::memcpy(values[i] + x, &set[i], sizeof(V));
        });
    }
};

// The columns of a window of 3 by 3 are sorted once for all windows. The median is that of the largest of the lowest,
// the median of the middle and the smallest of the highest values.
template <class T>
void median_of_9(T* out, const T* const* rows, int64_t step, int64_t length) {
    using V = typename Lanes<T>::Vector;
    SortedColumns<T, 3> columns;
    for (int64_t from = 0; from < length; from += block_elements<T>) {
        if (length - from < Lanes<T>::count) from = length - Lanes<T>::count;
        const int64_t count = std::min(block_elements<T>, length - from);
        columns.load(rows, from, count + 2 * step);
        for_each_vector<T>(count, [&](int64_t x) {
            V rank[3][3], chosen[3];
            UNROLL_16
            for (int r = 0; r < 3; ++r) {
                UNROLL_16
                for (int k = 0; k < 3; ++k) rank[r][k] = loaded<V>(columns.values[r] + x + k * step);
                extremes_outwards(rank[r], 3);
                chosen[r] = rank[r][2 - r];
            }
            extremes_outwards(chosen, 3);
            std::memcpy(out + from + x, &chosen[1], sizeof(V));
        });
    }
}

// The same with 5 by 5: columns are sorted once, and each is merged with the next once. Of two such pairs those are
// taken that can be the median of all with the fifth column; it is the smallest value that is at least the
// n-th of one and the (13 - n)-th of the other.
template <class T>
void median_of_25(T* out, const T* const* rows, int64_t step, int64_t length) {
    using V = typename Lanes<T>::Vector;
    SortedColumns<T, 5> columns;
    alignas(64) T pairs[10][block_elements<T> + 4 * largest_step];
    const auto column = [&](V(&set)[5], int64_t x) {
        UNROLL_16
        for (int i = 0; i < 5; ++i) set[i] = loaded<V>(columns.values[i] + x);
    };
    for (int64_t from = 0; from < length; from += block_elements<T>) {
        if (length - from < Lanes<T>::count) from = length - Lanes<T>::count;
        const int64_t count = std::min(block_elements<T>, length - from);
        columns.load(rows, from, count + 4 * step);
        for_each_vector<T>(count + 2 * step, [&](int64_t x) {
            V a[5], b[5], both[10];
            column(a, x);
            column(b, x + step);
            merge_sorted<5, 5>(both, a, b);
            UNROLL_16
            for (int i = 0; i < 10; ++i) std::memcpy(pairs[i] + x, &both[i], sizeof(V));
        });
        for_each_vector<T>(count, [&](int64_t x) {
            V a[10], b[10], four[20], last[5];
            UNROLL_16
            for (int i = 0; i < 10; ++i) {
                a[i] = loaded<V>(pairs[i] + x);
                b[i] = loaded<V>(pairs[i] + x + 2 * step);
            }
            merge_sorted<10, 10>(four, a, b);
            column(last, x + 4 * step);
            V median = four[12];
            UNROLL_16
            for (int i = 0; i < 5; ++i) {
                exchange(last[i], four[11 - i]);  // the larger one is wanted
                exchange(median, four[11 - i]);
            }
            std::memcpy(out + from + x, &median, sizeof(V));
        });
    }
}

template <class T>
void median_of_rows(T* out, const T* const* rows, int64_t height, int64_t width, int64_t step, int64_t length) {
    if (height == width && (height == 3 || height == 5) && step <= largest_step && length >= Lanes<T>::count)
        return height == 3 ? median_of_9(out, rows, step, length) : median_of_25(out, rows, step, length);
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

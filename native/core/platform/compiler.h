// What compilers name differently. GCC and Clang have vector types and attributes; others get plain loops, whose
// results are the same. PIXELMILL_VECTORS=0 chooses those for any compiler.
#pragma once

#include <cstddef>
#include <cstdint>

#if !defined(PIXELMILL_VECTORS)
#if defined(__GNUC__) || defined(__clang__)
#define PIXELMILL_VECTORS 1
#else
#define PIXELMILL_VECTORS 0
#endif
#endif

#if defined(__GNUC__) || defined(__clang__)
#define ALWAYS_INLINE inline __attribute__((always_inline))
#define UNROLL_16 _Pragma("GCC unroll 16")
#else
#include <cstdlib>
#define ALWAYS_INLINE __forceinline
#define UNROLL_16
#endif

namespace pixelmill {

// std::byteswap is of C++23.
#if defined(__GNUC__) || defined(__clang__)
constexpr uint32_t byteswap(uint32_t value) { return __builtin_bswap32(value); }
constexpr uint64_t byteswap(uint64_t value) { return __builtin_bswap64(value); }
#else
constexpr uint32_t byteswap(uint32_t value) {
    return value << 24 | (value & 0xFF00) << 8 | (value >> 8 & 0xFF00) | value >> 24;
}
constexpr uint64_t byteswap(uint64_t value) {
    return uint64_t{byteswap(static_cast<uint32_t>(value))} << 32 | byteswap(static_cast<uint32_t>(value >> 32));
}
#endif

// Numbers side by side: a vector of the compiler where it has them.
#if PIXELMILL_VECTORS
template <class T, size_t bytes>
struct VectorOf {
    typedef T Type __attribute__((vector_size(bytes)));
};
using FourWords [[gnu::vector_size(32), gnu::may_alias]] = uint64_t;
#else
template <class T, size_t bytes>
struct VectorOf {
    struct Type {
        T lanes[bytes / sizeof(T)];
        // Exchanges the numbers where `low` has the larger one.
        static void order(Type& low, Type& high) {
            for (size_t i = 0; i < bytes / sizeof(T); ++i) {
                const T a = low.lanes[i], b = high.lanes[i];
                low.lanes[i] = a < b ? a : b;
                high.lanes[i] = a < b ? b : a;
            }
        }
    };
};

struct FourWords {
    uint64_t words[4];
    uint64_t operator[](int i) const { return words[i]; }
    FourWords operator~() const { return {{~words[0], ~words[1], ~words[2], ~words[3]}}; }
    FourWords& operator&=(const FourWords& other) {
        for (int i = 0; i < 4; ++i) words[i] &= other.words[i];
        return *this;
    }
};
#endif

}  // namespace pixelmill

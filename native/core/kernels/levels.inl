// Included once per SIMD level; AVX2_CODE says which. Without vectors written out, the compiler makes them of the
// loops.

inline void look_up(uint8_t* out, const uint8_t* in, int64_t count, const uint8_t* table) {
    int64_t i = 0;
#if AVX2_CODE
    // A table of 256 is sixteen of sixteen, each looked up by the lower half of a byte. A byte whose upper half is not
    // the table's own has its highest bit set by the saturating addition, and such lookups give zero.
    __m256i part[16];
    for (int k = 0; k < 16; ++k)
        part[k] = _mm256_broadcastsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(table + 16 * k)));
    const __m256i limit = _mm256_set1_epi8(0x70);
    for (; i + 32 <= count; i += 32) {
        const __m256i bytes = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(in + i));
        __m256i made = _mm256_setzero_si256();
        for (int k = 0; k < 16; ++k) {
            const __m256i own = _mm256_xor_si256(bytes, _mm256_set1_epi8(static_cast<char>(k << 4)));
            made = _mm256_or_si256(made, _mm256_shuffle_epi8(part[k], _mm256_adds_epu8(own, limit)));
        }
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + i), made);
    }
#endif
    for (; i < count; ++i) out[i] = table[in[i]];
}

inline void invert_from(uint8_t* out, const uint8_t* in, int64_t count, uint8_t threshold) {
    for (int64_t i = 0; i < count; ++i) {
        const auto inverted = static_cast<uint8_t>(255 - in[i]);
        out[i] = in[i] >= threshold ? inverted : in[i];
    }
}

inline void keep_bits(uint8_t* out, const uint8_t* in, int64_t count, uint8_t bits) {
    for (int64_t i = 0; i < count; ++i) out[i] = static_cast<uint8_t>(in[i] & bits);
}

inline void choose_channels(uint8_t* out, const uint8_t* in, int64_t pixels, const int8_t* from) {
    int64_t x = 0;
#if AVX2_CODE
    // Five pixels of three bytes; the sixteenth byte is written, then overwritten by the next pixel.
    alignas(16) int8_t order[16] = {};
    for (int i = 0; i < 15; ++i) order[i] = static_cast<int8_t>(from[i % 3] < 0 ? -1 : i / 3 * 3 + from[i % 3]);
    const __m128i five = _mm_load_si128(reinterpret_cast<const __m128i*>(order));
    for (; x + 11 <= pixels; x += 10) {
        const __m128i first = _mm_loadu_si128(reinterpret_cast<const __m128i*>(in + 3 * x));
        const __m128i second = _mm_loadu_si128(reinterpret_cast<const __m128i*>(in + 3 * x + 15));
        _mm_storeu_si128(reinterpret_cast<__m128i*>(out + 3 * x), _mm_shuffle_epi8(first, five));
        _mm_storeu_si128(reinterpret_cast<__m128i*>(out + 3 * x + 15), _mm_shuffle_epi8(second, five));
    }
#endif
    for (; x < pixels; ++x) {
        for (int c = 0; c < 3; ++c) out[3 * x + c] = from[c] < 0 ? uint8_t{0} : in[3 * x + from[c]];
    }
}

inline void slide(int32_t* sums, const int32_t* in, const int32_t* old, int64_t count) {
    for (int64_t i = 0; i < count; ++i) sums[i] += in[i] - old[i];
}

inline void scaled(uint8_t* out, const int32_t* sums, int64_t count, float factor) {
    for (int64_t i = 0; i < count; ++i)
        out[i] = static_cast<uint8_t>(static_cast<int32_t>(static_cast<float>(sums[i]) * factor + 0.5f));
}

inline void slide_bytes(uint16_t* sums, const uint8_t* in, const uint8_t* old, int64_t count) {
    for (int64_t i = 0; i < count; ++i) sums[i] = static_cast<uint16_t>(sums[i] + in[i] - old[i]);
}

inline void mean_of_sums(uint8_t* out, const uint16_t* sums, int64_t count, int64_t taps, int64_t step, Divisor by) {
    int64_t i = 0;
#if AVX2_CODE
    const __m256i half = _mm256_set1_epi16(static_cast<int16_t>(by.half)),
                  factor = _mm256_set1_epi16(static_cast<int16_t>(by.factor));
    const __m128i shift = _mm_cvtsi32_si128(by.shift);
    for (; i + 32 <= count; i += 32) {
        __m256i low = half, high = half;
        for (int64_t k = 0; k < taps; ++k) {
            const auto* from = reinterpret_cast<const __m256i*>(sums + i + k * step);
            low = _mm256_add_epi16(low, _mm256_loadu_si256(from));
            high = _mm256_add_epi16(high, _mm256_loadu_si256(from + 1));
        }
        low = _mm256_srl_epi16(_mm256_mulhi_epu16(low, factor), shift);
        high = _mm256_srl_epi16(_mm256_mulhi_epu16(high, factor), shift);
        const __m256i all = _mm256_permute4x64_epi64(_mm256_packus_epi16(low, high), 0xD8);
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + i), all);
    }
#endif
    for (; i < count; ++i) {
        uint32_t sum = 0;
        for (int64_t k = 0; k < taps; ++k) sum += sums[i + k * step];
        out[i] = by.mean(sum);
    }
}

inline const LevelPasses passes{look_up, invert_from, keep_bits,   choose_channels,
                                slide,   scaled,      slide_bytes, mean_of_sums};

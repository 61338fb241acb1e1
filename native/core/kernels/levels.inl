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

inline void slide(int32_t* sums, const int32_t* in, const int32_t* old, int64_t count) {
    for (int64_t i = 0; i < count; ++i) sums[i] += in[i] - old[i];
}

inline void scaled(uint8_t* out, const int32_t* sums, int64_t count, float factor) {
    for (int64_t i = 0; i < count; ++i)
        out[i] = static_cast<uint8_t>(static_cast<int32_t>(static_cast<float>(sums[i]) * factor + 0.5f));
}

inline const LevelPasses passes{look_up, invert_from, keep_bits, slide, scaled};

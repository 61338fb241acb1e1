// For the SIMD level of the file that includes this.

using Profiles = FourWords;  // PackProfileSet in a register

inline int first_of(const Profiles& set) {
    for (int i = 0; i < 4; ++i) {
        if (set[i] != 0) return 64 * i + std::countr_zero(static_cast<uint64_t>(set[i]));
    }
    return -1;
}

// For each coefficient of a block, which of the sets of profiles holds it: 17 sets each, by the bits of its value.
class Places {
   public:
    explicit Places(const int16_t* block);
    size_t operator[](size_t k) const;

   private:
#if AVX2_CODE
    std::array<uint16_t, 64> places_;
#else
    const int16_t* block_;
#endif
};

#if AVX2_CODE
// Bits of the digits of hexadecimal numbers whose lowest bit is bit `first`.
inline __m256i bits_of_digits(char first) {
    const auto bits = [&](int more) { return static_cast<char>(first + more); };
    return _mm256_broadcastsi128_si256(_mm_setr_epi8(0, bits(1), bits(2), bits(2), bits(3), bits(3), bits(3), bits(3),
                                                     bits(4), bits(4), bits(4), bits(4), bits(4), bits(4), bits(4),
                                                     bits(4)));
}

inline Places::Places(const int16_t* block) {
    const __m256i digit = _mm256_set1_epi16(15);
    const __m256i tables[4] = {bits_of_digits(0), bits_of_digits(4), bits_of_digits(8), bits_of_digits(12)};
    __m256i sets = _mm256_setr_epi16(1, 18, 35, 52, 69, 86, 103, 120, 137, 154, 171, 188, 205, 222, 239, 256);
    for (size_t k = 0; k < 64; k += 16, sets = _mm256_add_epi16(sets, _mm256_set1_epi16(16 * 17))) {
        const __m256i value = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(block + k));
        const __m256i plain = _mm256_xor_si256(value, _mm256_srai_epi16(value, 15));
        const __m256i found[4] = {
            _mm256_shuffle_epi8(tables[0], _mm256_and_si256(plain, digit)),
            _mm256_shuffle_epi8(tables[1], _mm256_and_si256(_mm256_srli_epi16(plain, 4), digit)),
            _mm256_shuffle_epi8(tables[2], _mm256_and_si256(_mm256_srli_epi16(plain, 8), digit)),
            _mm256_shuffle_epi8(tables[3], _mm256_srli_epi16(plain, 12)),
        };
        const __m256i bits =
            _mm256_max_epi16(_mm256_max_epi16(found[0], found[1]), _mm256_max_epi16(found[2], found[3]));
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(places_.data() + k), _mm256_add_epi16(bits, sets));
    }
}

inline size_t Places::operator[](size_t k) const { return places_[k]; }
#else
inline Places::Places(const int16_t* block) : block_(block) {}

inline size_t Places::operator[](size_t k) const { return 17 * k + static_cast<size_t>(pack_width(block_[k])); }
#endif

// The first profile whose fields hold a block; -1 when none does. Four coefficients at a time, so that the processor
// can predict where the loop ends. Where none is left it takes the first coefficient, which excludes no profile.
inline int first_fit(const int16_t* block, uint64_t nonzero, const PackWritingTables& tables) {
    const Places places(block);
    const PackProfileSet* const sets = tables.covering.front().data();
    Profiles fit = ~Profiles{};
    while (nonzero != 0) {
        for (int i = 0; i < 4; ++i, nonzero &= nonzero - 1) {
            const auto k = static_cast<size_t>(std::countr_zero(nonzero) & 63);
            fit &= *reinterpret_cast<const Profiles*>(sets[places[k]].words.data());
        }
    }
    return first_of(fit);
}

bool choose_profiles(uint8_t* ids, uint64_t* nonzero, const int16_t* blocks, size_t count,
                     const PackWritingTables& tables) {
    const auto nonzero_of = pack_kernels().nonzero;
    for (size_t i = 0; i < count; ++i, blocks += 64) {
        nonzero[i] = nonzero_of(blocks) & ~uint64_t{1};
        const int id = first_fit(blocks, nonzero[i], tables);
        if (id < 0) return false;
        ids[i] = static_cast<uint8_t>(id);
    }
    return true;
}

// Writes the fields of a block, and zeros after them up to `payload_words`.
inline void write_fields(uint8_t* to, const int16_t* block, uint64_t nonzero, const PackWidths& widths,
                         const std::array<uint16_t, 64>& bits) {
    std::array<uint64_t, payload_words> words{};
    for (; nonzero != 0; nonzero &= nonzero - 1) {
        const auto k = static_cast<size_t>(std::countr_zero(nonzero));
        const uint64_t field = static_cast<uint32_t>(block[k]) & ((1u << widths[k]) - 1);
        const size_t word = bits[k] / 64, bit = bits[k] % 64;
        words[word] |= field << bit;
        words[word + 1] |= field >> 1 >> (63 - bit);
    }
    if constexpr (std::endian::native == std::endian::big) {
        for (uint64_t& word : words) word = byteswap(word);
    }
    std::memcpy(to, words.data(), sizeof words);
}

#if AVX2_CODE && PIXELMILL_BMI2
// The same for a profile without gaps between fields: one instruction takes the fields of four coefficients. Each store
// writes 8 bytes and only the whole ones count: the next store overwrites the rest.
inline void write_quads(uint8_t* to, const int16_t* block, const PackQuads& quads) {
    uint64_t bits = 0;
    uint32_t count = 0;
    for (uint32_t left = quads.used; left != 0; left &= left - 1) {
        const auto quad = static_cast<size_t>(std::countr_zero(left));
        uint64_t four;
        std::memcpy(&four, block + 4 * quad, sizeof four);
        bits |= _pext_u64(four, quads.fields[quad]) << count;
        std::memcpy(to, &bits, sizeof bits);
        count += static_cast<uint32_t>(std::popcount(quads.fields[quad]));  // 7 + 4 * 12 at most
        to += count / 8;
        bits >>= count & ~7u;
        count %= 8;
    }
}
#endif

void write_payloads(uint8_t* to, const uint8_t* ids, const uint64_t* nonzero, const int16_t* blocks, size_t count,
                    const PackBook& book) {
    const PackWritingTables& tables = book.writing();
    for (size_t i = 0; i < count; ++i, blocks += 64) {
        const size_t id = ids[i];
#if AVX2_CODE && PIXELMILL_BMI2
        if (!tables.quads[id].gaps) {
            write_quads(to, blocks, tables.quads[id]);
            to += book.length[id];
            continue;
        }
#endif
        write_fields(to, blocks, nonzero[i], book.widths[id], tables.bits[id]);
        to += book.length[id];
    }
}

// The choice of profiles with AVX-512: a block is two registers, and the sets of its coefficients that are not zero are
// numbered one after the other. The profiles are those of pack_payloads.inl.

// The number of the set for each of 32 coefficients, of which the first one is number `first` of its block.
inline __m512i places_of(__m512i values, int first) {
    const __m512i digit = _mm512_set1_epi16(15);
    const auto table = [](char lowest) { return _mm512_broadcast_i64x4(avx2::bits_of_digits(lowest)); };
    const __m512i plain = _mm512_xor_si512(values, _mm512_srai_epi16(values, 15));
    const __m512i found[4] = {
        _mm512_shuffle_epi8(table(0), _mm512_and_si512(plain, digit)),
        _mm512_shuffle_epi8(table(4), _mm512_and_si512(_mm512_srli_epi16(plain, 4), digit)),
        _mm512_shuffle_epi8(table(8), _mm512_and_si512(_mm512_srli_epi16(plain, 8), digit)),
        _mm512_shuffle_epi8(table(12), _mm512_srli_epi16(plain, 12)),
    };
    const __m512i bits = _mm512_max_epi16(_mm512_max_epi16(found[0], found[1]), _mm512_max_epi16(found[2], found[3]));
    const __m512i numbers =
        _mm512_add_epi16(_mm512_loadu_si512(thirty_two.data()), _mm512_set1_epi16(static_cast<int16_t>(first)));
    return _mm512_add_epi16(bits,
                            _mm512_add_epi16(_mm512_mullo_epi16(numbers, _mm512_set1_epi16(17)), _mm512_set1_epi16(1)));
}

bool choose_profiles(uint8_t* ids, uint64_t* nonzero, const int16_t* blocks, size_t count,
                     const PackWritingTables& tables) {
    const PackProfileSet* const sets = tables.covering.front().data();
    for (size_t i = 0; i < count; ++i, blocks += 64) {
        const __m512i low = _mm512_loadu_si512(blocks), high = _mm512_loadu_si512(blocks + 32);
        const __mmask32 low_used = _mm512_test_epi16_mask(low, low) & ~1u,
                        high_used = _mm512_test_epi16_mask(high, high);
        nonzero[i] = uint64_t{high_used} << 32 | low_used;
        // Behind the last one come zeros: the first set of the first coefficient, which has all profiles.
        alignas(64) std::array<uint16_t, 64 + 4> places;
        const auto of_low = static_cast<size_t>(std::popcount(low_used)),
                   of_high = static_cast<size_t>(std::popcount(high_used));
        _mm512_store_si512(places.data(), _mm512_maskz_compress_epi16(low_used, places_of(low, 0)));
        _mm512_storeu_si512(places.data() + of_low, _mm512_maskz_compress_epi16(high_used, places_of(high, 32)));
        std::memset(places.data() + of_low + 32, 0, 4 * sizeof(uint16_t));
        avx2::Profiles fit = ~avx2::Profiles{};
        for (size_t k = 0; k < of_low + of_high; k += 4) {
            for (size_t j = 0; j < 4; ++j)
                fit &= *reinterpret_cast<const avx2::Profiles*>(sets[places[k + j]].words.data());
        }
        const int id = avx2::first_of(fit);
        if (id < 0) return false;
        ids[i] = static_cast<uint8_t>(id);
    }
    return true;
}

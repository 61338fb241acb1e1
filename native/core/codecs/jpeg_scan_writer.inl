// Huffman coding of the blocks of an MCU with the tables of a file, for the SIMD level of the file that includes this:
// first the codes of all coefficients, then their bits. Each loop is short, and nothing in it waits for the other.

using Code = JpegScanCode;

// Bits of the absolute value. Signs are as good as random, so nothing branches on them.
inline uint32_t size_of(int value) {
    const int negative = value >> 31;
    return static_cast<uint32_t>(std::bit_width(static_cast<uint32_t>((value ^ negative) - negative)));
}

inline uint32_t low_bits(int value, uint32_t size) {
    return static_cast<uint32_t>(value + (value >> 31)) & ((1u << size) - 1);
}

inline Code code_of(const JpegScanTable& table, int value, int zeros) {
    const uint32_t size = size_of(value) & 15;  // packed values have 12 bits
    return {table.codes[(static_cast<size_t>(zeros) << 4 | size) & 255].all | low_bits(value, size)};
}

#if WIDE_BLOCKS_CODE
constexpr __mmask64 all_but_first = ~uint64_t{1};

inline uint64_t nonzero_in_stream(const int16_t* block) {
    const __m512i upper = _mm512_loadu_si512(block), lower = _mm512_loadu_si512(block + 32);
    const __mmask64 rows = _mm512_kunpackd(_mm512_test_epi16_mask(lower, lower), _mm512_test_epi16_mask(upper, upper));
    const __m512i ordered =
        _mm512_maskz_permutexvar_epi8(all_but_first, _mm512_loadu_si512(zigzag.data()), _mm512_movm_epi8(rows));
    return _mm512_movepi8_mask(ordered);
}

template <int number>
inline __m256i half(__m512i bytes) {
    return _mm512_maskz_extracti64x4_epi64(0xFF, bytes, number);
}

// The symbols of coefficients, and the bits that follow them.
struct Symbols {
    alignas(64) std::array<uint16_t, 64> numbers, bits;

    // Sets 32 of them. `places`: of coefficients in the block; `zeros`: how many come before each.
    void set(size_t first, const int16_t* block, __m256i places, __m256i zeros) {
        const __m512i values = _mm512_permutex2var_epi16(_mm512_loadu_si512(block), _mm512_cvtepu8_epi16(places),
                                                         _mm512_loadu_si512(block + 32));
        const __m512i absolute = _mm512_abs_epi16(values);
        __m512i mask = absolute;  // becomes ones from the highest bit down
        mask = _mm512_or_si512(mask, _mm512_srli_epi16(mask, 1));
        mask = _mm512_or_si512(mask, _mm512_srli_epi16(mask, 2));
        mask = _mm512_or_si512(mask, _mm512_srli_epi16(mask, 4));
        mask = _mm512_or_si512(mask, _mm512_srli_epi16(mask, 8));
        const __m512i turned = _mm512_and_si512(_mm512_srai_epi16(values, 15), mask);
        const __m512i runs = _mm512_slli_epi16(_mm512_cvtepu8_epi16(zeros), 4);
        const __m512i symbols = _mm512_or_si512(runs, _mm512_popcnt_epi16(mask));
        _mm512_store_si512(numbers.data() + first, _mm512_and_si512(symbols, _mm512_set1_epi16(255)));
        _mm512_store_si512(bits.data() + first, _mm512_xor_si512(absolute, turned));
    }
};

// Does what the function of the same name below does, for 32 coefficients at a time.
inline Code* add_codes(Code* list, const JpegScanTable& table, const int16_t* block, uint64_t left) {
    const __m512i every = _mm512_loadu_si512(numbers_to_63.data()), one = _mm512_set1_epi8(1);
    const __m512i in_stream = _mm512_maskz_compress_epi8(left, every);
    const __m512i in_block = _mm512_maskz_compress_epi8(left, _mm512_loadu_si512(zigzag.data()));
    const __m512i before = _mm512_maskz_permutexvar_epi8(all_but_first, _mm512_sub_epi8(every, one), in_stream);
    const __m512i zeros = _mm512_sub_epi8(_mm512_sub_epi8(in_stream, before), one);
    const auto count = static_cast<size_t>(std::popcount(left));
    Symbols found;
    found.set(0, block, half<0>(in_block), half<0>(zeros));
    if (count > 32) found.set(32, block, half<1>(in_block), half<1>(zeros));
    for (size_t i = 0; i < count; i += 8) {
        const __m256i numbers =
            _mm256_cvtepu16_epi32(_mm_load_si128(reinterpret_cast<const __m128i*>(&found.numbers[i])));
        const __m512i bits = _mm512_cvtepu16_epi64(_mm_load_si128(reinterpret_cast<const __m128i*>(&found.bits[i])));
        const __m512i codes = _mm512_i32gather_epi64(numbers, table.codes.data(), 8);
        _mm512_storeu_si512(list + i, _mm512_or_si512(codes, bits));
    }
    return list + count;
}
#else
inline uint64_t nonzero_in_stream(const int16_t* block) { return nonzero_places(pack_kernels().nonzero(block)); }

// Without runs of more than 15 zeros. Several at a time, so that the processor can predict where a block ends; what
// comes after it does not count.
inline Code* add_codes(Code* list, const JpegScanTable& table, const int16_t* block, uint64_t left) {
    Code* const end = list + std::popcount(left);
    int before = 0;
    while (list < end) {
        for (int i = 0; i < codes_at_once; ++i, left &= left - 1) {
            const int place = std::countr_zero(left);  // 64 where none is left, and zigzag has a place for that
            *list++ = code_of(table, block[zigzag[static_cast<size_t>(place)]], place - before - 1);
            before = place;
        }
    }
    return end;
}
#endif

inline Code* add_codes_with_long_runs(Code* list, const JpegScanTable& table, const int16_t* block, uint64_t left) {
    int before = 0;
    for (; left != 0; left &= left - 1) {
        const int place = std::countr_zero(left);
        int zeros = place - before - 1;
        for (; zeros > 15; zeros -= 16) *list++ = table.codes[0xF0];
        *list++ = code_of(table, block[zigzag[static_cast<size_t>(place)]], zeros);
        before = place;
    }
    return list;
}

#if WIDE_BLOCKS_CODE
// Takes the codes in fours, two of them at once; those at `end` are empty. Nearly always, four codes and the up to 7
// bits left over fit 64; else they are taken in pairs, which always do (see below). False when a code is missing.
inline bool write_codes(JpegScanBits& to, const Code* list, const Code* end) {
    JpegScanBits local = to;  // a copy, which the compiler keeps in registers
    const __m512i low = _mm512_set1_epi64(0xFFFFFFFF), most = _mm512_set1_epi64(57);
    __m512i all = _mm512_setzero_si512();
    alignas(64) std::array<uint64_t, 8> bits, sizes;
    for (; list < end; list += 8) {
        const __m512i codes = _mm512_loadu_si512(list), odd = _mm512_unpackhi_epi64(codes, codes);
        all = _mm512_or_si512(all, codes);
        // In every second lane: two codes.
        const __m512i odd_size = _mm512_srli_epi64(odd, 32);
        const __m512i two =
            _mm512_or_si512(_mm512_sllv_epi64(_mm512_and_si512(codes, low), odd_size), _mm512_and_si512(odd, low));
        const __m512i two_size = _mm512_add_epi64(_mm512_srli_epi64(codes, 32), odd_size);
        // In every fourth lane: four codes.
        const __m512i next_size = _mm512_permutex_epi64(two_size, 2);
        const __m512i four = _mm512_or_si512(_mm512_sllv_epi64(two, next_size), _mm512_permutex_epi64(two, 2));
        const __m512i four_size = _mm512_add_epi64(two_size, next_size);
        const bool fits = (_mm512_cmpgt_epu64_mask(four_size, most) & 0b0001'0001) == 0;
        _mm512_store_si512(bits.data(), fits ? four : two);
        _mm512_store_si512(sizes.data(), fits ? four_size : two_size);
        const auto put = [&](size_t lane) { local.put(bits[lane], static_cast<uint32_t>(sizes[lane])); };
        put(0);
        if (!fits) put(2);
        put(4);
        if (!fits) put(6);
    }
    to = local;
    return _mm512_test_epi64_mask(all, _mm512_set1_epi64(Code::missing)) == 0;
}
#else
// Takes the codes in pairs; the one at `end` is empty. A code has at most 28 bits (16, and 12 of a coefficient), so two
// of them and the up to 7 bits left over fit 64. Each store writes 8 bytes and only the whole ones count: the next
// store overwrites the rest. False when a code is missing.
inline bool write_codes(JpegScanBits& to, const Code* list, const Code* end) {
    JpegScanBits local = to;  // a copy, which the compiler keeps in registers
    uint64_t all = 0;
    for (; list < end; list += 2) {
        all |= list[0].all | list[1].all;
        local.put(uint64_t{list[0].bits()} << list[1].size() | list[1].bits(), list[0].size() + list[1].size());
    }
    to = local;
    return (all & Code::missing) == 0;
}
#endif

bool write_blocks(JpegScanBits& to, const int16_t* const* blocks, const JpegScanBlock* kinds, size_t count, int* last) {
    Code codes[JpegScanWriter::most_blocks * codes_of_block + empty_codes];
    Code* end = codes;
    for (size_t i = 0; i < count; ++i) {
        const int16_t* const block = blocks[i];
        int& before = last[kinds[i].component];
        const int difference = block[0] - before;
        const uint32_t size = size_of(difference);
        if (size > 15) return false;
        before = block[0];
        // In two parts, as together they may have 31 bits.
        const Code symbol = kinds[i].dc->codes[size];
        *end++ = Code::of(symbol.bits() >> size, symbol.size() - size);
        *end++ = Code::of(low_bits(difference, size) | (symbol.bits() & Code::missing), size);
        const uint64_t left = nonzero_in_stream(block);
        const JpegScanTable& table = *kinds[i].ac;
        end =
            has_long_run(left) ? add_codes_with_long_runs(end, table, block, left) : add_codes(end, table, block, left);
        *end = table.codes[0];
        end += left >> 63 ? 0 : 1;  // a block whose last coefficient is not zero needs no end mark
    }
    std::fill_n(end, empty_codes, Code::of(0, 0));
    return write_codes(to, codes, end);
}

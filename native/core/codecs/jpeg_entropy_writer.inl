// The loops over the blocks of one MCU, for AVX2: first the codes of all coefficients, then their bits. Each loop is
// short, and nothing in it waits for the other.

namespace {

// For each half of the stream and each pair of rows that packing puts side by side: which of their 16 bytes goes where.
using Picks = std::array<std::array<std::array<int8_t, 32>, 4>, 2>;
alignas(32) constexpr Picks picks = [] {
    Picks made{};
    for (auto& half : made) {
        for (auto& pair : half) pair.fill(-128);
    }
    for (size_t k = 0; k < 64; ++k) {
        const int row = zigzag[k] / 8, column = zigzag[k] % 8;
        const auto pair = static_cast<size_t>(row / 4 * 2 + row % 2);  // rows 0 2, 1 3, 4 6, 5 7
        made[k / 32][pair][k % 32] = static_cast<int8_t>(row % 4 / 2 * 8 + column);
    }
    return made;
}();

// A bit for each coefficient of the stream that is not zero.
inline uint64_t nonzero(const int16_t* block) {
    const auto* rows = reinterpret_cast<const __m256i*>(block);
    const __m256i upper = _mm256_packs_epi16(_mm256_loadu_si256(rows), _mm256_loadu_si256(rows + 1));
    const __m256i lower = _mm256_packs_epi16(_mm256_loadu_si256(rows + 2), _mm256_loadu_si256(rows + 3));
    const __m256i pairs[4] = {
        _mm256_permute2x128_si256(upper, upper, 0x00), _mm256_permute2x128_si256(upper, upper, 0x11),
        _mm256_permute2x128_si256(lower, lower, 0x00), _mm256_permute2x128_si256(lower, lower, 0x11)};
    uint64_t zeros = 0;
    for (size_t half = 0; half < 2; ++half) {
        __m256i stream = _mm256_setzero_si256();
        for (size_t p = 0; p < 4; ++p) {
            const __m256i pick = _mm256_load_si256(reinterpret_cast<const __m256i*>(picks[half][p].data()));
            stream = _mm256_or_si256(stream, _mm256_shuffle_epi8(pairs[p], pick));
        }
        const __m256i zero = _mm256_cmpeq_epi8(stream, _mm256_setzero_si256());
        zeros |= uint64_t{static_cast<uint32_t>(_mm256_movemask_epi8(zero))} << (32 * half);
    }
    return ~zeros;
}

// Whether sixteen zeros or more stand before one of the coefficients `left`.
inline bool has_long_run(uint64_t left) {
    uint64_t near = left | 1;  // up to fifteen places behind the last
    for (int by = 1; by < 16; by *= 2) near |= near << by;
    return (left & ~(near << 1)) != 0;
}

// The codes of the coefficients of a block behind the first, added to a list.
struct Listing {
    const ComponentCodes& codes;
    const int16_t* block;
    bool& impossible;

    Code at(int k, int zeros) const {
        const int value = block[zigzag[static_cast<size_t>(k)]];
        if (!codes.coefficients.has(value)) [[unlikely]]
            impossible = true;
        return codes.coefficients.at(zeros, value);
    }

    // Several at a time, so that the processor can guess where a block ends; what comes behind it does not count.
    static constexpr int at_once = 4;

    Code* add(Code* list, uint64_t left) const {
        Code* const behind = list + std::popcount(left);
        int before = 0;
        while (list < behind) {
            for (int i = 0; i < at_once; ++i, left &= left - 1) {
                const int k = std::countr_zero(left);  // 64 where none is left, and zigzag has a place for that
                *list++ = at(k, k - before - 1);
                before = k;
            }
        }
        return behind;
    }

    Code* add_with_long_runs(Code* list, uint64_t left) const {
        int before = 0;
        for (; left != 0; left &= left - 1) {
            const int k = std::countr_zero(left);
            int zeros = k - before - 1;
            for (; zeros > 15; zeros -= 16) *list++ = codes.other.symbol(CodeTable::sixteen_zeros);
            *list++ = at(k, zeros);
            before = k;
        }
        return list;
    }
};

// Takes the codes in pairs; the one at `behind` is empty.
inline void write_bits(EntropyOutput& output, const Code* list, const Code* behind) {
    uint64_t bits = output.bits;
    int count = output.count;
    uint8_t* at = output.at;
    for (; list < behind; list += 2) {
        const auto size = static_cast<int>(list[0].size() + list[1].size());
        bits = bits << size | uint64_t{list[0].bits()} << list[1].size() | list[1].bits();
        count += size;
        const uint64_t next = __builtin_bswap64(bits << (-count & 63));
        std::memcpy(at, &next, sizeof next);
        at += count >> 3;
        count &= 7;
    }
    output.bits = bits;
    output.count = count;
    output.at = at;
}

// False for coefficients that no picture has.
inline bool write_mcu(EntropyOutput& output, int16_t (**blocks)[64]) {
    uint64_t left[most_blocks];  // all of them before the first branch that nobody can foresee
    for (int i = 0; i < output.blocks; ++i) left[i] = nonzero(*blocks[i]) & ~uint64_t{1};
    Code codes[most_blocks * 64 + Listing::at_once];
    Code* end = codes;
    bool impossible = false;
    for (int i = 0; i < output.blocks; ++i) {
        const ComponentCodes& component = *output.kinds[i].codes;
        const int16_t* block = *blocks[i];
        int& last = output.last[output.kinds[i].component];
        const int difference = block[0] - last;
        last = block[0];
        if (!component.differences.has(difference)) return false;
        *end++ = component.differences.at(0, difference);
        const Listing listing{component, block, impossible};
        end = has_long_run(left[i]) ? listing.add_with_long_runs(end, left[i]) : listing.add(end, left[i]);
        *end = component.other.symbol(CodeTable::end_of_block);
        end += left[i] >> 63 ? 0 : 1;  // a block whose last coefficient is not zero ends by itself
    }
    if (impossible) return false;
    *end = Code::of(0, 0);
    write_bits(output, codes, end);
    return true;
}

}  // namespace

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

bool write_blocks(JpegScanBits& to, const int16_t* const* blocks, const JpegScanBlock* kinds, size_t count, int* last) {
    Code codes[JpegScanWriter::most_blocks * codes_of_block + codes_at_once];
    Code* end = codes;
    const auto nonzero = pack_kernels().nonzero;
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
        const uint64_t left = nonzero_places(nonzero(block));
        const JpegScanTable& table = *kinds[i].ac;
        end =
            has_long_run(left) ? add_codes_with_long_runs(end, table, block, left) : add_codes(end, table, block, left);
        *end = table.codes[0];
        end += left >> 63 ? 0 : 1;  // a block whose last coefficient is not zero needs no end mark
    }
    *end = Code::of(0, 0);
    return write_codes(to, codes, end);
}

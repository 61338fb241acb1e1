// Huffman coding of the blocks of MCUs, for the SIMD level of the file that includes this: first the codes of all
// coefficients, then their bits. Each loop is short, and nothing in it waits for the other.

// Where the k-th coefficient of the stream is among the values of a block.
constexpr std::array<uint8_t, zigzag.size()> pair_zigzag = [] {
    std::array<uint8_t, zigzag.size()> order{};
    for (size_t k = 0; k < order.size(); ++k)
        order[k] = static_cast<uint8_t>(zigzag[k] / 8 * jpeg_pair_row + zigzag[k] % 8);
    return order;
}();

// Adds the codes of the coefficients of a block after the first to a list.
struct CodeList {
    const JpegCodes& codes;
    const int16_t* values;

    JpegCode at(int k, int zeros) const {
        return codes.coefficients.at(zeros, values[pair_zigzag[static_cast<size_t>(k)]]);
    }

    // Several at a time, so that the processor can predict where a block ends; what comes after it does not count.
    static constexpr int at_once = 4;

    JpegCode* add(JpegCode* list, uint64_t left) const {
        JpegCode* const end = list + std::popcount(left);
        int before = 0;
        while (list < end) {
            for (int i = 0; i < at_once; ++i, left &= left - 1) {
                const int k = std::countr_zero(left);  // 64 where none is left, and zigzag has a place for that
                *list++ = at(k, k - before - 1);
                before = k;
            }
        }
        return end;
    }

    JpegCode* add_with_long_runs(JpegCode* list, uint64_t left) const {
        int before = 0;
        for (; left != 0; left &= left - 1) {
            const int k = std::countr_zero(left);
            int zeros = k - before - 1;
            for (; zeros > 15; zeros -= 16) *list++ = codes.sixteen_zeros;
            *list++ = at(k, zeros);
            before = k;
        }
        return list;
    }
};

inline void store_big_endian(uint8_t* to, uint64_t value) {
    if constexpr (std::endian::native == std::endian::little) value = byteswap(value);
    std::memcpy(to, &value, sizeof value);
}

// Takes the codes in pairs; the one at `end` is empty. A code has at most 27 bits (16, and 11 of a difference), so two
// of them and the up to 7 bits left over fit 64. Each store writes 8 bytes and only the whole ones count: the next
// store overwrites the rest, so `plain` needs 8 bytes of slack.
inline void write_codes(JpegBits& output, const JpegCode* list, const JpegCode* end) {
    uint64_t bits = output.bits;
    int count = output.count;
    uint8_t* at = output.plain.data() + output.size;
    for (; list < end; list += 2) {
        const auto size = static_cast<int>(list[0].size() + list[1].size());
        bits = bits << size | uint64_t{list[0].bits()} << list[1].size() | list[1].bits();
        count += size;
        store_big_endian(at, bits << (-count & 63));
        at += count >> 3;
        count &= 7;
    }
    output.bits = bits;
    output.count = count;
    output.size = static_cast<size_t>(at - output.plain.data());
}

void write_blocks(JpegBits& output, const JpegBlock* blocks, int count) {
    JpegCode codes[JpegBits::most_blocks * 64 + CodeList::at_once];
    JpegCode* end = codes;
    for (int i = 0; i < count; ++i) {
        const JpegBlock& block = blocks[i];
        const JpegCodes& table = *output.codes[block.component];
        int& last = output.last[block.component];
        const uint64_t left = *block.nonzero & ~uint64_t{1};
        *end++ = table.differences.at(0, block.values[0] - last);
        last = block.values[0];
        const CodeList list{table, block.values};
        end = has_long_run(left) ? list.add_with_long_runs(end, left) : list.add(end, left);
        *end = table.end_of_block;
        end += left >> 63 ? 0 : 1;  // a block whose last coefficient is not zero needs no end mark
    }
    *end = JpegCode::of(0, 0);
    write_codes(output, codes, end);
}

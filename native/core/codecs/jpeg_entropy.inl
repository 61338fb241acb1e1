// The loop over the blocks of one MCU, built for each SIMD level: with BMI2 a shift is one operation.

inline void refill(uint64_t& bits, int& count, const uint8_t*& at) {
    uint64_t next;
    std::memcpy(&next, at, sizeof next);
    bits |= big_endian(next) >> count;
    at += (63 - count) >> 3;
    count |= 56;
}

// The value of `size` bits at the top of `bits`, as JPEG codes signs: a leading 0 is a negative one.
inline int value_at(uint64_t bits, int size) {
    const auto positive = static_cast<int64_t>(bits) >> 63;
    const auto value = static_cast<int64_t>(bits >> (64 - size));
    return static_cast<int>(value + (~positive & (1 - (int64_t{1} << size))));
}

// The coefficients behind the first. False for what no encoder writes.
template <bool keep>
inline bool read_alternating(int16_t* block, const HuffmanTable& table, uint64_t& bits_, int& count_,
                             const uint8_t*& at_) {
    uint64_t bits = bits_;
    int count = count_;
    const uint8_t* at = at_;
    int k = 1;
    while (k < 64) {
        if (!keep) {
            const HuffmanPass pass = table.pass_at(bits);
            refill(bits, count, at);
            if (pass.total != 0 && k + pass.advance % HuffmanTable::end_of_block < 64) [[likely]] {
                bits <<= pass.total;
                count -= pass.total;
                k += pass.advance;
                if (pass.advance < HuffmanTable::end_of_block) continue;
                k = 64;
                break;
            }
        }
        HuffmanEntry entry = table.at(bits);
        refill(bits, count, at);
        if (entry.size == 0) [[unlikely]] {
            if (entry.total == 0) entry = table.find_long(bits);
            if (entry.total == 0) return false;
            if (entry.advance == HuffmanTable::end_of_block) {
                bits <<= entry.total;
                count -= entry.total;
                k = 64;
                break;
            }
        }
        k += entry.advance;
        // A run of sixteen zeros has no value: its size of 0 shifts by 64 - 0, which is why it is kept apart here.
        if (keep && entry.size != 0)
            block[zigzag[k - 1]] = static_cast<int16_t>(value_at(bits << entry.code, entry.size));
        bits <<= entry.total;
        count -= entry.total;
    }
    bits_ = bits;
    count_ = count;
    at_ = at;
    return k == 64;
}

// Without `blocks` only the first coefficients are followed, because the next blocks count from them.
inline bool read_mcu(EntropyScan& scan, int16_t (**blocks)[64]) {
    uint64_t bits = scan.bits;
    int count = scan.count;
    const uint8_t* at = scan.at;
    for (int i = 0; i < scan.blocks; ++i) {
        const EntropyBlock& kind = scan.kinds[i];
        refill(bits, count, at);
        HuffmanEntry entry = kind.dc->at(bits);
        if (entry.total == 0) entry = kind.dc->find_long(bits);
        if (entry.total == 0) return false;
        int& last = scan.last[kind.component];
        if (entry.size != 0) last += value_at(bits << entry.code, entry.size);
        bits <<= entry.total;
        count -= entry.total;
        if (last != static_cast<int16_t>(last)) return false;
        int16_t* block = blocks && kind.needed ? *blocks[i] : nullptr;
        if (block) block[0] = static_cast<int16_t>(last);
        const bool sound = block && kind.alternating_needed ? read_alternating<true>(block, *kind.ac, bits, count, at)
                                                            : read_alternating<false>(block, *kind.ac, bits, count, at);
        if (!sound) return false;
    }
    scan.bits = bits;
    scan.count = count;
    scan.at = at;
    return true;
}

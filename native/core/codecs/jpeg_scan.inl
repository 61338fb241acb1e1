// The loop over the blocks of one MCU, built for each SIMD level: with BMI2 a shift is one operation.

// The bits that follow in the stream: `bits` begins with at least `count` of them. After a refill all 64 are bits of
// the stream, though `count` says 56 to 63: the rest of the last byte is read again by the next refill.
struct BitReader {
    uint64_t bits;
    int count;
    const uint8_t* at;

    void refill() {  // to 56 bits or more
        uint64_t next;
        std::memcpy(&next, at, sizeof next);
        bits |= big_endian(next) >> count;
        at += (63 - count) >> 3;
        count |= 56;
    }

    void pass(HuffmanEntry entry) {
        bits = entry.pass(bits);
        count -= entry.total();
    }

    uint32_t take_bit() {
        const auto bit = static_cast<uint32_t>(bits >> 63);
        bits <<= 1;
        --count;
        return bit;
    }

    void save(ScanState& scan) const {
        scan.bits = bits;
        scan.count = count;
        scan.at = at;
    }
};

// What a symbol with a code longer than the index, or without a value, does to place `k`: false for what no encoder
// writes. A block that ends sets `k` to 63.
inline bool read_special(BitReader& in, const HuffmanTable& table, int16_t* block, int& k) {
    in.refill();
    HuffmanEntry entry = table.at(in.bits);
    if (entry.advance() == HuffmanTable::long_code) entry = table.find_long(in.bits);
    if (entry.advance() == HuffmanTable::long_code) return false;
    if (entry.advance() == HuffmanTable::end_of_block) {
        k = 63;
    } else if (entry.advance() == HuffmanTable::sixteen_zeros) {
        k += 16;
    } else {
        k += entry.advance();
        if (k > 63) return false;
        if (block) block[zigzag[static_cast<size_t>(k)]] = static_cast<int16_t>(entry.value(in.bits));
    }
    in.pass(entry);
    return k <= 63;
}

// Reads the coefficients after the first. Returns the place in the stream of the last of them, or -1 for what no
// encoder writes. What the loop waits for is the way from one look-up to the next, so a look-up comes before the
// refill. One refill serves two symbols with codes inside of the index, at most 24 bits each, and leaves enough for the
// next look-up.
inline int read_alternating(BitReader& reader, int16_t* block, const HuffmanTable& table) {
    BitReader in = reader;
    int k = 0;
    while (k < 63) {
        HuffmanEntry entry = table.at(in.bits);
        in.refill();
        int next = k + entry.advance();
        if (next < 63) [[likely]] {
            block[zigzag[static_cast<size_t>(next)]] = static_cast<int16_t>(entry.value(in.bits));
            in.pass(entry);
            k = next;
            entry = table.at(in.bits);
            next = k + entry.advance();
            if (next < 63) [[likely]] {
                block[zigzag[static_cast<size_t>(next)]] = static_cast<int16_t>(entry.value(in.bits));
                in.pass(entry);
                k = next;
                continue;
            }
        }
        if (entry.advance() == HuffmanTable::end_of_block) [[likely]] {
            in.pass(entry);
            break;
        }
        if (!read_special(in, table, block, k)) return -1;
    }
    reader = in;
    return k;
}

// Moves past the coefficients after the first, several symbols a look-up and three look-ups a refill.
inline bool skip_alternating(BitReader& reader, const HuffmanTable& table) {
    BitReader in = reader;
    int k = 0;
    HuffmanPass pass;
    const auto some = [&] {
        const int next = k + pass.advance;
        if (next > 62) [[unlikely]]
            return false;
        k = next;
        in.bits <<= pass.total;
        in.count -= pass.total;
        pass = table.pass_at(in.bits);
        return true;
    };
    while (k < 63) {
        pass = table.pass_at(in.bits);
        in.refill();
        if (some() && some() && some()) continue;
        if (pass.advance >= HuffmanTable::pass_ends && k + pass.advance - HuffmanTable::pass_ends < 63) [[likely]] {
            in.bits <<= pass.total;
            in.count -= pass.total;
            break;
        }
        if (!read_special(in, table, nullptr, k)) return false;
    }
    reader = in;
    return true;
}

// Without `targets` only the first coefficients are followed, because the next blocks count from them.
inline bool read_mcu(ScanState& scan, const JpegScanDecoder::Target* targets) {
    using Need = JpegScanDecoder::Need;
    BitReader in{scan.bits, scan.count, scan.at};
    for (int i = 0; i < scan.blocks; ++i) {
        const ScanBlock& kind = scan.kinds[i];
        in.refill();
        HuffmanEntry entry = kind.dc->at(in.bits);
        if (entry.advance() == HuffmanTable::long_code) entry = kind.dc->find_long(in.bits);
        if (entry.advance() == HuffmanTable::long_code) return false;
        int& dc = scan.last_dc[kind.component];
        if (entry.has_value()) dc += entry.value(in.bits);
        in.pass(entry);
        if (dc != static_cast<int16_t>(dc)) return false;
        if (!targets || kind.need == Need::nothing) {
            if (!skip_alternating(in, *kind.ac)) return false;
            continue;
        }
        targets[i].block[0] = static_cast<int16_t>(dc);
        if (kind.need == Need::first) {
            if (!skip_alternating(in, *kind.ac)) return false;
            continue;
        }
        const int last = read_alternating(in, targets[i].block, *kind.ac);
        if (last < 0) return false;
        *targets[i].last = static_cast<uint8_t>(last);
    }
    in.save(scan);
    return true;
}

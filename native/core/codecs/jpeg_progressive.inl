// The blocks of one MCU in the scans of a progressive file, built for each SIMD level. What a sound file does not
// contain makes them return false.

// The first scan of the first coefficients: differences, without their lowest bits.
inline bool read_first_dc(ScanState& scan, const JpegScanDecoder::Target* targets) {
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
        const int value = dc * (1 << scan.low);
        if (dc != static_cast<int16_t>(dc) || value != static_cast<int16_t>(value)) return false;
        targets[i].block[0] = static_cast<int16_t>(value);
    }
    in.save(scan);
    return true;
}

// One more bit of the first coefficients.
inline bool refine_dc(ScanState& scan, const JpegScanDecoder::Target* targets) {
    BitReader in{scan.bits, scan.count, scan.at};
    in.refill();  // for ten blocks at most
    for (int i = 0; i < scan.blocks; ++i) {
        int16_t& value = targets[i].block[0];
        value = static_cast<int16_t>(value | in.take_bit() << scan.low);
    }
    in.save(scan);
    return true;
}

// How many blocks end with this symbol, this one included.
inline uint32_t ended_blocks(BitReader& in, HuffmanEntry entry) {
    const int bits = entry.zeros();
    in.pass(entry);
    in.refill();
    uint32_t count = 1u << bits;
    for (int i = bits - 1; i >= 0; --i) count += in.take_bit() << i;
    return count;
}

inline void set_coefficient(const JpegScanDecoder::Target& target, int k, int value) {
    target.block[zigzag[static_cast<size_t>(k)]] = static_cast<int16_t>(value);
    *target.nonzero |= uint64_t{1} << k;
}

// The first scan of other coefficients, one component only.
inline bool read_first_ac(ScanState& scan, const JpegScanDecoder::Target* targets) {
    if (scan.blocks_ended > 0) {
        --scan.blocks_ended;
        return true;
    }
    BitReader in{scan.bits, scan.count, scan.at};
    const HuffmanTable& table = *scan.kinds[0].ac;
    int k = scan.first - 1;
    in.refill();
    while (k < scan.last) {
        HuffmanEntry entry = table.at(in.bits);
        in.refill();
        if (entry.advance() == HuffmanTable::long_code) entry = table.find_long(in.bits);
        if (entry.advance() == HuffmanTable::long_code) return false;
        if (entry.advance() == HuffmanTable::end_of_block) {
            scan.blocks_ended = ended_blocks(in, entry) - 1;
            break;
        }
        k += entry.advance() == HuffmanTable::sixteen_zeros ? 16 : entry.advance();
        if (k > scan.last) return false;
        if (entry.has_value()) {
            const int value = entry.value(in.bits) * (1 << scan.low);
            if (value != static_cast<int16_t>(value)) return false;
            set_coefficient(targets[0], k, value);
        }
        in.pass(entry);
    }
    in.save(scan);
    return true;
}

// One more bit for each coefficient of `places`: away from zero where it is set. A loop without a branch on the data.
inline void refine_places(BitReader& in, int16_t* block, uint64_t places, int low) {
    while (places != 0) {
        in.refill();
        for (int i = 0; i < 32 && places != 0; ++i, places &= places - 1) {
            int16_t& value = block[zigzag[static_cast<size_t>(std::countr_zero(places))]];
            const int sign = value >> 15, step = ((1 << low) ^ sign) - sign;
            value = static_cast<int16_t>(value + (step & -static_cast<int>(in.take_bit())));
        }
    }
}

// The lowest bit of `bits` but `n`, alone; 0 when there are not so many.
inline uint64_t nth_bit(uint64_t bits, int n) {
#if AVX2_CODE && PIXELMILL_BMI2
    return n < 64 ? _pdep_u64(uint64_t{1} << n, bits) : 0;
#else
    for (; n > 0 && bits != 0; --n) bits &= bits - 1;
    return bits & -bits;
#endif
}

// Moves past `zeros` zeros from place k on, refining what lies between. Returns the place of the next zero, or the one
// after the last.
inline int refine_past(BitReader& in, const JpegScanDecoder::Target& target, int k, const ScanState& scan, int zeros) {
    const uint64_t range = ~uint64_t{0} >> (63 - scan.last) & ~uint64_t{0} << k, nonzero = *target.nonzero;
    const uint64_t stop = nth_bit(~nonzero & range, zeros);
    const uint64_t before = stop != 0 ? stop - 1 : ~uint64_t{0};
    refine_places(in, target.block, nonzero & range & before, scan.low);
    return stop != 0 ? std::countr_zero(stop) : scan.last + 1;
}

// One more bit of other coefficients, and those that become something else than zero by it.
inline bool refine_ac(ScanState& scan, const JpegScanDecoder::Target* targets) {
    BitReader in{scan.bits, scan.count, scan.at};
    const HuffmanTable& table = *scan.kinds[0].ac;
    const JpegScanDecoder::Target& target = targets[0];
    int k = scan.first;
    while (k <= scan.last && scan.blocks_ended == 0) {
        in.refill();
        HuffmanEntry entry = table.at(in.bits);
        if (entry.advance() == HuffmanTable::long_code) entry = table.find_long(in.bits);
        if (entry.advance() == HuffmanTable::long_code || entry.size() > 1) return false;
        if (entry.advance() == HuffmanTable::end_of_block) {
            scan.blocks_ended = ended_blocks(in, entry);
            break;
        }
        const int value = entry.has_value() ? entry.value(in.bits) * (1 << scan.low) : 0;  // one bit: 1 or -1
        in.pass(entry);
        k = refine_past(in, target, k, scan, entry.has_value() ? entry.advance() - 1 : 15);
        if (value != 0) {
            if (k > scan.last) return false;
            set_coefficient(target, k, value);
        }
        ++k;
    }
    if (scan.blocks_ended > 0) {
        if (k <= scan.last) refine_past(in, target, k, scan, 64);
        --scan.blocks_ended;
    }
    in.save(scan);
    return true;
}

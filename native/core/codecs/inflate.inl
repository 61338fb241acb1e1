// The hot loops of inflate.cpp, for one SIMD level.

inline uint64_t low_bits(uint64_t bits, unsigned count) { return bits & ((uint64_t{1} << count) - 1); }

// At least 56 bits.
inline void refill(BitReader& in) {
    in.bits |= little64(in.data + in.position) << in.count;
    in.position += (63 - in.count) >> 3;
    in.count |= 56;
}

// The same near the end of the stream, after which zeros follow; the position shows how many.
inline void refill_safely(BitReader& in) {
    if (in.position < in.size) in.bits |= little64(in.data + in.position) << in.count;
    in.position += (63 - in.count) >> 3;
    in.count |= 56;
}

inline void drop(BitReader& in, unsigned count) {
    in.bits >>= count & 63;  // as the processor does anyway
    in.count -= count & 63;
}

inline uint32_t follow(uint32_t link, const uint32_t* table, unsigned root, uint64_t bits) {
    return table[value_of(link) + low_bits(bits >> root, length_of(link))];
}

inline uint32_t look_up(const uint32_t* table, unsigned root, uint64_t bits) {
    const uint32_t entry = table[low_bits(bits, root)];
    return entry & is_link ? follow(entry, table, root, bits) : entry;
}

// The extra bits of a length or a distance follow its code; an entry counts both.
inline size_t read_number(BitReader& in, uint32_t entry) {
    const size_t number = value_of(entry) + (low_bits(in.bits, total_of(entry)) >> length_of(entry));
    drop(in, entry);
    return number;
}

// Copies a match, and up to `copy_overrun` bytes past it: the caller keeps that much space before its limit.
inline void copy_quick(uint8_t* out, size_t distance, size_t length) {
    const uint8_t* from = out - distance;
    uint8_t* const end = out + length;
    if (distance >= 16) {
        do {
            std::memcpy(out, from, 16);
            out += 16, from += 16;
        } while (out < end);
        return;
    }
    if (distance == 1) {
        std::memset(out, *from, length);
        return;
    }
    // A short pattern overlaps its own copy. The first 8 bytes are copied one by one; from then on the source is a
    // whole number of patterns back, 8 bytes or more, and copies of 8 bytes no longer overlap.
    const size_t whole = distance * ((7 + distance) / distance);
    for (size_t i = 0; i < 8; ++i) out[i] = from[i];
    from = out + 8 - whole;
    for (out += 8; out < end; out += 8, from += 8) std::memcpy(out, from, 8);
}

// Symbols until the block ends, which is `true`, or `out` comes near `limit`, or the stream comes to its end, or
// something is wrong: `bad` is set.
inline bool decode_symbols(BitReader& reader, const HuffmanTables& tables, uint8_t*& position, uint8_t* limit,
                           uint64_t history, bool& bad) {
    BitReader in = reader;  // in registers
    uint8_t* out = position;
    uint8_t* const begin = position;
    const uint32_t* const literals = tables.literal.data();
    const uint32_t* const distances = tables.distance.data();
    const auto next = [&] { return literals[low_bits(in.bits, literal_root)]; };
    const auto put = [&](uint32_t entry) {
        drop(in, entry);
        *out++ = static_cast<uint8_t>(value_of(entry));
    };
    bool ended = false;
    if (in.position < in.size) refill(in);
    // The entry of the next symbol is looked up before the refill: 11 bits are always left for it.
    uint32_t entry = next();
    while (limit - out >= quick_room && in.position < in.size) {
        refill(in);
        // Three literals take 33 bits at most when they come without a link, and leave enough for anything.
        if (entry & is_literal) {
            put(entry);
            entry = next();
            if (entry & is_literal) {
                put(entry);
                entry = next();
                if (entry & is_literal) {
                    put(entry);
                    entry = next();
                    continue;
                }
            }
        }
        if (entry & is_link) {
            entry = follow(entry, literals, literal_root, in.bits);
            if (entry & is_literal) {
                put(entry);
                entry = next();
                continue;
            }
        }
        if (entry & is_special) {
            bad = !(entry & is_end);
            ended = true;
            drop(in, entry);
            break;
        }
        const size_t length = read_number(in, entry);
        refill(in);
        entry = look_up(distances, distance_root, in.bits);
        const size_t distance = read_number(in, entry);
        if ((entry & is_special) || distance > history + static_cast<uint64_t>(out - begin)) {
            bad = true;
            break;
        }
        entry = next();
        copy_quick(out, distance, length);
        out += length;
    }
    reader = in;
    position = out;
    return ended;
}

// Adler-32. In a group of bytes each counts once for the first sum, and for the second as often as there are sums from
// it on.
inline uint32_t adler32(uint32_t before, const uint8_t* data, size_t count) {
    constexpr uint32_t modulus = 65521;
    constexpr size_t group = 32, groups = 5552 / group;  // after 5552 bytes the second sum might overflow
    uint32_t first = before & 0xFFFF, second = before >> 16;
    while (count > 0) {
        size_t whole = std::min(count / group, groups);
        count -= whole * group;
        for (; whole > 0; --whole, data += group) {
            uint32_t sum = 0, weighted = 0;
            for (uint32_t i = 0; i < group; ++i) {
                sum += data[i];
                weighted += data[i] * (group - i);
            }
            second += group * first + weighted;
            first += sum;
        }
        for (; count > 0 && count < group; --count) {
            first += *data++;
            second += first;
        }
        first %= modulus;
        second %= modulus;
    }
    return second << 16 | first;
}

// Decompression of zlib streams, some bytes at a time. It stops at the first byte that is not clearly valid and never
// accepts what zlib refuses, so a caller that needs a reason asks zlib for it.
#pragma once

#include <array>
#include <cstdint>

#include "bytes.h"

namespace pixelmill {

inline constexpr int64_t inflate_window = 32768;
inline constexpr size_t inflate_padding = 16;  // readable bytes after a stream

// A place in the stream, and bits from before it that are not used up yet.
struct BitReader {
    const std::byte* data = nullptr;
    size_t size = 0, position = 0;  // the position may pass the end: then the last bits are zeros that are not there
    uint64_t bits = 0;
    unsigned count = 0;
};

// Entries are described in inflate.cpp. The sizes are what codes of up to 15 bits can need: the roots and all
// subtables of the worst code.
inline constexpr unsigned literal_root = 11, distance_root = 8;
struct HuffmanTables {
    std::array<uint32_t, 2342> literal;
    std::array<uint32_t, 402> distance;
};

class Inflater {
   public:
    enum class Status : uint8_t { more, ended, bad };

    // Begins a stream, which is followed by `inflate_padding` readable bytes. True if the header is that of a stream
    // with the largest window.
    bool begin(Bytes stream);

    // Appends to `out` until it reaches `limit` or the stream ends. The last `inflate_window` bytes that were appended
    // before must still lie before `out`. `ended` comes once, with the last bytes, and only for a stream that
    // fills its bytes exactly and whose checksum is right.
    Status run(uint8_t*& out, uint8_t* limit);

   private:
    Status blocks(uint8_t*& out, uint8_t* limit);
    bool begin_block();
    bool begin_stored();
    bool begin_fixed();
    bool begin_dynamic();
    bool store(uint8_t*& out, uint8_t* limit);
    bool decode(uint8_t*& out, uint8_t* limit);
    bool decode_tail(uint8_t*& out, uint8_t* limit, uint64_t history);
    void drop_to_byte();
    bool finish();

    enum class Block : uint8_t { none, stored, coded };
    BitReader in_;
    HuffmanTables tables_;
    Block block_ = Block::none;
    bool last_ = false;
    size_t left_ = 0;      // of a stored block, or of a match that did not fit
    size_t distance_ = 0;  // of that match
    uint64_t produced_ = 0;
    uint32_t checksum_ = 1;
};

}  // namespace pixelmill

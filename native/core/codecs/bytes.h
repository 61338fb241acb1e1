// Reads numbers from untrusted bytes. Callers check `holds` first; the readers do not check the length again.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "../platform/compiler.h"

namespace pixelmill {

using Bytes = std::span<const std::byte>;

// True when `count` bytes exist from `offset` on; neither sum can wrap.
inline bool holds(Bytes bytes, uint64_t offset, uint64_t count) {
    return offset <= bytes.size() && count <= bytes.size() - offset;
}

inline uint32_t byte_at(Bytes bytes, uint64_t offset) { return std::to_integer<uint32_t>(bytes[offset]); }

inline uint32_t be16(Bytes b, uint64_t at) { return byte_at(b, at) << 8 | byte_at(b, at + 1); }
inline uint32_t be32(Bytes b, uint64_t at) { return be16(b, at) << 16 | be16(b, at + 2); }
inline uint32_t le16(Bytes b, uint64_t at) { return byte_at(b, at + 1) << 8 | byte_at(b, at); }
inline uint32_t le24(Bytes b, uint64_t at) { return byte_at(b, at + 2) << 16 | le16(b, at); }
inline uint32_t le32(Bytes b, uint64_t at) { return le16(b, at + 2) << 16 | le16(b, at); }

inline uint64_t little64(const std::byte* at) {
    uint64_t word;
    std::memcpy(&word, at, sizeof word);
    if constexpr (std::endian::native == std::endian::big) word = byteswap(word);
    return word;
}

inline bool starts_with(Bytes bytes, const char* text, size_t length, uint64_t offset = 0) {
    return holds(bytes, offset, length) && std::memcmp(bytes.data() + offset, text, length) == 0;
}

}  // namespace pixelmill

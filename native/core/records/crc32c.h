// CRC-32C (Castagnoli), and the way TFRecords write it down.
#pragma once

#include <cstdint>

#include "../codecs/bytes.h"

namespace pixelmill {

// The checksum of what `before` is the checksum of, followed by `bytes`.
uint32_t crc32c(Bytes bytes, uint32_t before = 0);

// The same by tables alone. For machines without the instruction, for PIXELMILL_SIMD=base, and for tests.
uint32_t crc32c_portable(Bytes bytes, uint32_t before = 0);

// A checksum over bytes that hold checksums is weak, so the stored one is turned and shifted.
inline uint32_t masked(uint32_t crc) { return (crc >> 15 | crc << 17) + 0xA282EAD8u; }

}  // namespace pixelmill

// Blocks to profiles and payloads, for writers of packed images.
#pragma once

#include <cstddef>
#include <cstdint>

#include "pack_codebook.h"

namespace pixelmill {

// Bytes after a payload that writing it may overwrite with zeros.
constexpr size_t pack_payload_slack = 128;

// Writes the first profile that holds each block, and which of its coefficients after the first are not zero. False
// for a block that no profile holds.
bool choose_profiles(uint8_t* ids, uint64_t* nonzero, const int16_t* blocks, size_t count, const PackBook& book);

// Writes the payloads of blocks one after the other, as `choose_profiles` described them.
void write_payloads(uint8_t* to, const uint8_t* ids, const uint64_t* nonzero, const int16_t* blocks, size_t count,
                    const PackBook& book);

}  // namespace pixelmill

// Codebooks for packed images, chosen for the blocks of some JPEG files.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "pack_codebook.h"

namespace pixelmill {

// The same images and the same seed have the same codebook, on every machine. Files that cannot be packed are passed
// over. Fault argument: no file can be packed.
std::vector<std::byte> train_codebook(std::span<const Bytes> images, uint64_t seed);

// Blocks to be packed, as the widths that their coefficients need; each kind of block once.
struct PackBlockSample {
    std::vector<PackWidths> needs;
    std::vector<uint32_t> counts;
};

// Chooses profiles that pack a sample into few bytes, sorted by length. The last one holds every block.
PackWidthsList train_profiles(const PackBlockSample& sample, uint64_t seed);

}  // namespace pixelmill

// The codebook of packed images: how many bits each coefficient of a block takes, for 256 kinds of luma blocks and 256
// kinds of chroma blocks. docs/packed-image.md specifies it.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "bytes.h"

namespace pixelmill {

constexpr int pack_profiles = 256, most_pack_width = 12;
constexpr uint64_t pack_slack = 32;  // readable bytes that must follow payloads: kernels load 16 at a time

// Bits of each coefficient, row by row; the first one, whose place is that of DC, is 0.
using PackWidths = std::array<uint8_t, 64>;

// What is needed to unpack two rows of a block: lane k takes bytes `source[2 k]` and `source[2 k + 1]` of its row as a
// number of 16 bits, moves the field to the top by a product and back to the bottom, with its sign, by the upper half
// of another. Fields of no bits are multiplied by zero.
struct alignas(32) PackRowPair {
    std::array<uint8_t, 32> source;
    std::array<uint16_t, 16> up;
    std::array<uint16_t, 16> down;
};

struct alignas(64) PackProfile {  // whole lines of the cache
    std::array<PackRowPair, 4> pairs;
};

// What is needed to pack a block with one instruction for each four coefficients.
struct PackQuads {
    std::array<uint64_t, 16> fields;  // the bits of four coefficients that are kept
    uint32_t used;                    // a bit for each four of which any are
    bool gaps;                        // fields do not follow each other, so that this way is closed
};

// A set of profiles, as a bitmap.
struct alignas(32) PackProfileSet {
    std::array<uint64_t, 4> words;
};

class PackBook;

// What only writers need of it.
struct PackWritingTables {
    explicit PackWritingTables(const PackBook& book);

    std::array<std::array<uint16_t, 64>, pack_profiles> bits;  // of the payload at which each field begins
    std::array<PackQuads, pack_profiles> quads;

    // covering[k][w]: the profiles with at least w bits for coefficient k. The first one is no matter of profiles, so
    // all of them are in its sets.
    std::array<std::array<PackProfileSet, 17>, 64> covering;
};

// The profiles for blocks of luma or of chroma.
class PackBook {
   public:
    explicit PackBook(const std::array<PackWidths, pack_profiles>& widths);

    std::array<PackProfile, pack_profiles> profiles;
    std::array<std::array<uint8_t, 8>, pack_profiles> rows;  // byte of the payload at which each row begins
    std::array<uint8_t, pack_profiles> length;               // of the payload
    std::array<uint8_t, pack_profiles> last;                 // as BlockRow wants it, for any block of the profile
    std::array<PackWidths, pack_profiles> widths;

    // Made when they are first asked for: programs that only read do without.
    const PackWritingTables& writing() const;

   private:
    void expand(size_t number);

    mutable std::once_flag made_;
    mutable std::unique_ptr<const PackWritingTables> writing_;
};

// Bytes that a payload of these widths takes.
int pack_payload_length(const PackWidths& widths);

// Bits of a number as two's complement.
inline int pack_width(int value) { return std::bit_width((static_cast<uint32_t>(value ^ value >> 31) << 1) | 1); }

class PackCodebook {
   public:
    static constexpr size_t serialized_bytes = 8 + 2 * size_t{pack_profiles} * 32;

    // Faults: corrupt, truncated.
    explicit PackCodebook(Bytes data);

    const std::vector<std::byte>& data() const { return data_; }
    uint64_t identity() const { return identity_; }
    const PackBook& luma() const { return *luma_; }
    const PackBook& chroma() const { return *chroma_; }

   private:
    std::vector<std::byte> data_;
    uint64_t identity_;
    std::unique_ptr<const PackBook> luma_, chroma_;
};

using PackWidthsList = std::array<PackWidths, pack_profiles>;

std::vector<std::byte> serialize_codebook(const PackWidthsList& luma, const PackWidthsList& chroma);

// Makes a codebook known to all decoders of the process. Returns the one that is known already where there is one of
// the same data. Fault argument: another codebook has the same identity.
std::shared_ptr<const PackCodebook> register_codebook(Bytes data);

// Null when there is none of this identity.
std::shared_ptr<const PackCodebook> find_codebook(uint64_t identity);

// The same, or a Fault of kind argument that names it.
std::shared_ptr<const PackCodebook> required_codebook(uint64_t identity);

// A codebook trained on photographs, serialized.
std::vector<std::byte> default_codebook();

}  // namespace pixelmill

#include "pack_payloads.h"

#include <bit>
#include <cstring>

#include "../platform/compiler.h"
#include "pack_kernels.h"

namespace pixelmill {

namespace {
constexpr size_t payload_words = 13;  // the longest payload has 95 bytes
static_assert(payload_words * sizeof(uint64_t) <= pack_payload_slack);
}  // namespace

#define KERNELS "../codecs/pack_payloads.inl"
#include "../kernels/both_levels.inl"

#if PIXELMILL_WIDE_BLOCKS
namespace {
constexpr std::array<uint16_t, 32> thirty_two = [] {
    std::array<uint16_t, 32> numbers{};
    for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<uint16_t>(i);
    return numbers;
}();
}  // namespace

BEGIN_WIDE_BLOCKS_CODE
namespace wide_blocks {
#include "pack_payloads_wide.inl"
}  // namespace wide_blocks
END_WIDE_BLOCKS_CODE
#endif

bool choose_profiles(uint8_t* ids, uint64_t* nonzero, const int16_t* blocks, size_t count, const PackBook& book) {
#if PIXELMILL_WIDE_BLOCKS
    if (uses_wide_blocks()) return wide_blocks::choose_profiles(ids, nonzero, blocks, count, book.writing());
#endif
    return AT_THIS_LEVEL(choose_profiles)(ids, nonzero, blocks, count, book.writing());
}

void write_payloads(uint8_t* to, const uint8_t* ids, const uint64_t* nonzero, const int16_t* blocks, size_t count,
                    const PackBook& book) {
    AT_THIS_LEVEL(write_payloads)(to, ids, nonzero, blocks, count, book);
}

}  // namespace pixelmill

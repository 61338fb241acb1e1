#include "crc32c.h"

#include <array>
#include <cstdlib>
#include <string_view>

#if defined(__linux__) && defined(__aarch64__)
#include <sys/auxv.h>
#endif

namespace pixelmill {

namespace {

constexpr uint32_t polynomial = 0x82F63B78;  // bits reversed

using Table = std::array<uint32_t, 256>;

// tables[k][b]: what byte b does to the checksum when k zero bytes follow it.
constexpr std::array<Table, 8> make_tables() {
    std::array<Table, 8> tables{};
    for (uint32_t byte = 0; byte < 256; ++byte) {
        uint32_t crc = byte;
        for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? polynomial : 0);
        tables[0][byte] = crc;
    }
    for (size_t k = 1; k < 8; ++k) {
        for (size_t byte = 0; byte < 256; ++byte) {
            const uint32_t crc = tables[k - 1][byte];
            tables[k][byte] = crc >> 8 ^ tables[0][crc & 0xFF];
        }
    }
    return tables;
}

constexpr auto tables = make_tables();

uint32_t by_tables(const std::byte* at, size_t count, uint32_t crc) {
    for (; count >= 8; at += 8, count -= 8) {
        const uint64_t word = little64(at) ^ crc;
        crc = 0;
        for (size_t k = 0; k < 8; ++k) crc ^= tables[7 - k][word >> 8 * k & 0xFF];
    }
    for (; count > 0; ++at, --count) crc = crc >> 8 ^ tables[0][(crc ^ std::to_integer<uint32_t>(*at)) & 0xFF];
    return crc;
}

#if defined(__x86_64__)
#define CRC_INSTRUCTION 1
#define CRC_CODE __attribute__((target("sse4.2")))
CRC_CODE inline uint64_t add_word(uint64_t crc, uint64_t word) { return __builtin_ia32_crc32di(crc, word); }
CRC_CODE inline uint32_t add_byte(uint32_t crc, uint8_t byte) { return __builtin_ia32_crc32qi(crc, byte); }

bool processor_has_instruction() {
    __builtin_cpu_init();
    return __builtin_cpu_supports("sse4.2");
}
#elif defined(__aarch64__) && defined(__GNUC__)
#define CRC_INSTRUCTION 1
#if defined(__clang__)
#define CRC_CODE __attribute__((target("crc")))
CRC_CODE inline uint64_t add_word(uint64_t crc, uint64_t word) {
    return __builtin_arm_crc32cd(static_cast<uint32_t>(crc), word);
}
CRC_CODE inline uint32_t add_byte(uint32_t crc, uint8_t byte) { return __builtin_arm_crc32cb(crc, byte); }
#else
#define CRC_CODE __attribute__((target("+crc")))
CRC_CODE inline uint64_t add_word(uint64_t crc, uint64_t word) {
    return __builtin_aarch64_crc32cx(static_cast<uint32_t>(crc), word);
}
CRC_CODE inline uint32_t add_byte(uint32_t crc, uint8_t byte) { return __builtin_aarch64_crc32cb(crc, byte); }
#endif

bool processor_has_instruction() {
#if defined(__linux__)
    return (getauxval(AT_HWCAP) & HWCAP_CRC32) != 0;
#else
    return true;  // every Apple processor of this kind
#endif
}
#else
#define CRC_INSTRUCTION 0
#endif

#if CRC_INSTRUCTION

// The instruction has a latency of three cycles and starts every cycle, so three streams run side by side. A checksum
// is linear: that of a stream followed by another is the first, advanced over `lane` zero bytes by a table, xor the
// second.
constexpr size_t long_lane = 1024, short_lane = 128;

using Shift = std::array<Table, 4>;

constexpr Shift make_shift(size_t lane) {
    Shift shift{};
    std::array<uint32_t, 32> bits{};
    for (size_t bit = 0; bit < 32; ++bit) {
        uint32_t crc = uint32_t{1} << bit;
        for (size_t i = 0; i < lane; ++i) crc = crc >> 8 ^ tables[0][crc & 0xFF];
        bits[bit] = crc;
    }
    for (size_t k = 0; k < 4; ++k) {
        for (size_t byte = 0; byte < 256; ++byte) {
            for (size_t bit = 0; bit < 8; ++bit) shift[k][byte] ^= byte >> bit & 1 ? bits[8 * k + bit] : 0;
        }
    }
    return shift;
}

template <size_t lane>
uint32_t shifted(uint32_t crc) {
    static const Shift shift = make_shift(lane);
    return shift[0][crc & 0xFF] ^ shift[1][crc >> 8 & 0xFF] ^ shift[2][crc >> 16 & 0xFF] ^ shift[3][crc >> 24];
}

// Takes whole triples of lanes and moves `at` and `count` past them.
template <size_t lane>
CRC_CODE uint32_t by_lanes(const std::byte*& at, size_t& count, uint32_t crc) {
    uint64_t first = crc;
    for (; count >= 3 * lane; at += 3 * lane, count -= 3 * lane) {
        uint64_t second = 0, third = 0;
        for (size_t i = 0; i < lane; i += 8) {
            first = add_word(first, little64(at + i));
            second = add_word(second, little64(at + lane + i));
            third = add_word(third, little64(at + 2 * lane + i));
        }
        first = shifted<lane>(shifted<lane>(static_cast<uint32_t>(first)) ^ static_cast<uint32_t>(second)) ^ third;
    }
    return static_cast<uint32_t>(first);
}

CRC_CODE uint32_t by_instruction(const std::byte* at, size_t count, uint32_t crc) {
    uint64_t first = by_lanes<short_lane>(at, count, by_lanes<long_lane>(at, count, crc));
    for (; count >= 8; at += 8, count -= 8) first = add_word(first, little64(at));
    auto rest = static_cast<uint32_t>(first);
    for (; count > 0; ++at, --count) rest = add_byte(rest, std::to_integer<uint8_t>(*at));
    return rest;
}

bool has_instruction() {
    const char* requested = std::getenv("PIXELMILL_SIMD");
    if (requested != nullptr && std::string_view(requested) == "base") return false;
    return processor_has_instruction();
}

#endif

}  // namespace

uint32_t crc32c_portable(Bytes bytes, uint32_t before) { return ~by_tables(bytes.data(), bytes.size(), ~before); }

uint32_t crc32c(Bytes bytes, uint32_t before) {
#if CRC_INSTRUCTION
    static const bool instruction = has_instruction();
    if (instruction) return ~by_instruction(bytes.data(), bytes.size(), ~before);
#endif
    return crc32c_portable(bytes, before);
}

}  // namespace pixelmill

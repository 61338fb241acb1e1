// What the driver in standalone.cpp runs: each fuzzer links one target.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

struct FuzzTarget {
    std::vector<std::vector<uint8_t>> (*seeds)();          // inputs that need no files
    const char* (*run)(const uint8_t* data, size_t size);  // returns a word for the statistics
};

FuzzTarget fuzz_target();

// A hash of all that the target has computed, for the last line: two platforms computed the same if it is equal.
inline uint64_t outputs_hash = 0xCBF29CE484222325;

inline void note_output(const void* data, size_t size) {
    const auto* bytes = static_cast<const uint8_t*>(data);
    for (; size >= 8; bytes += 8, size -= 8) {
        uint64_t word;
        std::memcpy(&word, bytes, sizeof word);
        outputs_hash = (outputs_hash ^ word) * 0x9E3779B97F4A7C15;
        outputs_hash ^= outputs_hash >> 32;
    }
    for (; size > 0; ++bytes, --size) outputs_hash = (outputs_hash ^ *bytes) * 0x100000001B3;
}

// What the driver in standalone.cpp runs: each fuzzer links one target.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

struct FuzzTarget {
    std::vector<std::vector<uint8_t>> (*seeds)();          // inputs that need no files
    const char* (*run)(const uint8_t* data, size_t size);  // returns a word for the statistics
};

FuzzTarget fuzz_target();

// Checks of a target: a broken promise of the core aborts, which every fuzzer reports as a crash.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>

[[noreturn]] inline void broken(const char* what) {
    std::fprintf(stderr, "broken promise: %s\n", what);
    std::abort();
}

inline void promise(bool kept, const char* what) {
    if (!kept) broken(what);
}

inline uint64_t hash_of(const uint8_t* data, size_t size) {
    uint64_t hash = 0xCBF29CE484222325;
    for (size_t i = 0; i < size; i++) hash = (hash ^ data[i]) * 0x100000001B3;
    return hash;
}

// Seeds that need no files: made by libjpeg and libpng when the fuzzer starts.
#pragma once

#include <cstdint>
#include <vector>

std::vector<std::vector<uint8_t>> builtin_seeds();

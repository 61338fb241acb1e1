// What a single input may cost. Headers are compared with these before anything is allocated or decoded, so a small
// file cannot claim much memory or time. All are on by default; pixelmill.types.Limits sets them from Python.
#pragma once

#include <cstdint>

namespace pixelmill {

struct Limits {
    int64_t pixels = int64_t{1} << 27;
    int64_t side = 65535;
    int64_t scans = 256;                         // of a progressive JPEG
    int64_t scan_pixels = int64_t{1} << 32;      // scans x pixels: about 4 s of decoding
    int64_t encoded_bytes = int64_t{256} << 20;  // of one compressed image
    int64_t record_bytes = int64_t{1} << 30;     // of one record of a container
};

}  // namespace pixelmill

// Headers of npy files: whatever the bytes are, an accepted header fits the file, and its shape can be multiplied.
#include <string>

#include "../native/core/fault.h"
#include "../native/core/records/npy.h"
#include "promise.h"
#include "target.h"

namespace {

using namespace pixelmill;
using Input = std::vector<uint8_t>;

Input file(const std::string& header, int version, size_t bytes) {
    Input made = {0x93, 'N', 'U', 'M', 'P', 'Y', static_cast<uint8_t>(version), 0};
    const size_t length = header.size();
    made.push_back(static_cast<uint8_t>(length));
    made.push_back(static_cast<uint8_t>(length >> 8));
    if (version > 1) made.insert(made.end(), {0, 0});
    made.insert(made.end(), header.begin(), header.end());
    made.insert(made.end(), bytes, 7);
    return made;
}

std::vector<Input> seeds() {
    return {
        file("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }        \n", 1, 24),
        file("{'descr': '>i8', 'fortran_order': True, 'shape': (1, 2, 3, 4), }\n", 2, 192),
        file("{\"shape\": (), \"descr\": \"|b1\", \"fortran_order\": False}", 3, 1),
        file("{'descr': '|u1', 'fortran_order': False, 'shape': (0, 9223372036854775807), }", 1, 0),
        file("{'descr': '|O', 'fortran_order': False, 'shape': (3,), }", 1, 24),
    };
}

const char* run(const uint8_t* data, size_t size) {
    const Bytes bytes{reinterpret_cast<const std::byte*>(data), size};
    try {
        const NpyHeader header = parse_npy_header(bytes);
        promise(header.data_offset >= 10 && header.data_offset <= static_cast<int64_t>(size),
                "the header is in the file");
        promise(header.ndim >= 0 && header.ndim <= max_dims, "axes are few");
        for (int d = 0; d < header.ndim; ++d)
            promise(header.shape[static_cast<size_t>(d)] >= 0, "extents are not negative");
        promise(header.bytes() >= 0, "the size does not overflow");
        check_npy_size(header, static_cast<int64_t>(size));
        promise(header.data_offset + header.bytes() == static_cast<int64_t>(size), "the elements fill the file");
        return "array";
    } catch (const Fault& fault) {
        return name_of(fault.kind);
    }
}

}  // namespace

FuzzTarget fuzz_target() { return {seeds, run}; }

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    run(data, size);
    return 0;
}

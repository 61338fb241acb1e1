// Headers of npy files. Nothing in them is trusted, and nothing is run.
#pragma once

#include "../codecs/bytes.h"
#include "../value.h"

namespace pixelmill {

struct NpyHeader {
    DType dtype = DType::u8;
    bool swapped = false;  // the bytes of an element stand in the other order
    bool fortran = false;  // the first axis runs fastest
    int ndim = 0;
    Extents shape{};
    int64_t data_offset = 0;

    // Bytes of the elements, checked against overflow when the header was read.
    int64_t bytes() const;
};

inline constexpr int64_t npy_start = 12;  // bytes up to the end of the header's length

// How many bytes stand before the elements, told by the first `npy_start` bytes of a file.
int64_t npy_header_length(Bytes start);

// `header` holds everything before the elements.
NpyHeader parse_npy_header(Bytes header);

// Throws where the file has fewer or more bytes than the header declares.
void check_npy_size(const NpyHeader& header, int64_t file_size);

}  // namespace pixelmill

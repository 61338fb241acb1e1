// What a baseline JPEG file has before its first coefficient.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "jpeg_standard_tables.h"

namespace pixelmill {

// How much of the colors is kept: all, every second column, or every second column and row.
enum class ChromaSampling : uint8_t { full, half, quarter };

struct JpegFileHeader {
    int width = 0, height = 0;
    int components = 1;  // 1 or 3; the first has the table of luma, the others that of chroma
    ChromaSampling sampling = ChromaSampling::full;  // of three components
    QuantizationTable luma{}, chroma{};
};

// Appends all markers up to the start of the scan, in the order in which libjpeg writes them.
void write_jpeg_header(const JpegFileHeader& header, std::vector<std::byte>& out);

void write_jpeg_end(std::vector<std::byte>& out);

}  // namespace pixelmill

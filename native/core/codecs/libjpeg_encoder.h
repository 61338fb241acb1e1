// libjpeg-turbo's own encoder, by its public interface: what tests, fuzzing and benchmarks compare JpegWriter with.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "../view.h"
#include "jpeg_header_writer.h"

namespace pixelmill {

// Takes what JpegWriter::encode takes. An error of libjpeg ends the process.
std::vector<std::byte> encode_jpeg_by_libjpeg(View<const uint8_t> image, int quality, ChromaSampling sampling);

}  // namespace pixelmill

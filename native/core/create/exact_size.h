// Image files of an exact number of bytes: quality first, padding that readers skip for the rest.
#pragma once

#include <vector>

#include "../codecs/jpeg_writer.h"
#include "maker.h"

namespace pixelmill {

// One thread's encoder. A file that cannot have the wanted size is a Fault.
class FileWriter {
   public:
    void write(const Recipe& recipe, const Plan& plan, View<const uint8_t> image, std::vector<std::byte>& out);
    // A JPEG of noise that is drawn while it is encoded; `rows` is memory for JpegRows::at_once rows.
    void write_noise(const Recipe& recipe, const Plan& plan, View<uint8_t> rows, std::vector<std::byte>& out);

   private:
    void search_quality(const Plan& plan, View<const uint8_t> image, ChromaSampling sampling, int64_t most,
                        std::vector<std::byte>& out);
    JpegWriter jpeg_;
};

}  // namespace pixelmill

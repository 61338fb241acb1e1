// Huffman decoding of sequential JPEG scans for libjpeg, which does everything else. Its own decoder takes two thirds
// of a decode; this one gives the same coefficients from a bit stream without stuffed bytes, with one table look-up a
// symbol.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

struct jpeg_decompress_struct;

namespace pixelmill {

struct EntropyScan;

// Belongs to one libjpeg object and is used for picture after picture.
class JpegEntropy {
   public:
    JpegEntropy();
    ~JpegEntropy();
    JpegEntropy(const JpegEntropy&) = delete;
    JpegEntropy& operator=(const JpegEntropy&) = delete;

    struct Columns {
        uint32_t first, behind;  // pixels of the scaled picture
    };

    // To be called behind jpeg_start_decompress, with the rest of the file in info.src. Takes over where it can: scans
    // that are Huffman coded, sequential, and hold all components. Outside of the wanted columns blocks stay empty.
    // `give_up` must not return; it is called when something in the data is not as in a sound file. libjpeg is then to
    // decode the file from its beginning by itself, so that damaged files give what libjpeg makes of them.
    bool take_over(jpeg_decompress_struct& info, Columns wanted, void (*give_up)(jpeg_decompress_struct& info));

   private:
    std::unique_ptr<EntropyScan> scan_;
};

}  // namespace pixelmill

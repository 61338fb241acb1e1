// Huffman coding of baseline JPEG files for libjpeg, which does everything else. It gives the bytes that libjpeg gives.
#pragma once

#include <memory>

struct jpeg_compress_struct;

namespace pixelmill {

struct EntropyOutput;

// Belongs to one libjpeg object and is used for picture after picture.
class JpegEntropyWriter {
   public:
    JpegEntropyWriter();
    ~JpegEntropyWriter();
    JpegEntropyWriter(const JpegEntropyWriter&) = delete;
    JpegEntropyWriter& operator=(const JpegEntropyWriter&) = delete;

    // To be called behind jpeg_start_compress. Takes over where it can: baseline files of one scan, with the tables of
    // the standard and without restarts, on processors with AVX2. The target must never make libjpeg wait.
    void take_over(jpeg_compress_struct& info);

   private:
    std::unique_ptr<EntropyOutput> output_;
};

}  // namespace pixelmill

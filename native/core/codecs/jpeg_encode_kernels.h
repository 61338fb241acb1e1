// The hot loops of the JPEG encoder, once for each SIMD level. All levels return the same results.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "../kernels/simd.h"
#include "jpeg_entropy_writer.h"
#include "jpeg_header_writer.h"

namespace pixelmill {

// Samples, less 128, or coefficients of two blocks that are side by side in their component, so that a register of 256
// bits holds a row of both.
struct JpegPair {
    alignas(32) int16_t rows[8][jpeg_pair_row];
};

// Division by the entries of a quantization table, to the nearest integer and away from zero at halves, without a
// division: for |x| < 2^15 - half, (|x| + half) * reciprocal * scale / 2^32 is exact.
struct JpegQuantizer {
    explicit JpegQuantizer(const QuantizationTable& table);

    struct Row {
        alignas(32) uint16_t values[jpeg_pair_row];  // for both blocks
    };
    std::array<Row, 8> half, reciprocal, scale;
};

struct JpegSamplePlanes {
    JpegPair* luma = nullptr;        // from left to right
    JpegPair* lower_luma = nullptr;  // the blocks below those, for quarter sampling
    JpegPair *blue = nullptr, *red = nullptr;
};

struct JpegEncodeKernels {
    static constexpr int columns_at_once = 32;

    // Make samples of `columns` pixels, a multiple of `columns_at_once`, of up to 8 rows.
    void (*gray)(JpegPair* luma, const uint8_t* const* rows, int count, int columns);
    // The same for pixels of 3 or 4 bytes; for quarter sampling of up to 16 rows, an even number.
    void (*color)(const JpegSamplePlanes& planes, const uint8_t* const* rows, int count, int columns, int pixel,
                  ChromaSampling sampling);
    // Makes quantized coefficients of samples, in place, and says which of them are not zero: bit k is the k-th of the
    // stream.
    void (*transform)(JpegPair* pairs, uint64_t (*nonzero)[2], int count, const JpegQuantizer& quantizer);
    // Appends at most JpegBits::most_blocks to `plain`, which is empty.
    void (*write_blocks)(JpegBits& bits, const JpegBlock* blocks, int count);
    // Copies bytes with a zero after each 0xFF; returns how many they are then. May read and write
    // JpegBits::spare bytes past the end.
    size_t (*stuff)(uint8_t* out, const uint8_t* in, size_t size);
};

extern const JpegEncodeKernels jpeg_encode_kernels_base;
#if PIXELMILL_AVX2
extern const JpegEncodeKernels jpeg_encode_kernels_avx2;
#endif

// Of the level that runs.
const JpegEncodeKernels& jpeg_encode_kernels();

// The color conversion of JFIF in fixed point with 16 fraction bits, as in libjpeg.
struct JpegColorWeights {
    static constexpr int point = 16;
    static constexpr int y_red = 19595, y_green = 38470, y_blue = 7471;
    static constexpr int cb_red = 11059, cb_green = 21709, cr_green = 27439, cr_blue = 5329;  // subtracted
    static constexpr int half = 32768;  // of blue for Cb, of red for Cr; and rounding
};

// The integer DCT of Loeffler, Ligtenberg and Moschytz with 13 fraction bits, as sums of products: what the
// multiplications that it shares amount to. libjpeg's results come from the same sums.
struct JpegCosines {
    static constexpr int point = 13, kept = 2;  // `kept`: fraction bits between rows and columns
    static constexpr int16_t even2[2] = {10703, 4433}, even6[2] = {4433, -10704};
    static constexpr int16_t odd1[4] = {11363, 9633, 6437, 2260}, odd3[4] = {9633, -2259, -11362, -6436},
                             odd5[4] = {6437, -11362, 2261, 9633}, odd7[4] = {2260, -6436, 9633, -11363};
};

}  // namespace pixelmill

#include "libjpeg_encoder.h"

#include <cstdio>
#include <cstdlib>

// clang-format off: it needs <cstdio>
#include <jpeglib.h>
// clang-format on

namespace pixelmill {

std::vector<std::byte> encode_jpeg_by_libjpeg(View<const uint8_t> image, int quality, ChromaSampling sampling) {
    jpeg_compress_struct info{};
    jpeg_error_mgr errors{};
    info.err = jpeg_std_error(&errors);
    jpeg_create_compress(&info);
    unsigned char* memory = nullptr;
    unsigned long size = 0;
    jpeg_mem_dest(&info, &memory, &size);
    info.image_width = static_cast<JDIMENSION>(image.width);
    info.image_height = static_cast<JDIMENSION>(image.height);
    info.input_components = static_cast<int>(image.pixel);
    info.in_color_space = image.channels == 1 ? JCS_GRAYSCALE : image.pixel == 4 ? JCS_EXT_RGBX : JCS_EXT_RGB;
    jpeg_set_defaults(&info);
    if (image.channels == 3) {
        info.comp_info[0].h_samp_factor = sampling == ChromaSampling::full ? 1 : 2;
        info.comp_info[0].v_samp_factor = sampling == ChromaSampling::quarter ? 2 : 1;
    }
    jpeg_set_quality(&info, quality, TRUE);
    info.dct_method = JDCT_ISLOW;
    jpeg_start_compress(&info, TRUE);
    while (info.next_scanline < info.image_height) {
        auto* row = const_cast<JSAMPROW>(image.at(info.next_scanline, 0));  // libjpeg only reads
        jpeg_write_scanlines(&info, &row, 1);
    }
    jpeg_finish_compress(&info);
    const auto* bytes = reinterpret_cast<const std::byte*>(memory);
    std::vector<std::byte> file(bytes, bytes + size);
    jpeg_destroy_compress(&info);
    std::free(memory);
    return file;
}

}  // namespace pixelmill

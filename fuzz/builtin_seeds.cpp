#include "builtin_seeds.h"

#include <png.h>

#include <cstdio>
#include <cstdlib>

// clang-format off: it needs <cstdio>
#include <jpeglib.h>
// clang-format on

namespace {

using Input = std::vector<uint8_t>;

constexpr int width = 37, height = 29;

Input pixels(int channels) {
    Input data;
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++)
            for (int c = 0; c < channels; c++)
                data.push_back(static_cast<uint8_t>(x * (5 + c) + y * 7 + (x * y * c) % 50));
    return data;
}

struct Kind {
    int channels, horizontal, vertical;
    bool progressive, arithmetic;
    unsigned restart;
    uint8_t orientation;
};

Input jpeg(const Kind& kind) {
    jpeg_compress_struct info;
    jpeg_error_mgr errors;
    info.err = jpeg_std_error(&errors);
    jpeg_create_compress(&info);
    unsigned char* memory = nullptr;
    unsigned long size = 0;
    jpeg_mem_dest(&info, &memory, &size);
    info.image_width = width;
    info.image_height = height;
    info.input_components = kind.channels;
    info.in_color_space = kind.channels == 1 ? JCS_GRAYSCALE : kind.channels == 3 ? JCS_RGB : JCS_CMYK;
    jpeg_set_defaults(&info);
    if (kind.channels == 4) jpeg_set_colorspace(&info, JCS_YCCK);
    info.comp_info[0].h_samp_factor = kind.horizontal;
    info.comp_info[0].v_samp_factor = kind.vertical;
    info.arith_code = kind.arithmetic;
    info.restart_interval = kind.restart;
    if (kind.progressive) jpeg_simple_progression(&info);
    jpeg_start_compress(&info, TRUE);
    const uint8_t exif[] = {'E', 'x', 'i', 'f', 0,    0, 'M', 'M', 0, 42, 0, 0, 0,
                            8,   0,   1,   1,   0x12, 0, 3,   0,   0, 0,  1, 0, kind.orientation,
                            0,   0,   0,   0,   0,    0};
    if (kind.orientation) jpeg_write_marker(&info, JPEG_APP0 + 1, exif, sizeof exif);
    Input data = pixels(kind.channels);
    for (int y = 0; y < height; y++) {
        JSAMPROW row = &data[static_cast<size_t>(y * width * kind.channels)];
        jpeg_write_scanlines(&info, &row, 1);
    }
    jpeg_finish_compress(&info);
    jpeg_destroy_compress(&info);
    Input file(memory, memory + size);
    std::free(memory);
    return file;
}

Input png(png_uint_32 format, int channels) {
    png_image image{};
    image.version = PNG_IMAGE_VERSION;
    image.width = width;
    image.height = height;
    image.format = format;
    const Input data = pixels(channels);
    const Input palette(4 * 256, 90);
    if (format & PNG_FORMAT_FLAG_COLORMAP) image.colormap_entries = 256;
    png_alloc_size_t size = 0;
    png_image_write_to_memory(&image, nullptr, &size, 0, data.data(), 0, palette.data());
    Input file(size);
    png_image_write_to_memory(&image, file.data(), &size, 0, data.data(), 0, palette.data());
    file.resize(size);
    return file;
}

}  // namespace

std::vector<Input> builtin_seeds() {
    std::vector<Input> seeds;
    for (const bool progressive : {false, true}) {
        const int factors[][2] = {{1, 1}, {2, 1}, {2, 2}, {1, 2}, {4, 1}, {4, 2}};
        for (const auto& [h, v] : factors) seeds.push_back(jpeg({3, h, v, progressive, false, 0, 0}));
        seeds.push_back(jpeg({3, 2, 2, progressive, false, 2, 0}));
        seeds.push_back(jpeg({3, 2, 2, progressive, true, 0, 0}));
        seeds.push_back(jpeg({1, 1, 1, progressive, false, 0, 0}));
        seeds.push_back(jpeg({4, 2, 2, progressive, false, 0, 0}));
        for (const uint8_t orientation : {2, 6, 7, 9})
            seeds.push_back(jpeg({3, 2, 1, progressive, false, 0, orientation}));
    }
    const std::pair<png_uint_32, int> formats[] = {{PNG_FORMAT_GRAY, 1},         {PNG_FORMAT_GA, 2},
                                                   {PNG_FORMAT_RGB, 3},          {PNG_FORMAT_RGBA, 4},
                                                   {PNG_FORMAT_LINEAR_RGB, 6},   {PNG_FORMAT_LINEAR_Y, 2},
                                                   {PNG_FORMAT_RGB_COLORMAP, 1}, {PNG_FORMAT_RGBA_COLORMAP, 1}};
    for (const auto& [format, bytes] : formats) seeds.push_back(png(format, bytes));
    return seeds;
}

// The limit of creating noise: bare libjpeg-turbo in threads, one image of noise in memory encoded over and over.
//   encode_limit WIDTH HEIGHT COUNT THREADS      prints images per second
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <thread>
#include <vector>

#include <jpeglib.h>

namespace {

void encode(const std::vector<uint8_t>& pixels, int width, int height, unsigned char** out, unsigned long* size) {
    jpeg_compress_struct info{};
    jpeg_error_mgr errors{};
    info.err = jpeg_std_error(&errors);
    jpeg_create_compress(&info);
    jpeg_mem_dest(&info, out, size);
    info.image_width = static_cast<JDIMENSION>(width);
    info.image_height = static_cast<JDIMENSION>(height);
    info.input_components = 3;
    info.in_color_space = JCS_RGB;
    jpeg_set_defaults(&info);
    jpeg_set_quality(&info, 75, TRUE);
    jpeg_start_compress(&info, TRUE);
    while (info.next_scanline < info.image_height) {
        JSAMPROW row = const_cast<JSAMPROW>(pixels.data() + static_cast<size_t>(info.next_scanline) * width * 3);
        jpeg_write_scanlines(&info, &row, 1);
    }
    jpeg_finish_compress(&info);
    jpeg_destroy_compress(&info);
}

}  // namespace

int main(int count, char** words) {
    if (count != 5) return 2;
    const int width = std::atoi(words[1]), height = std::atoi(words[2]), images = std::atoi(words[3]);
    std::vector<uint8_t> pixels(static_cast<size_t>(width) * height * 3);
    std::mt19937 random(1);
    for (uint8_t& value : pixels) value = static_cast<uint8_t>(random());
    std::atomic<int> next{0};
    const auto start = std::chrono::steady_clock::now();
    std::vector<std::thread> threads;
    for (int i = 0; i < std::atoi(words[4]); ++i) {
        threads.emplace_back([&] {
            unsigned long room = pixels.size();
            std::vector<unsigned char> memory(room);
            while (next++ < images) {
                unsigned char* out = memory.data();
                unsigned long size = room;
                encode(pixels, width, height, &out, &size);
            }
        });
    }
    for (std::thread& thread : threads) thread.join();
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    std::printf("%.3f\n", images / seconds.count());
}

// The limit of bulk jobs: bare libjpeg-turbo in threads, on files that are in memory.
//   codec_limit THREADS QUALITY DECODE_LIST [ENCODE_LIST]
// Decodes all files of the first list; then encodes the images of the second, at most 256 of them, over and over.
// Prints wall-clock and processor milliseconds per image: decoding, then encoding.
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

// clang-format off: it needs what is above it
#include <jpeglib.h>
// clang-format on

namespace {

using Bytes = std::vector<unsigned char>;

struct Image {
    Bytes pixels;
    JDIMENSION width = 0, height = 0;
};

std::vector<Bytes> load(const char* list, size_t most) {
    std::vector<Bytes> files;
    std::ifstream names(list);
    for (std::string name; files.size() < most && std::getline(names, name);) {
        std::ifstream file(name, std::ios::binary);
        files.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
    }
    return files;
}

void decode(const Bytes& file, Image& out) {
    jpeg_decompress_struct info{};
    jpeg_error_mgr errors{};
    info.err = jpeg_std_error(&errors);
    jpeg_create_decompress(&info);
    jpeg_mem_src(&info, file.data(), file.size());
    jpeg_read_header(&info, TRUE);
    info.out_color_space = JCS_RGB;
    jpeg_start_decompress(&info);
    out.width = info.output_width;
    out.height = info.output_height;
    out.pixels.resize(static_cast<size_t>(out.width) * out.height * 3);
    while (info.output_scanline < info.output_height) {
        JSAMPROW row = out.pixels.data() + static_cast<size_t>(info.output_scanline) * out.width * 3;
        jpeg_read_scanlines(&info, &row, 1);
    }
    jpeg_finish_decompress(&info);
    jpeg_destroy_decompress(&info);
}

void encode(const Image& image, int quality, Bytes& memory) {
    jpeg_compress_struct info{};
    jpeg_error_mgr errors{};
    info.err = jpeg_std_error(&errors);
    jpeg_create_compress(&info);
    memory.resize(image.pixels.size() + 4096);
    unsigned char* out = memory.data();
    unsigned long size = memory.size();
    jpeg_mem_dest(&info, &out, &size);
    info.image_width = image.width;
    info.image_height = image.height;
    info.input_components = 3;
    info.in_color_space = JCS_RGB;
    jpeg_set_defaults(&info);
    jpeg_set_quality(&info, quality, TRUE);
    jpeg_start_compress(&info, TRUE);
    while (info.next_scanline < info.image_height) {
        const unsigned char* row = image.pixels.data() + static_cast<size_t>(info.next_scanline) * image.width * 3;
        JSAMPROW rows = const_cast<JSAMPROW>(row);
        jpeg_write_scanlines(&info, &rows, 1);
    }
    jpeg_finish_compress(&info);
    jpeg_destroy_compress(&info);
    if (out != memory.data()) std::free(out);
}

double processor_seconds() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6;
}

void measure(size_t count, int threads, const std::function<std::function<void(size_t)>()>& make_worker) {
    const double before = processor_seconds();
    const auto start = std::chrono::steady_clock::now();
    std::atomic<size_t> next{0};
    std::vector<std::thread> pool;
    for (int i = 0; i < threads; ++i) {
        pool.emplace_back([&] {
            const auto work = make_worker();
            for (size_t number = next++; number < count; number = next++) work(number);
        });
    }
    for (std::thread& thread : pool) thread.join();
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    const auto images = static_cast<double>(std::max<size_t>(count, 1));
    std::printf("%.6f %.6f\n", seconds.count() / images * 1e3, (processor_seconds() - before) / images * 1e3);
}

}  // namespace

int main(int words, char** word) {
    if (words < 4) return 2;
    const int threads = std::atoi(word[1]), quality = std::atoi(word[2]);
    {
        const std::vector<Bytes> files = load(word[3], 1 << 20);
        measure(files.size(), threads,
                [&] { return [&, image = Image()](size_t number) mutable { decode(files[number], image); }; });
    }
    if (words < 5) return 0;
    std::vector<Image> images;
    for (const Bytes& file : load(word[4], 256)) decode(file, images.emplace_back());
    if (images.empty()) return 1;
    measure(std::max<size_t>(images.size(), 1024), threads, [&] {
        return [&, memory = Bytes()](size_t number) mutable {
            encode(images[number % images.size()], quality, memory);
        };
    });
}

// How fast bare libjpeg-turbo decodes: whole images or windows of them, in threads, from memory.
// limit all|random|centre full|scaled THREADS SEED SIZE SHORTER FILE...
// Answers every line {"seconds": S, ...} on its input with a line of JSON, as worker.py does.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <iostream>
#include <iterator>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <jpeglib.h>  // after the others: it needs size_t and FILE

#define TEXT_OF(x) #x
#define TEXT(x) TEXT_OF(x)

namespace {

using Bytes = std::vector<unsigned char>;
using Clock = std::chrono::steady_clock;

struct Options {
    std::string window;
    bool scaled;
    int threads;
    unsigned seed;
    double size, shorter;
    std::vector<Bytes> files;
};

struct Window {
    long y, x, height, width;
};

// Share of the area uniform, ratio of the sides uniform in the logarithm, ten attempts: as in workloads.py.
Window random_window(std::mt19937& rng, long height, long width) {
    std::uniform_real_distribution<double> share(0.08, 1.0), ratio_log(std::log(3.0 / 4), std::log(4.0 / 3));
    for (int attempt = 0; attempt < 10; ++attempt) {
        const double area = share(rng) * static_cast<double>(height * width), ratio = std::exp(ratio_log(rng));
        const long w = std::lround(std::sqrt(area * ratio)), h = std::lround(std::sqrt(area / ratio));
        if (w > width || h > height || w < 1 || h < 1) continue;
        return {std::uniform_int_distribution<long>(0, height - h)(rng),
                std::uniform_int_distribution<long>(0, width - w)(rng), h, w};
    }
    return {0, 0, height, width};
}

Window choose(const Options& options, std::mt19937& rng, long height, long width) {
    if (options.window == "random") return random_window(rng, height, width);
    if (options.window == "all") return {0, 0, height, width};
    const long side = std::lround(static_cast<double>(std::min(height, width)) * options.size / options.shorter);
    return {(height - side) / 2, (width - side) / 2, side, side};
}

class Decoder {
   public:
    Decoder() {
        info_.err = jpeg_std_error(&errors_);
        errors_.emit_message = [](j_common_ptr, int) {};
        jpeg_create_decompress(&info_);
    }
    ~Decoder() { jpeg_destroy_decompress(&info_); }
    Decoder(const Decoder&) = delete;
    Decoder& operator=(const Decoder&) = delete;

    void decode(const Bytes& file, const Options& options, std::mt19937& rng) {
        jpeg_mem_src(&info_, file.data(), file.size());
        jpeg_read_header(&info_, TRUE);
        Window window = choose(options, rng, info_.image_height, info_.image_width);
        info_.out_color_space = JCS_EXT_RGB;
        info_.dct_method = JDCT_ISLOW;
        info_.scale_num = 1;
        info_.scale_denom = options.scaled ? denominator(window, options.size) : 1;
        const long scale = info_.scale_denom;
        jpeg_start_decompress(&info_);
        const long bottom = std::min<long>((window.y + window.height + scale - 1) / scale, info_.output_height);
        const long right = std::min<long>((window.x + window.width + scale - 1) / scale, info_.output_width);
        window = {window.y / scale, window.x / scale, bottom - window.y / scale, right - window.x / scale};
        auto x = static_cast<JDIMENSION>(window.x), width = static_cast<JDIMENSION>(window.width);
        if (window.width < info_.output_width) jpeg_crop_scanline(&info_, &x, &width);
        if (window.y > 0) jpeg_skip_scanlines(&info_, static_cast<JDIMENSION>(window.y));
        const size_t stride = size_t{3} * info_.output_width;
        pixels_.resize(std::max(pixels_.size(), stride * static_cast<size_t>(window.height)));
        for (long row = 0; row < window.height;) {
            JSAMPROW rows[16];
            const long count = std::min<long>(16, window.height - row);
            for (long i = 0; i < count; ++i) rows[i] = pixels_.data() + static_cast<size_t>(row + i) * stride;
            row += jpeg_read_scanlines(&info_, rows, static_cast<JDIMENSION>(count));
        }
        jpeg_abort_decompress(&info_);
    }

   private:
    // Leaves at least twice the target, as pixelmill does.
    static unsigned denominator(const Window& window, double size) {
        const double room = static_cast<double>(std::min(window.height, window.width)) / (2 * size);
        return room >= 8 ? 8 : room >= 4 ? 4 : room >= 2 ? 2 : 1;
    }

    jpeg_decompress_struct info_{};
    jpeg_error_mgr errors_{};
    Bytes pixels_;
};

// Each file is decoded as often as any other, whatever the threads do.
long run(const Options& options, double seconds, double& elapsed) {
    static std::atomic<size_t> next{0};
    static unsigned slice = 0;
    std::atomic<long> images{0};
    const auto start = Clock::now();
    const auto passed = [&] { return std::chrono::duration<double>(Clock::now() - start).count(); };
    std::vector<std::thread> threads;
    ++slice;
    for (int number = 0; number < options.threads; ++number) {
        threads.emplace_back([&, number] {
            std::mt19937 rng(options.seed + 1000 * slice + static_cast<unsigned>(number));
            Decoder decoder;
            while (passed() < seconds) {
                decoder.decode(options.files[next++ % options.files.size()], options, rng);
                ++images;
            }
        });
    }
    for (std::thread& thread : threads) thread.join();
    elapsed = passed();
    return images;
}

long peak_memory() {
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);)
        if (line.starts_with("VmHWM:")) return std::atol(line.c_str() + 6) * 1024;
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 8) {
        std::fprintf(stderr, "limit all|random|centre full|scaled THREADS SEED SIZE SHORTER FILE...\n");
        return 2;
    }
    Options options{argv[1], std::strcmp(argv[2], "scaled") == 0, std::atoi(argv[3]),
                    static_cast<unsigned>(std::atol(argv[4])), std::atof(argv[5]), std::atof(argv[6]), {}};
    for (int i = 7; i < argc; ++i) {
        std::ifstream file(argv[i], std::ios::binary);
        options.files.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
    }
    std::printf("{\"libjpeg_turbo\": \"%s\"}\n", TEXT(LIBJPEG_TURBO_VERSION));
    std::fflush(stdout);
    for (std::string line; std::getline(std::cin, line);) {
        const size_t at = line.find("\"seconds\":");
        if (at == std::string::npos) continue;
        double elapsed = 0;
        const std::clock_t before = std::clock();
        const long images = run(options, std::atof(line.c_str() + at + 10), elapsed);
        const double cpu = static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC;
        std::printf("{\"images\": %ld, \"seconds\": %.6f, \"cpu_seconds\": %.6f, \"peak_memory\": %ld}\n", images, elapsed,
                    cpu, peak_memory());
        std::fflush(stdout);
    }
}

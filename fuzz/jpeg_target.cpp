// The JPEG decoder on files that are sound, made by libjpeg-turbo: every sampling, restarts, progressive and
// sequential, pixels and the largest coefficients that the format allows. The whole image, windows of it and its scales
// have the bytes that libjpeg-turbo decodes by its public interface, at every SIMD level. On ARM, see libjpeg_decides.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

// clang-format off: it needs <cstdio>
#include <jpeglib.h>
// clang-format on

#include "../native/core/codecs/jpeg.h"
#include "../native/core/codecs/jpeg_decoder.h"
#include "../native/core/fault.h"
#include "../native/core/kernels/simd.h"
#include "promise.h"
#include "target.h"

namespace {

using namespace pixelmill;
using File = std::vector<std::byte>;

constexpr SimdLevel levels[] = {SimdLevel::base, SimdLevel::avx2};

// splitmix64: all choices follow from the input, so an input alone reproduces a run.
struct Choices {
    uint64_t state;
    int64_t below(int64_t bound) {
        uint64_t z = state += 0x9E3779B97F4A7C15;
        z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9;
        z = (z ^ z >> 27) * 0x94D049BB133111EB;
        return static_cast<int64_t>((z ^ z >> 31) % static_cast<uint64_t>(bound));
    }
    bool one_in(int64_t n) { return below(n) == 0; }
};

struct Sampling {
    int h, v;  // of the first component; the others have 1
};
constexpr Sampling samplings[] = {{1, 1}, {2, 1}, {2, 2}, {1, 2}, {4, 1}, {4, 2}, {2, 4}, {1, 4}};

enum class Content { noise, stripes, gradient, coefficients };

class Maker {
   public:
    explicit Maker(Choices& choices) : choices_(choices) {
        info_.err = jpeg_std_error(&errors_);
        jpeg_create_compress(&info_);
        jpeg_mem_dest(&info_, &memory_, &size_);
    }
    ~Maker() {
        jpeg_destroy_compress(&info_);
        std::free(memory_);
    }

    File make() {
        configure();
        const auto content = static_cast<Content>(choices_.below(4));
        from_pixels_ = content != Content::coefficients;
        from_pixels_ ? write_pixels(content) : write_coefficients();
        const auto* bytes = reinterpret_cast<const std::byte*>(memory_);
        return {bytes, bytes + size_};
    }

    bool from_pixels() const { return from_pixels_; }

   private:
    void configure() {
        const bool gray = choices_.one_in(6), rgb = !gray && choices_.one_in(6);
        info_.image_width = static_cast<JDIMENSION>(1 + choices_.below(choices_.one_in(4) ? 90 : 40));
        info_.image_height = static_cast<JDIMENSION>(1 + choices_.below(choices_.one_in(4) ? 90 : 40));
        info_.input_components = gray ? 1 : 3;
        info_.in_color_space = gray ? JCS_GRAYSCALE : rgb ? JCS_RGB : JCS_YCbCr;
        jpeg_set_defaults(&info_);
        if (rgb) jpeg_set_colorspace(&info_, JCS_RGB);
        if (rgb && choices_.one_in(2)) info_.write_Adobe_marker = FALSE;  // the component ids say it as well
        jpeg_set_quality(&info_, static_cast<int>(1 + choices_.below(100)), TRUE);
        const Sampling sampling = samplings[choices_.below(std::size(samplings))];
        info_.comp_info[0].h_samp_factor = sampling.h;
        info_.comp_info[0].v_samp_factor = sampling.v;
        // Rare files have components of different sampling.
        if (!gray && sampling.h == 2 && sampling.v <= 2 && choices_.one_in(8)) info_.comp_info[2].h_samp_factor = 2;
        if (choices_.one_in(3)) info_.restart_interval = static_cast<unsigned>(1 + choices_.below(7));
        info_.optimize_coding = TRUE;
        if (choices_.one_in(4)) jpeg_simple_progression(&info_);
    }

    uint8_t sample(Content content, int64_t y, int64_t x) {
        if (content == Content::noise) return static_cast<uint8_t>(choices_.below(256));
        if (content == Content::stripes) return static_cast<uint8_t>((x / 5 + y / 7) % 2 * 255);
        return static_cast<uint8_t>(3 * x + 2 * y + choices_.below(4));
    }

    void write_pixels(Content content) {
        jpeg_start_compress(&info_, TRUE);
        std::vector<uint8_t> row(info_.image_width * static_cast<size_t>(info_.input_components));
        for (int64_t y = 0; y < info_.image_height; ++y) {
            for (size_t x = 0; x < row.size(); ++x) row[x] = sample(content, y, static_cast<int64_t>(x));
            JSAMPROW at = row.data();
            jpeg_write_scanlines(&info_, &at, 1);
        }
        jpeg_finish_compress(&info_);
    }

    // Values up to the largest that eight bits allow, with tables of any size: far outside of what pixels produce.
    int coefficient(int64_t kind, int k) {
        const int largest = 1023, any = static_cast<int>(choices_.below(2 * largest + 1)) - largest;
        const int extreme = choices_.one_in(2) ? largest : -largest;
        switch (kind) {
            case 0: return extreme;
            case 1: return any;
            case 2: return k < 8 ? extreme : 0;
            case 3: return choices_.one_in(8) ? any : 0;
            case 4: return k == 0 ? any : 0;
            case 5: return k == single_ ? extreme : 0;
            default: return choices_.one_in(64) ? extreme : 0;
        }
    }

    void write_coefficients() {
        for (int slot = 0; slot < 2; ++slot) {
            const bool largest = choices_.one_in(2);
            for (UINT16& entry : info_.quant_tbl_ptrs[slot]->quantval)
                entry = static_cast<UINT16>(largest ? 255 : 1 + choices_.below(255));
        }
        jvirt_barray_ptr arrays[3];
        int64_t columns[3], rows[3];
        int max_h = 1, max_v = 1;
        for (int i = 0; i < info_.num_components; ++i) {
            max_h = std::max(max_h, info_.comp_info[i].h_samp_factor);
            max_v = std::max(max_v, info_.comp_info[i].v_samp_factor);
        }
        for (int i = 0; i < info_.num_components; ++i) {
            const jpeg_component_info& component = info_.comp_info[i];
            const int64_t h = component.h_samp_factor, v = component.v_samp_factor;
            columns[i] = (info_.image_width + 8 * max_h - 1) / (8 * max_h) * h;
            rows[i] = (info_.image_height + 8 * max_v - 1) / (8 * max_v) * v;
            arrays[i] = info_.mem->request_virt_barray(reinterpret_cast<j_common_ptr>(&info_), JPOOL_IMAGE, TRUE,
                                                       static_cast<JDIMENSION>(columns[i]),
                                                       static_cast<JDIMENSION>(rows[i]), static_cast<JDIMENSION>(v));
        }
        info_.mem->realize_virt_arrays(reinterpret_cast<j_common_ptr>(&info_));
        for (int i = 0; i < info_.num_components; ++i) {
            for (int64_t y = 0; y < rows[i]; ++y) fill_row(arrays[i], y, columns[i]);
        }
        jpeg_write_coefficients(&info_, arrays);
        jpeg_finish_compress(&info_);
    }

    void fill_row(jvirt_barray_ptr array, int64_t y, int64_t columns) {
        JBLOCKARRAY blocks = info_.mem->access_virt_barray(reinterpret_cast<j_common_ptr>(&info_), array,
                                                           static_cast<JDIMENSION>(y), 1, TRUE);
        for (int64_t x = 0; x < columns; ++x) {
            const int64_t kind = choices_.below(7);
            single_ = choices_.below(DCTSIZE2);
            for (int k = 0; k < DCTSIZE2; ++k) blocks[0][x][k] = static_cast<JCOEF>(coefficient(kind, k));
        }
    }

    Choices& choices_;
    bool from_pixels_ = true;
    int64_t single_ = 0;  // where a block has its only coefficient
    jpeg_compress_struct info_{};
    jpeg_error_mgr errors_{};
    unsigned char* memory_ = nullptr;
    unsigned long size_ = 0;
};

struct Decoded {
    std::vector<uint8_t> pixels;
    std::string fault;
    int64_t warnings = 0;
};

Decoded decode_by_libjpeg(const File& file, const JpegRequest& request, int64_t pixel) {
    static JpegReader reader;
    const Window& window = request.window;
    Decoded decoded;
    decoded.pixels.resize(static_cast<size_t>(window.height * window.width * pixel));
    try {
        reader.open(file, {});
        reader.decode(request, {decoded.pixels.data(), window.height, window.width, pixel == 1 ? 1 : 3,
                                window.width * pixel, pixel, 1});
    } catch (const Fault& fault) {
        decoded.fault = fault.what();
    }
    decoded.warnings = reader.warnings();
    return decoded;
}

// Without JpegReader, which would ask libjpeg whenever our decoder gives up.
std::vector<uint8_t> decode_ours(JpegDecoder& ours, const JpegRequest& request, int64_t pixel) {
    const Window& window = request.window;
    std::vector<uint8_t> pixels(static_cast<size_t>(window.height * window.width * pixel));  // overruns show
    promise(ours.decode(request, {pixels.data(), window.height, window.width, pixel == 1 ? 1 : 3, window.width * pixel,
                                  pixel, 1}),
            "a sound file is decoded without libjpeg");
    return pixels;
}

// Coefficients that no pixels make have other results in libjpeg-turbo's code for ARM than in that for x86, whose
// results are ours: on ARM the levels are then compared with each other.
bool libjpeg_decides(bool from_pixels) {
#if defined(__aarch64__)
    return from_pixels;
#else
    (void)from_pixels;
    return true;
#endif
}

void compare(const File& file, JpegDecoder& ours, Choices& choices, bool by_libjpeg) {
    const JpegFrame& frame = ours.frame();
    JpegRequest request{static_cast<JpegColor>(choices.below(3)), 1 << choices.below(4), {}};
    const int64_t height = (frame.height + request.denominator - 1) / request.denominator;
    const int64_t width = (frame.width + request.denominator - 1) / request.denominator;
    request.window = {0, 0, height, width};
    if (!choices.one_in(3)) {
        const int64_t y = choices.below(height), x = choices.below(width);
        request.window = {y, x, 1 + choices.below(height - y), 1 + choices.below(width - x)};
    }
    const int64_t pixel = request.color == JpegColor::gray ? 1 : 3 + choices.below(2);
    request.by_library = true;
    const Decoded wanted = decode_by_libjpeg(file, request, pixel);
    promise(wanted.fault.empty() && wanted.warnings == 0, "libjpeg reads what it wrote");
    note_output(wanted.pixels.data(), wanted.pixels.size());
    request.by_library = false;
    force_simd_level(SimdLevel::base);
    const std::vector<uint8_t> pixels = by_libjpeg ? wanted.pixels : decode_ours(ours, request, pixel);
    for (const SimdLevel level : levels) {
        force_simd_level(level);
        promise(decode_ours(ours, request, pixel) == pixels,
                by_libjpeg ? "pixels of libjpeg" : "pixels of the plain level");
    }
}

const char* run(const uint8_t* data, size_t size) {
    Choices choices{hash_of(data, size)};
    Maker maker(choices);
    const File file = maker.make();
    const bool by_libjpeg = libjpeg_decides(maker.from_pixels());
    JpegDecoder ours;
    promise(ours.open(file), "a file for our own decoder");
    for (int i = 0; i < 4; ++i) compare(file, ours, choices, by_libjpeg);
    return ours.frame().progressive ? "progressive" : "sequential";
}

std::vector<std::vector<uint8_t>> seeds() { return {std::vector<uint8_t>(64)}; }

}  // namespace

FuzzTarget fuzz_target() { return {seeds, run}; }

// The JPEG encoder: any image, and any blocks of coefficients, become the bytes that libjpeg-turbo writes by its public
// interface, at every SIMD level.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

// clang-format off: it needs <cstdio>
#include <jpeglib.h>
// clang-format on

#include "../native/core/codecs/jpeg_encode_kernels.h"
#include "../native/core/codecs/jpeg_writer.h"
#include "../native/core/codecs/jpeg_zigzag.h"
#include "../native/core/codecs/libjpeg_encoder.h"
#include "promise.h"
#include "target.h"

namespace {

using namespace pixelmill;
using Input = std::vector<uint8_t>;
using File = std::vector<std::byte>;

constexpr SimdLevel levels[] = {SimdLevel::base, SimdLevel::avx2};
constexpr size_t head = 8;

// The first bytes of an input choose what is encoded; the others are repeated as often as needed.
struct Request {
    const uint8_t* data;
    size_t size;

    uint8_t operator[](size_t i) const { return data[i]; }
    uint8_t content(size_t i) const { return size > head ? data[head + i % (size - head)] : 0; }
    bool blocks() const { return data[0] % 4 == 0; }
    int pixel() const { return data[0] / 4 % 4 == 0 ? 1 : data[0] / 4 % 4 == 1 ? 4 : 3; }
    ChromaSampling sampling() const { return static_cast<ChromaSampling>(data[0] / 16 % 3); }
    int quality() const { return 1 + data[1] % 100; }
    // Mostly small; now and then several tiles wide.
    int64_t width() const { return 1 + data[2] % (data[3] % 16 == 0 ? 300 : 48); }
    int64_t height() const { return 1 + data[4] % 48; }
};

// How bytes become samples: as they are, the extremes, or small differences.
uint8_t sample_of(const Request& request, size_t i) {
    const uint8_t byte = request.content(i);
    switch (request[5] % 4) {
        case 0: return byte & 1 ? 255 : 0;
        case 1: return static_cast<uint8_t>(128 + byte % 8);
        default: return byte;
    }
}

// Memory of exactly the bytes that belong to the image: reading anything else shows.
class Memory {
   public:
    explicit Memory(const Request& request) {
        const int64_t pixel = request.pixel(), channels = pixel == 1 ? 1 : 3;
        const int64_t row = request.width() * pixel + request[6] % 8, last = (request.width() - 1) * pixel + channels;
        const auto size = static_cast<size_t>((request.height() - 1) * row + last);
        bytes_.reset(new uint8_t[size]);
        for (size_t i = 0; i < size; ++i) bytes_[i] = sample_of(request, i);
        view_ = {bytes_.get(), request.height(), request.width(), channels, row, pixel, 1};
        if (request[6] & 0x80) {  // upside down
            view_.data += (view_.height - 1) * row;
            view_.row = -row;
        }
    }

    const View<const uint8_t>& view() const { return view_; }

   private:
    std::unique_ptr<uint8_t[]> bytes_;
    View<const uint8_t> view_;
};

// Rows in memory of their own, made when they are asked for.
struct Bands {
    explicit Bands(const View<const uint8_t>& source) : image(source), band(source) {
        band.row = image.width * image.pixel;
        memory.resize(static_cast<size_t>(JpegRows::at_once * band.row));
        band.data = memory.data();
    }
    JpegRows rows() const { return {band, this, make}; }

    static void make(const void* from, int64_t y, int64_t count) {
        const auto& bands = *static_cast<const Bands*>(from);
        const auto size = static_cast<size_t>((bands.image.width - 1) * bands.image.pixel + bands.image.channels);
        std::fill(bands.memory.begin(), bands.memory.end(), uint8_t{0xA5});
        for (int64_t i = 0; i < count; ++i)
            std::memcpy(bands.memory.data() + i * bands.band.row, bands.image.at(y + i, 0), size);
    }

    View<const uint8_t> image, band;
    mutable std::vector<uint8_t> memory;
};

const char* run_image(const Request& request) {
    static JpegWriter writer;
    static File file;
    const Memory memory(request);
    const File wanted = encode_jpeg_by_libjpeg(memory.view(), request.quality(), request.sampling());
    note_output(wanted.data(), wanted.size());
    for (const SimdLevel level : levels) {
        force_simd_level(level);
        writer.encode(memory.view(), request.quality(), request.sampling(), file);
        promise(file == wanted, "an image has libjpeg's bytes");
        const Bands bands(memory.view());
        writer.encode(bands.rows(), request.quality(), request.sampling(), file);
        promise(file == wanted, "rows made on the way have libjpeg's bytes");
    }
    return "image";
}

using Block = std::array<int16_t, 64>;

// Blocks in a row, of one component or of three that take turns. Coefficients are of any value that a baseline file may
// have; bytes decide which of them are zero.
std::vector<Block> blocks_of(const Request& request, int components) {
    const size_t most = JpegBits::most_blocks / static_cast<size_t>(components);
    std::vector<Block> blocks(static_cast<size_t>(components) * (1 + request[2] % most));
    size_t at = 0;
    for (Block& block : blocks) {
        const int kept = request.content(at++);  // of 256
        for (int16_t& value : block) {
            const int chance = request.content(at) ^ request.content(at / 3), high = request.content(at + 1);
            at += 2;
            const int any = (high << 8 | chance) % 2047 - 1023;
            const int extreme = any < 0 ? -1023 : 1023, small = any < 0 ? -1 : 1;
            if (chance > kept) continue;
            value = static_cast<int16_t>(request[5] % 3 == 0 ? extreme : request[5] % 3 == 1 ? small : any);
        }
    }
    return blocks;
}

File our_blocks(const std::vector<Block>& blocks, int components) {
    static JpegBits bits;
    std::vector<JpegPair> pairs(blocks.size());
    std::vector<uint64_t> nonzero(blocks.size());
    std::vector<JpegBlock> list;
    for (size_t i = 0; i < blocks.size(); ++i) {
        for (size_t k = 0; k < 64; ++k) {
            pairs[i].rows[zigzag[k] / 8][zigzag[k] % 8] = blocks[i][zigzag[k]];
            nonzero[i] |= uint64_t{blocks[i][zigzag[k]] != 0} << k;
        }
        list.push_back({pairs[i].rows[0], &nonzero[i], static_cast<int>(i) % components});
    }
    const auto table = scaled_quantization(standard_luma_quantization, 100);
    const int width = static_cast<int>(blocks.size()) / components * 8;
    File file;
    write_jpeg_header({width, 8, components, ChromaSampling::full, table, table}, file);
    bits.start();
    jpeg_encode_kernels().write_blocks(bits, list.data(), static_cast<int>(list.size()));
    bits.finish();
    const size_t size = jpeg_encode_kernels().stuff(bits.stuffed.data(), bits.plain.data(), bits.size);
    const std::span bytes = std::as_bytes(std::span(bits.stuffed.data(), size));
    file.insert(file.end(), bytes.begin(), bytes.end());
    write_jpeg_end(file);
    return file;
}

void start_libjpeg(jpeg_compress_struct& info, int blocks, int components) {
    info.image_width = static_cast<JDIMENSION>(8 * blocks);
    info.image_height = 8;
    info.input_components = components;
    info.in_color_space = components == 1 ? JCS_GRAYSCALE : JCS_RGB;
    jpeg_set_defaults(&info);
    jpeg_set_quality(&info, 100, TRUE);
    for (int i = 0; i < components; ++i) info.comp_info[i].h_samp_factor = info.comp_info[i].v_samp_factor = 1;
}

File libjpeg_blocks(const std::vector<Block>& blocks, int components) {
    jpeg_compress_struct info{};
    jpeg_error_mgr errors{};
    info.err = jpeg_std_error(&errors);
    jpeg_create_compress(&info);
    unsigned char* memory = nullptr;
    unsigned long size = 0;
    jpeg_mem_dest(&info, &memory, &size);
    const auto across = static_cast<JDIMENSION>(blocks.size()) / static_cast<JDIMENSION>(components);
    start_libjpeg(info, static_cast<int>(across), components);
    const auto common = reinterpret_cast<j_common_ptr>(&info);
    jvirt_barray_ptr arrays[3];
    for (int i = 0; i < components; ++i)
        arrays[i] = info.mem->request_virt_barray(common, JPOOL_IMAGE, TRUE, across, 1, 1);
    jpeg_write_coefficients(&info, arrays);
    for (size_t i = 0; i < blocks.size(); ++i) {
        const size_t component = i % static_cast<size_t>(components), x = i / static_cast<size_t>(components);
        JBLOCKARRAY rows = info.mem->access_virt_barray(common, arrays[component], 0, 1, TRUE);
        std::copy(blocks[i].begin(), blocks[i].end(), rows[0][x]);
    }
    jpeg_finish_compress(&info);
    const auto* bytes = reinterpret_cast<const std::byte*>(memory);
    const File file(bytes, bytes + size);
    jpeg_destroy_compress(&info);
    std::free(memory);
    return file;
}

const char* run_blocks(const Request& request) {
    const int components = request.pixel() == 1 ? 1 : 3;
    const std::vector<Block> blocks = blocks_of(request, components);
    const File wanted = libjpeg_blocks(blocks, components);
    note_output(wanted.data(), wanted.size());
    for (const SimdLevel level : levels) {
        force_simd_level(level);
        promise(our_blocks(blocks, components) == wanted, "coefficients have libjpeg's codes");
    }
    return "blocks";
}

const char* run(const uint8_t* data, size_t size) {
    if (size < head) return "short";
    const Request request{data, size};
    return request.blocks() ? run_blocks(request) : run_image(request);
}

std::vector<Input> seeds() {
    std::vector<Input> made;
    uint32_t state = 1;
    for (int kind = 0; kind < 64; ++kind) {
        Input input(head + 200);
        for (uint8_t& byte : input) byte = static_cast<uint8_t>((state = state * 1664525 + 1013904223) >> 24);
        input[0] = static_cast<uint8_t>(kind);
        made.push_back(input);
    }
    return made;
}

}  // namespace

FuzzTarget fuzz_target() { return {seeds, run}; }

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    run(data, size);
    return 0;
}

// Packed images: whatever the bytes are, decoding and restoring end with pixels or a fault, at every SIMD level alike.
// Checksums are made to fit for most inputs, so that what comes after them is reached. A sound packed image has the
// pixels of the JPEG file that it restores, and that file packs to the same bytes.
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "../native/core/arena.h"
#include "../native/core/codecs/jpeg.h"
#include "../native/core/codecs/libjpeg_encoder.h"
#include "../native/core/codecs/pack_writer.h"
#include "../native/core/fault.h"
#include "../native/core/kernels/simd.h"
#include "../native/core/records/crc32c.h"
#include "promise.h"
#include "target.h"

namespace {

using namespace pixelmill;
using Input = std::vector<uint8_t>;
using File = std::vector<std::byte>;

constexpr uint64_t compared = 4;  // one input of so many is decoded at both levels
constexpr Limits limits{.pixels = int64_t{1} << 20, .side = 4096};

const PackCodebook& codebook() {
    static const auto book = register_codebook(default_codebook());
    return *book;
}

// Widths of all kinds, also where a trained codebook has none.
const PackCodebook& wild_codebook() {
    static const auto book = [] {
        PackWidthsList list;
        uint64_t state = 1;
        for (PackWidths& widths : list) {
            for (uint8_t& width : widths) {
                state = state * 6364136223846793005u + 1442695040888963407u;
                width = static_cast<uint8_t>(state >> 33) % (most_pack_width + 1);
            }
            widths[0] = 0;
        }
        list.back().fill(most_pack_width);
        list.back()[0] = 0;
        return register_codebook(serialize_codebook(list, list));
    }();
    return *book;
}

File jpeg_file(int64_t height, int64_t width, int64_t channels, int quality, ChromaSampling sampling, uint64_t seed) {
    std::vector<uint8_t> pixels(static_cast<size_t>(height * width * channels));
    for (size_t i = 0; i < pixels.size(); ++i) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        pixels[i] = static_cast<uint8_t>(i / 3 + (seed >> 60));
    }
    return encode_jpeg_by_libjpeg({pixels.data(), height, width, channels, width * channels, channels, 1}, quality,
                                  sampling);
}

std::vector<Input> seeds() {
    std::vector<Input> made;
    PackWriter writer;
    const auto add = [&](const File& file, const PackCodebook& book) {
        const PackWriter::Result result = writer.pack(file, book);
        promise(result.reason.empty(), "files of libjpeg-turbo can be packed");
        const auto* bytes = reinterpret_cast<const uint8_t*>(result.packed.data());
        made.emplace_back(bytes, bytes + result.packed.size());
    };
    for (const PackCodebook* book : {&codebook(), &wild_codebook()}) {
        add(jpeg_file(40, 50, 3, 75, ChromaSampling::quarter, 1), *book);
        add(jpeg_file(17, 17, 3, 95, ChromaSampling::quarter, 2), *book);
        add(jpeg_file(9, 17, 3, 95, ChromaSampling::half, 3), *book);
        add(jpeg_file(33, 9, 3, 100, ChromaSampling::full, 4), *book);
        add(jpeg_file(7, 5, 3, 90, ChromaSampling::full, 5), *book);
        add(jpeg_file(1, 100, 1, 40, ChromaSampling::full, 6), *book);
    }
    return made;
}

void set32(std::byte* at, uint32_t value) {
    for (int i = 0; i < 4; ++i) at[i] = static_cast<std::byte>(value >> 8 * i);
}

// Makes the checksums fit: those of the bands as far as the index leads into the file, then that of the header.
void repair(std::byte* data, size_t size) {
    const Bytes file{data, size};
    if (size < pack_fixed_bytes) return;
    const uint64_t header = le32(file, 40), wide = byte_at(file, 29) & pack_wide_lengths ? 4 : 2;
    if (header < pack_fixed_bytes || header > size) return;
    const uint64_t tables = uint64_t{byte_at(file, 27)} * (byte_at(file, 29) & pack_wide_quantization ? 128 : 64);
    uint64_t next[pack_sections] = {header, header + le32(file, 44), 0};
    next[2] = next[1] + le32(file, 48);
    for (uint64_t at = pack_fixed_bytes + tables; at + pack_sections * (wide + 4) <= header;) {
        for (uint64_t& offset : next) {
            const uint64_t length = wide == 4 ? le32(file, at) : le16(file, at);
            if (holds(file, offset, length)) set32(data + at + wide, crc32c(file.subspan(offset, length)));
            offset += length;
            at += wide + 4;
        }
    }
    const uint64_t tail = next[2];
    if (tail <= size) set32(data + 72, crc32c(file.subspan(tail)));
    set32(data + pack_checksum_at, pack_header_checksum(file, header));
}

struct Outcome {
    std::string fault;  // its kind; empty where there is none
    std::vector<uint8_t> pixels;
    bool operator==(const Outcome&) const = default;
};

// With `at_once`, the bands are read in pieces of so many bytes.
Outcome decoded(Bytes file, int denominator, uint64_t choice, uint64_t at_once = 0) {
    Outcome made;
    try {
        // As threads keep one of each: what an image leaves in them must not show in the next.
        static Arena arena;
        static PackDecoder decoder(arena);
        arena.reset();
        decoder.open(file, limits);
        const auto scaled = [&](int64_t extent) { return (extent + denominator - 1) / denominator; };
        const int64_t rows = scaled(decoder.layout().frame.height), columns = scaled(decoder.layout().frame.width);
        const auto y = static_cast<int64_t>(choice % static_cast<uint64_t>(rows));
        const auto x = static_cast<int64_t>(choice / 7 % static_cast<uint64_t>(columns));
        const Window window = choice % 2 == 0 ? Window{0, 0, rows, columns} : Window{y, x, rows - y, columns - x};
        made.pixels.resize(static_cast<size_t>(3 * window.height * window.width));
        const JpegRequest request{JpegColor::rgb, denominator, window};
        const View<uint8_t> out{made.pixels.data(), window.height, window.width, 3, 3 * window.width, 3, 1};
        const auto read = [&](std::byte* to, const ByteRange& range) {
            const Bytes bytes = file.subspan(range.offset, range.length);
            std::memcpy(to, bytes.data(), bytes.size());
        };
        decoder.bytes_at_once = at_once;
        at_once == 0 ? decoder.decode(request, out) : decoder.decode(request, out, read);
    } catch (const Fault& fault) {
        return {name_of(fault.kind), {}};
    }
    return made;
}

// What is restored has its checksum, so it is a JPEG file with the same pixels, unless the input was made up.
const char* check_restored(Bytes file) {
    try {
        static PackRestorer restorer;
        static File restored;
        restorer.restore(restored, file);
        PackLayout layout;
        layout.read(file, file.size());
        promise(crc32c(restored) == layout.original_checksum, "the original has its checksum");
        return "restored";
    } catch (const Fault&) {
        return "decoded";
    }
}

const char* run(const uint8_t* data, size_t size) {
    codebook();
    wild_codebook();
    // Of the exact size, so that the sanitizer sees a byte too far.
    const auto copy = std::make_unique<std::byte[]>(size);
    if (size > 0) std::memcpy(copy.get(), data, size);
    const uint64_t choice = hash_of(data, size);
    if (choice % 8 != 0) repair(copy.get(), size);
    const Bytes file{copy.get(), size};
    const int denominator = 1 << choice / 8 % 4;
    const Outcome made = decoded(file, denominator, choice / 32);
    note_output(made.pixels.data(), made.pixels.size());
    if (choice / 64 % compared == 0)
        promise(decoded(file, denominator, choice / 32, 1 + choice % 4096) == made,
                "the same when it is read in parts");
    if (choice / 32 % compared == 0) {
        force_simd_level(SimdLevel::base);
        promise(decoded(file, denominator, choice / 32) == made, "levels agree");
        force_simd_level(SimdLevel::avx2);
    }
    static std::string kind;
    kind = made.fault;
    // What the layout or the codebook rules out is refused by the same lines when it is restored.
    if (kind == "truncated" && choice / 128 % compared != 0) return kind.c_str();
    const char* restored = check_restored(file);
    return kind.empty() ? restored : kind.c_str();
}

}  // namespace

FuzzTarget fuzz_target() { return {seeds, run}; }

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    run(data, size);
    return 0;
}

#include "png_writer.h"

#include <zlib.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string>

#include "../fault.h"

namespace pixelmill {

namespace {

constexpr uint8_t signature[] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1A, '\n'};
constexpr size_t chunk_frame = 12;  // length, name, checksum

void put32(std::byte* to, uint32_t value) {
    for (int i = 0; i < 4; ++i) to[i] = static_cast<std::byte>(value >> (24 - 8 * i));
}

const Bytef* of(const std::byte* at) { return reinterpret_cast<const Bytef*>(at); }

// A chunk's content is at `content` already; its length and name are written before it, its checksum after it.
void seal(std::vector<std::byte>& out, size_t content, size_t count, const char* name) {
    put32(out.data() + content - 8, static_cast<uint32_t>(count));
    std::memcpy(out.data() + content - 4, name, 4);
    const uLong checksum = crc32_z(0, of(out.data() + content - 4), count + 4);
    put32(out.data() + content + count, static_cast<uint32_t>(checksum));
}

size_t put_header(std::vector<std::byte>& out, const View<const uint8_t>& image, PngFormat format) {
    constexpr uint8_t color_types[] = {0, 4, 2, 6};
    std::memcpy(out.data(), signature, sizeof signature);
    const size_t content = sizeof signature + 8;
    put32(out.data() + content, static_cast<uint32_t>(image.width));
    put32(out.data() + content + 4, static_cast<uint32_t>(image.height));
    const uint8_t rest[] = {static_cast<uint8_t>(format.bits), color_types[image.channels - 1], 0, 0, 0};
    std::memcpy(out.data() + content + 8, rest, sizeof rest);
    seal(out, content, 13, "IHDR");
    return content + 13 + 4;
}

void put_end(std::vector<std::byte>& out, size_t at) {
    out.resize(at + chunk_frame);
    seal(out, at + 8, 0, "IEND");
}

// Deflate's stored blocks hold up to 65535 bytes. Each row is a zero, for no filter, and its pixels.
size_t put_stored(std::byte* to, const View<const uint8_t>& image, size_t row) {
    constexpr size_t block = 65535;
    const size_t total = row * static_cast<size_t>(image.height);
    std::byte* const start = to;
    *to++ = std::byte{0x78};
    *to++ = std::byte{0x01};
    uLong checksum = adler32(0, nullptr, 0);
    size_t y = 0, x = 0;
    for (size_t done = 0; done < total;) {
        const size_t count = std::min(block, total - done);
        const auto low = static_cast<uint16_t>(count), high = static_cast<uint16_t>(~low);
        const uint8_t head[] = {static_cast<uint8_t>(done + count == total), static_cast<uint8_t>(low),
                                static_cast<uint8_t>(low >> 8), static_cast<uint8_t>(high),
                                static_cast<uint8_t>(high >> 8)};
        std::memcpy(to, head, sizeof head);
        to += sizeof head;
        std::byte* const content = to;
        while (to < content + count) {
            if (x == 0) *to++ = std::byte{0}, x = 1;
            const size_t part = std::min(row - x, static_cast<size_t>(content + count - to));
            std::memcpy(to, image.at(static_cast<int64_t>(y), 0) + x - 1, part);
            to += part, x += part;
            if (x == row) x = 0, ++y;
        }
        checksum = adler32_z(checksum, of(content), count);
        done += count;
    }
    put32(to, static_cast<uint32_t>(checksum));
    return static_cast<size_t>(to + 4 - start);
}

uint8_t paeth(int left, int above, int corner) {
    const int a = std::abs(above - corner), b = std::abs(left - corner), c = std::abs(left + above - 2 * corner);
    return static_cast<uint8_t>(a <= b && a <= c ? left : b <= c ? above : corner);
}

// Applies filter `kind` to a row; returns the sum of absolute residuals, which estimates how well it compresses.
int64_t filter_row(uint8_t* to, const uint8_t* row, const uint8_t* above, int64_t bytes, int64_t pixel, int kind) {
    for (int64_t i = 0; i < std::min(pixel, bytes); ++i) {
        const uint8_t known = kind == 2 || kind == 4 ? above[i] : 0;
        to[i] = static_cast<uint8_t>(row[i] - known);
    }
    switch (kind) {
        case 0: std::memcpy(to, row, static_cast<size_t>(bytes)); break;
        case 1:
            for (int64_t i = pixel; i < bytes; ++i) to[i] = static_cast<uint8_t>(row[i] - row[i - pixel]);
            break;
        case 2:
            for (int64_t i = pixel; i < bytes; ++i) to[i] = static_cast<uint8_t>(row[i] - above[i]);
            break;
        default:
            for (int64_t i = pixel; i < bytes; ++i) {
                to[i] = static_cast<uint8_t>(row[i] - paeth(row[i - pixel], above[i], above[i - pixel]));
            }
    }
    int64_t sum = 0;
    for (int64_t i = 0; i < bytes; ++i) sum += std::abs(static_cast<int8_t>(to[i]));
    return sum;
}

std::vector<uint8_t> filtered(const View<const uint8_t>& image, int64_t pixel) {
    const int64_t bytes = image.width * pixel;
    std::vector<uint8_t> all(static_cast<size_t>((bytes + 1) * image.height));
    std::vector<uint8_t> spare(static_cast<size_t>(bytes)), nothing(static_cast<size_t>(bytes), 0);
    for (int64_t y = 0; y < image.height; ++y) {
        uint8_t* best = all.data() + y * (bytes + 1);
        const uint8_t *row = image.at(y, 0), *above = y == 0 ? nothing.data() : image.at(y - 1, 0);
        int64_t least = -1;
        for (int kind : {4, 1, 2, 0}) {
            const int64_t sum = filter_row(spare.data(), row, above, bytes, pixel, kind);
            if (least >= 0 && sum >= least) continue;
            least = sum;
            *best = static_cast<uint8_t>(kind);
            std::memcpy(best + 1, spare.data(), spare.size());
        }
    }
    return all;
}

size_t put_deflated(std::vector<std::byte>& out, size_t at, const std::vector<uint8_t>& rows, int level) {
    constexpr int window_bits = 15, memory = 9;
    z_stream stream{};
    if (deflateInit2(&stream, level, Z_DEFLATED, window_bits, memory, Z_DEFAULT_STRATEGY) != Z_OK) {
        throw Fault(FaultKind::too_large, "PNG: no memory for zlib");
    }
    out.resize(at + deflateBound(&stream, rows.size()) + 2 * chunk_frame);
    stream.next_in = const_cast<Bytef*>(rows.data());  // zlib only reads
    stream.avail_in = static_cast<uInt>(rows.size());
    stream.next_out = reinterpret_cast<Bytef*>(out.data() + at);
    stream.avail_out = static_cast<uInt>(out.size() - at);
    const int result = deflate(&stream, Z_FINISH);
    const size_t count = stream.total_out;
    deflateEnd(&stream);
    if (result != Z_STREAM_END) throw Fault(FaultKind::unsupported, "PNG: zlib failed, code " + std::to_string(result));
    return count;
}

}  // namespace

void encode_png(View<const uint8_t> image, PngFormat format, std::vector<std::byte>& out) {
    const int64_t pixel = image.channels * format.bits / 8;
    const auto row = static_cast<size_t>(image.width * pixel) + 1;
    const size_t raw = row * static_cast<size_t>(image.height);
    if (raw > 0x7FFF0000u) throw Fault(FaultKind::too_large, "PNG: the image has more than 2 GB");
    const size_t blocks = 5 * (raw / 65535 + 1) + 6;
    out.resize(sizeof signature + 3 * chunk_frame + 13 + raw + blocks);
    const size_t content = put_header(out, image, format) + 8;
    const size_t count = format.level == 0 ? put_stored(out.data() + content, image, row)
                                           : put_deflated(out, content, filtered(image, pixel), format.level);
    out.resize(std::max(out.size(), content + count + 2 * chunk_frame));
    seal(out, content, count, "IDAT");
    put_end(out, content + count + 4);
}

size_t add_png_chunk(std::vector<std::byte>& file, size_t count) {
    const size_t at = file.size() - chunk_frame;
    file.resize(file.size() + count + chunk_frame);
    put_end(file, at + count + chunk_frame);
    return at + 8;
}

void seal_png_chunk(std::vector<std::byte>& file, size_t content, size_t count) {
    // The case of the letters means: may be skipped, private, of this version, may be copied.
    seal(file, content, count, "paDd");
}

}  // namespace pixelmill

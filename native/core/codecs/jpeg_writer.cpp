#include "jpeg_writer.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <stdexcept>
#include <string>

#include "../fault.h"
#include "jpeg_encode_kernels.h"
#include "jpeg_entropy_writer.h"

namespace pixelmill {

namespace {

constexpr int64_t longest_side = 65500;  // of libjpeg, which refuses to read larger ones
constexpr int tile_columns = 128;        // what is encoded at once stays in the first cache
constexpr int most_rows = JpegRows::at_once, most_components = JpegBits::most_components;
constexpr int tile_pairs = tile_columns / jpeg_pair_row;

static_assert(tile_columns % JpegEncodeKernels::columns_at_once == 0);
static_assert(tile_columns / 8 * most_components <= static_cast<int>(JpegBits::most_blocks));

// A component's part of a tile: samples, then coefficients.
struct Plane {
    JpegPair pairs[2 * tile_pairs];  // the blocks of luma that are below others come second
    uint64_t nonzero[2 * tile_pairs][2];

    JpegBlock block(int row, int column, int component) const {
        const int pair = row * tile_pairs + column / 2, which = column % 2;
        return {pairs[pair].rows[0] + 8 * which, nonzero[pair] + which, component};
    }
};

int blocks_for(int pixels) { return (pixels + 7) / 8; }

// Repeats the last row of samples up to the end of its blocks.
void repeat_last_row(JpegPair* pairs, int count, int rows) {
    for (int y = rows; y < 8; ++y) {
        for (int i = 0; i < count; ++i) std::memcpy(pairs[i].rows[y], pairs[i].rows[rows - 1], sizeof pairs[i].rows[y]);
    }
}

}  // namespace

// An image is encoded in tiles: as many MCUs of a row of them as fit into `tile_columns`.
struct JpegWriterState {
    const JpegEncodeKernels* kernels = nullptr;
    View<const uint8_t> image;
    ChromaSampling sampling = ChromaSampling::full;
    int quality = 0;  // of the quantizers
    JpegFileHeader header;
    JpegQuantizer luma{standard_luma_quantization}, chroma{standard_chroma_quantization};
    std::vector<std::byte>* out = nullptr;

    Plane planes[most_components];
    JpegBlock blocks[JpegBits::most_blocks];  // of a tile without edges
    JpegBits bits;
    uint8_t edge[most_rows][JpegEncodeKernels::columns_at_once * 4];  // pixels with the last one repeated

    bool gray() const { return image.channels == 1; }
    int across() const { return gray() || sampling == ChromaSampling::full ? 1 : 2; }  // blocks of luma in an MCU
    int down() const { return !gray() && sampling == ChromaSampling::quarter ? 2 : 1; }

    void start(int wanted_quality);
    void encode_row(const uint8_t* const* rows, int count);
    void encode_tile(const uint8_t* const* rows, int count, int columns);
    void convert(const uint8_t* const* rows, int count, int columns);
    void convert_part(const uint8_t* const* rows, int count, int first, int columns);
    void transform(int count, int columns);
    int list_blocks(JpegBlock* list, int count, int columns) const;
    void write_blocks(int count, int columns);
    void flush();
};

void JpegWriterState::start(int wanted_quality) {
    if (quality != wanted_quality) {
        quality = wanted_quality;
        header.luma = scaled_quantization(standard_luma_quantization, quality);
        header.chroma = scaled_quantization(standard_chroma_quantization, quality);
        luma = JpegQuantizer(header.luma);
        chroma = JpegQuantizer(header.chroma);
    }
    header.width = static_cast<int>(image.width);
    header.height = static_cast<int>(image.height);
    header.components = static_cast<int>(image.channels);
    header.sampling = sampling;
    kernels = &jpeg_encode_kernels();
    bits.start();
    list_blocks(blocks, 8 * down(), tile_columns);
    out->clear();
    write_jpeg_header(header, *out);
}

// Columns are a multiple of what the kernels take.
void JpegWriterState::convert_part(const uint8_t* const* rows, int count, int first, int columns) {
    JpegPair* const luma_at = planes[0].pairs + first / jpeg_pair_row;
    if (gray()) return kernels->gray(luma_at, rows, count, columns);
    const int chroma_at = first / across() / jpeg_pair_row;
    const JpegSamplePlanes to{luma_at, luma_at + tile_pairs, planes[1].pairs + chroma_at, planes[2].pairs + chroma_at};
    kernels->color(to, rows, count, columns, static_cast<int>(image.pixel), sampling);
}

// Past the right edge the last pixel is repeated.
void JpegWriterState::convert(const uint8_t* const* rows, int count, int columns) {
    constexpr int at_once = JpegEncodeKernels::columns_at_once;
    const int inside = columns / at_once * at_once, rest = columns - inside;
    if (inside > 0) convert_part(rows, count, 0, inside);
    if (rest == 0) return;
    const int64_t pixel = image.pixel, known = (rest - 1) * pixel + image.channels;  // not all of a fourth byte exist
    const uint8_t* edges[most_rows];
    for (int y = 0; y < count; ++y) {
        std::memcpy(edge[y], rows[y] + inside * pixel, static_cast<size_t>(known));
        for (int64_t i = rest * pixel; i < at_once * pixel; ++i) edge[y][i] = edge[y][i - pixel];
        edges[y] = edge[y];
    }
    convert_part(edges, count, inside, at_once);
}

void JpegWriterState::transform(int count, int columns) {
    const int luma_pairs = (blocks_for(columns) + 1) / 2;
    for (int row = 0; row < down() && count > 8 * row; ++row) {
        JpegPair* const pairs = planes[0].pairs + row * tile_pairs;
        repeat_last_row(pairs, luma_pairs, std::min(8, count - 8 * row));
        kernels->transform(pairs, planes[0].nonzero + row * tile_pairs, luma_pairs, luma);
    }
    if (gray()) return;
    const int chroma_pairs = (blocks_for((columns + across() - 1) / across()) + 1) / 2;
    for (Plane* plane = planes + 1; plane < planes + most_components; ++plane) {
        repeat_last_row(plane->pairs, chroma_pairs, (count + down() - 1) / down());
        kernels->transform(plane->pairs, plane->nonzero, chroma_pairs, chroma);
    }
}

// In the order of the stream. An MCU is complete: blocks outside of the image have the first coefficient of the block
// before them, and nothing else.
int JpegWriterState::list_blocks(JpegBlock* list, int count, int columns) const {
    static constexpr uint64_t nothing = 0;
    const JpegBlock* const start = list;
    const int width = blocks_for(columns), height = blocks_for(count);
    for (int left = 0; left < width; left += across()) {
        for (int y = 0; y < down(); ++y) {
            for (int x = left; x < left + across(); ++x, ++list) {
                const bool inside = x < width && y < height;
                *list = inside ? planes[0].block(y, x, 0) : JpegBlock{list[-1].values, &nothing, 0};
            }
        }
        if (gray()) continue;
        for (int component = 1; component < most_components; ++component)
            *list++ = planes[component].block(0, left / across(), component);
    }
    return static_cast<int>(list - start);
}

void JpegWriterState::write_blocks(int count, int columns) {
    const int width = blocks_for(columns), in_mcu = gray() ? 1 : across() * down() + most_components - 1;
    if (width % across() == 0 && blocks_for(count) == down())
        return kernels->write_blocks(bits, blocks, width / across() * in_mcu);
    JpegBlock list[JpegBits::most_blocks];
    kernels->write_blocks(bits, list, list_blocks(list, count, columns));
}

void JpegWriterState::flush() {
    const size_t size = kernels->stuff(bits.stuffed.data(), bits.plain.data(), bits.size);
    const auto* bytes = reinterpret_cast<const std::byte*>(bits.stuffed.data());
    out->insert(out->end(), bytes, bytes + size);
    bits.size = 0;
}

void JpegWriterState::encode_tile(const uint8_t* const* rows, int count, int columns) {
    const int full_rows = (count + down() - 1) / down() * down();
    convert(rows, full_rows, columns);
    transform(count, columns);
    write_blocks(count, columns);
    flush();
}

// Encodes a row of MCUs, of which the image has `count` rows of pixels.
void JpegWriterState::encode_row(const uint8_t* const* rows, int count) {
    const uint8_t* at[most_rows];
    for (int64_t x = 0; x < image.width; x += tile_columns) {
        // Where samples are averaged over two rows, the last row may be needed twice.
        for (int y = 0; y < 8 * down(); ++y) at[y] = rows[std::min(y, count - 1)] + x * image.pixel;
        encode_tile(at, count, static_cast<int>(std::min<int64_t>(tile_columns, image.width - x)));
    }
}

JpegWriter::JpegWriter() : state_(std::make_unique<JpegWriterState>()) {}
JpegWriter::~JpegWriter() = default;

void JpegWriter::encode(View<const uint8_t> image, int quality, ChromaSampling sampling, std::vector<std::byte>& out) {
    encode(JpegRows{image}, quality, sampling, out);
}

void JpegWriter::encode(const JpegRows& made, int quality, ChromaSampling sampling, std::vector<std::byte>& out) try {
    const View<const uint8_t>& image = made.rows;
    const bool gray = image.channels == 1 && image.pixel == 1;
    const bool colors = image.channels == 3 && image.channel == 1 && (image.pixel == 3 || image.pixel == 4);
    if (!gray && !colors) throw std::logic_error("JpegWriter: pixels must be packed, of one or three channels");
    if (image.width < 1 || image.height < 1 || image.width > longest_side || image.height > longest_side) {
        throw Fault(FaultKind::unsupported,
                    "JPEG: an image of " + std::to_string(image.height) + "x" + std::to_string(image.width) +
                        " pixels cannot be written, sides are from 1 to " + std::to_string(longest_side));
    }
    JpegWriterState& state = *state_;
    state.image = image;
    state.sampling = sampling;
    state.out = &out;
    state.start(std::clamp(quality, 1, 100));
    const int step = 8 * state.down();
    for (int64_t y = 0; y < image.height; y += most_rows) {
        const int count = static_cast<int>(std::min<int64_t>(most_rows, image.height - y));
        const int64_t first = made.make == nullptr ? y : 0;
        if (made.make != nullptr) made.make(made.source, y, count);
        const uint8_t* rows[most_rows];
        for (int i = 0; i < count; ++i) rows[i] = image.at(first + i, 0);
        for (int i = 0; i < count; i += step) state.encode_row(rows + i, std::min(step, count - i));
    }
    state.bits.finish();
    state.flush();
    write_jpeg_end(out);
} catch (const std::bad_alloc&) {
    throw Fault(FaultKind::too_large, "JPEG: there is no memory for the file");
}

}  // namespace pixelmill

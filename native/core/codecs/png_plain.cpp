#include "png_plain.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <vector>

#include "../kernels/pointwise.h"
#include "inflate.h"
#include "png_rows.h"

namespace pixelmill {

namespace {

// libpng refuses other chunks from 8 MB on, and chunks of pixels that are longer than the pixels themselves.
constexpr uint64_t longest_skipped = 1 << 20;
constexpr uint64_t chunk_frame = 12;  // length, name, checksum

struct Chunk {
    Bytes content;
    uint32_t name = 0;

    bool is(const char (&text)[5]) const {
        const auto letter = [&](int i) { return static_cast<uint32_t>(text[i]); };
        return name == (letter(0) << 24 | letter(1) << 16 | letter(2) << 8 | letter(3));
    }
    // Four letters, of which the first is small and the third is not: it may be skipped, and is of this version of PNG.
    bool skippable() const {
        for (int shift = 0; shift < 32; shift += 8) {
            const uint32_t letter = name >> shift & 0xDF;
            if (letter < 'A' || letter > 'Z') return false;
        }
        return (name >> 24 & 0x20) != 0 && (name >> 8 & 0x20) == 0 && !is("tRNS") && content.size() <= longest_skipped;
    }
};

// The chunk at `at`, which moves on; false where there is no whole one with a right checksum.
bool read_chunk(Bytes file, uint64_t& at, Chunk& chunk) {
    if (!holds(file, at, chunk_frame)) return false;
    const uint64_t length = be32(file, at);
    if (!holds(file, at + 8, length + 4)) return false;
    const auto* named = reinterpret_cast<const Bytef*>(file.data() + at + 4);
    if (crc32_z(0, named, length + 4) != be32(file, at + 8 + length)) return false;
    chunk = {file.subspan(at + 8, length), be32(file, at + 4)};
    at += chunk_frame + length;
    return true;
}

struct PlainPng {
    Bytes palette;
    std::vector<Bytes> pixels;  // of IDAT chunks
};

// Everything that libpng looks at, in the plainest order. False for any other.
bool read_chunks(Bytes file, PlainPng& png) {
    uint64_t at = 8;
    Chunk chunk;
    if (!read_chunk(file, at, chunk) || !chunk.is("IHDR")) return false;
    const bool indexed = byte_at(file, 25) == 3;
    while (read_chunk(file, at, chunk)) {
        if (chunk.is("IDAT")) {
            const bool follows =
                png.pixels.empty() ||
                png.pixels.back().data() + png.pixels.back().size() + chunk_frame == chunk.content.data();
            if (chunk.content.empty() || !follows) return false;
            png.pixels.push_back(chunk.content);
        } else if (chunk.is("IEND")) {
            return chunk.content.empty() && !png.pixels.empty() && indexed == !png.palette.empty();
        } else if (chunk.is("PLTE")) {
            const size_t bytes = chunk.content.size();
            if (!indexed || !png.palette.empty() || !png.pixels.empty() || bytes % 3 != 0 || bytes > 768) return false;
            png.palette = chunk.content;
        } else if (!chunk.skippable()) {
            return false;
        }
    }
    return false;
}

// The stream of all IDAT chunks, and readable bytes after it: those of one chunk lie before its checksum and IEND.
Bytes joined(const std::vector<Bytes>& pieces, std::unique_ptr<std::byte[]>& memory) {
    if (pieces.size() == 1) return pieces[0];
    size_t total = 0;
    for (const Bytes piece : pieces) total += piece.size();
    memory = std::make_unique_for_overwrite<std::byte[]>(total + inflate_padding);
    std::memset(memory.get() + total, 0, inflate_padding);
    std::byte* to = memory.get();
    for (const Bytes piece : pieces) to = std::copy(piece.begin(), piece.end(), to);
    return {memory.get(), total};
}

// Stored pixels to wanted ones.
class RowConverter {
   public:
    RowConverter(int stored, int wanted, bool bgr, Bytes palette) : stored_(stored), wanted_(wanted), bgr_(bgr) {
        entries_ = palette.size() / 3;
        for (size_t i = 0; i < entries_; ++i) {
            for (size_t c = 0; c < 3; ++c)
                std::memcpy(colors_[i].data() + (bgr ? 2 - c : c), palette.data() + 3 * i + c, 1);
        }
    }

    bool copies() const { return entries_ == 0 && stored_ == wanted_ && !bgr_; }

    // Whether all indices lie in the palette.
    bool knows(const uint8_t* in, int64_t width) const {
        if (entries_ == 0 || entries_ == 256) return true;
        uint8_t most = 0;
        for (int64_t x = 0; x < width; ++x) most = std::max(most, in[x]);
        return most < entries_;
    }

    void run(uint8_t* out, const uint8_t* in, int64_t width) const {
        if (copies()) {
            std::memcpy(out, in, static_cast<size_t>(width * stored_));
            return;
        }
        if (entries_ > 0) return look_up(out, in, width);
        if (stored_ == 4 && !bgr_) return pixel_rows().pack3(out, in, width);
        const int red = bgr_ ? 2 : 0, step = stored_ > 2 ? 1 : 0;
        for (int64_t x = 0; x < width; ++x, in += stored_, out += wanted_) {
            out[0] = in[red * step];
            if (wanted_ < 3) continue;
            out[1] = in[step];
            out[2] = in[(2 - red) * step];
        }
    }

   private:
    void look_up(uint8_t* out, const uint8_t* in, int64_t width) const {
        int64_t x = 0;
        for (; x + 1 < width; ++x) std::memcpy(out + 3 * x, colors_[in[x]].data(), 4);
        std::memcpy(out + 3 * x, colors_[in[x]].data(), 3);
    }

    int stored_, wanted_;
    bool bgr_;
    size_t entries_ = 0;
    std::array<std::array<uint8_t, 4>, 256> colors_{};
};

// Inflates some rows at a time, so that they are still in the cache when they are unfiltered.
class RowReader {
   public:
    RowReader(Bytes stream, int64_t height, int64_t width, int pixel)
        : bytes_(width * pixel),
          pixel_(pixel),
          size_(std::min(height * (bytes_ + 1), inflate_window + std::max(at_once, 2 * (bytes_ + 1)))),
          memory_(std::make_unique_for_overwrite<uint8_t[]>(static_cast<size_t>(size_ + png_overrun))),
          zeros_(static_cast<size_t>(bytes_ + png_overrun)),
          above_(zeros_.data()),
          row_(memory_.get()),
          end_(memory_.get()) {
        begun_ = inflater_.begin(stream);
    }

    // The next row; `rest` counts it and those after it in the file.
    bool next(uint8_t* out, int64_t rest) {
        if (end_ - row_ <= bytes_ && !fetch(rest)) return false;
        const int kind = row_[0];
        if (kind > 4) return false;
        unfilter_(out, row_ + 1, above_, bytes_, pixel_, kind);
        above_ = out;
        row_ += bytes_ + 1;
        return true;
    }

    // Whether the stream ended with the last row.
    bool ends() {
        if (row_ != end_) return false;
        return status_ == Inflater::Status::ended || inflater_.run(end_, end_) == Inflater::Status::ended;
    }

   private:
    static constexpr int64_t at_once = 128 << 10;

    bool fetch(int64_t rest) {
        if (!begun_ || status_ != Inflater::Status::more) return false;
        uint8_t* const begin = memory_.get();
        const uint8_t* const keep = std::min(row_, end_ - std::min<std::ptrdiff_t>(end_ - begin, inflate_window));
        const auto moved = keep - begin;
        std::memmove(begin, keep, static_cast<size_t>(end_ - keep));
        row_ -= moved;
        end_ -= moved;
        uint8_t* const limit = end_ + std::min<int64_t>(begin + size_ - end_, rest * (bytes_ + 1) - (end_ - row_));
        status_ = inflater_.run(end_, limit);
        return status_ != Inflater::Status::bad && end_ - row_ > bytes_;
    }

    int64_t bytes_;
    int pixel_;
    int64_t size_;  // of the memory: all of a small image, or some rows and what a match may refer to
    std::unique_ptr<uint8_t[]> memory_;
    std::vector<uint8_t> zeros_;
    const uint8_t* above_;
    uint8_t *row_, *end_;  // the next row, and what is inflated
    Inflater inflater_;
    Inflater::Status status_ = Inflater::Status::more;
    bool begun_ = false;
    Unfilter& unfilter_ = png_unfilter();
};

}  // namespace

bool decode_plain_png(View<uint8_t> out, Bytes file, const ImageInfo& info, const PngRequest& request) {
    constexpr std::array<int, 7> channels{1, 0, 3, 1, 2, 0, 4};  // an index is one
    // Depth and color type; then compression, filters and interlacing, of which 0 is the plain one.
    const bool plain = byte_at(file, 24) == 8 && (be32(file, 25) & 0xFFFFFF) == 0;
    PlainPng png;
    if (!plain || (request.alpha && (request.rgb || request.bgr)) || !read_chunks(file, png)) return false;
    const int stored = channels[byte_at(file, 25)];
    const auto raw = static_cast<uint64_t>(info.height * (info.width * stored + 1));
    for (const Bytes piece : png.pixels) {
        if (piece.size() > std::max(raw, longest_skipped)) return false;
    }
    if (request.indices) png.palette = {};  // its colors are not asked for
    const RowConverter converter(stored, static_cast<int>(out.channels), request.bgr, png.palette);
    std::unique_ptr<std::byte[]> memory;
    RowReader reader(joined(png.pixels, memory), info.height, info.width, stored);
    std::vector<uint8_t> spare[2];
    for (auto& row : spare) row.resize(static_cast<size_t>(info.width * stored + png_overrun));
    // A row is unfiltered where it belongs if nothing else is done to it. The next row reads a little past it, which
    // must be a part of `out`.
    const bool in_place = converter.copies() && info.width * stored >= png_overrun;
    const int64_t end = request.first_row + out.height;
    for (int64_t y = 0; y < end; ++y) {
        const bool seen = y >= request.first_row;
        uint8_t* const target = seen ? out.at(y - request.first_row, 0) : nullptr;
        uint8_t* const row = seen && in_place ? target : spare[y % 2].data();
        if (!reader.next(row, info.height - y) || !converter.knows(row, info.width)) return false;
        if (seen && row != target) converter.run(target, row, info.width);
    }
    return end < info.height || reader.ends();
}

}  // namespace pixelmill

#include "pack_decoder.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "../fault.h"
#include "jpeg_transform.h"

namespace pixelmill {
namespace {

// Coefficients are transformed while they are in the first-level cache.
constexpr int64_t blocks_at_once = 96;

// Ranges in order; one that follows the one before becomes a part of it.
void add_range(std::vector<ByteRange>& ranges, uint64_t offset, uint64_t length) {
    if (length == 0) return;
    if (!ranges.empty() && ranges.back().offset + ranges.back().length == offset)
        ranges.back().length += length;
    else
        ranges.push_back({offset, length});
}

bool inside(const JpegRequest& request, const JpegFrame& frame) {
    const Window& window = request.window;
    const int64_t d = request.denominator;
    if (d != 1 && d != 2 && d != 4 && d != 8) return false;
    const int64_t rows = (frame.height + d - 1) / d, columns = (frame.width + d - 1) / d;
    return window.x >= 0 && window.y >= 0 && window.width > 0 && window.height > 0 && window.width <= columns &&
           window.height <= rows && window.x <= columns - window.width && window.y <= rows - window.height;
}

void check_window(const JpegRequest& request, const JpegFrame& frame, const View<uint8_t>& out) {
    const Window& window = request.window;
    const bool fits = request.color == JpegColor::gray ? out.pixel == 1 : out.pixel == 3 || out.pixel == 4;
    if (!inside(request, frame) || !fits || out.height != window.height || out.width != window.width)
        throw std::logic_error("PackDecoder: the window or the output does not fit the image");
}

}  // namespace

void PackDecoder::open(Bytes file, const Limits& limits) {
    file_ = file;
    layout_.read(file, file.size());
    check_extents(ImageFormat::pack, layout_.frame.width, layout_.frame.height, limits);
    if (codebook_ == nullptr || codebook_->identity() != layout_.codebook)
        codebook_ = required_codebook(layout_.codebook);
}

void PackDecoder::plan(const JpegRequest& request) {
    planes_.plan(layout_.frame, layout_.tables, request, arena_);
    needs_ = {};
    for (int i = 0; i < layout_.frame.count; ++i)
        needs_[static_cast<size_t>(i)] = planes_.plane(i).needed && planes_.plane(i).size > 1;
}

uint64_t PackDecoder::needed_bytes(size_t band) const {
    uint64_t sum = 0;
    for (size_t section = 0; section < pack_sections; ++section)
        sum += needs(section) ? layout_.bands[band].length[section] : 0;
    return sum;
}

// For as many bands as are read at once.
std::byte* PackDecoder::take_memory(size_t first, size_t last) {
    uint64_t all = 0, most = bytes_at_once;
    for (size_t band = first; band <= last; ++band) {
        const uint64_t bytes = needed_bytes(band);
        all += bytes;
        most = std::max(most, bytes);
    }
    return arena_.take(std::min(all, most));
}

// Reads band `first` and those after it for which there is room. Returns the band that comes next.
size_t PackDecoder::read_bands(std::byte* memory, size_t first, size_t last, const ReadRange& read) {
    size_t end = first;
    uint64_t bytes = 0;
    do bytes += needed_bytes(end++);
    while (end <= last && bytes + needed_bytes(end) <= bytes_at_once);
    std::vector<ByteRange> ranges;
    std::byte* at = memory;
    for (size_t section = 0; section < pack_sections; ++section) {
        if (!needs(section)) continue;
        const PackBand &begin = layout_.bands[first], &back = layout_.bands[end - 1];
        const uint64_t offset = begin.offset[section], length = back.offset[section] + back.length[section] - offset;
        blocks_.take_from(static_cast<PackSection>(section), {at, length}, offset);
        add_range(ranges, offset, length);
        at += length;
    }
    at = memory;
    for (const ByteRange& range : ranges) {
        read(at, range);
        at += range.length;
    }
    return end;
}

void PackDecoder::decode(const JpegRequest& request, const View<uint8_t>& out, const ReadRange& read) {
    check_window(request, layout_.frame, out);
    const ArenaScope scope(arena_);
    plan(request);
    blocks_.begin(file_, layout_, *codebook_, needs_);
    const auto& components = layout_.components;
    const int64_t widest = std::max({components[0].blocks, components[1].blocks, components[2].blocks});
    dc_ = arena_.take<int16_t>(static_cast<size_t>(widest) + 8);
    batch_ = arena_.take<int16_t>(64 * (blocks_at_once + 1));
    last_ = arena_.take<uint8_t>(blocks_at_once + 1);
    const int64_t rows = layout_.band_mcu_rows;
    auto next = static_cast<size_t>(planes_.first_row() / rows);  // band that is not in memory yet
    const auto last = static_cast<size_t>(planes_.last_row() / rows);
    std::byte* const memory = read ? take_memory(next, last) : nullptr;
    for (int64_t row = planes_.first_row(); row <= planes_.last_row(); ++row) {
        const auto band = static_cast<size_t>(row / rows);
        if (read && band == next) next = read_bands(memory, band, last, read);
        if (row == planes_.first_row() || row % rows == 0) blocks_.open_band(band);
        for (int i = 0; i < layout_.frame.count; ++i) {
            for (int y = 0; planes_.plane(i).needed && y < planes_.plane(i).v; ++y) decode_row(i, row, y);
        }
        planes_.emit(out, row);
    }
}

void PackDecoder::decode_row(int component, int64_t mcu_row, int block_row) {
    const JpegPlane& plane = planes_.plane(component);
    const int64_t row = mcu_row % layout_.band_mcu_rows * plane.v + block_row;
    blocks_.read_dc(dc_, component, row);
    if (plane.size == 1) return decode_means(plane, block_row);
    const int64_t end = planes_.end_column() * plane.h, step = blocks_at_once / plane.h * plane.h;
    int64_t column = planes_.first_column() * plane.h;
    PackBlocks::Cursor cursor = blocks_.at(component, row, column);
    for (; column < end; column += step) {
        const int64_t count = std::min(step, end - column);
        blocks_.read(batch_, last_, cursor, dc_ + column, component, count);
        last_[count] = 0;  // transforms take blocks in pairs
        std::memset(batch_ + 64 * count, 0, 64 * sizeof(int16_t));
        // Unpacking writes all of a block, so nothing has to be cleared for it.
        planes_.transform(component, block_row, column / plane.h, {batch_, last_, count, nullptr, false});
    }
}

// At 1/8 a block is its mean.
void PackDecoder::decode_means(const JpegPlane& plane, int block_row) {
    const int64_t first = planes_.first_column() * plane.h, end = planes_.end_column() * plane.h;
    uint8_t* out = plane.row(block_row);
    for (int64_t column = first; column < end; ++column) *out++ = transform::block1(dc_ + column, plane.quant);
}

std::vector<ByteRange> PackDecoder::ranges(Bytes start, uint64_t size, const JpegRequest& request) {
    layout_.read(start, size);
    if (!inside(request, layout_.frame)) throw Fault(FaultKind::argument, "the window does not lie inside the image");
    const ArenaScope scope(arena_);
    plan(request);
    std::vector<ByteRange> found;
    add_range(found, 0, layout_.header_length());
    const int64_t rows = layout_.band_mcu_rows;
    const auto first = static_cast<size_t>(planes_.first_row() / rows);
    const auto last = static_cast<size_t>(planes_.last_row() / rows);
    for (size_t section = 0; section < pack_sections; ++section) {
        for (size_t band = first; needs(section) && band <= last; ++band)
            add_range(found, layout_.bands[band].offset[section], layout_.bands[band].length[section]);
    }
    return found;
}

}  // namespace pixelmill

#include "jpeg_decoder.h"

#include <algorithm>
#include <cstring>

namespace pixelmill {
namespace {

// Coefficients are transformed while they are in the first-level cache.
constexpr int64_t blocks_at_once = 96;

JpegScanDecoder::Need need_of(const JpegPlane& plane) {
    using Need = JpegScanDecoder::Need;
    if (!plane.needed) return Need::nothing;
    return plane.size == 1 ? Need::first : Need::all;
}

}  // namespace

bool JpegDecoder::open(Bytes file) {
    file_ = file;
    parser_.open(file);
    if (parser_.next_scan() != JpegParser::Found::scan) return false;
    const JpegFrame& frame = parser_.frame();
    const JpegScan& scan = parser_.scan();
    const bool whole =
        scan.count == frame.count && scan.first == 0 && scan.last == 63 && scan.high == 0 && scan.low == 0;
    if (!frame.progressive && !whole) return false;
    for (int i = 0; i < frame.count; ++i) {
        const auto quant = static_cast<size_t>(frame.components[static_cast<size_t>(i)].quant);
        if (!parser_.tables().quant_defined[quant]) return false;
    }
    return true;
}

bool JpegDecoder::decode(const JpegRequest& request, const View<uint8_t>& out) {
    arena_.reset();
    planes_.plan(parser_.frame(), parser_.tables(), request, arena_);
    return parser_.frame().progressive ? decode_progressive(out) : decode_sequential(out);
}

bool JpegDecoder::decode_sequential(const View<uint8_t>& out) {
    const JpegFrame& frame = parser_.frame();
    JpegScanDecoder::Needs needs{};
    for (int i = 0; i < frame.count; ++i) needs[static_cast<size_t>(i)] = need_of(planes_.plane(i));
    if (!scan_.begin(file_, frame, parser_.tables(), parser_.scan(), needs)) return false;
    mcus_a_row_ = (frame.width + int64_t{frame.max_h} * 8 - 1) / (int64_t{frame.max_h} * 8);
    prepare_batches();
    if (!scan_.skip_mcus(planes_.first_row() * mcus_a_row_)) return false;
    for (int64_t row = planes_.first_row(); row <= planes_.last_row(); ++row) {
        if (!decode_row()) return false;
        planes_.emit(out, row);
    }
    return true;
}

bool JpegDecoder::decode_progressive(const View<uint8_t>& out) {
    parser_.open(file_);  // reading the scans moves it on, and another decode begins with the first one again
    const bool sound = parser_.next_scan() == JpegParser::Found::scan && coefficients_.read(file_, parser_, scan_);
    const int64_t first = planes_.first_column(), count = planes_.end_column() - first;
    for (int64_t row = planes_.first_row(); sound && row <= planes_.last_row(); ++row) {
        for (int i = 0; i < parser_.frame().count; ++i) {
            const JpegPlane& plane = planes_.plane(i);
            for (int y = 0; plane.needed && y < plane.v; ++y)
                planes_.transform(i, y, first, coefficients_.row(i, row, y, first, count));
        }
        planes_.emit(out, row);
    }
    coefficients_.release();
    return sound;
}

void JpegDecoder::prepare_batches() {
    const JpegFrame& frame = parser_.frame();
    int64_t blocks = 0;
    for (int i = 0; i < frame.count; ++i) blocks += int64_t{planes_.plane(i).h} * planes_.plane(i).v;
    batch_ = std::max<int64_t>(blocks_at_once / blocks, 1);
    targets_count_ = 0;
    for (int i = 0; i < frame.count; ++i) {
        const JpegPlane& plane = planes_.plane(i);
        Batch& batch = batches_[static_cast<size_t>(i)];
        batch.row = batch_ * plane.h + 1;  // transforms take blocks in pairs
        const auto count = static_cast<size_t>(batch.row * plane.v);
        batch.blocks = arena_.take<int16_t>(64 * count);
        batch.last = arena_.take<uint8_t>(count);
        std::memset(batch.blocks, 0, 64 * count * sizeof(int16_t));
        std::memset(batch.last, 0, count);
        for (int64_t y = 0; y < plane.v; ++y) {
            for (int64_t x = 0; x < plane.h; ++x) {
                const auto number = static_cast<size_t>(targets_count_++);
                targets_[number] = {batch.blocks + 64 * (y * batch.row + x), batch.last + y * batch.row + x};
                steps_[number] = plane.h;
            }
        }
    }
}

bool JpegDecoder::decode_row() {
    if (!scan_.skip_mcus(planes_.first_column())) return false;
    const int64_t end = planes_.end_column();
    for (int64_t column = planes_.first_column(); column < end; column += batch_) {
        if (!decode_batch(column, std::min(batch_, end - column))) return false;
    }
    return scan_.skip_mcus(mcus_a_row_ - end);
}

bool JpegDecoder::decode_batch(int64_t column, int64_t count) {
    auto targets = targets_;
    for (int64_t i = 0; i < count; ++i) {
        if (!scan_.read_mcu(targets.data())) return false;
        for (size_t k = 0; k < static_cast<size_t>(targets_count_); ++k) {
            targets[k].block += 64 * steps_[k];
            targets[k].last += steps_[k];
        }
    }
    for (int i = 0; i < parser_.frame().count; ++i) {
        const JpegPlane& plane = planes_.plane(i);
        const Batch& batch = batches_[static_cast<size_t>(i)];
        for (int y = 0; plane.needed && y < plane.v; ++y) {
            planes_.transform(
                i, y, column,
                {batch.blocks + 64 * y * batch.row, batch.last + y * batch.row, count * plane.h, nullptr});
        }
    }
    return true;
}

}  // namespace pixelmill

#include "pack_source.h"

#include <algorithm>

#include "../fault.h"
#include "jpeg_markers.h"

namespace pixelmill {
namespace {

constexpr uint32_t sof2 = 0xC2, first_arithmetic = 0xC9;

// Why the strict parser may have refused a file.
std::string reason_of(Bytes file) {
    if (sniff(file) != ImageFormat::jpeg) return "not a JPEG file";
    try {
        const JpegHeader header = read_jpeg_header(file);
        if (header.frame == sof2) return "progressive";
        if (header.frame >= first_arithmetic) return "arithmetic coding";
        if (header.lossless()) return "lossless";
        if (header.bits != 8) return std::to_string(header.bits) + " bits a sample";
        if (header.components != 1 && header.components != 3) return std::to_string(header.components) + " components";
    } catch (const Fault& fault) {
        return "damaged: " + std::string(fault.what());
    }
    return "an unusual header";
}

}  // namespace

std::string PackSource::open(Bytes file) {
    file_ = file;
    parser_.open(file);
    if (parser_.next_scan() != JpegParser::Found::scan) return reason_of(file);
    const JpegFrame& frame = parser_.frame();
    const JpegScan& scan = parser_.scan();
    if (frame.progressive) return "progressive";
    if (scan.count != frame.count) return "several scans";
    if (scan.first != 0 || scan.last != 63 || scan.high != 0 || scan.low != 0) return "an unusual header";
    for (int i = 0; i < frame.count; ++i) {
        const auto quant = static_cast<size_t>(frame.components[static_cast<size_t>(i)].quant);
        if (!parser_.tables().quant_defined[quant]) return "a quantization table is missing";
    }
    using Need = JpegScanDecoder::Need;
    if (!scan_.begin(file, frame, parser_.tables(), scan, {Need::all, Need::all, Need::all}))
        return "damaged or truncated";
    mcus_a_row_ = (frame.width + int64_t{frame.max_h} * 8 - 1) / (int64_t{frame.max_h} * 8);
    mcu_rows_ = (frame.height + int64_t{frame.max_v} * 8 - 1) / (int64_t{frame.max_v} * 8);
    for (size_t i = 0; i < parts_.size(); ++i)
        parts_[i].a_row = static_cast<int>(i) < frame.count ? mcus_a_row_ * frame.components[i].h : 0;
    return {};
}

bool PackSource::read_band(int64_t mcu_rows) {
    const JpegFrame& frame = parser_.frame();
    for (int i = 0; i < frame.count; ++i) {
        Part& part = parts_[static_cast<size_t>(i)];
        const int64_t blocks = mcu_rows * frame.components[static_cast<size_t>(i)].v * part.a_row;
        part.blocks.assign(static_cast<size_t>(64 * blocks), 0);
        part.last.resize(static_cast<size_t>(blocks));
    }
    for (int64_t row = 0; row < mcu_rows; ++row) {
        std::array<JpegScanDecoder::Target, JpegScanDecoder::most_blocks> targets{};
        std::array<int, JpegScanDecoder::most_blocks> steps{};
        size_t count = 0;
        for (int i = 0; i < frame.count; ++i) {
            Part& part = parts_[static_cast<size_t>(i)];
            const JpegComponent& component = frame.components[static_cast<size_t>(i)];
            for (int y = 0; y < component.v; ++y) {
                for (int x = 0; x < component.h; ++x) {
                    const int64_t place = (row * component.v + y) * part.a_row + x;
                    targets[count] = {part.blocks.data() + 64 * place, part.last.data() + place};
                    steps[count++] = component.h;
                }
            }
        }
        for (int64_t column = 0; column < mcus_a_row_; ++column) {
            if (!scan_.read_mcu(targets.data())) return false;
            for (size_t i = 0; i < count; ++i) {
                targets[i].block += 64 * steps[i];
                targets[i].last += steps[i];
            }
        }
    }
    return true;
}

}  // namespace pixelmill

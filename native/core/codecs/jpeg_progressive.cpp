#include "jpeg_progressive.h"

#include <algorithm>
#include <bit>

namespace pixelmill {
namespace {

constexpr size_t kept = size_t{1} << 17;  // blocks: 16 MiB

int64_t ceil_divide(int64_t a, int64_t b) { return (a + b - 1) / b; }

}  // namespace

void JpegCoefficients::allocate(const JpegFrame& frame) {
    mcus_a_row_ = ceil_divide(frame.width, int64_t{8} * frame.max_h);
    mcu_rows_ = ceil_divide(frame.height, int64_t{8} * frame.max_v);
    int64_t blocks = 0;
    for (int i = 0; i < frame.count; ++i) {
        const JpegComponent& from = frame.components[static_cast<size_t>(i)];
        Component& component = components_[static_cast<size_t>(i)];
        component.h = from.h;
        component.v = from.v;
        component.used_columns = ceil_divide(frame.width * from.h, int64_t{8} * frame.max_h);
        component.used_rows = ceil_divide(frame.height * from.v, int64_t{8} * frame.max_v);
        component.blocks_a_row = mcus_a_row_ * from.h + 1;
        component.first = blocks;
        component.low.fill(-1);
        blocks += component.blocks_a_row * mcu_rows_ * from.v;
    }
    blocks_.assign(static_cast<size_t>(blocks), Block{});
    nonzero_.assign(static_cast<size_t>(blocks), 0);
}

void JpegCoefficients::release() {
    if (blocks_.size() <= kept) return;
    std::vector<Block>().swap(blocks_);
    std::vector<uint64_t>().swap(nonzero_);
}

JpegScanDecoder::Target JpegCoefficients::target(const Component& component, int64_t row, int64_t column) {
    const auto number = static_cast<size_t>(component.first + row * component.blocks_a_row + column);
    return {blocks_[number].coefficients, nullptr, nonzero_.data() + number};
}

// Each scan has to go on where the ones before it ended; libjpeg-turbo warns otherwise.
bool JpegCoefficients::check_progress(const JpegScan& scan) {
    const bool dc = scan.first == 0;
    const bool range = dc ? scan.last == 0 : scan.count == 1 && scan.first <= scan.last && scan.last < 64;
    if (!range || scan.low > 13 || (scan.high != 0 && scan.high != scan.low + 1)) return false;
    for (int i = 0; i < scan.count; ++i) {
        Component& component = components_[static_cast<size_t>(scan.parts[static_cast<size_t>(i)].component)];
        if (!dc && component.low[0] < 0) return false;
        for (int k = scan.first; k <= scan.last; ++k) {
            int8_t& low = component.low[static_cast<size_t>(k)];
            if (scan.high != std::max<int>(low, 0) || (scan.high == 0 && low == 0)) return false;
            low = static_cast<int8_t>(scan.low);
        }
    }
    return true;
}

bool JpegCoefficients::complete(const JpegFrame& frame) const {
    return std::all_of(components_.begin(), components_.begin() + frame.count, [](const Component& component) {
        return std::all_of(component.low.begin(), component.low.end(), [](int8_t low) { return low == 0; });
    });
}

bool JpegCoefficients::read(Bytes file, JpegParser& parser, JpegScanDecoder& decoder) {
    allocate(parser.frame());
    for (;;) {
        if (!check_progress(parser.scan()) || !read_scan(file, parser, decoder)) return false;
        uint64_t at = 0;
        if (!decoder.finish(file, at)) return false;
        const JpegParser::Found found = parser.next_scan(at);
        if (found == JpegParser::Found::end) return complete(parser.frame());
        if (found == JpegParser::Found::other) return false;
    }
}

bool JpegCoefficients::read_scan(Bytes file, const JpegParser& parser, JpegScanDecoder& decoder) {
    const JpegScan& scan = parser.scan();
    if (!decoder.begin(file, parser.frame(), parser.tables(), scan, {})) return false;
    if (scan.count > 1) return read_interleaved(scan, decoder);
    const Component& component = components_[static_cast<size_t>(scan.parts[0].component)];
    for (int64_t row = 0; row < component.used_rows; ++row) {
        for (int64_t column = 0; column < component.used_columns; ++column) {
            const JpegScanDecoder::Target one = target(component, row, column);
            if (!decoder.read_mcu(&one)) return false;
        }
    }
    return true;
}

bool JpegCoefficients::read_interleaved(const JpegScan& scan, JpegScanDecoder& decoder) {
    std::array<JpegScanDecoder::Target, JpegScanDecoder::most_blocks> targets;
    for (int64_t row = 0; row < mcu_rows_; ++row) {
        for (int64_t column = 0; column < mcus_a_row_; ++column) {
            size_t number = 0;
            for (int i = 0; i < scan.count; ++i) {
                const Component& component =
                    components_[static_cast<size_t>(scan.parts[static_cast<size_t>(i)].component)];
                for (int y = 0; y < component.v; ++y) {
                    for (int x = 0; x < component.h; ++x)
                        targets[number++] = target(component, row * component.v + y, column * component.h + x);
                }
            }
            if (!decoder.read_mcu(targets.data())) return false;
        }
    }
    return true;
}

BlockRow JpegCoefficients::row(int component, int64_t mcu_row, int block_row, int64_t column, int64_t mcus) {
    const Component& from = components_[static_cast<size_t>(component)];
    const JpegScanDecoder::Target start = target(from, mcu_row * from.v + block_row, column * from.h);
    const auto count = static_cast<size_t>(mcus * from.h);
    last_.resize(count + 1);  // transforms take pairs
    for (size_t i = 0; i < count; ++i) last_[i] = static_cast<uint8_t>(std::bit_width(start.nonzero[i] | 1) - 1);
    last_[count] = 0;
    return {start.block, last_.data(), mcus * from.h, nullptr};
}

}  // namespace pixelmill

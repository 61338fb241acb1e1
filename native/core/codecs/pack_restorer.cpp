#include "pack_restorer.h"

#include <algorithm>
#include <string>

#include "../fault.h"
#include "../records/crc32c.h"

namespace pixelmill {
namespace {

[[noreturn]] void refuse(const std::string& reason) {
    throw Fault(FaultKind::corrupt, "corrupt packed image: " + reason);
}

bool same_frame(const JpegFrame& a, const JpegFrame& b) {
    if (a.width != b.width || a.height != b.height || a.count != b.count) return false;
    for (size_t i = 0; i < static_cast<size_t>(a.count); ++i) {
        if (a.components[i].h != b.components[i].h || a.components[i].v != b.components[i].v) return false;
    }
    return true;
}

}  // namespace

void PackRestorer::restore(std::vector<std::byte>& out, Bytes packed) {
    layout_.read(packed, packed.size());
    const auto codebook = required_codebook(layout_.codebook);
    const Bytes tail = packed.subspan(layout_.tail);
    if (crc32c(tail) != layout_.tail_checksum)
        throw Fault(FaultKind::checksum, "packed image: the checksum of the bytes around its scan does not fit");
    const Bytes before = tail.first(layout_.before_length), after = tail.subspan(layout_.before_length);
    read_header(before);
    out.clear();
    // What the header claims is believed only as far as the image is large itself.
    out.reserve(std::min<uint64_t>(layout_.original_length, 2 * packed.size()));
    out.insert(out.end(), before.begin(), before.end());
    if (!writer_.begin(out, layout_.original_length, parser_.frame(), parser_.tables(), parser_.scan(),
                       layout_.zero_padding))
        refuse("the Huffman tables of its original");
    blocks_.begin(packed, layout_, *codebook, {true, true, true});
    for (size_t band = 0; band < layout_.bands.size(); ++band) write_band(band);
    if (!writer_.finish() || out.size() + after.size() != layout_.original_length)
        refuse("its original would have another length");
    out.insert(out.end(), after.begin(), after.end());
    if (crc32c(out) != layout_.original_checksum)
        throw Fault(FaultKind::checksum, "packed image: what it restores is not its original");
}

void PackRestorer::read_header(Bytes before) {
    parser_.open(before);
    if (parser_.next_scan() != JpegParser::Found::scan || parser_.scan().data != before.size())
        refuse("the header of its original");
    const JpegScan& scan = parser_.scan();
    if (!same_frame(parser_.frame(), layout_.frame) || parser_.frame().progressive || scan.count != layout_.frame.count)
        refuse("the header of its original is that of another image");
}

void PackRestorer::write_band(size_t band) {
    blocks_.open_band(band);
    for (int64_t row = 0; row < layout_.rows_of(band); ++row) write_mcu_row(row);
}

void PackRestorer::write_mcu_row(int64_t row) {
    int64_t total = 0, widest = 0;
    for (const PackComponent& component : layout_.components) {
        total += component.blocks * component.v;
        widest = std::max(widest, component.blocks);
    }
    constexpr int64_t alignment = 16;  // of vectors, in coefficients
    coefficients_.resize(static_cast<size_t>(64 * total + alignment));
    last_.resize(static_cast<size_t>(widest));
    dc_.resize(static_cast<size_t>(widest) + 8);
    const auto misplaced = reinterpret_cast<uintptr_t>(coefficients_.data()) / sizeof(int16_t) % alignment;
    int16_t* at = coefficients_.data() + (alignment - static_cast<int64_t>(misplaced)) % alignment;

    std::array<const int16_t*, 10> blocks{};
    std::array<int64_t, 10> steps{};
    size_t count = 0;
    for (int i = 0; i < layout_.frame.count; ++i) {
        const PackComponent& component = layout_.components[static_cast<size_t>(i)];
        for (int y = 0; y < component.v; ++y, at += 64 * component.blocks) {
            const int64_t block_row = row * component.v + y;
            blocks_.read_dc(dc_.data(), i, block_row);
            PackBlocks::Cursor cursor = blocks_.at(i, block_row, 0);
            blocks_.read(at, last_.data(), cursor, dc_.data(), i, component.blocks);
            for (int x = 0; x < component.h; ++x) {
                blocks[count] = at + int64_t{64} * x;
                steps[count++] = int64_t{64} * component.h;
            }
        }
    }
    for (int64_t column = 0; column < layout_.mcus_a_row; ++column) {
        if (!writer_.write_mcu(blocks.data())) refuse("values that the tables of its original cannot write");
        for (size_t i = 0; i < count; ++i) blocks[i] += steps[i];
    }
}

}  // namespace pixelmill

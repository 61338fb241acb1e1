#include "jpeg_scan.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "../kernels/simd.h"
#include "../platform/compiler.h"
#include "jpeg_huffman.h"
#include "jpeg_zigzag.h"

namespace pixelmill {

namespace {

// No MCU takes more: each of its coefficients has a code of 16 bits and a value of 15 at most.
constexpr size_t largest_mcu = size_t{JpegScanDecoder::most_blocks} * 64 * 4, chunk = 4096, load = sizeof(uint64_t);

uint64_t big_endian(uint64_t value) {
    if constexpr (std::endian::native == std::endian::big) return value;
    return byteswap(value);
}

}  // namespace

struct ScanBlock {
    const HuffmanTable* dc = nullptr;
    HuffmanTable* ac = nullptr;
    int component = 0;
    JpegScanDecoder::Need need = JpegScanDecoder::Need::all;
};

struct ScanState {
    bool (*read_mcu)(ScanState&, const JpegScanDecoder::Target*) = nullptr;

    // The stream without stuffed zeros: `clean` holds a piece of it, up to `end`, followed by zeros.
    // `bits` begins with the next `count` bits; the bits below are those at `at`, or zero.
    uint64_t bits = 0;
    int count = 0;
    const uint8_t* at = nullptr;
    uint8_t* end = nullptr;
    bool complete = false;  // a marker follows after `end`
    const uint8_t *source = nullptr, *source_end = nullptr;

    int blocks = 0;
    ScanBlock kinds[JpegScanDecoder::most_blocks];
    int last_dc[JpegFrame::most_components] = {};
    bool passes_ready = false;
    int first = 0, last = 63, low = 0;  // of a progressive scan: its coefficients, and their lowest bit
    uint32_t blocks_ended = 0;          // blocks to come that have no more coefficients
    uint32_t restart_interval = 0, until_restart = 0, next_restart = 0;

    HuffmanTable dc[JpegTables::slots], ac[JpegTables::slots];
    std::array<uint8_t, chunk + largest_mcu + 2 * load> clean;
};

#define KERNELS "../codecs/jpeg_scan.inl"
#include "../kernels/both_levels.inl"
#define KERNELS "../codecs/jpeg_progressive.inl"
#include "../kernels/both_levels.inl"

namespace {

// Copies up to the next marker, or as much as fits, without the zeros after 0xFF. False: the file ends, or contains
// something that is left to libjpeg.
bool clean_more(ScanState& scan) {
    uint8_t* const full = scan.clean.data() + chunk;
    while (scan.end < full) {
        const auto room =
            std::min(static_cast<size_t>(full - scan.end), static_cast<size_t>(scan.source_end - scan.source));
        const auto* stuffed = static_cast<const uint8_t*>(std::memchr(scan.source, 0xFF, room));
        const size_t plain = stuffed ? static_cast<size_t>(stuffed - scan.source) : room;
        std::memcpy(scan.end, scan.source, plain);
        scan.end += plain;
        scan.source += plain;
        if (scan.source_end - scan.source < 2) return false;
        if (!stuffed) continue;
        if (scan.source[1] == 0xFF) return false;  // fill bytes, which hardly any encoder writes
        if (scan.source[1] != 0) {
            scan.complete = true;
            break;
        }
        *scan.end++ = 0xFF;
        scan.source += 2;
    }
    std::memset(scan.end, 0, scan.complete ? largest_mcu + load : load);
    return true;
}

// Moves what has not been read to the beginning of `clean`, and reads on.
bool next_chunk(ScanState& scan) {
    scan.at -= scan.count >> 3;
    scan.count &= 7;
    const auto unread = static_cast<size_t>(scan.end - scan.at);
    std::memmove(scan.clean.data(), scan.at, unread);
    scan.at = scan.clean.data();
    scan.end = scan.clean.data() + unread;
    return clean_more(scan);
}

// Starts at the beginning of the scan, or after a restart marker.
bool begin_segment(ScanState& scan) {
    scan.bits = 0;
    scan.count = 0;
    scan.at = scan.end = scan.clean.data();
    scan.complete = false;
    std::fill(std::begin(scan.last_dc), std::end(scan.last_dc), 0);
    scan.blocks_ended = 0;
    scan.until_restart = scan.restart_interval;
    return clean_more(scan);
}

int64_t bits_left(const ScanState& scan) { return 8 * (scan.end - scan.at) + scan.count; }

bool pass_restart(ScanState& scan) {
    constexpr uint32_t rst0 = 0xD0;
    if (!scan.complete || bits_left(scan) >= 8 || scan.source[1] != rst0 + scan.next_restart) return false;
    scan.next_restart = (scan.next_restart + 1) % 8;
    scan.source += 2;
    return begin_segment(scan);
}

// One check per MCU, so that the loops over symbols need none: no MCU takes more bytes than `largest_mcu`, and at the
// end of the data as many zeros follow. A scan that reads into those zeros is noticed by the bits that are left, not
// here.
bool make_ready(ScanState& scan) {
    if (scan.restart_interval != 0) {
        if (scan.until_restart == 0 && !pass_restart(scan)) return false;
        --scan.until_restart;
    }
    const bool enough = scan.complete || scan.end - scan.at >= static_cast<ptrdiff_t>(largest_mcu + load);
    return enough || next_chunk(scan);
}

void prepare_passes(ScanState& scan) {
    for (int i = 0; i < scan.blocks; ++i) scan.kinds[i].ac->prepare_passes();
    scan.passes_ready = true;
}

// Builds the tables that the scan uses of a component, and notes its blocks.
bool add_component(ScanState& scan, const JpegTables& tables, const JpegScan::Part& part, int blocks,
                   JpegScanDecoder::Need need, bool uses_dc, bool uses_ac) {
    const HuffmanSpec &dc = tables.dc[static_cast<size_t>(part.dc)], &ac = tables.ac[static_cast<size_t>(part.ac)];
    if (uses_dc && (!dc.defined || !scan.dc[part.dc].build(dc.counts.data(), dc.symbols.data(), false))) return false;
    if (uses_ac && (!ac.defined || !scan.ac[part.ac].build(ac.counts.data(), ac.symbols.data(), true))) return false;
    for (int i = 0; i < blocks; ++i)
        scan.kinds[scan.blocks++] = {&scan.dc[part.dc], &scan.ac[part.ac], part.component, need};
    return true;
}

using MicroReader = bool(ScanState&, const JpegScanDecoder::Target*);

MicroReader* reader_of(const JpegFrame& frame, const JpegScan& scan) {
    if (!frame.progressive) return AT_THIS_LEVEL(read_mcu);
    if (scan.first == 0) return scan.high == 0 ? AT_THIS_LEVEL(read_first_dc) : AT_THIS_LEVEL(refine_dc);
    return scan.high == 0 ? AT_THIS_LEVEL(read_first_ac) : AT_THIS_LEVEL(refine_ac);
}

}  // namespace

JpegScanDecoder::JpegScanDecoder() : state_(std::make_unique<ScanState>()) {}
JpegScanDecoder::~JpegScanDecoder() = default;

bool JpegScanDecoder::begin(Bytes file, const JpegFrame& frame, const JpegTables& tables, const JpegScan& scan,
                            const Needs& needs) {
    ScanState& state = *state_;
    state.blocks = 0;
    const bool uses_dc = !frame.progressive || (scan.first == 0 && scan.high == 0);
    const bool uses_ac = !frame.progressive || scan.first > 0;
    for (int i = 0; i < scan.count; ++i) {
        const JpegScan::Part& part = scan.parts[static_cast<size_t>(i)];
        const JpegComponent& component = frame.components[static_cast<size_t>(part.component)];
        const Need need = needs[static_cast<size_t>(part.component)];
        const int blocks = scan.count == 1 ? 1 : component.h * component.v;
        if (!add_component(state, tables, part, blocks, need, uses_dc, uses_ac)) return false;
    }
    state.passes_ready = false;
    const auto partly = [](Need need) { return need != Need::all; };
    if (!frame.progressive && std::any_of(needs.begin(), needs.begin() + frame.count, partly)) prepare_passes(state);
    state.read_mcu = reader_of(frame, scan);
    state.first = scan.first;
    state.last = scan.last;
    state.low = scan.low;
    state.source = reinterpret_cast<const uint8_t*>(file.data()) + scan.data;
    state.source_end = reinterpret_cast<const uint8_t*>(file.data()) + file.size();
    state.restart_interval = tables.restart_interval;
    state.next_restart = 0;
    return begin_segment(state);
}

bool JpegScanDecoder::finish(Bytes file, uint64_t& at) {
    ScanState& state = *state_;
    while (!state.complete && bits_left(state) < 8) {
        if (!next_chunk(state)) return false;
    }
    at = static_cast<uint64_t>(state.source - reinterpret_cast<const uint8_t*>(file.data()));
    return state.complete && bits_left(state) < 8;
}

bool JpegScanDecoder::read_mcu(const Target* targets) {
    ScanState& state = *state_;
    return make_ready(state) && state.read_mcu(state, targets) && bits_left(state) >= 0;
}

bool JpegScanDecoder::skip_mcus(int64_t count) {
    ScanState& state = *state_;
    if (count > 0 && !state.passes_ready) prepare_passes(state);
    for (; count > 0; --count) {
        if (!make_ready(state) || !state.read_mcu(state, nullptr) || bits_left(state) < 0) return false;
    }
    return true;
}

}  // namespace pixelmill

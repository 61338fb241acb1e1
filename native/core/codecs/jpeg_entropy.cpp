#include "jpeg_entropy.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdio>
#include <cstring>

#include "../kernels/simd.h"
#include "jpeg_huffman.h"
#include "jpeg_stream.h"

namespace pixelmill {

namespace {

// What libjpeg calls through `info.entropy`: the head of its private structure, the same in every libjpeg-turbo so far.
struct EntropyHead {
    void (*start_pass)(j_decompress_ptr);
    boolean (*decode_mcu)(j_decompress_ptr, JBLOCKROW*);
    boolean insufficient_data;
};

constexpr int most_blocks = D_MAX_BLOCKS_IN_MCU;
// No MCU takes more: each of its coefficients has a code of 16 bits and a value of 15 at most.
constexpr size_t largest_mcu = size_t{most_blocks} * 64 * 4, chunk = 32768, load = sizeof(uint64_t);

uint64_t big_endian(uint64_t value) {
    if constexpr (std::endian::native == std::endian::big) return value;
    return __builtin_bswap64(value);
}

}  // namespace

struct EntropyBlock {
    const HuffmanTable* dc = nullptr;
    HuffmanTable* ac = nullptr;
    int component = 0;
    bool needed = false, alternating_needed = false;
};

struct EntropyScan {
    EntropyHead head{};  // first: libjpeg knows the scan by it
    void (*give_up)(jpeg_decompress_struct&) = nullptr;
    bool (*read_mcu)(EntropyScan&, int16_t (**)[64]) = nullptr;

    // The stream without stuffed zeros: `clean` holds a piece of it, up to `end`, and zeros behind.
    // `bits` begins with the next `count` bits; the bits below are those at `at`, or zero.
    uint64_t bits = 0;
    int count = 0;
    const uint8_t* at = nullptr;
    uint8_t* end = nullptr;
    bool complete = false;  // a marker follows behind `end`
    const uint8_t *source = nullptr, *source_end = nullptr;

    int blocks = 0;
    EntropyBlock kinds[most_blocks];
    int last[MAX_COMPS_IN_SCAN] = {};
    JDIMENSION column = 0, columns = 0, first_wanted = 0, behind_wanted = 0;  // MCUs of a row
    bool passes_ready = false;
    unsigned restart_interval = 0, until_restart = 0, next_restart = 0;

    HuffmanTable dc[NUM_HUFF_TBLS], ac[NUM_HUFF_TBLS];
    std::array<uint8_t, chunk + largest_mcu + 2 * load> clean;
};

#define KERNELS "../codecs/jpeg_entropy.inl"
#include "../kernels/both_levels.inl"

namespace {

// Copies up to the next marker or as much as there is room for, without the zeros behind 0xFF. False: the
// file ends, or libjpeg had better look at it.
bool clean_more(EntropyScan& scan) {
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
        if (scan.source[1] == 0xFF) return false;  // fill bytes, which hardly anybody writes
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
bool next_chunk(EntropyScan& scan) {
    scan.at -= scan.count >> 3;
    scan.count &= 7;
    const auto unread = static_cast<size_t>(scan.end - scan.at);
    std::memmove(scan.clean.data(), scan.at, unread);
    scan.at = scan.clean.data();
    scan.end = scan.clean.data() + unread;
    return clean_more(scan);
}

// Begins with the bits behind a marker, or with the first.
bool begin_segment(EntropyScan& scan) {
    scan.bits = 0;
    scan.count = 0;
    scan.at = scan.end = scan.clean.data();
    scan.complete = false;
    std::fill(std::begin(scan.last), std::end(scan.last), 0);
    scan.until_restart = scan.restart_interval;
    return clean_more(scan);
}

int64_t bits_left(const EntropyScan& scan) { return 8 * (scan.end - scan.at) + scan.count; }

bool pass_restart(EntropyScan& scan) {
    if (!scan.complete || bits_left(scan) >= 8 || scan.source[1] != JPEG_RST0 + scan.next_restart) return false;
    scan.next_restart = (scan.next_restart + 1) % 8;
    scan.source += 2;
    return begin_segment(scan);
}

void prepare_passes(EntropyScan& scan) {
    for (int i = 0; i < scan.blocks; ++i) scan.kinds[i].ac->prepare_passes();
    scan.passes_ready = true;
}

boolean decode_mcu(j_decompress_ptr info, JBLOCKROW* blocks) {
    EntropyScan& scan = *reinterpret_cast<EntropyScan*>(info->entropy);
    if (scan.restart_interval != 0) {
        if (scan.until_restart == 0 && !pass_restart(scan)) scan.give_up(*info);
        --scan.until_restart;
    }
    if (!scan.complete && scan.end - scan.at < static_cast<ptrdiff_t>(largest_mcu + load) && !next_chunk(scan))
        scan.give_up(*info);
    if (scan.column < scan.first_wanted || scan.column >= scan.behind_wanted) blocks = nullptr;
    if (++scan.column == scan.columns) scan.column = 0;
    if (!blocks && !scan.passes_ready) prepare_passes(scan);
    if (!scan.read_mcu(scan, blocks) || bits_left(scan) < 0) scan.give_up(*info);
    return TRUE;
}

bool describe_blocks(EntropyScan& scan, jpeg_decompress_struct& info) {
    bool partly = false;
    scan.blocks = info.blocks_in_MCU;
    for (int i = 0; i < scan.blocks; ++i) {
        const int number = info.MCU_membership[i];
        const jpeg_component_info& component = *info.cur_comp_info[number];
        const JHUFF_TBL* dc = info.dc_huff_tbl_ptrs[component.dc_tbl_no];
        const JHUFF_TBL* ac = info.ac_huff_tbl_ptrs[component.ac_tbl_no];
        HuffmanTable &dc_table = scan.dc[component.dc_tbl_no], &ac_table = scan.ac[component.ac_tbl_no];
        if (!dc || !ac || !dc_table.build(dc->bits, dc->huffval, false) || !ac_table.build(ac->bits, ac->huffval, true))
            return false;
        const bool needed = component.component_needed;
        scan.kinds[i] = {&dc_table, &ac_table, number, needed, needed && component.DCT_scaled_size > 1};
        partly |= !scan.kinds[i].alternating_needed;
    }
    scan.passes_ready = false;
    if (partly) prepare_passes(scan);
    return true;
}

}  // namespace

JpegEntropy::JpegEntropy() : scan_(std::make_unique<EntropyScan>()) {}
JpegEntropy::~JpegEntropy() = default;

bool JpegEntropy::take_over(jpeg_decompress_struct& info, Columns wanted, void (*give_up)(jpeg_decompress_struct&)) {
    EntropyScan& scan = *scan_;
    if (!known_library || info.progressive_mode || info.arith_code || info.comps_in_scan != info.num_components)
        return false;
    if (!describe_blocks(scan, info)) return false;
    scan.head.insufficient_data = FALSE;
    scan.head.decode_mcu = decode_mcu;
    scan.give_up = give_up;
    scan.read_mcu = AT_THIS_LEVEL(read_mcu);
    scan.source = info.src->next_input_byte;
    scan.source_end = scan.source + info.src->bytes_in_buffer;
    // libjpeg takes whole MCUs; one more on either side costs little.
    const auto side =
        static_cast<JDIMENSION>(info.min_DCT_scaled_size * (info.num_components == 1 ? 1 : info.max_h_samp_factor));
    scan.column = 0;
    scan.columns = info.MCUs_per_row;
    scan.first_wanted = std::max<JDIMENSION>(wanted.first / side, 1) - 1;
    scan.behind_wanted = wanted.behind / side + 2;
    scan.restart_interval = info.restart_interval;
    scan.next_restart = 0;
    if (!begin_segment(scan)) return false;
    info.entropy = reinterpret_cast<jpeg_entropy_decoder*>(&scan.head);
    return true;
}

}  // namespace pixelmill

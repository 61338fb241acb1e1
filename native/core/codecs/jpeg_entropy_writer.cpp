#include "jpeg_entropy_writer.h"

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

// clang-format off: they need <cstdio>, and in this order
#include <jerror.h>
#include <jpeglib.h>
// clang-format on

#include "../kernels/simd.h"
#include "jpeg_stream.h"

namespace pixelmill {

#if PIXELMILL_AVX2

namespace {

// What libjpeg calls through `info.entropy`: its private structure, the same in every libjpeg-turbo so far.
struct EntropyHead {
    void (*start_pass)(j_compress_ptr, boolean);
    boolean (*encode_mcu)(j_compress_ptr, JBLOCKROW*);
    void (*finish_pass)(j_compress_ptr);
};

constexpr int most_blocks = C_MAX_BLOCKS_IN_MCU;
constexpr size_t largest_mcu = size_t{most_blocks} * 64 * sizeof(uint32_t), chunk = 16384, store = sizeof(uint64_t);

// The code of a coefficient with its value behind it: 27 bits at most, and how many they are in the five bits above.
struct Code {
    static constexpr int room = 27;
    uint32_t all;

    static Code of(uint32_t bits, uint32_t size) { return {bits | size << room}; }
    uint32_t bits() const { return all & ((1u << room) - 1); }
    uint32_t size() const { return all >> room; }
};

// The codes of a table of the file, by what they stand for.
class CodeTable {
   public:
    static constexpr uint8_t end_of_block = 0x00, sixteen_zeros = 0xF0;

    explicit CodeTable(const JHUFF_TBL& source) : source_(source) {
        uint32_t code = 0;
        size_t place = 0;
        for (uint32_t length = 1; length <= 16; ++length, code <<= 1) {
            for (int i = 0; i < source.bits[length] && place < 256; ++i, ++code)
                symbols_[source.huffval[place++]] = Code::of(code, length);
        }
    }

    bool is_of(const JHUFF_TBL* source) const {
        return source && std::memcmp(source->bits + 1, source_.bits + 1, sizeof source->bits - 1) == 0 &&
               std::memcmp(source->huffval, source_.huffval, sizeof source->huffval) == 0;
    }

    Code symbol(uint8_t symbol) const { return symbols_[symbol]; }

    // A symbol is the number of zeros before the value, and its size.
    Code with_value(int zeros, int value) const {
        const auto size = static_cast<uint32_t>(std::bit_width(static_cast<uint32_t>(std::abs(value))));
        const Code symbol = symbols_[static_cast<uint32_t>(zeros) << 4 | size];
        const uint32_t bits = static_cast<uint32_t>(value < 0 ? value - 1 : value) & ((1u << size) - 1);
        return Code::of(symbol.bits() << size | bits, symbol.size() + size);
    }

   private:
    JHUFF_TBL source_;
    std::array<Code, 256> symbols_{};
};

// All codes with all values, those of small values side by side: what is used lies close together.
template <int most, int runs>
class ValueCodes {
   public:
    explicit ValueCodes(const CodeTable& table) {
        for (int value = -most; value <= most; ++value) {
            for (int zeros = 0; zeros < runs; ++zeros) codes_[place(zeros, value)] = table.with_value(zeros, value);
        }
    }

    static bool has(int value) { return -most <= value && value <= most; }

    Code at(int zeros, int value) const { return codes_[place(zeros, value)]; }

   private:
    static size_t place(int zeros, int value) {
        return static_cast<size_t>((value & (2 * most + 1)) * runs + (zeros & (runs - 1)));
    }

    std::array<Code, size_t{2 * most + 2} * runs> codes_{};
};

struct ComponentCodes {
    ComponentCodes(const JHUFF_TBL& first_table, const JHUFF_TBL& other_table)
        : first(first_table), other(other_table), differences(first), coefficients(other) {}

    CodeTable first, other;
    // Pixels of eight bits give no more than these.
    ValueCodes<2047, 1> differences;
    ValueCodes<1023, 16> coefficients;
};

struct StandardCodes {
    explicit StandardCodes(const jpeg_compress_struct& info)
        : tables{ComponentCodes(*info.dc_huff_tbl_ptrs[0], *info.ac_huff_tbl_ptrs[0]),
                 ComponentCodes(*info.dc_huff_tbl_ptrs[1], *info.ac_huff_tbl_ptrs[1])} {}

    ComponentCodes tables[2];  // of brightness and of colours
};

struct BlockKind {
    const ComponentCodes* codes = nullptr;
    int component = 0;
};

}  // namespace

struct EntropyOutput {
    EntropyHead head{};  // first: libjpeg knows the output by it

    uint64_t bits = 0;  // the last `count` of them, fewer than 8, are not in `plain` yet
    int count = 0;
    uint8_t* at = nullptr;

    int blocks = 0;
    BlockKind kinds[most_blocks];
    int last[MAX_COMPS_IN_SCAN] = {};
    std::array<uint8_t, chunk + largest_mcu + 2 * store> plain;  // the stream without zeros behind 0xFF
};

#pragma GCC push_options
#pragma GCC target("avx2,bmi,bmi2,lzcnt,popcnt")
#include "jpeg_entropy_writer.inl"
#pragma GCC pop_options

namespace {

EntropyOutput& output_of(j_compress_ptr info) { return *reinterpret_cast<EntropyOutput*>(info->entropy); }

void put(jpeg_compress_struct& info, const uint8_t* bytes, size_t size) {
    jpeg_destination_mgr& target = *info.dest;
    while (size > 0) {
        if (target.free_in_buffer == 0 && !target.empty_output_buffer(&info)) ERREXIT(&info, JERR_CANT_SUSPEND);
        const size_t now = size < target.free_in_buffer ? size : target.free_in_buffer;
        std::memcpy(target.next_output_byte, bytes, now);
        target.next_output_byte += now;
        target.free_in_buffer -= now;
        bytes += now;
        size -= now;
    }
}

// Hands on what has been written, with a zero behind each 0xFF.
void hand_on(EntropyOutput& output, jpeg_compress_struct& info) {
    constexpr uint8_t zero = 0;
    const uint8_t* from = output.plain.data();
    while (from < output.at) {
        const auto left = static_cast<size_t>(output.at - from);
        const auto* found = static_cast<const uint8_t*>(std::memchr(from, 0xFF, left));
        const size_t run = found ? static_cast<size_t>(found - from) + 1 : left;
        put(info, from, run);
        if (found) put(info, &zero, 1);
        from += run;
    }
    output.at = output.plain.data();
}

boolean encode_mcu(j_compress_ptr info, JBLOCKROW* blocks) {
    EntropyOutput& output = output_of(info);
    if (!write_mcu(output, blocks)) ERREXIT(info, JERR_BAD_DCT_COEF);
    if (output.at >= output.plain.data() + chunk) hand_on(output, *info);
    return TRUE;
}

// The last byte is filled up with ones.
void finish_pass(j_compress_ptr info) {
    EntropyOutput& output = output_of(info);
    if (output.count > 0)
        *output.at++ = static_cast<uint8_t>(output.bits << (8 - output.count) | (0xFFu >> output.count));
    hand_on(output, *info);
}

// False where a component has other tables than those of the standard.
bool describe_blocks(EntropyOutput& output, const jpeg_compress_struct& info) {
    static const StandardCodes standard(info);
    output.blocks = info.blocks_in_MCU;
    for (int i = 0; i < output.blocks; ++i) {
        const int number = info.MCU_membership[i];
        const jpeg_component_info& component = *info.cur_comp_info[number];
        if (component.dc_tbl_no > 1 || component.dc_tbl_no != component.ac_tbl_no) return false;
        const ComponentCodes& codes = standard.tables[component.dc_tbl_no];
        if (!codes.first.is_of(info.dc_huff_tbl_ptrs[component.dc_tbl_no]) ||
            !codes.other.is_of(info.ac_huff_tbl_ptrs[component.ac_tbl_no]))
            return false;
        output.kinds[i] = {&codes, number};
    }
    return true;
}

}  // namespace

void JpegEntropyWriter::take_over(jpeg_compress_struct& info) {
    EntropyOutput& output = *output_;
    const bool plain = !info.progressive_mode && !info.arith_code && !info.optimize_coding &&
                       info.restart_interval == 0 && info.comps_in_scan == info.num_components;
    if (!known_library || simd_level() != SimdLevel::avx2 || !plain || !describe_blocks(output, info)) return;
    output.head = {nullptr, encode_mcu, finish_pass};
    output.bits = 0;
    output.count = 0;
    output.at = output.plain.data();
    for (int& last : output.last) last = 0;
    info.entropy = reinterpret_cast<jpeg_entropy_encoder*>(&output.head);
}

#else  // libjpeg's own, which has code for the registers of other processors

struct EntropyOutput {};
void JpegEntropyWriter::take_over(jpeg_compress_struct&) {}

#endif

JpegEntropyWriter::JpegEntropyWriter() : output_(std::make_unique<EntropyOutput>()) {}
JpegEntropyWriter::~JpegEntropyWriter() = default;

}  // namespace pixelmill

#include "libjpeg_decoder.h"

#include <algorithm>
#include <csetjmp>
#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

// clang-format off: they need <cstdio>, and in this order
#include <jerror.h>
#include <jpeglib.h>
// clang-format on

#include "../fault.h"
#include "cmyk.h"
#include "image.h"
#include "jpeg_markers.h"

namespace pixelmill {

// libjpeg leaves by longjmp on an error. Everything between `attempt` and libjpeg is a plain function over this state,
// without an object that has a destructor; faults are thrown only after `attempt` has returned.
struct LibjpegState {
    jpeg_decompress_struct info{};
    jpeg_error_mgr errors{};
    jpeg_source_mgr source{};
    std::jmp_buf jump;

    Bytes file;
    JpegRequest request;
    View<uint8_t> out;
    std::vector<uint8_t> line;  // one row on its way to `out`
    int64_t line_first = 0;     // the column of the image with which `line` begins
    int64_t rows_before = 0;    // rows that have to be decoded before the first wanted one

    char error[JMSG_LENGTH_MAX] = "";
    int error_code = 0;
    char warning[JMSG_LENGTH_MAX] = "";  // the first
    int64_t warnings = 0;
    char loss[JMSG_LENGTH_MAX] = "";  // the first warning after which pixels are filler
    int64_t lost_row = 0;
    bool decoding = false;  // the header has been read
    bool ended = false;     // libjpeg asked for more bytes than there are
    bool starved = false;   // and lacked them for pixels
    int64_t missing_row = 0;
    int missing_scan = 0;
};

namespace {

// libjpeg-turbo has three ABIs, and the two newer ones scale blocks by row and by column.
#if JPEG_LIB_VERSION >= 70
int block_side(const jpeg_decompress_struct& info) { return info.min_DCT_h_scaled_size; }
int block_side(const jpeg_component_info& component) { return component.DCT_h_scaled_size; }
#else
int block_side(const jpeg_decompress_struct& info) { return info.min_DCT_scaled_size; }
int block_side(const jpeg_component_info& component) { return component.DCT_scaled_size; }
#endif

LibjpegState& state_of(void* client_data) { return *static_cast<LibjpegState*>(client_data); }

void on_error(j_common_ptr info) {
    LibjpegState& state = state_of(info->client_data);
    state.error_code = info->err->msg_code;
    info->err->format_message(info, state.error);
    std::longjmp(state.jump, 1);
}

// Remembers the row and scan whose data did not come, in pixels of the image.
void mark_missing(LibjpegState& state) {
    const jpeg_decompress_struct& info = state.info;
    if (!state.decoding) return;  // still in the header: row 0
    state.missing_row = int64_t{info.input_iMCU_row} * info.max_v_samp_factor * DCTSIZE;
    state.missing_scan = info.input_scan_number;
}

// Whether libjpeg fills in pixels after a warning, because their data is missing or cannot be read.
bool loses_pixels(int code) {
    return code == JWRN_HIT_MARKER || code == JWRN_HUFF_BAD_CODE || code == JWRN_MUST_RESYNC;
}

void on_message(j_common_ptr info, int level) {
    if (level >= 0) return;
    LibjpegState& state = state_of(info->client_data);
    if (state.warnings++ == 0) info->err->format_message(info, state.warning);
    if (state.loss[0] == 0 && loses_pixels(info->err->msg_code)) {
        info->err->format_message(info, state.loss);
        const jpeg_decompress_struct& image = state.info;
        if (state.decoding) state.lost_row = int64_t{image.input_iMCU_row} * image.max_v_samp_factor * DCTSIZE;
    }
    if (info->err->msg_code == JWRN_HIT_MARKER && state.ended && !state.starved) {
        state.starved = true;
        mark_missing(state);
    }
}

void on_output(j_common_ptr) {}
void on_source(j_decompress_ptr) {}

// Called at the end of the data only: libjpeg gets an end-of-image marker so that it finishes normally.
boolean on_empty(j_decompress_ptr info) {
    static const JOCTET end[2] = {0xFF, JPEG_EOI};
    LibjpegState& state = state_of(info->client_data);
    if (!state.ended) mark_missing(state);
    state.ended = true;
    info->src->next_input_byte = end;
    info->src->bytes_in_buffer = 2;
    return TRUE;
}

void on_skip(j_decompress_ptr info, long count) {
    if (count <= 0) return;
    jpeg_source_mgr& source = *info->src;
    if (static_cast<unsigned long>(count) > source.bytes_in_buffer) {
        on_empty(info);
        return;
    }
    source.next_input_byte += count;
    source.bytes_in_buffer -= static_cast<size_t>(count);
}

// The one setjmp. False: libjpeg gave up, the reason is in state.error.
bool attempt(LibjpegState& state, void (*work)(LibjpegState&)) {
    if (setjmp(state.jump)) return false;
    work(state);
    return true;
}

void create(LibjpegState& state) {
    jpeg_create_decompress(&state.info);
    state.source.init_source = on_source;
    state.source.fill_input_buffer = on_empty;
    state.source.skip_input_data = on_skip;
    state.source.resync_to_restart = jpeg_resync_to_restart;
    state.source.term_source = on_source;
    state.info.src = &state.source;
}

void abandon(LibjpegState& state) { jpeg_abort_decompress(&state.info); }

void read_header(LibjpegState& state) { jpeg_read_header(&state.info, TRUE); }

J_COLOR_SPACE output_space(const LibjpegState& state) {
    if (state.info.num_components == 4) return JCS_CMYK;
    const bool padded = state.out.pixel == 4;
    switch (state.request.color) {
        case JpegColor::gray: return JCS_GRAYSCALE;
        case JpegColor::bgr: return padded ? JCS_EXT_BGRX : JCS_EXT_BGR;
        case JpegColor::rgb: break;
    }
    return padded ? JCS_EXT_RGBX : JCS_EXT_RGB;
}

void start(LibjpegState& state) {
    jpeg_decompress_struct& info = state.info;
    info.out_color_space = output_space(state);
    info.scale_num = 1;
    info.scale_denom = static_cast<unsigned>(state.request.denominator);
    info.dct_method = JDCT_ISLOW;
    info.do_fancy_upsampling = TRUE;
    jpeg_start_decompress(&info);
}

// Whether every component has come with all its bits, or the file is sequential and every component has come.
bool all_scans_came(const jpeg_decompress_struct& info) {
    for (int i = 0; i < info.num_components; i++) {
        if (!info.comp_info[i].quant_table) return false;  // set by the first scan that has the component
        for (int k = 0; info.coef_bits && k < DCTSIZE2; k++)
            if (info.coef_bits[i][k] != 0) return false;
    }
    return true;
}

// Where jpeg_crop_scanline of libjpeg-turbo 2.1 returns other pixels than a full decode, found by comparing
// all sizes up to 70: a component that is scaled up in the DCT as well as upsampled in either direction (4:1:0 at 1/2),
// because the cropped width is computed without the former; and the smoothing of progressive files that lack
// coefficients, which takes the border of the window for the border of the image.
bool needs_whole_rows(const jpeg_decompress_struct& info) {
    const int block = block_side(info);
    for (int i = 0; i < info.num_components; i++) {
        const jpeg_component_info& component = info.comp_info[i];
        const int side = block_side(component);
        if (side != block && (component.h_samp_factor * side != info.max_h_samp_factor * block ||
                              component.v_samp_factor * side != info.max_v_samp_factor * block))
            return true;
    }
    return info.progressive_mode && !all_scans_came(info);
}

// How far smooth upsampling looks to either side.
int64_t columns_beside(const jpeg_decompress_struct& info) {
    for (int i = 0; i < info.num_components; i++) {
        const jpeg_component_info& component = info.comp_info[i];
        if (component.h_samp_factor * block_side(component) != info.max_h_samp_factor * block_side(info))
            return 2 * info.max_h_samp_factor;
    }
    return 0;
}

// Leaves out what libjpeg can leave out. Inside of the window the pixels stay those of a decode of everything, bit for
// bit: libjpeg begins at whole MCUs, and columns beside the window are decoded for the upsampling.
void move_to_window(LibjpegState& state) {
    jpeg_decompress_struct& info = state.info;
    const Window& window = state.request.window;
    const int64_t full = info.output_width;
    state.line_first = 0;
    state.rows_before = window.y;
    if (needs_whole_rows(info)) return;
    const int64_t beside = columns_beside(info);
    const int64_t align = int64_t{block_side(info)} * (info.num_components == 1 ? 1 : info.max_h_samp_factor);
    const int64_t first = std::max<int64_t>(window.x - beside, 0) / align * align;
    const int64_t end = std::min(window.x + window.width + beside, full);
    if (end - first < full) {
        auto x = static_cast<JDIMENSION>(first), width = static_cast<JDIMENSION>(end - first);
        jpeg_crop_scanline(&info, &x, &width);
        state.line_first = x;
    }
    if (window.y > 0) jpeg_skip_scanlines(&info, static_cast<JDIMENSION>(window.y));
    state.rows_before = 0;
}

void convert_cmyk(uint8_t* out, uint8_t* in, const LibjpegState& state) {
    const int64_t width = state.out.width;
    if (state.request.color != JpegColor::gray)
        return cmyk_row_to_rgb(out, in, width, state.out.pixel, state.request.color == JpegColor::bgr ? 2 : 0);
    cmyk_row_to_rgb(in, in, width, 4, 0);
    for (int64_t x = 0; x < width; x++) out[x] = static_cast<uint8_t>(luma(in[4 * x], in[4 * x + 1], in[4 * x + 2]));
}

void read_rows(LibjpegState& state) {
    const View<uint8_t>& out = state.out;
    const int64_t bytes = state.info.output_components;
    uint8_t* wanted = state.line.data() + (state.request.window.x - state.line_first) * bytes;
    for (int64_t y = -state.rows_before; y < out.height; y++) {
        JSAMPROW row = state.line.data();
        jpeg_read_scanlines(&state.info, &row, 1);
        if (y < 0) continue;
        if (state.info.out_color_space == JCS_CMYK)
            convert_cmyk(out.at(y, 0), wanted, state);
        else
            std::memcpy(out.at(y, 0), wanted, static_cast<size_t>(out.width * bytes));
    }
}

void decode_window(LibjpegState& state) {
    state.decoding = true;
    start(state);
    move_to_window(state);
    read_rows(state);
}

bool out_of_data(LibjpegState& state) {
    if (!state.ended || state.starved) return state.starved;
    // Without its last marker a file may still be whole. Arithmetic decoders do not notice what they lack.
    if (state.info.arith_code || (jpeg_has_multiple_scans(&state.info) && !all_scans_came(state.info))) return true;
    if (state.warnings++ == 0)
        std::snprintf(state.warning, sizeof state.warning, "the file ends without an end-of-image marker");
    return false;
}

[[noreturn]] void throw_truncated(LibjpegState& state) {
    const jpeg_decompress_struct& info = state.info;
    std::string where = "row " + std::to_string(std::min<int64_t>(state.missing_row, info.image_height)) + " of " +
                        std::to_string(info.image_height) + " is the first missing";
    if (state.missing_scan > 1) where += ", in scan " + std::to_string(state.missing_scan);
    const auto present = std::to_string(state.file.size());
    attempt(state, abandon);
    throw Fault(FaultKind::truncated, "truncated JPEG: " + present + " bytes present, " + where);
}

[[noreturn]] void throw_error(LibjpegState& state) {
    if (state.ended) throw_truncated(state);
    attempt(state, abandon);
    const std::string text = state.error;
    switch (state.error_code) {
        case JERR_ARITH_NOTIMPL:
        case JERR_BAD_PRECISION:
        case JERR_CONVERSION_NOTIMPL:
        case JERR_FRACT_SAMPLE_NOTIMPL:
        case JERR_SOF_UNSUPPORTED: throw Fault(FaultKind::unsupported, "unsupported JPEG: " + text);
        case JERR_OUT_OF_MEMORY: throw Fault(FaultKind::too_large, "JPEG: no memory to decode it");
        default: throw Fault(FaultKind::corrupt, "corrupt JPEG: " + text);
    }
}

void refuse_by_name(const JpegHeader& header) {
    const auto refuse = [](const std::string& what) {
        throw Fault(FaultKind::unsupported, "unsupported JPEG: " + what);
    };
    if (header.lossless()) refuse("lossless coding");
    if (header.hierarchical()) refuse("hierarchical coding");
    if (header.bits != 8) refuse(std::to_string(header.bits) + " bits a sample, 8 are decoded");
    if (header.components != 1 && header.components != 3 && header.components != 4)
        refuse(std::to_string(header.components) + " color components; 1, 3 and 4 are decoded");
}

// Arithmetic-coded blocks of one color take next to nothing, so the size of a file sets no bound to that of its image.
// But the pixels take three bytes each, and libjpeg keeps the coefficients of a file with several scans, six bytes for
// each pixel. So what is larger than this must have a bit for each block, or is taken for a bomb.
constexpr uint64_t arithmetic_allowance = uint64_t{1} << 17;  // blocks: 8 million pixels, 48 MiB of coefficients

// A Huffman-coded block takes two bits at least, or one in the first scan of a progressive file. So a large image in a
// small file is found out before anything is allocated.
void check_substance(LibjpegState& state) {
    const jpeg_decompress_struct& info = state.info;
    const uint64_t blocks = uint64_t{info.image_width} * info.image_height / DCTSIZE2;
    const uint64_t room = state.file.size() * (info.progressive_mode || info.arith_code ? 8 : 4);
    if (room >= blocks) return;
    if (info.arith_code) {
        if (blocks <= arithmetic_allowance) return;
        throw Fault(FaultKind::too_large, "an arithmetic-coded JPEG of " + std::to_string(info.image_height) + " x " +
                                              std::to_string(info.image_width) + " pixels in " +
                                              std::to_string(state.file.size()) + " bytes, less than a bit for each " +
                                              "block of 64 pixels, is taken for a bomb");
    }
    state.missing_row = static_cast<int64_t>(room * info.image_height / blocks);
    throw_truncated(state);
}

}  // namespace

LibjpegDecoder::LibjpegDecoder() : state_(std::make_unique<LibjpegState>()) {
    LibjpegState& state = *state_;
    state.info.err = jpeg_std_error(&state.errors);
    state.info.client_data = &state;
    state.errors.error_exit = on_error;
    state.errors.emit_message = on_message;
    state.errors.output_message = on_output;
}

LibjpegDecoder::~LibjpegDecoder() { jpeg_destroy_decompress(&state_->info); }

void LibjpegDecoder::open(Bytes file, const Limits& limits) {
    LibjpegState& state = *state_;
    // jpeg_abort_decompress would keep the tables of the last file, for streams that leave theirs out. A file without
    // tables must not depend on what this thread decoded before.
    jpeg_destroy_decompress(&state.info);
    if (!attempt(state, create)) {
        if (state.error_code == JERR_OUT_OF_MEMORY) throw std::bad_alloc();
        throw std::runtime_error(std::string("libjpeg does not start: ") + state.error);
    }
    state.file = file;
    state.warnings = 0;
    state.warning[0] = state.loss[0] = 0;
    state.lost_row = 0;
    state.decoding = state.ended = state.starved = false;
    state.missing_row = state.missing_scan = 0;
    refuse_by_name(read_jpeg_header(file));
    state.source.next_input_byte = reinterpret_cast<const JOCTET*>(file.data());
    state.source.bytes_in_buffer = file.size();
    if (!attempt(state, read_header)) throw_error(state);
    check_extents(ImageFormat::jpeg, state.info.image_width, state.info.image_height, limits);
    if (jpeg_has_multiple_scans(&state.info)) check_scans(file, width(), height(), limits);
    check_substance(state);
}

int64_t LibjpegDecoder::height() const { return state_->info.image_height; }
int64_t LibjpegDecoder::width() const { return state_->info.image_width; }
int64_t LibjpegDecoder::warnings() const { return state_->warnings; }
const char* LibjpegDecoder::first_warning() const { return state_->warning; }

std::string LibjpegDecoder::lost_pixels() const {
    if (state_->loss[0] == 0) return {};
    const int64_t row = std::min<int64_t>(state_->lost_row, state_->info.image_height);
    return std::string(state_->loss) + " (pixels are missing from row " + std::to_string(row) + " of " +
           std::to_string(state_->info.image_height) + ")";
}

void LibjpegDecoder::decode(const JpegRequest& request, View<uint8_t> out) {
    LibjpegState& state = *state_;
    state.request = request;
    state.out = out;
    state.line.resize(size_t{state.info.image_width} * 4 + DCTSIZE * 16);  // any scale, any number of components
    if (!attempt(state, decode_window)) throw_error(state);
    if (out_of_data(state)) throw_truncated(state);
    attempt(state, abandon);
}

}  // namespace pixelmill

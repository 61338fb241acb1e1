#include "jpeg.h"

#include <algorithm>
#include <csetjmp>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

// clang-format off: they need <cstdio>, and in this order
#include <jerror.h>
#include <jpeglib.h>
// clang-format on

#include "../fault.h"
#include "cmyk.h"
#include "image.h"
#include "jpeg_entropy.h"
#include "jpeg_markers.h"

namespace pixelmill {

// libjpeg leaves by longjmp on an error. Everything between `attempt` and libjpeg is a plain function over this state,
// without an object that has a destructor; faults are thrown only after `attempt` has come back.
struct JpegState {
    jpeg_decompress_struct info{};
    jpeg_error_mgr errors{};
    jpeg_source_mgr source{};
    std::jmp_buf jump;

    Bytes file;
    JpegRequest request;
    Window made;              // what plan() promised
    bool whole_rows = false;  // the window has to be cut out by hand
    View<uint8_t> out;
    std::vector<uint8_t> line;  // one row on its way to `out`
    JpegEntropy entropy;
    bool by_itself = false;  // libjpeg decodes without our entropy decoder, which has given up

    char error[JMSG_LENGTH_MAX] = "";
    int error_code = 0;
    char warning[JMSG_LENGTH_MAX] = "";  // the first
    int64_t warnings = 0;
    bool decoding = false;  // the header is behind us
    bool ended = false;     // libjpeg asked for more bytes than there are
    bool starved = false;   // and lacked them for pixels
    int64_t missing_row = 0;
    int missing_scan = 0;
};

namespace {

JpegState& state_of(void* client_data) { return *static_cast<JpegState*>(client_data); }

void on_error(j_common_ptr info) {
    JpegState& state = state_of(info->client_data);
    state.error_code = info->err->msg_code;
    info->err->format_message(info, state.error);
    std::longjmp(state.jump, 1);
}

// Remembers the row and scan whose data did not come, in pixels of the picture.
void mark_missing(JpegState& state) {
    const jpeg_decompress_struct& info = state.info;
    if (!state.decoding) return;  // still in the header: row 0
    state.missing_row = int64_t{info.input_iMCU_row} * info.max_v_samp_factor * DCTSIZE;
    state.missing_scan = info.input_scan_number;
}

void on_message(j_common_ptr info, int level) {
    if (level >= 0) return;
    JpegState& state = state_of(info->client_data);
    if (state.warnings++ == 0) info->err->format_message(info, state.warning);
    if (info->err->msg_code == JWRN_HIT_MARKER && state.ended && !state.starved) {
        state.starved = true;
        mark_missing(state);
    }
}

void on_output(j_common_ptr) {}
void on_source(j_decompress_ptr) {}

// Called at the end of the data only: libjpeg gets an end-of-image marker so that it comes to an end by itself.
boolean on_empty(j_decompress_ptr info) {
    static const JOCTET end[2] = {0xFF, JPEG_EOI};
    JpegState& state = state_of(info->client_data);
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
bool attempt(JpegState& state, void (*work)(JpegState&)) {
    if (setjmp(state.jump)) return false;
    work(state);
    return true;
}

void create(JpegState& state) {
    jpeg_create_decompress(&state.info);
    state.source.init_source = on_source;
    state.source.fill_input_buffer = on_empty;
    state.source.skip_input_data = on_skip;
    state.source.resync_to_restart = jpeg_resync_to_restart;
    state.source.term_source = on_source;
    state.info.src = &state.source;
}

void abandon(JpegState& state) { jpeg_abort_decompress(&state.info); }

void read_header(JpegState& state) { jpeg_read_header(&state.info, TRUE); }

J_COLOR_SPACE output_space(const JpegState& state) {
    if (state.info.num_components == 4) return JCS_CMYK;
    switch (state.request.colour) {
        case JpegColour::gray: return JCS_GRAYSCALE;
        case JpegColour::bgr: return state.request.padded ? JCS_EXT_BGRX : JCS_EXT_BGR;
        case JpegColour::rgb: break;
    }
    return state.request.padded ? JCS_EXT_RGBX : JCS_EXT_RGB;
}

void configure(JpegState& state) {
    jpeg_decompress_struct& info = state.info;
    info.out_color_space = output_space(state);
    info.scale_num = 1;
    info.scale_denom = static_cast<unsigned>(state.request.denominator);
    info.dct_method = state.request.fast_idct ? JDCT_IFAST : JDCT_ISLOW;
    info.do_fancy_upsampling = TRUE;
    jpeg_calc_output_dimensions(&info);
}

// Every component has come with all its bits, or it is a sequential file and every component has come.
bool all_scans_came(const jpeg_decompress_struct& info) {
    for (int i = 0; i < info.num_components; i++) {
        if (!info.comp_info[i].quant_table) return false;  // set by the first scan that has the component
        for (int k = 0; info.coef_bits && k < DCTSIZE2; k++)
            if (info.coef_bits[i][k] != 0) return false;
    }
    return true;
}

void give_up(jpeg_decompress_struct& info) {
    JpegState& state = state_of(info.client_data);
    state.by_itself = true;
    std::longjmp(state.jump, 1);
}

void start(JpegState& state) {
    jpeg_start_decompress(&state.info);
    if (state.by_itself || state.request.plain) return;
    const auto first = static_cast<uint32_t>(state.made.x);
    state.entropy.take_over(state.info, {first, first + static_cast<uint32_t>(state.made.width)}, give_up);
}

void move_to_window(JpegState& state) {
    jpeg_decompress_struct& info = state.info;
    if (state.whole_rows) return;
    if (state.made.width < info.output_width) {
        auto x = static_cast<JDIMENSION>(state.made.x), width = static_cast<JDIMENSION>(state.made.width);
        jpeg_crop_scanline(&info, &x, &width);
    }
    if (state.made.y > 0) jpeg_skip_scanlines(&info, static_cast<JDIMENSION>(state.made.y));
}

void read_rows(JpegState& state) {
    constexpr int64_t most = 16;  // more than libjpeg makes at once
    const View<uint8_t>& out = state.out;
    for (int64_t y = 0; y < out.height;) {
        JSAMPROW rows[most];
        const int64_t count = std::min(most, out.height - y);
        for (int64_t i = 0; i < count; i++) rows[i] = out.at(y + i, 0);
        y += jpeg_read_scanlines(&state.info, rows, static_cast<JDIMENSION>(count));
    }
}

void convert_cmyk(uint8_t* out, uint8_t* in, const JpegState& state) {
    const int64_t width = state.out.width;
    if (state.request.colour != JpegColour::gray)
        return cmyk_row_to_rgb(out, in, width, state.out.pixel, state.request.colour == JpegColour::bgr ? 2 : 0);
    cmyk_row_to_rgb(in, in, width, 4, 0);
    for (int64_t x = 0; x < width; x++) out[x] = static_cast<uint8_t>(luma(in[4 * x], in[4 * x + 1], in[4 * x + 2]));
}

// For what libjpeg cannot write in place: CMYK, and rows it has to make as a whole.
void read_rows_through_line(JpegState& state) {
    const View<uint8_t>& out = state.out;
    const int64_t bytes = state.info.output_components;
    const int64_t before = state.whole_rows ? state.made.y : 0;
    uint8_t* wanted = state.line.data() + (state.whole_rows ? state.made.x * bytes : 0);
    for (int64_t y = -before; y < out.height; y++) {
        JSAMPROW row = state.line.data();
        jpeg_read_scanlines(&state.info, &row, 1);
        if (y < 0) continue;
        if (bytes == 4 && state.info.out_color_space == JCS_CMYK)
            convert_cmyk(out.at(y, 0), wanted, state);
        else
            std::memcpy(out.at(y, 0), wanted, static_cast<size_t>(out.width * bytes));
    }
}

// Where jpeg_crop_scanline of libjpeg-turbo 2.1 gives other pixels than a decode of everything, found by comparing
// all sizes up to 40: a component that is scaled up in the DCT as well as upsampled (4:1:0 at 1/2), because the
// cropped width is computed without the former; and the smoothing of progressive files that lack coefficients, which
// takes the border of the window for the border of the picture.
bool needs_whole_rows(const jpeg_decompress_struct& info) {
    const int block = info.min_DCT_scaled_size;
    for (int i = 0; i < info.num_components; i++) {
        const jpeg_component_info& component = info.comp_info[i];
        if (component.DCT_scaled_size != block &&
            component.h_samp_factor * component.DCT_scaled_size != info.max_h_samp_factor * block)
            return true;
    }
    return info.progressive_mode && !all_scans_came(info);
}

// The columns at which libjpeg can begin, and how far its upsampling looks to either side.
struct Columns {
    int64_t align = 1, reach = 0;
};

Columns columns_of(const jpeg_decompress_struct& info) {
    Columns columns;
    const int64_t block = info.min_DCT_scaled_size;
    columns.align = info.num_components == 1 ? block : block * info.max_h_samp_factor;
    for (int i = 0; i < info.num_components; i++) {
        const jpeg_component_info& component = info.comp_info[i];
        if (component.h_samp_factor * component.DCT_scaled_size != info.max_h_samp_factor * block)
            columns.reach = 2 * info.max_h_samp_factor;
    }
    return columns;
}

void decode_window(JpegState& state) {
    state.decoding = true;
    start(state);
    const bool part = !(state.made == Window{0, 0, state.info.output_height, state.info.output_width});
    state.whole_rows = part && needs_whole_rows(state.info);
    const bool through_line = state.whole_rows || state.info.out_color_space == JCS_CMYK;
    if (through_line)
        state.line.resize(size_t{state.info.output_width} * static_cast<size_t>(state.info.output_components));
    move_to_window(state);
    through_line ? read_rows_through_line(state) : read_rows(state);
}

bool out_of_data(JpegState& state) {
    if (!state.ended || state.starved) return state.starved;
    // Without its last marker a file may still be whole. Arithmetic decoders do not notice what they lack.
    if (state.info.arith_code || (jpeg_has_multiple_scans(&state.info) && !all_scans_came(state.info))) return true;
    if (state.warnings++ == 0)
        std::snprintf(state.warning, sizeof state.warning, "the file ends without an end-of-image marker");
    return false;
}

[[noreturn]] void throw_truncated(JpegState& state) {
    const jpeg_decompress_struct& info = state.info;
    std::string where = "row " + std::to_string(std::min<int64_t>(state.missing_row, info.image_height)) + " of " +
                        std::to_string(info.image_height) + " is the first missing";
    if (state.missing_scan > 1) where += ", in scan " + std::to_string(state.missing_scan);
    const auto present = std::to_string(state.file.size());
    attempt(state, abandon);
    throw Fault(FaultKind::truncated, "truncated JPEG: " + present + " bytes present, " + where);
}

[[noreturn]] void throw_error(JpegState& state) {
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
        refuse(std::to_string(header.components) + " colour components; 1, 3 and 4 are decoded");
}

void check_scans(const JpegState& state, const Limits& limits) {
    const int64_t pixels = int64_t{state.info.image_width} * state.info.image_height;
    const int64_t most = std::min(limits.scans, limits.scan_pixels / pixels);
    if (count_scans(state.file, most) <= most) return;
    throw Fault(FaultKind::too_large, "JPEG of more than " + std::to_string(most) + " scans of " +
                                          std::to_string(state.info.image_width) + "x" +
                                          std::to_string(state.info.image_height) + " pixels: the limits are " +
                                          std::to_string(limits.scans) + " scans and " +
                                          std::to_string(limits.scan_pixels) + " pixels in all of them");
}

// Reads the header, from the first byte on.
void begin(JpegState& state) {
    state.source.next_input_byte = reinterpret_cast<const JOCTET*>(state.file.data());
    state.source.bytes_in_buffer = state.file.size();
    state.warnings = 0;
    state.warning[0] = 0;
    state.decoding = state.ended = state.starved = false;
    state.missing_row = state.missing_scan = 0;
    if (!attempt(state, read_header)) throw_error(state);
}

// A Huffman-coded block takes two bits at least, or one in the first scan of a progressive file. So a large picture in
// a small file is found out before anything is allocated.
void check_substance(JpegState& state) {
    const jpeg_decompress_struct& info = state.info;
    const uint64_t blocks = uint64_t{info.image_width} * info.image_height / DCTSIZE2;
    const uint64_t room = state.file.size() * (info.progressive_mode ? 8 : 4);
    if (info.arith_code || room >= blocks) return;
    state.missing_row = static_cast<int64_t>(room * info.image_height / blocks);
    throw_truncated(state);
}

}  // namespace

JpegReader::JpegReader() : state_(std::make_unique<JpegState>()) {
    JpegState& state = *state_;
    state.info.err = jpeg_std_error(&state.errors);
    state.info.client_data = &state;
    state.errors.error_exit = on_error;
    state.errors.emit_message = on_message;
    state.errors.output_message = on_output;
    if (!attempt(state, create)) throw std::runtime_error(std::string("libjpeg does not start: ") + state.error);
}

JpegReader::~JpegReader() { jpeg_destroy_decompress(&state_->info); }

void JpegReader::open(Bytes file, const Limits& limits) {
    JpegState& state = *state_;
    attempt(state, abandon);
    refuse_by_name(read_jpeg_header(file));
    state.file = file;
    state.by_itself = false;
    begin(state);
    check_extents(ImageFormat::jpeg, state.info.image_width, state.info.image_height, limits);
    if (jpeg_has_multiple_scans(&state.info)) check_scans(state, limits);
    check_substance(state);
}

int64_t JpegReader::height() const { return state_->info.image_height; }
int64_t JpegReader::width() const { return state_->info.image_width; }
int64_t JpegReader::warnings() const { return state_->warnings; }
const char* JpegReader::first_warning() const { return state_->warning; }

int64_t JpegReader::pixel_bytes() const {
    return state_->request.colour == JpegColour::gray ? 1 : state_->request.padded ? 4 : 3;
}

Window JpegReader::plan(const JpegRequest& request) {
    JpegState& state = *state_;
    state.request = request;
    if (!attempt(state, configure)) throw_error(state);
    const Columns columns = columns_of(state.info);
    const int64_t full = state.info.output_width, wanted_end = request.window.x + request.window.width;
    if (request.window.x < 0 || request.window.y < 0 || request.window.width <= 0 || request.window.height <= 0 ||
        wanted_end > full || request.window.y + request.window.height > state.info.output_height)
        throw std::logic_error("JpegReader: the window lies outside of the scaled picture");
    const int64_t begin = std::max<int64_t>(request.window.x - columns.reach, 0) / columns.align * columns.align;
    const int64_t end = std::min(wanted_end + columns.reach, full);
    state.made = {request.window.y, begin, request.window.height, end - begin};
    return state.made;
}

void JpegReader::decode(View<uint8_t> out) {
    JpegState& state = *state_;
    state.out = out;
    if (!attempt(state, decode_window)) {
        if (!state.by_itself) throw_error(state);
        attempt(state, abandon);
        begin(state);
        if (!attempt(state, configure) || !attempt(state, decode_window)) throw_error(state);
    }
    if (out_of_data(state)) throw_truncated(state);
    attempt(state, abandon);
}

}  // namespace pixelmill

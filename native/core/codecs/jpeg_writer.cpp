#include "jpeg_writer.h"

#include <algorithm>
#include <csetjmp>
#include <cstdio>
#include <stdexcept>
#include <string>

// clang-format off: they need <cstdio>, and in this order
#include <jerror.h>
#include <jpeglib.h>
// clang-format on

#include "../fault.h"
#include "jpeg_entropy_writer.h"

namespace pixelmill {

// libjpeg leaves by longjmp on an error. As in jpeg.cpp, everything between `attempt` and libjpeg is a plain function
// over this state, without an object that has a destructor; faults are thrown only after `attempt` has come back.
struct JpegWriterState {
    jpeg_compress_struct info{};
    jpeg_error_mgr errors{};
    jpeg_destination_mgr target{};
    std::jmp_buf jump;
    JpegEntropyWriter entropy;

    View<const uint8_t> picture;
    JpegRows made;  // where the picture does not lie in memory
    int quality = 0;
    ChromaSampling sampling = ChromaSampling::quarter;
    std::vector<std::byte>* out = nullptr;
    char error[JMSG_LENGTH_MAX] = "";
    int error_code = 0;
};

namespace {

JpegWriterState& state_of(void* client_data) { return *static_cast<JpegWriterState*>(client_data); }

void on_error(j_common_ptr info) {
    JpegWriterState& state = state_of(info->client_data);
    state.error_code = info->err->msg_code;
    info->err->format_message(info, state.error);
    std::longjmp(state.jump, 1);
}

void on_message(j_common_ptr, int) {}
void on_output(j_common_ptr) {}

// Nothing may be thrown through libjpeg.
bool grow(std::vector<std::byte>& out, size_t size) noexcept {
    try {
        out.resize(size);
        return true;
    } catch (const std::bad_alloc&) {
        return false;
    }
}

void offer(JpegWriterState& state, size_t used, size_t size) {
    if (!grow(*state.out, size)) {
        std::snprintf(state.error, sizeof state.error, "no memory for %zu bytes", size);
        state.error_code = JERR_OUT_OF_MEMORY;
        std::longjmp(state.jump, 1);
    }
    state.target.next_output_byte = reinterpret_cast<JOCTET*>(state.out->data()) + used;
    state.target.free_in_buffer = size - used;
}

void on_begin(j_compress_ptr info) {
    JpegWriterState& state = state_of(info->client_data);
    constexpr size_t least = 4096;  // libjpeg writes its header in one piece
    offer(state, 0, std::max(least, state.out->capacity()));
}

boolean on_full(j_compress_ptr info) {
    JpegWriterState& state = state_of(info->client_data);
    offer(state, state.out->size(), 2 * state.out->size());
    return TRUE;
}

void on_end(j_compress_ptr info) {
    JpegWriterState& state = state_of(info->client_data);
    grow(*state.out, state.out->size() - state.target.free_in_buffer);
}

// The one setjmp. False: libjpeg gave up, the reason is in state.error.
bool attempt(JpegWriterState& state, void (*work)(JpegWriterState&)) {
    if (setjmp(state.jump)) return false;
    work(state);
    return true;
}

void create(JpegWriterState& state) {
    jpeg_create_compress(&state.info);
    state.target.init_destination = on_begin;
    state.target.empty_output_buffer = on_full;
    state.target.term_destination = on_end;
    state.info.dest = &state.target;
}

void abandon(JpegWriterState& state) { jpeg_abort_compress(&state.info); }

void set_sampling(jpeg_compress_struct& info, ChromaSampling sampling) {
    if (info.num_components != 3) return;
    info.comp_info[0].h_samp_factor = sampling == ChromaSampling::full ? 1 : 2;
    info.comp_info[0].v_samp_factor = sampling == ChromaSampling::quarter ? 2 : 1;
}

void write(JpegWriterState& state) {
    constexpr int64_t most = JpegRows::at_once;
    jpeg_compress_struct& info = state.info;
    const View<const uint8_t>& picture = state.picture;
    info.image_width = static_cast<JDIMENSION>(picture.width);
    info.image_height = static_cast<JDIMENSION>(picture.height);
    info.input_components = static_cast<int>(picture.pixel);
    info.in_color_space = picture.channels == 1 ? JCS_GRAYSCALE : picture.pixel == 4 ? JCS_EXT_RGBX : JCS_EXT_RGB;
    jpeg_set_defaults(&info);
    set_sampling(info, state.sampling);
    jpeg_set_quality(&info, state.quality, TRUE);
    jpeg_start_compress(&info, TRUE);
    state.entropy.take_over(info);
    for (int64_t y = 0; y < picture.height;) {
        JSAMPROW rows[most];
        const int64_t count = std::min(most, picture.height - y);
        const int64_t first = state.made.make == nullptr ? y : 0;
        if (state.made.make != nullptr) state.made.make(state.made.source, y, count);
        // libjpeg only reads, and takes all rows since the target never makes it wait.
        for (int64_t i = 0; i < count; ++i) rows[i] = const_cast<JSAMPROW>(picture.at(first + i, 0));
        y += jpeg_write_scanlines(&info, rows, static_cast<JDIMENSION>(count));
    }
    jpeg_finish_compress(&info);
}

}  // namespace

JpegWriter::JpegWriter() : state_(std::make_unique<JpegWriterState>()) {
    JpegWriterState& state = *state_;
    state.info.err = jpeg_std_error(&state.errors);
    state.info.client_data = &state;
    state.errors.error_exit = on_error;
    state.errors.emit_message = on_message;
    state.errors.output_message = on_output;
    if (!attempt(state, create)) throw std::runtime_error(std::string("libjpeg does not start: ") + state.error);
}

JpegWriter::~JpegWriter() { jpeg_destroy_compress(&state_->info); }

void JpegWriter::encode(View<const uint8_t> picture, int quality, ChromaSampling sampling,
                        std::vector<std::byte>& out) {
    encode(JpegRows{picture}, quality, sampling, out);
}

void JpegWriter::encode(const JpegRows& made, int quality, ChromaSampling sampling, std::vector<std::byte>& out) {
    const View<const uint8_t>& picture = made.rows;
    const bool gray = picture.channels == 1 && picture.pixel == 1;
    const bool colours = picture.channels == 3 && picture.channel == 1 && (picture.pixel == 3 || picture.pixel == 4);
    if (!gray && !colours) throw std::logic_error("JpegWriter: pixels must be packed, of one or three channels");
    if (picture.width < 1 || picture.height < 1 || picture.width > JPEG_MAX_DIMENSION ||
        picture.height > JPEG_MAX_DIMENSION) {
        throw Fault(FaultKind::unsupported,
                    "JPEG: a picture of " + std::to_string(picture.height) + "x" + std::to_string(picture.width) +
                        " pixels cannot be written, sides are from 1 to " + std::to_string(JPEG_MAX_DIMENSION));
    }
    JpegWriterState& state = *state_;
    state.picture = picture;
    state.made = made;
    state.quality = std::clamp(quality, 1, 100);
    state.sampling = sampling;
    state.out = &out;
    if (attempt(state, write)) return;
    attempt(state, abandon);
    const FaultKind kind = state.error_code == JERR_OUT_OF_MEMORY ? FaultKind::too_large : FaultKind::unsupported;
    throw Fault(kind, std::string("JPEG: the picture cannot be written: ") + state.error);
}

}  // namespace pixelmill

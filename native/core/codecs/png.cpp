#include "png.h"

#include <png.h>

#include <array>
#include <atomic>
#include <bit>
#include <csetjmp>
#include <cstdio>
#include <cstring>
#include <new>
#include <vector>

#include "../fault.h"
#include "png_plain.h"

namespace pixelmill {
namespace {

std::atomic<bool> libpng_forced = false;

// libpng leaves by longjmp on an error. Everything between `attempt` and libpng is a plain function over this state,
// without an object that has a destructor; faults are thrown only after `attempt` has come back.
struct PngState {
    PngState() = default;
    PngState(const PngState&) = delete;
    ~PngState() { png_destroy_read_struct(&png, &info, nullptr); }

    png_structp png = nullptr;
    png_infop info = nullptr;
    std::jmp_buf jump;

    Bytes file;
    size_t position = 0;
    PngRequest request;
    View<uint8_t> out;
    std::vector<uint8_t> spare;       // a row that is not needed
    std::vector<png_bytep> all_rows;  // of an interlaced image
    int64_t row = 0;                  // the next to come

    char error[128] = "";
    char warning[128] = "";
    int64_t warnings = 0;
    bool ended = false;  // libpng asked for more bytes than there are
};

void on_error(png_structp png, png_const_charp text) {
    auto& state = *static_cast<PngState*>(png_get_error_ptr(png));
    std::snprintf(state.error, sizeof state.error, "%s", text);
    std::longjmp(state.jump, 1);
}

void on_warning(png_structp png, png_const_charp text) {
    auto& state = *static_cast<PngState*>(png_get_error_ptr(png));
    if (state.warnings++ == 0) std::snprintf(state.warning, sizeof state.warning, "%s", text);
}

void on_read(png_structp png, png_bytep out, size_t count) {
    auto& state = *static_cast<PngState*>(png_get_io_ptr(png));
    if (count > state.file.size() - state.position) {
        state.ended = true;
        png_error(png, "the data ends");
    }
    std::memcpy(out, state.file.data() + state.position, count);
    state.position += count;
}

// The one setjmp. False: libpng gave up, the reason is in state.error.
bool attempt(PngState& state, void (*work)(PngState&)) {
    if (setjmp(state.jump)) return false;
    work(state);
    return true;
}

void create(PngState& state) {
    state.png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &state, on_error, on_warning);
    if (!state.png) return;
    state.info = png_create_info_struct(state.png);
    png_set_read_fn(state.png, &state, on_read);
    // Everything but IHDR, PLTE, tRNS, IDAT and IEND is skipped.
    png_set_keep_unknown_chunks(state.png, PNG_HANDLE_CHUNK_NEVER, nullptr, -1);
    // Our own limits were checked before; libpng's stricter default on a side must not interfere.
    png_set_user_limits(state.png, 0x7FFFFFFF, 0x7FFFFFFF);
}

void configure(PngState& state) {
    png_structp png = state.png;
    const PngRequest& request = state.request;
    png_read_info(png, state.info);
    if (request.indices && png_get_color_type(png, state.info) == PNG_COLOR_TYPE_PALETTE)
        png_set_packing(png);  // 1, 2, 4 bits to whole bytes
    else
        png_set_expand(png);  // palettes and 1, 2, 4 bits to whole bytes, tRNS to alpha
    if (!request.sixteen)
        png_set_strip_16(png);
    else if (std::endian::native == std::endian::little)
        png_set_swap(png);
    if (!request.alpha) png_set_strip_alpha(png);
    if (request.rgb) png_set_gray_to_rgb(png);
    if (request.bgr) png_set_bgr(png);
    png_set_interlace_handling(png);
    png_read_update_info(png, state.info);
}

void read_rows(PngState& state) {
    const int64_t end = state.request.first_row + state.out.height;
    for (; state.row < end; state.row++) {
        const bool wanted = state.row >= state.request.first_row;
        png_read_row(state.png, wanted ? state.out.at(state.row - state.request.first_row, 0) : state.spare.data(),
                     nullptr);
    }
}

void read_interlaced(PngState& state) { png_read_image(state.png, state.all_rows.data()); }

void finish(PngState& state) { png_read_end(state.png, nullptr); }

[[noreturn]] void throw_error(const PngState& state) {
    const std::string text = state.error;
    if (state.ended)
        throw Fault(FaultKind::truncated, "truncated PNG: " + std::to_string(state.file.size()) +
                                              " bytes present, row " + std::to_string(state.row) +
                                              " is the first missing");
    throw Fault(FaultKind::corrupt, "corrupt PNG: " + text);
}

// A row that is cut out of an interlaced image needs all of the image.
void decode_interlaced(PngState& state, const ImageInfo& info) {
    const size_t bytes = png_get_rowbytes(state.png, state.info);
    std::vector<uint8_t> others;
    const int64_t first = state.request.first_row, end = first + state.out.height;
    others.resize(bytes * static_cast<size_t>(info.height - state.out.height));
    uint8_t* other = others.data();
    for (int64_t y = 0; y < info.height; y++) {
        const bool wanted = y >= first && y < end;
        state.all_rows.push_back(wanted ? state.out.at(y - first, 0) : other);
        if (!wanted) other += bytes;
    }
    if (!attempt(state, read_interlaced)) throw_error(state);
}

}  // namespace

int png_channels(const ImageInfo& info, const PngRequest& request, Bytes file) {
    constexpr unsigned palette = 3;
    if (request.indices && byte_at(file, 25) == palette) return 1;
    const bool alpha = info.channels == 2 || info.channels == 4;
    const int colors = request.rgb ? 3 : info.channels - alpha;
    return colors + (request.alpha && alpha);
}

void check_png_substance(Bytes file, const ImageInfo& info) {
    constexpr std::array<uint64_t, 7> samples{1, 0, 3, 1, 2, 0, 4};  // a palette index is one
    const uint64_t bits = byte_at(file, 24) * samples[byte_at(file, 25)];
    const uint64_t packed = static_cast<uint64_t>(info.height) * ((static_cast<uint64_t>(info.width) * bits + 7) / 8);
    if (packed / 1032 <= file.size()) return;
    throw Fault(FaultKind::truncated, "truncated PNG: " + std::to_string(file.size()) + " bytes present cannot hold " +
                                          std::to_string(info.width) + "x" + std::to_string(info.height) + " pixels");
}

void force_libpng(bool forced) { libpng_forced = forced; }

PngWarnings decode_png(View<uint8_t> out, Bytes file, const ImageInfo& info, const PngRequest& request) {
    if (!libpng_forced && decode_plain_png(out, file, info, request)) return {};
    PngState state;
    state.file = file;
    state.request = request;
    state.out = out;
    if (!attempt(state, create) || !state.png || !state.info) throw std::bad_alloc();
    if (!attempt(state, configure)) throw_error(state);
    const size_t bytes = png_get_rowbytes(state.png, state.info);
    if (bytes != static_cast<size_t>(out.width * out.pixel))
        throw Fault(FaultKind::corrupt, "corrupt PNG: its transparency chunk is damaged or misplaced");
    if (png_get_interlace_type(state.png, state.info) != PNG_INTERLACE_NONE) {
        decode_interlaced(state, info);
    } else {
        if (request.first_row > 0) state.spare.resize(bytes);
        if (!attempt(state, read_rows)) throw_error(state);
    }
    // The last checksum is verified when the end is read. Lacking only the end, the image is whole.
    if (request.first_row + out.height == info.height && !attempt(state, finish)) {
        if (!state.ended) throw_error(state);
        if (state.warnings++ == 0)
            std::snprintf(state.warning, sizeof state.warning, "the file ends before its IEND chunk");
    }
    return {state.warnings, state.warning};
}

}  // namespace pixelmill

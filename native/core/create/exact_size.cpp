#include "exact_size.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>

#include "../codecs/bmp_writer.h"
#include "../codecs/png_writer.h"
#include "../fault.h"
#include "../kernels/draws.h"
#include "streams.h"

namespace pixelmill {

namespace {

// Bytes that compress as much as the recipe wants: zeros, or numbers that do not compress at all.
void fill_padding(const Recipe& recipe, const Plan& plan, std::byte* to, size_t count) {
    if (recipe.compress_ratio > 1) {
        std::memset(to, 0, count);
        return;
    }
    const StreamId stream = bulk_stream(recipe.content, {recipe.seed, plan.source}, Purpose::padding);
    for_each_words(stream, static_cast<int64_t>(count + 3) / 4,
                   [&](const uint32_t* words, int64_t first, int64_t part) {
                       const size_t at = static_cast<size_t>(first) * 4;
                       std::memcpy(to + at, words, std::min(static_cast<size_t>(part) * 4, count - at));
                   });
}

[[noreturn]] void refuse(const char* format, int64_t wanted, const std::string& reason) {
    throw Fault(FaultKind::argument, std::string(format) + ": a file of exactly " + std::to_string(wanted) +
                                         " bytes is not possible, " + reason);
}

// Comment segments after the first one (JFIF's), and up to three fill bytes, which may precede any marker.
void pad_jpeg(const Recipe& recipe, const Plan& plan, size_t count, std::vector<std::byte>& out) {
    constexpr size_t frame = 4, most = 65537;
    if (count == 0) return;
    const auto byte_at = [&](size_t i) { return std::to_integer<size_t>(out[i]); };
    const size_t at = out.size() > 6 && byte_at(3) == 0xE0 ? 4 + (byte_at(4) << 8 | byte_at(5)) : 2;
    out.insert(out.begin() + static_cast<std::ptrdiff_t>(at), count, std::byte{0xFF});
    std::byte* to = out.data() + at;
    while (count >= frame) {
        size_t part = std::min(count, most);
        if (count - part > 0 && count - part < frame) part -= frame;
        const auto length = static_cast<uint16_t>(part - 2);
        to[1] = std::byte{0xFE};
        to[2] = static_cast<std::byte>(length >> 8), to[3] = static_cast<std::byte>(length);
        fill_padding(recipe, plan, to + frame, part - frame);
        to += part;
        count -= part;
    }
}

void pad_png(const Recipe& recipe, const Plan& plan, int64_t wanted, std::vector<std::byte>& out) {
    const auto size = static_cast<int64_t>(out.size()), count = wanted - size - 12;
    if (wanted == size) return;
    if (count < 0) {
        refuse("png", wanted,
               "this image takes " + std::to_string(size) + "; ask for at least " + std::to_string(size + 12));
    }
    const size_t content = add_png_chunk(out, static_cast<size_t>(count));
    fill_padding(recipe, plan, out.data() + content, static_cast<size_t>(count));
    seal_png_chunk(out, content, static_cast<size_t>(count));
}

// How many bytes the file is to have, from what it has without padding.
int64_t wanted_bytes(const Recipe& recipe, const Plan& plan, size_t size) {
    if (plan.bytes > 0) return plan.bytes;
    return static_cast<int64_t>(std::floor(static_cast<double>(size) * recipe.compress_ratio + 0.5));
}

}  // namespace

void FileWriter::search_quality(const Plan& plan, View<const uint8_t> image, ChromaSampling sampling, int64_t most,
                                std::vector<std::byte>& out) {
    int low = 1, high = 100, best = 0, last = 0;
    while (low <= high) {
        last = (low + high) / 2;
        jpeg_.encode(image, last, sampling, out);
        if (static_cast<int64_t>(out.size()) <= most) {
            best = last;
            low = last + 1;
        } else {
            high = last - 1;
        }
    }
    if (best == 0) {
        refuse("jpg", plan.bytes,
               "the lowest quality of this image takes " + std::to_string(out.size()) +
                   (most < plan.bytes ? " before padding" : "") + "; ask for more, or for fewer pixels");
    }
    if (last != best) jpeg_.encode(image, best, sampling, out);
}

void FileWriter::write_noise(const Recipe& recipe, const Plan& plan, View<uint8_t> rows, std::vector<std::byte>& out) {
    struct Source {
        View<uint8_t> rows;
        ImageId id;
    };
    const Source source{rows, {recipe.seed, plan.source}};
    View<const uint8_t> shown = rows;
    shown.height = plan.height;
    const JpegRows made{shown, &source, [](const void* from, int64_t y, int64_t count) {
                            const auto& source = *static_cast<const Source*>(from);
                            View<uint8_t> band = source.rows;
                            band.height = count;
                            draw_noise_rows(band, source.id, y);
                        }};
    jpeg_.encode(made, plan.quality, plan.full_color ? ChromaSampling::full : ChromaSampling::quarter, out);
    pad_jpeg(recipe, plan, static_cast<size_t>(wanted_bytes(recipe, plan, out.size())) - out.size(), out);
}

void FileWriter::write(const Recipe& recipe, const Plan& plan, View<const uint8_t> image, std::vector<std::byte>& out) {
    switch (recipe.format) {
        case FileFormat::jpg: {
            const ChromaSampling sampling = plan.full_color ? ChromaSampling::full : ChromaSampling::quarter;
            if (plan.bytes > 0) {
                const double content = static_cast<double>(plan.bytes) / recipe.compress_ratio;
                search_quality(plan, image, sampling, static_cast<int64_t>(content), out);
            } else {
                jpeg_.encode(image, plan.quality, sampling, out);
            }
            const int64_t wanted = wanted_bytes(recipe, plan, out.size());
            pad_jpeg(recipe, plan, static_cast<size_t>(wanted) - out.size(), out);
            return;
        }
        case FileFormat::png: {
            const bool noise = recipe.content == Content::noise;
            encode_png(image, noise ? PngFormat{.level = 0} : PngFormat{}, out);
            if (plan.bytes > 0 || recipe.compress_ratio > 1) {
                const int64_t wanted = wanted_bytes(recipe, plan, out.size());
                const auto size = static_cast<int64_t>(out.size());
                pad_png(recipe, plan, plan.bytes > 0 ? wanted : std::max(wanted, size + 12), out);
            }
            return;
        }
        case FileFormat::bmp: {
            encode_bmp(image, 0, out);
            const auto size = static_cast<int64_t>(out.size()), wanted = wanted_bytes(recipe, plan, out.size());
            if (wanted == size) return;
            if (wanted < size) refuse("bmp", wanted, "this image takes " + std::to_string(size));
            const auto gap = static_cast<size_t>(wanted - size);
            encode_bmp(image, gap, out);
            fill_padding(recipe, plan, out.data() + bmp_header_bytes(image.channels), gap);
            return;
        }
    }
}

}  // namespace pixelmill

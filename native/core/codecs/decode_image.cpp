#include "decode_image.h"

#include <algorithm>
#include <array>
#include <string>

#include "../file.h"
#include "external_decoder.h"
#include "jpeg.h"
#include "pack_decoder.h"
#include "png.h"

namespace pixelmill {
namespace {

using Shape = std::array<int64_t, 3>;

Value cut(const Value& image, int64_t y, int64_t x, int64_t height, int64_t width) {
    Value part = image;
    part.data += (y * image.stride[0] + x * image.stride[1]) * size_of(image.dtype);
    part.shape[0] = height;
    part.shape[1] = width;
    return part;
}

Window stored_part(const ImageInfo& info, const DecodeRequest& request) {
    const auto scaled = [&](int64_t extent) { return (extent + request.denominator - 1) / request.denominator; };
    return to_stored(request.part, orientation_of(info, request), scaled(info.height), scaled(info.width));
}

// The last step: convert `part`, which is oriented and cropped already, or return it unchanged.
Value finish(Context& context, const Value& part, const ImageInfo& info, const DecodeRequest& request, bool convert) {
    if (!convert) return part;
    const Shape shape{part.shape[0], part.shape[1], channels_of(info, request.color)};
    const Value out = context.allocate(0, request.dtype, shape);
    convert_pixels(out, part, request.color);
    return out;
}

void read_jpeg(Context& context, Bytes file, const JpegRequest& request, const View<uint8_t>& out) {
    JpegReader& reader = context.thread.jpeg_reader();
    reader.open(file, context.limits);
    reader.decode(request, out);
    // First, so that the message is about the loss.
    if (const std::string loss = reader.lost_pixels(); !loss.empty())
        context.note(Note::missing_pixels, "libjpeg: " + loss);
    if (reader.warnings() > 0) context.note(Note::decoder_warning, "libjpeg: " + std::string(reader.first_warning()));
}

// Reads a range of an image of which only the beginning is there.
void read_range(const File& source, const SparseImage& image, std::byte* out, const ByteRange& range) {
    const auto begin = static_cast<int64_t>(range.offset), end = begin + static_cast<int64_t>(range.length);
    const int64_t first = std::clamp(image.have, begin, end);
    std::copy(image.data + begin, image.data + first, out);
    if (first < end) source.read(out + (first - begin), end - first, image.offset + first);
}

void unpack(Context& context, Bytes file, const JpegRequest& request, const View<uint8_t>& out) {
    PackDecoder& decoder = context.thread.pack_decoder();
    decoder.open(file, context.limits);
    for (const SparseImage& image : context.sparse) {
        if (image.data != file.data()) continue;
        const File& source = context.thread.file_of_records(image.path);
        return decoder.decode(request, out,
                              [&](std::byte* to, const ByteRange& range) { read_range(source, image, to, range); });
    }
    decoder.decode(request, out);
}

// Colors cannot be turned into class numbers: refuse them rather than to guess.
void check_indices(const ImageInfo& info, int channels) {
    if (channels == 1) return;
    throw Fault(FaultKind::unsupported, std::string(name_of(info.format)) +
                                            ": a mask needs one channel of class numbers, got " +
                                            std::to_string(channels) + " channels; store it as a gray or palette PNG");
}

// Also of packed ones.
Value decode_jpeg(Context& context, Bytes file, const ImageInfo& info, const DecodeRequest& request) {
    const bool convert = request.dtype != DType::u8 || request.color == Color::ycbcr;
    const int channels = channels_of(info, request.color);
    if (request.color == Color::index) check_indices(info, info.channels);
    const Orientation orientation = orientation_of(info, request);
    const Window wanted = stored_part(info, request);
    JpegRequest jpeg{JpegColor::rgb, request.denominator, wanted};
    if (channels == 1)
        jpeg.color = JpegColor::gray;
    else if (request.color == Color::bgr && !convert)
        jpeg.color = JpegColor::bgr;
    const bool padded = request.padded && !convert && channels == 3;
    const bool direct = orientation == Orientation{} && !convert && !padded;
    const Shape shape{wanted.height, wanted.width, padded ? 4 : channels};
    Value image = direct ? context.allocate(0, DType::u8, shape) : context.scratch(DType::u8, shape);
    const View<uint8_t> out{
        image.as<uint8_t>(), wanted.height, wanted.width, channels, image.stride[0], image.stride[1], 1};
    info.format == ImageFormat::pack ? unpack(context, file, jpeg, out) : read_jpeg(context, file, jpeg, out);
    image.shape[2] = channels;
    return finish(context, oriented(image, orientation), info, request, convert);
}

Value decode_png(Context& context, Bytes file, const ImageInfo& info, const DecodeRequest& request) {
    const Orientation orientation = orientation_of(info, request);
    const Window wanted = stored_part(info, request);
    check_png_substance(file, info);
    PngRequest png;
    png.indices = request.color == Color::index;
    png.rgb = request.color != Color::gray && request.color != Color::any && !png.indices;
    png.alpha = request.color == Color::any;
    png.sixteen = info.bits == 16 && request.dtype != DType::u8;
    const int channels = png_channels(info, png, file);
    if (png.indices) check_indices(info, channels);
    const DType made = png.sixteen ? DType::u16 : DType::u8;
    const bool convert =
        request.dtype != made || request.color == Color::ycbcr || channels != channels_of(info, request.color);
    png.bgr = request.color == Color::bgr && !convert;
    png.first_row = wanted.y;
    const bool direct = wanted.width == info.width && orientation == Orientation{} && !convert;
    const Shape shape{wanted.height, info.width, channels};
    const Value image = direct ? context.allocate(0, made, shape) : context.scratch(made, shape);
    const int64_t item = size_of(made);
    const auto warnings = decode_png(
        {image.as<uint8_t>(), shape[0], shape[1], channels, image.stride[0] * item, image.stride[1] * item, item}, file,
        info, png);
    if (warnings.count > 0) context.note(Note::decoder_warning, "libpng: " + warnings.first);
    const Value part = cut(image, 0, wanted.x, wanted.height, wanted.width);
    return finish(context, oriented(part, orientation), info, request, convert);
}

Value decode_elsewhere(Context& context, Bytes file, const ImageInfo& info, const DecodeRequest& request) {
    const auto allocate = [&](int64_t bytes) { return context.scratch(DType::u8, std::array{bytes}).data; };
    const ExternalImage made = decode_external(file, info, context.limits, allocate);
    if (request.color == Color::index) check_indices(info, made.channels);
    Value image{made.data, made.bits == 16 ? DType::u16 : DType::u8, 3, {made.height, made.width, made.channels}, {}};
    image.stride = packed_strides(3, image.shape);
    const Orientation stored = orientation_of(info.orientation);
    if (request.orient && !made.oriented) image = oriented(image, stored);
    if (!request.orient && made.oriented) image = oriented(image, inverse(stored));
    const Window& part = request.part;
    const bool convert = request.dtype != image.dtype || made.channels != channels_of(info, request.color) ||
                         request.color == Color::ycbcr || request.color == Color::bgr;
    return finish(context, cut(image, part.y, part.x, part.height, part.width), info, request, convert);
}

void note_oddities(Context& context, const ImageInfo& info, const DecodeRequest& request) {
    const std::string name = name_of(info.format);
    if (request.orient && info.bad_orientation)
        context.note(Note::bad_orientation, name + ": an EXIF orientation outside 1..8 was taken for 1");
    if (info.more_frames) context.note(Note::more_frames, name + ": the first of several frames was taken");
    if (info.bits == 16 && size_of(request.dtype) == 1)
        context.note(Note::depth_reduced, name + ": 16-bit samples were reduced to 8 bits");
}

}  // namespace

int channels_of(const ImageInfo& info, Color color) {
    if (color == Color::gray || color == Color::index) return 1;
    if (color != Color::any) return 3;
    if (scales(info.format)) return info.channels == 1 ? 1 : 3;
    return std::clamp(info.channels, 1, 4);
}

Orientation orientation_of(const ImageInfo& info, const DecodeRequest& request) {
    return request.orient ? orientation_of(info.orientation) : Orientation{};
}

Value decode_image(Context& context, Bytes file, const ImageInfo& info, const DecodeRequest& request) {
    note_oddities(context, info, request);
    switch (info.format) {
        case ImageFormat::jpeg:
        case ImageFormat::pack: return decode_jpeg(context, file, info, request);
        case ImageFormat::png: return decode_png(context, file, info, request);
        default: return decode_elsewhere(context, file, info, request);
    }
}

}  // namespace pixelmill

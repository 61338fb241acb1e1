#include "picture.h"

#include <algorithm>
#include <array>
#include <string>

#include "foreign.h"
#include "jpeg.h"
#include "png.h"

namespace pixelmill {
namespace {

using Shape = std::array<int64_t, 3>;

Value cut(const Value& picture, int64_t y, int64_t x, int64_t height, int64_t width) {
    Value part = picture;
    part.data += (y * picture.stride[0] + x * picture.stride[1]) * size_of(picture.dtype);
    part.shape[0] = height;
    part.shape[1] = width;
    return part;
}

Window stored_part(const ImageInfo& info, const PictureRequest& request) {
    const auto scaled = [&](int64_t extent) { return (extent + request.denominator - 1) / request.denominator; };
    return to_stored(request.part, orientation_of(info, request), scaled(info.height), scaled(info.width));
}

// The last step: convert `part`, which is oriented and cut out already, or hand it on as it is.
Value finish(Context& context, const Value& part, const ImageInfo& info, const PictureRequest& request, bool convert) {
    if (!convert) return part;
    const Shape shape{part.shape[0], part.shape[1], channels_of(info, request.colour)};
    const Value out = context.allocate(0, request.dtype, shape);
    convert_pixels(out, part, request.colour);
    return out;
}

Value decode_jpeg(Context& context, Bytes file, const ImageInfo& info, const PictureRequest& request) {
    const bool convert = request.dtype != DType::u8 || request.colour == Colour::ycbcr;
    const int channels = channels_of(info, request.colour);
    const Orientation orientation = orientation_of(info, request);
    const Window wanted = stored_part(info, request);
    JpegReader& reader = *context.thread.jpeg;
    reader.open(file, context.limits);
    JpegRequest jpeg{JpegColor::rgb, request.denominator, wanted};
    if (channels == 1)
        jpeg.color = JpegColor::gray;
    else if (request.colour == Colour::bgr && !convert)
        jpeg.color = JpegColor::bgr;
    const bool padded = request.padded && !convert && channels == 3;
    const bool direct = orientation == Orientation{} && !convert && !padded;
    const Shape shape{wanted.height, wanted.width, padded ? 4 : channels};
    Value picture = direct ? context.allocate(0, DType::u8, shape) : context.scratch(DType::u8, shape);
    reader.decode(
        jpeg, {picture.as<uint8_t>(), wanted.height, wanted.width, channels, picture.stride[0], picture.stride[1], 1});
    // First, so that the message is about the loss.
    if (const std::string loss = reader.lost_pixels(); !loss.empty())
        context.note(Note::missing_pixels, "libjpeg: " + loss);
    if (reader.warnings() > 0) context.note(Note::decoder_warning, "libjpeg: " + std::string(reader.first_warning()));
    picture.shape[2] = channels;
    return finish(context, oriented(picture, orientation), info, request, convert);
}

Value decode_png(Context& context, Bytes file, const ImageInfo& info, const PictureRequest& request) {
    const Orientation orientation = orientation_of(info, request);
    const Window wanted = stored_part(info, request);
    check_png_substance(file, info);
    PngRequest png;
    png.rgb = request.colour != Colour::gray && request.colour != Colour::any;
    png.alpha = request.colour == Colour::any;
    png.sixteen = info.bits == 16 && request.dtype != DType::u8;
    const int channels = png_channels(info, png);
    const DType made = png.sixteen ? DType::u16 : DType::u8;
    const bool convert =
        request.dtype != made || request.colour == Colour::ycbcr || channels != channels_of(info, request.colour);
    png.bgr = request.colour == Colour::bgr && !convert;
    png.first_row = wanted.y;
    const bool direct = wanted.width == info.width && orientation == Orientation{} && !convert;
    const Shape shape{wanted.height, info.width, channels};
    const Value picture = direct ? context.allocate(0, made, shape) : context.scratch(made, shape);
    const int64_t item = size_of(made);
    const auto warnings = decode_png(
        {picture.as<uint8_t>(), shape[0], shape[1], channels, picture.stride[0] * item, picture.stride[1] * item, item},
        file, info, png);
    if (warnings.count > 0) context.note(Note::decoder_warning, "libpng: " + warnings.first);
    const Value part = cut(picture, 0, wanted.x, wanted.height, wanted.width);
    return finish(context, oriented(part, orientation), info, request, convert);
}

Value decode_elsewhere(Context& context, Bytes file, const ImageInfo& info, const PictureRequest& request) {
    const auto allocate = [&](int64_t bytes) { return context.scratch(DType::u8, std::array{bytes}).data; };
    const ForeignPicture made = decode_foreign(file, info, context.limits, allocate);
    Value picture{made.data, made.bits == 16 ? DType::u16 : DType::u8, 3, {made.height, made.width, made.channels}, {}};
    picture.stride = packed_strides(3, picture.shape);
    const Orientation stored = orientation_of(info.orientation);
    if (request.orient && !made.oriented) picture = oriented(picture, stored);
    if (!request.orient && made.oriented) picture = oriented(picture, inverse(stored));
    const Window& part = request.part;
    const bool convert = request.dtype != picture.dtype || made.channels != channels_of(info, request.colour) ||
                         request.colour == Colour::ycbcr || request.colour == Colour::bgr;
    return finish(context, cut(picture, part.y, part.x, part.height, part.width), info, request, convert);
}

void note_oddities(Context& context, const ImageInfo& info, const PictureRequest& request) {
    const std::string name = name_of(info.format);
    if (request.orient && info.bad_orientation)
        context.note(Note::bad_orientation, name + ": an EXIF orientation outside 1..8 was taken for 1");
    if (info.more_frames) context.note(Note::more_frames, name + ": the first of several frames was taken");
    if (info.bits == 16 && size_of(request.dtype) == 1)
        context.note(Note::depth_reduced, name + ": 16-bit samples were reduced to 8 bits");
}

}  // namespace

int channels_of(const ImageInfo& info, Colour colour) {
    if (colour == Colour::gray) return 1;
    if (colour != Colour::any) return 3;
    if (info.format == ImageFormat::jpeg) return info.channels == 1 ? 1 : 3;
    return std::clamp(info.channels, 1, 4);
}

Orientation orientation_of(const ImageInfo& info, const PictureRequest& request) {
    return request.orient ? orientation_of(info.orientation) : Orientation{};
}

Value decode_picture(Context& context, Bytes file, const ImageInfo& info, const PictureRequest& request) {
    note_oddities(context, info, request);
    switch (info.format) {
        case ImageFormat::jpeg: return decode_jpeg(context, file, info, request);
        case ImageFormat::png: return decode_png(context, file, info, request);
        default: return decode_elsewhere(context, file, info, request);
    }
}

}  // namespace pixelmill

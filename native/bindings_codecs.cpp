// The codecs' side of Python: the decoder for formats that the core leaves to Pillow, and what tests look into.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstring>
#include <memory>
#include <vector>

#include "casters.h"
#include "core/codecs/external_decoder.h"
#include "core/codecs/external_webp.h"
#include "core/codecs/jpeg.h"
#include "core/codecs/jpeg_decoder.h"
#include "core/codecs/jpeg_encode_kernels.h"
#include "core/codecs/jpeg_writer.h"
#include "core/codecs/libjpeg_encoder.h"
#include "core/codecs/png.h"
#include "core/codecs/versions.h"
#include "core/fault.h"
#include "core/kernels/simd.h"
#include "core/platform/per_thread.h"
#include "gil.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace pixelmill {

namespace {

FaultKind kind_named(const std::string& name) {
    for (FaultKind kind : {FaultKind::truncated, FaultKind::too_large, FaultKind::unsupported}) {
        if (name == name_of(kind)) return kind;
    }
    return FaultKind::corrupt;
}

using Pixels = nb::ndarray<nb::ro, nb::ndim<3>, nb::c_contig, nb::device::cpu>;

// Calls Python, and again if Ctrl-C interrupts it: the thread that waits for a quick batch works it out, and may be the
// main thread. Then the signal is raised once more, for the program; it must not pass for a damaged sample.
template <class Call>
nb::object uninterrupted(const Call& call) {
    for (bool interrupted = false;; interrupted = true) {
        try {
            nb::object made = call();
            if (interrupted) PyErr_SetInterrupt();
            return made;
        } catch (const nb::python_error& error) {
            if (!error.matches(PyExc_KeyboardInterrupt)) throw;
        }
    }
}

// Called by a thread that works on samples, which has no GIL.
ExternalImage call_python(nb::handle decode, Bytes file, const ImageInfo& info, const ExternalAllocator& allocate) {
    const HeldGil gil;
    try {
        const nb::bytes data(reinterpret_cast<const char*>(file.data()), file.size());
        const auto [pixels, kind, message] = nb::cast<std::tuple<nb::object, std::string, std::string>>(
            uninterrupted([&] { return decode(data, name_of(info.format)); }));
        if (pixels.is_none()) throw Fault(kind_named(kind), message);
        const auto array = nb::cast<Pixels>(pixels);
        ExternalImage image;
        image.height = static_cast<int64_t>(array.shape(0));
        image.width = static_cast<int64_t>(array.shape(1));
        image.channels = static_cast<int>(array.shape(2));
        image.bits = array.dtype().bits;
        image.oriented = info.format == ImageFormat::tiff;  // Pillow turns these and no others
        image.data = allocate(static_cast<int64_t>(array.nbytes()));
        std::memcpy(image.data, array.data(), array.nbytes());
        return image;
    } catch (const nb::python_error& error) {
        throw Fault(FaultKind::corrupt, error.what());
    }
}

// Called by a thread that works on samples, which has no GIL.
void call_webp(nb::handle round_trip, uint8_t* out, const WebpPixels& image, int quality) {
    const HeldGil gil;
    try {
        const auto size = static_cast<size_t>(image.height * image.width * 3);
        const nb::bytes data(reinterpret_cast<const char*>(image.data), size);
        const auto [pixels, kind, message] = nb::cast<std::tuple<nb::object, std::string, std::string>>(
            uninterrupted([&] { return round_trip(data, image.height, image.width, quality); }));
        if (pixels.is_none()) throw Fault(kind_named(kind), message);
        const auto array = nb::cast<Pixels>(pixels);
        if (array.nbytes() != size) throw Fault(FaultKind::corrupt, "WebP: the image changed its size");
        std::memcpy(out, array.data(), size);
    } catch (const nb::python_error& error) {
        throw Fault(FaultKind::corrupt, error.what());
    }
}

// Rows may be anywhere, pixels take 1, 3 or 4 bytes.
using Image = nb::ndarray<const uint8_t, nb::ndim<3>, nb::device::cpu>;

View<const uint8_t> view_of(const Image& image) {
    const auto channels = static_cast<int64_t>(image.shape(2));
    const int64_t pixel = image.shape(1) > 1 ? image.stride(1) : channels;  // one column has no distance
    return {image.data(),
            static_cast<int64_t>(image.shape(0)),
            static_cast<int64_t>(image.shape(1)),
            channels,
            image.stride(0),
            pixel,
            1};
}

ChromaSampling sampling_named(const std::string& name) {
    return name == "4:4:4" ? ChromaSampling::full : name == "4:2:2" ? ChromaSampling::half : ChromaSampling::quarter;
}

nb::bytes bytes_of(const std::vector<std::byte>& file) {
    return nb::bytes(reinterpret_cast<const char*>(file.data()), file.size());
}

// What is multiplied and added to divide by the entry of a quantization table.
std::tuple<int, int, int> quantizer_of(uint8_t entry) {
    QuantizationTable table;
    table.fill(entry);
    const JpegQuantizer made(table);
    return {made.half[7].values[15], made.reciprocal[7].values[15], made.scale[7].values[15]};
}

// Encodes from a copy of some rows at a time.
void encode_in_bands(JpegWriter& writer, const View<const uint8_t>& image, int quality, ChromaSampling sampling,
                     std::vector<std::byte>& file) {
    struct Source {
        View<const uint8_t> image;
        View<uint8_t> band;
    };
    const int64_t row = image.width * image.pixel;
    std::vector<uint8_t> memory(static_cast<size_t>(JpegRows::at_once * row));
    const Source source{image, {memory.data(), image.height, image.width, image.channels, row, image.pixel, 1}};
    const JpegRows rows{source.band, &source, [](const void* from, int64_t y, int64_t count) {
                            const auto& [image, band] = *static_cast<const Source*>(from);
                            const auto size = static_cast<size_t>((image.width - 1) * image.pixel + image.channels);
                            for (int64_t i = 0; i < count; ++i) std::memcpy(band.at(i, 0), image.at(y + i, 0), size);
                        }};
    writer.encode(rows, quality, sampling, file);
}

// The encoder with its comparison, for tests.
void bind_jpeg_encoders(nb::module_& module) {
    module.def(
        "encode_jpeg",
        [](const Image& image, int quality, const std::string& subsampling, bool in_bands) {
            PER_THREAD(JpegWriter, writer);
            std::vector<std::byte> file;
            if (in_bands) {
                encode_in_bands(writer, view_of(image), quality, sampling_named(subsampling), file);
            } else {
                writer.encode(view_of(image), quality, sampling_named(subsampling), file);
            }
            return bytes_of(file);
        },
        "image"_a.noconvert(), "quality"_a, "subsampling"_a, nb::kw_only(), "in_bands"_a = false);
    module.def(
        "encode_jpeg_by_libjpeg",
        [](const Image& image, int quality, const std::string& subsampling) {
            return bytes_of(encode_jpeg_by_libjpeg(view_of(image), quality, sampling_named(subsampling)));
        },
        "image"_a.noconvert(), "quality"_a, "subsampling"_a);
    module.def("jpeg_quantizer", quantizer_of, "entry"_a);
}

}  // namespace

// A window of a JPEG file (y, x, height, width), HWC; for tests, which compare our decoder with libjpeg's.
using Decoded = nb::ndarray<nb::numpy, uint8_t, nb::ndim<3>>;

Decoded decode_jpeg(nb::bytes file, std::tuple<int64_t, int64_t, int64_t, int64_t> part, int denominator,
                    const std::string& color, int64_t pixel, bool by_library) {
    const auto [y, x, height, width] = part;
    JpegRequest request{JpegColor::rgb, denominator, {y, x, height, width}, by_library};
    if (color != "rgb") request.color = color == "bgr" ? JpegColor::bgr : JpegColor::gray;
    const auto bytes = static_cast<size_t>(height * width * pixel);
    auto memory = std::make_unique<uint8_t[]>(bytes);
    JpegReader reader;
    reader.open({static_cast<const std::byte*>(file.data()), file.size()}, {});
    reader.decode(request, {memory.get(), height, width, pixel == 1 ? 1 : 3, width * pixel, pixel, 1});
    uint8_t* data = memory.release();
    const nb::capsule owner(data, [](void* at) noexcept { delete[] static_cast<uint8_t*>(at); });
    const auto extent = [](int64_t n) { return static_cast<size_t>(n); };
    return Decoded(data, {extent(height), extent(width), extent(pixel)}, owner);
}

// How many warnings decoding a window gives, and the first; up to the fault where there is one.
std::tuple<int64_t, std::string> jpeg_warnings(nb::bytes file, std::tuple<int64_t, int64_t, int64_t, int64_t> part,
                                               int denominator, bool by_library) {
    const auto [y, x, height, width] = part;
    std::vector<uint8_t> memory(static_cast<size_t>(height * width));
    JpegReader reader;
    try {
        reader.open({static_cast<const std::byte*>(file.data()), file.size()}, {});
        reader.decode({JpegColor::gray, denominator, {y, x, height, width}, by_library},
                      {memory.data(), height, width, 1, width, 1, 1});
    } catch (const Fault&) {  // decode_jpeg tells of it
    }
    return {reader.warnings(), reader.first_warning()};
}

// Whether our decoder decodes the whole file without libjpeg's help; for tests, which would compare libjpeg with itself
// otherwise.
bool own_jpeg_decodes(nb::bytes file) {
    JpegDecoder decoder;
    if (!decoder.open({static_cast<const std::byte*>(file.data()), file.size()})) return false;
    const int64_t height = decoder.frame().height, width = decoder.frame().width;
    std::vector<uint8_t> memory(static_cast<size_t>(height * width));
    return decoder.decode({JpegColor::gray, 1, {0, 0, height, width}}, {memory.data(), height, width, 1, width, 1, 1});
}

void bind_codecs(nb::module_& module) {
    module.def("codec_versions", [] {
        nb::dict versions;
        for (const auto& [library, version] : codec_versions()) versions[library.c_str()] = version;
        return versions;
    });
    module.def(
        "set_foreign_decoder",
        [](nb::callable decode) {
            // Kept for the life of the process: workers may call it until the very end.
            const nb::handle kept = decode.release();
            set_external_decoder([kept](Bytes file, const ImageInfo& info, const ExternalAllocator& allocate) {
                return call_python(kept, file, info, allocate);
            });
        },
        "decode"_a);
    module.def(
        "set_webp_round_trip",
        [](nb::callable round_trip) {
            const nb::handle kept = round_trip.release();  // as above
            set_webp_round_trip(
                [kept](uint8_t* out, const WebpPixels& image, int quality) { call_webp(kept, out, image, quality); });
        },
        "round_trip"_a);
    module.def("force_simd_level", [](const std::string& name) {
        if (name == "best") return force_best_instructions();
        force_simd_level(name == "base" ? SimdLevel::base : SimdLevel::avx2);
    });
    module.def("force_libpng", &force_libpng);
    module.def("simd_level", [] { return std::string(name_of(simd_level())); });
    bind_jpeg_encoders(module);
    module.def("decode_jpeg", decode_jpeg, "file"_a, "part"_a, "denominator"_a, "color"_a, "pixel"_a, "by_library"_a);
    module.def("jpeg_warnings", jpeg_warnings, "file"_a, "part"_a, "denominator"_a, "by_library"_a);
    module.def("own_jpeg_decodes", own_jpeg_decodes, "file"_a);
}

}  // namespace pixelmill

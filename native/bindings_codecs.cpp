// The codecs' side of Python: the decoder for formats that the core leaves to Pillow, and what tests look into.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include <cstring>

#include "core/codecs/foreign.h"
#include "core/codecs/png.h"
#include "core/codecs/versions.h"
#include "core/fault.h"
#include "core/kernels/simd.h"

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

// Called by a worker thread, which has no GIL.
ForeignPicture call_python(nb::handle decode, Bytes file, const ImageInfo& info, const ForeignAllocator& allocate) {
    nb::gil_scoped_acquire gil;
    try {
        const nb::bytes data(reinterpret_cast<const char*>(file.data()), file.size());
        const auto [pixels, kind, message] =
            nb::cast<std::tuple<nb::object, std::string, std::string>>(decode(data, name_of(info.format)));
        if (pixels.is_none()) throw Fault(kind_named(kind), message);
        const auto array = nb::cast<Pixels>(pixels);
        ForeignPicture picture;
        picture.height = static_cast<int64_t>(array.shape(0));
        picture.width = static_cast<int64_t>(array.shape(1));
        picture.channels = static_cast<int>(array.shape(2));
        picture.bits = array.dtype().bits;
        picture.oriented = info.format == ImageFormat::tiff;  // Pillow turns these and no others
        picture.data = allocate(static_cast<int64_t>(array.nbytes()));
        std::memcpy(picture.data, array.data(), array.nbytes());
        return picture;
    } catch (const nb::python_error& error) {
        throw Fault(FaultKind::corrupt, error.what());
    }
}

}  // namespace

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
            set_foreign_decoder([kept](Bytes file, const ImageInfo& info, const ForeignAllocator& allocate) {
                return call_python(kept, file, info, allocate);
            });
        },
        "decode"_a);
    module.def("force_simd_level",
               [](const std::string& name) { force_simd_level(name == "base" ? SimdLevel::base : SimdLevel::avx2); });
    module.def("force_libpng", &force_libpng);
    module.def("simd_level", [] { return std::string(name_of(simd_level())); });
}

}  // namespace pixelmill

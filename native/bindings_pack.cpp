// The side of Python that packs images and restores them.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cstring>
#include <memory>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "core/codecs/pack_codebook.h"
#include "core/codecs/pack_decoder.h"
#include "core/codecs/pack_restorer.h"
#include "core/codecs/pack_trainer.h"
#include "core/codecs/pack_writer.h"
#include "core/fault.h"
#include "core/file.h"
#include "core/platform/per_thread.h"
#include "core/records/pack_index.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace pixelmill {

namespace {

Bytes view_of(const nb::bytes& data) { return {static_cast<const std::byte*>(data.data()), data.size()}; }

nb::bytes as_bytes(Bytes data) { return nb::bytes(reinterpret_cast<const char*>(data.data()), data.size()); }

// Registered for the life of the process; Python only holds a reference.
struct Codebook {
    std::shared_ptr<const PackCodebook> shared;
};

nb::object pack_image(const nb::bytes& jpeg, const Codebook& codebook) {
    PER_THREAD(PackWriter, writer);
    PackWriter::Result result;
    {
        nb::gil_scoped_release release;
        result = writer.pack(view_of(jpeg), *codebook.shared);
    }
    if (!result.reason.empty()) return nb::str(result.reason.c_str());
    return as_bytes(result.packed);
}

nb::bytes restore_image(const nb::bytes& packed) {
    PER_THREAD(PackRestorer, restorer);
    std::vector<std::byte> file;
    {
        nb::gil_scoped_release release;
        restorer.restore(file, view_of(packed));
    }
    return as_bytes(file);
}

nb::bytes train(const std::vector<nb::bytes>& images, uint64_t seed) {
    std::vector<Bytes> views;
    for (const nb::bytes& image : images) views.push_back(view_of(image));
    std::vector<std::byte> data;
    {
        nb::gil_scoped_release release;
        data = train_codebook(views, seed);
    }
    return as_bytes(data);
}

using Part = std::tuple<int64_t, int64_t, int64_t, int64_t>;

// What has to be read for a window (y, x, height, width) of the scaled image: (offset, length) of each range.
std::vector<std::pair<uint64_t, uint64_t>> ranges_of(const nb::bytes& header, uint64_t length, const Part& part,
                                                     int denominator, bool gray) {
    const auto [y, x, height, width] = part;
    std::vector<std::pair<uint64_t, uint64_t>> found;
    const JpegRequest request{gray ? JpegColor::gray : JpegColor::rgb, denominator, {y, x, height, width}};
    Arena arena;
    PackDecoder decoder(arena);
    for (const ByteRange& range : decoder.ranges(view_of(header), length, request))
        found.emplace_back(range.offset, range.length);
    return found;
}

// How a window of a packed image is read when `at_once` bytes are read at a time: where each range goes in memory, its
// offset and its length. For tests.
std::vector<std::tuple<int64_t, uint64_t, uint64_t>> reads_of(const nb::bytes& packed, const Part& part,
                                                              uint64_t at_once) {
    const auto [y, x, height, width] = part;
    std::vector<uint8_t> memory(static_cast<size_t>(height * width * 3));
    Arena arena;
    PackDecoder decoder(arena);
    decoder.bytes_at_once = at_once;
    decoder.open(view_of(packed), {});
    std::vector<std::tuple<int64_t, uint64_t, uint64_t>> reads;
    const std::byte* begin = nullptr;
    decoder.decode({JpegColor::rgb, 1, {y, x, height, width}}, {memory.data(), height, width, 3, width * 3, 3, 1},
                   [&](std::byte* out, const ByteRange& range) {
                       if (begin == nullptr) begin = out;
                       reads.emplace_back(out - begin, range.offset, range.length);
                       std::memcpy(out, view_of(packed).data() + range.offset, range.length);
                   });
    return reads;
}

using Decoded = nb::ndarray<nb::numpy, uint8_t, nb::ndim<3>>;

// A window of a packed image, HWC; for tests, which compare it with decode_jpeg.
Decoded decode_packed(const nb::bytes& packed, const Part& part, int denominator, const std::string& color,
                      int64_t pixel) {
    const auto [y, x, height, width] = part;
    JpegRequest request{JpegColor::rgb, denominator, {y, x, height, width}};
    if (color != "rgb") request.color = color == "bgr" ? JpegColor::bgr : JpegColor::gray;
    auto memory = std::make_unique<uint8_t[]>(static_cast<size_t>(height * width * pixel));
    Arena arena;
    PackDecoder decoder(arena);
    decoder.open(view_of(packed), {});
    decoder.decode(request, {memory.get(), height, width, pixel == 1 ? 1 : 3, width * pixel, pixel, 1});
    uint8_t* data = memory.release();
    const nb::capsule owner(data, [](void* at) noexcept { delete[] static_cast<uint8_t*>(at); });
    const auto extent = [](int64_t n) { return static_cast<size_t>(n); };
    return Decoded(data, {extent(height), extent(width), extent(pixel)}, owner);
}

template <class T>
using ColumnOf = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Counts = ColumnOf<uint64_t>;

template <class T>
std::span<const T> span_of(const ColumnOf<T>& column) {
    return {column.data(), column.size()};
}

nb::ndarray<nb::numpy, int64_t, nb::ndim<1>> sizes_of(const std::array<Counts, pack_parts>& lengths, uint64_t head,
                                                      uint64_t alignment) {
    std::array<std::span<const uint64_t>, pack_parts> parts;
    for (size_t i = 0; i < parts.size(); ++i) {
        parts[i] = span_of(lengths[i]);
        if (parts[i].size() != parts[0].size()) throw nb::value_error("columns of different lengths");
    }
    const size_t count = parts[0].size();
    auto memory = std::make_unique<int64_t[]>(count);
    pack_sizes({memory.get(), count}, parts, head, alignment);
    int64_t* data = memory.release();
    const nb::capsule owner(data, [](void* at) noexcept { delete[] static_cast<int64_t*>(at); });
    return nb::ndarray<nb::numpy, int64_t, nb::ndim<1>>(data, {count}, owner);
}

// Checks of the columns of an index. NumPy's functions for them would keep half a megabyte of its code resident.
void bind_pack_index(nb::module_& module) {
    module.def("largest", [](const ColumnOf<uint8_t>& column) { return largest(span_of(column)); }, "column"_a);
    module.def("largest", [](const ColumnOf<uint32_t>& column) { return largest(span_of(column)); }, "column"_a);
    module.def("largest", [](const Counts& column) { return largest(span_of(column)); }, "column"_a);
    module.def(
        "divides",
        [](const Counts& starts, uint64_t items, uint64_t least) { return divides(span_of(starts), items, least); },
        "starts"_a, "items"_a, nb::kw_only(), "least"_a);
    module.def("pack_sizes", &sizes_of, "lengths"_a, nb::kw_only(), "head"_a, "alignment"_a);
    module.def(
        "follow_each_other",
        [](const Counts& offsets, const ColumnOf<int64_t>& sizes, uint64_t end) {
            return offsets.size() == sizes.size() && follow_each_other(span_of(offsets), span_of(sizes), end);
        },
        "offsets"_a, "sizes"_a, nb::kw_only(), "end"_a);
}

}  // namespace

void bind_pack(nb::module_& module) {
    // A Fault that leaves a function: its arguments are the kind and the message.
    static const nb::object fault_type =
        nb::steal(PyErr_NewException("pixelmill._core.Fault", PyExc_RuntimeError, nullptr));
    module.attr("Fault") = fault_type;
    nb::register_exception_translator([](const std::exception_ptr& thrown, void*) {
        try {
            std::rethrow_exception(thrown);
        } catch (const Fault& fault) {
            PyErr_SetObject(fault_type.ptr(), nb::make_tuple(name_of(fault.kind), fault.what()).ptr());
        }
    });
    nb::class_<Codebook>(module, "PackCodebook")
        .def(
            "__init__",
            [](Codebook* self, const nb::bytes& data) { new (self) Codebook{register_codebook(view_of(data))}; },
            "data"_a)
        .def_prop_ro("data", [](const Codebook& self) { return as_bytes(self.shared->data()); })
        .def_prop_ro("identity", [](const Codebook& self) { return self.shared->identity(); });
    module.def("train_pack_codebook", &train, "images"_a, nb::kw_only(), "seed"_a);
    module.def("default_pack_codebook", [] { return as_bytes(default_codebook()); });
    module.def("pack_image", &pack_image, "jpeg"_a, "codebook"_a);
    module.def("restore_image", &restore_image, "packed"_a);
    module.def(
        "pack_header_bytes", [](const nb::bytes& start) { return PackLayout::header_bytes(view_of(start)); },
        "start"_a);
    module.def("pack_ranges", &ranges_of, "header"_a, "length"_a, "part"_a, nb::kw_only(), "denominator"_a = 1,
               "gray"_a = false);
    module.def("packed_reads", &reads_of, "packed"_a, "part"_a, nb::kw_only(), "at_once"_a);
    module.def("bytes_read", &bytes_read);
    bind_pack_index(module);
    module.def("decode_packed", &decode_packed, "packed"_a, "part"_a, "denominator"_a, "color"_a, "pixel"_a);
}

}  // namespace pixelmill

// The side of Python that makes images: one call an image, drawn and encoded without the GIL.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cerrno>
#include <stdexcept>

#include "casters.h"
#include "core/create/maker.h"
#include "core/create/wrap.h"
#include "core/fault.h"
#include "core/platform/per_thread.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace pixelmill {

namespace {

using Pixels = nb::ndarray<nb::numpy, uint8_t, nb::ndim<3>>;
using Labels = nb::ndarray<nb::numpy, uint8_t, nb::ndim<2>>;
using Boxes = nb::ndarray<nb::numpy, int64_t, nb::shape<-1, 6>>;

template <class T, class Array>
Array owned(T* data, std::initializer_list<size_t> shape) {
    nb::capsule owner(data, [](void* memory) noexcept { delete[] static_cast<T*>(memory); });
    return Array(data, shape, owner);
}

Boxes box_array(const std::vector<ObjectBox>& boxes) {
    auto* rows = new int64_t[6 * boxes.size() + 1];
    for (size_t i = 0; i < boxes.size(); ++i) {
        const ObjectBox& box = boxes[i];
        const int64_t row[] = {box.label, box.top, box.left, box.bottom, box.right, box.pixels};
        std::copy(std::begin(row), std::end(row), rows + 6 * i);
    }
    return owned<int64_t, Boxes>(rows, {boxes.size(), 6});
}

nb::bytes as_bytes(const std::vector<std::byte>& data) {
    return nb::bytes(reinterpret_cast<const char*>(data.data()), data.size());
}

Recipe make_recipe(const std::string& content, const std::string& format, uint64_t seed,
                   std::pair<int64_t, int64_t> size, double spread, std::pair<int, int> quality, double full_color,
                   int64_t classes, std::pair<int64_t, int64_t> objects, bool masks, bool alpha, int64_t bytes,
                   double bytes_spread, double dedup_ratio, double compress_ratio) {
    const std::optional<Content> drawn = content_named(content);
    const std::optional<FileFormat> written = file_format_named(format);
    if (!drawn || !written) throw nb::value_error("an unknown content or format");
    if (alpha && *written == FileFormat::jpg) throw nb::value_error("JPEG files have no transparency");
    if (classes < 1 || objects.first < 1 || objects.second < objects.first || objects.second > 254) {
        throw nb::value_error("classes and objects are out of range");
    }
    return {*drawn,        *written,      seed,           size.first,   size.second,
            spread,        quality.first, quality.second, full_color,   {classes, objects.first, objects.second},
            masks,         alpha,         bytes,          bytes_spread, dedup_ratio,
            compress_ratio};
}

nb::tuple make(const Maker& maker, uint64_t index) {
    PER_THREAD(Made, made);
    {
        nb::gil_scoped_release released;
        maker.make(maker.plan(index), made);
    }
    nb::object mask = nb::none();
    if (maker.recipe.masks) mask = as_bytes(made.mask);
    return nb::make_tuple(as_bytes(made.file), mask, box_array(made.boxes), made.label, made.height, made.width);
}

// The same, but the file goes to `path`, which must not exist yet; its size is given instead of its bytes.
nb::tuple save(const Maker& maker, uint64_t index, nb::bytes path) {
    PER_THREAD(Made, made);
    int error = 0;
    {
        const std::string name(path.c_str(), path.size());
        nb::gil_scoped_release released;
        maker.make(maker.plan(index), made);
        error = write_new_file(name, made.file);
    }
    if (error != 0) {
        errno = error;
        PyErr_SetFromErrno(PyExc_OSError);
        throw nb::python_error();
    }
    nb::object mask = nb::none();
    if (maker.recipe.masks) mask = as_bytes(made.mask);
    return nb::make_tuple(made.file.size(), mask, box_array(made.boxes), made.label, made.height, made.width);
}

nb::tuple draw(const Maker& maker, uint64_t index) {
    const Plan plan = maker.plan(index);
    const auto height = static_cast<size_t>(plan.height), width = static_cast<size_t>(plan.width);
    const int64_t channels = maker.channels();
    const auto count = static_cast<size_t>(channels);
    Pixels pixels = owned<uint8_t, Pixels>(new uint8_t[height * width * count], {height, width, count});
    Labels labels = owned<uint8_t, Labels>(new uint8_t[height * width](), {height, width});
    std::vector<ObjectBox> boxes;
    {
        nb::gil_scoped_release released;
        const View<uint8_t> image{pixels.data(), plan.height, plan.width, channels, channels * plan.width, channels, 1};
        boxes = maker.draw(plan, image, {labels.data(), plan.height, plan.width, 1, plan.width, 1, 1});
    }
    return nb::make_tuple(pixels, labels, box_array(boxes), plan.label);
}

nb::tuple wrap(const std::string& kind, FileHandle output,
               const std::vector<std::tuple<nb::bytes, int64_t, uint64_t>>& files) {
    std::vector<WrapItem> items;
    items.reserve(files.size());
    for (const auto& [path, label, identifier] : files) {
        items.push_back({std::string(path.c_str(), path.size()), label, identifier});
    }
    Wrapped wrapped;
    {
        nb::gil_scoped_release released;
        wrapped = wrap_files(kind == "tfrecord" ? RecordKind::tfrecord : RecordKind::recordio, output, items);
    }
    return nb::make_tuple(wrapped.offsets, wrapped.image_bytes, wrapped.failure.item, wrapped.failure.error);
}

}  // namespace

void bind_create(nb::module_& module) {
    module.def("wrap_files", &wrap, "kind"_a, "output"_a, "files"_a);
    nb::class_<Maker>(module, "Maker")
        .def(
            "__init__",
            [](Maker* at, const std::string& content, const std::string& format, uint64_t seed,
               std::pair<int64_t, int64_t> size, double spread, std::pair<int, int> quality, double full_color,
               int64_t classes, std::pair<int64_t, int64_t> objects, bool masks, bool alpha, int64_t bytes,
               double bytes_spread, double dedup_ratio, double compress_ratio) {
                new (at) Maker(make_recipe(content, format, seed, size, spread, quality, full_color, classes, objects,
                                           masks, alpha, bytes, bytes_spread, dedup_ratio, compress_ratio));
            },
            nb::kw_only(), "content"_a, "format"_a, "seed"_a, "size"_a, "spread"_a, "quality"_a, "full_colour"_a,
            "classes"_a, "objects"_a, "masks"_a, "alpha"_a, "bytes"_a, "bytes_spread"_a, "dedup_ratio"_a,
            "compress_ratio"_a)
        .def("make", &make, "index"_a)
        .def("save", &save, "index"_a, "path"_a)
        .def("draw", &draw, "index"_a)
        .def("source", [](const Maker& maker, uint64_t index) { return maker.plan(index).source; }, "index"_a);
}

}  // namespace pixelmill

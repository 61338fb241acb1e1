// The record formats' side of Python: checksums, frames, and the lists of an Example.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstring>
#include <memory>

#include "buffer_view.h"
#include "casters.h"
#include "core/records/crc32c.h"
#include "core/records/example.h"
#include "core/records/example_features.h"
#include "core/records/tfrecord.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace pixelmill {

namespace {

Bytes bytes_of(const nb::bytes& data) { return {reinterpret_cast<const std::byte*>(data.c_str()), data.size()}; }

nb::bytes python_bytes(const std::byte* data, size_t size) {
    return nb::bytes(reinterpret_cast<const char*>(data), size);
}

template <class T>
nb::object array_of(std::vector<T>&& values) {
    auto* kept = new std::vector<T>(std::move(values));
    nb::capsule owner(kept, [](void* vector) noexcept { delete static_cast<std::vector<T>*>(vector); });
    return nb::cast(nb::ndarray<nb::numpy, T, nb::ndim<1>>(kept->data(), {kept->size()}, owner));
}

nb::object scan_result(RecordScan&& scan) {
    nb::list losses;
    for (const Loss& loss : scan.losses) {
        losses.append(nb::make_tuple(loss.record, loss.offset, loss.length, name_of(loss.kind), loss.message));
    }
    return nb::make_tuple(array_of(std::move(scan.offset)), array_of(std::move(scan.length)), losses);
}

// A fault becomes (None, kind, message): Python decides what to raise.
nb::object scan_file(const nb::bytes& path, bool verify, int64_t record_bytes) {
    RecordScan scan;
    try {
        nb::gil_scoped_release release;
        scan = scan_records(File(std::string(path.c_str(), path.size())), {verify, record_bytes});
    } catch (const Fault& fault) {
        nb::list losses;
        losses.append(nb::make_tuple(0, 0, 0, name_of(fault.kind), fault.what()));
        return nb::make_tuple(nb::none(), nb::none(), losses);
    }
    return scan_result(std::move(scan));
}

nb::object scan_memory(const nb::bytes& data, bool verify, int64_t record_bytes) {
    return scan_result(scan_records(Memory(bytes_of(data)), {verify, record_bytes}));
}

// The lines of DALI's index of a file, or nothing where any of it is lost.
nb::object index_text(const nb::bytes& path) {
    std::string text;
    bool lost = false;
    try {
        nb::gil_scoped_release release;
        const RecordScan scan = scan_records(File(std::string(path.c_str(), path.size())), {});
        lost = !scan.losses.empty();
        for (size_t i = 0; i < scan.offset.size(); ++i) {
            text += std::to_string(scan.offset[i]) + ' ' + std::to_string(scan.length[i]) + '\n';
        }
    } catch (const Fault&) {
        lost = true;
    }
    if (lost) return nb::none();
    return nb::bytes(text.data(), text.size());
}

nb::object values_of(const Feature& feature) {
    if (feature.kind == ListKind::floats) {
        std::vector<float> values(feature.count);
        read_floats(feature, values.data());
        return array_of(std::move(values));
    }
    if (feature.kind == ListKind::integers) {
        std::vector<int64_t> values(feature.count);
        read_integers(feature, values.data());
        return array_of(std::move(values));
    }
    std::vector<Bytes> values(feature.count);
    read_bytes(feature, values.data());
    nb::list list;
    for (Bytes value : values) list.append(python_bytes(value.data(), value.size()));
    return list;
}

nb::object decode_example(nb::handle data) {
    const BufferView view(data);
    try {
        Unknown unknown;
        nb::list list;
        for (const Feature& feature : parse_example(view.bytes(), &unknown)) {
            std::vector<std::byte> in_feature, in_list;
            unknown_of(feature, in_feature, in_list);
            list.append(nb::make_tuple(
                nb::bytes(feature.name.data(), feature.name.size()), static_cast<int>(feature.kind), values_of(feature),
                python_bytes(in_feature.data(), in_feature.size()), python_bytes(in_list.data(), in_list.size())));
        }
        return nb::make_tuple(list, python_bytes(unknown.example.data(), unknown.example.size()),
                              python_bytes(unknown.features.data(), unknown.features.size()));
    } catch (const Fault& fault) {
        return nb::make_tuple(nb::none(), name_of(fault.kind), fault.what());
    }
}

// Name, kind as decode_example returns it, whether the shape is fixed, shape, default.
using FeatureRow = std::tuple<std::string, int, bool, std::vector<int64_t>, std::optional<nb::bytes>>;

std::shared_ptr<ExampleFeatures> make_features(const std::vector<FeatureRow>& rows) {
    auto features = std::make_shared<ExampleFeatures>();
    for (const auto& [name, kind, fixed, shape, initial] : rows) {
        ExampleFeatures::Spec spec;
        spec.name = name;
        spec.kind = static_cast<ListKind>(kind);
        spec.fixed = fixed;
        spec.shape = shape;
        for (int64_t extent : shape) spec.elements *= extent;
        spec.has_default = initial.has_value();
        if (initial) spec.initial.assign(bytes_of(*initial).begin(), bytes_of(*initial).end());
        features->specs.push_back(std::move(spec));
    }
    return features;
}

nb::tuple frame_parts(uint64_t length, uint32_t crc) {
    const Frame frame = frame_of(length, crc);
    return nb::make_tuple(python_bytes(frame.head, sizeof frame.head), python_bytes(frame.tail, sizeof frame.tail));
}

}  // namespace

void bind_records(nb::module_& module) {
    nb::class_<ExampleFeatures, Resource>(module, "ExampleFeatures").def(nb::new_(&make_features), "rows"_a);
    module.def(
        "crc32c", [](nb::handle data, uint32_t before) { return crc32c(BufferView(data).bytes(), before); }, "data"_a,
        "before"_a = 0);
    module.def(
        "crc32c_portable",
        [](nb::handle data, uint32_t before) { return crc32c_portable(BufferView(data).bytes(), before); }, "data"_a,
        "before"_a = 0);
    module.def("tfrecord_frame", &frame_parts, "length"_a, "crc"_a);
    module.def("scan_tfrecord", &scan_file, "path"_a, "verify"_a, "record_bytes"_a);
    module.def("tfrecord_index", &index_text, "path"_a);
    module.def("scan_tfrecord_bytes", &scan_memory, "data"_a, "verify"_a, "record_bytes"_a);
    module.def("decode_example", &decode_example, "data"_a);
}

}  // namespace pixelmill

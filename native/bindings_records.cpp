// The record formats' side of Python: checksums, frames, and the lists of an Example.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cstring>
#include <memory>

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

// A view of anything with a buffer, for as long as this lives.
class BufferView {
   public:
    explicit BufferView(nb::handle data) {
        if (PyObject_GetBuffer(data.ptr(), &view_, PyBUF_SIMPLE) != 0) throw nb::python_error();
    }
    BufferView(const BufferView&) = delete;
    BufferView& operator=(const BufferView&) = delete;
    ~BufferView() { PyBuffer_Release(&view_); }
    Bytes bytes() const { return {static_cast<const std::byte*>(view_.buf), static_cast<size_t>(view_.len)}; }

   private:
    Py_buffer view_{};
};

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

// A fault becomes (None, kind, message): what to raise is for Python to say.
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

nb::bytes encode_varints(nb::ndarray<const int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu> values) {
    std::vector<std::byte> out;
    out.reserve(values.size());
    for (size_t i = 0; i < values.size(); ++i) {
        auto rest = static_cast<uint64_t>(values.data()[i]);
        for (; rest >= 0x80; rest >>= 7) out.push_back(static_cast<std::byte>(rest | 0x80));
        out.push_back(static_cast<std::byte>(rest));
    }
    return python_bytes(out.data(), out.size());
}

// Name, kind as decode_example gives it, whether the shape is fixed, shape, default.
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

// Writes a record from its pieces to an open file. Gives the bytes of its payload, or what the system said.
nb::object write_record(int descriptor, nb::sequence pieces) {
    std::vector<std::unique_ptr<BufferView>> views;
    std::vector<Bytes> parts(1);
    for (nb::handle piece : pieces) {
        views.push_back(std::make_unique<BufferView>(piece));
        parts.push_back(views.back()->bytes());
    }
    uint64_t length = 0;
    try {
        nb::gil_scoped_release release;
        uint32_t crc = 0;
        for (size_t i = 1; i < parts.size(); ++i) {
            crc = crc32c(parts[i], crc);
            length += parts[i].size();
        }
        const Frame frame = frame_of(length, crc);
        parts.front() = frame.head;
        parts.push_back(frame.tail);
        write_all(descriptor, parts);
    } catch (const Fault& fault) {
        return nb::str(fault.what());
    }
    return nb::int_(length);
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
    module.def("write_tfrecord", &write_record, "descriptor"_a, "pieces"_a);
    module.def("tfrecord_frame", &frame_parts, "length"_a, "crc"_a);
    module.def("scan_tfrecord", &scan_file, "path"_a, "verify"_a, "record_bytes"_a);
    module.def("scan_tfrecord_bytes", &scan_memory, "data"_a, "verify"_a, "record_bytes"_a);
    module.def("encode_varints", &encode_varints, "values"_a.noconvert());
    module.def("decode_example", &decode_example, "data"_a);
}

}  // namespace pixelmill

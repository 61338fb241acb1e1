// The side of Python that writes records: payloads and Examples go into one buffer, which goes to a stream.
#include <nanobind/nanobind.h>

#include <mutex>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "buffer_view.h"
#include "casters.h"
#include "core/file.h"
#include "core/records/example_writer.h"
#include "core/records/record_output.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace pixelmill {

namespace {

// Passes what was collected to a Python function, which must not keep it.
class PythonOutput {
   public:
    PythonOutput(nb::object write, int64_t position)
        : write_(std::move(write)), output_([this](Bytes bytes) { hand_on(bytes); }, position) {}
    PythonOutput(const PythonOutput&) = delete;
    PythonOutput& operator=(const PythonOutput&) = delete;

    // Calls `work(output)`, which writes about as many bytes; returns where it began and how many bytes it wrote.
    template <class Work>
    nb::object run(uint64_t bytes, const Work& work) {
        std::pair<int64_t, int64_t> written;
        // Whoever waits for the mutex must not hold the GIL, which `hand_on` needs.
        if (std::unique_lock lock(mutex_, std::defer_lock); bytes < worth_releasing && lock.try_lock()) {
            written = ends_of(work);
        } else {
            nb::gil_scoped_release release;
            const std::lock_guard guard(mutex_);
            written = ends_of(work);
        }
        return nb::make_tuple(written.first, written.second - written.first);
    }

   private:
    // Copying less takes microseconds. Where other threads wait for the GIL, getting it back takes longer.
    static constexpr uint64_t worth_releasing = uint64_t{1} << 20;

    template <class Work>
    std::pair<int64_t, int64_t> ends_of(const Work& work) {
        const int64_t begin = output_.position();
        work(output_);
        return {begin, output_.position()};
    }

    void hand_on(Bytes bytes) {
        nb::gil_scoped_acquire acquire;
        auto* memory = const_cast<char*>(reinterpret_cast<const char*>(bytes.data()));
        PyObject* view = PyMemoryView_FromMemory(memory, static_cast<Py_ssize_t>(bytes.size()), PyBUF_READ);
        if (view == nullptr) throw nb::python_error();
        write_(nb::steal(view));
    }

    nb::object write_;
    RecordOutput output_;
    std::mutex mutex_;
};

nb::object put_record(PythonOutput& self, const nb::sequence& pieces) {
    std::vector<BufferView> views;
    uint64_t length = 0;
    for (nb::handle piece : pieces) {
        views.emplace_back(piece);
        length += views.back().bytes().size();
    }
    return self.run(length, [&](RecordOutput& output) {
        output.begin_tfrecord(length);
        for (const BufferView& view : views) output.put(view.bytes());
        output.end_tfrecord();
    });
}

nb::object put_recordio(PythonOutput& self, nb::handle head, nb::handle body) {
    const BufferView first(head), second(body);
    return self.run(first.bytes().size() + second.bytes().size(),
                    [&](RecordOutput& output) { output.recordio(first.bytes(), second.bytes()); });
}

// The features of a Python dictionary, and everything that they lie in.
class PythonExample {
   public:
    PythonExample(const nb::dict& features, const nb::bytes& unknown, const nb::bytes& features_unknown) {
        example.features.reserve(features.size());
        for (auto [name, feature] : features) add(name, feature);
        sort_features(example);
        example.unknown = viewed(unknown);
        example.features_unknown = viewed(features_unknown);
    }

    // Without the frames around them.
    uint64_t bytes() const {
        return std::accumulate(views_.begin(), views_.end(), uint64_t{0},
                               [](uint64_t sum, const BufferView& view) { return sum + view.bytes().size(); });
    }

    ExampleToWrite example;

   private:
    void add(nb::handle name, nb::handle feature) {
        FeatureToWrite made;
        Py_ssize_t length = 0;
        const char* text = PyUnicode_AsUTF8AndSize(name.ptr(), &length);
        if (text == nullptr) throw nb::python_error();
        made.name = {text, static_cast<size_t>(length)};
        kept_.push_back(nb::borrow(name));
        static const Names names;
        const nb::object values = got(feature, names.values);
        made.kind = kind_of(got(feature, names.kind), made.name);
        if (made.kind == ListKind::bytes) {
            for (nb::handle value : values) made.values.push_back(viewed(value));
        } else if (made.kind == ListKind::floats) {
            made.floats = numbers<float>(values, "f", made.name);
        } else if (made.kind == ListKind::integers) {
            made.integers = numbers<int64_t>(values, "lq", made.name);
        }
        made.unknown = viewed(got(feature, names.unknown));
        made.list_unknown = viewed(got(feature, names.list_unknown));
        example.features.push_back(std::move(made));
    }

    // Created once: making a name for every lookup takes longer than the lookup.
    struct Names {
        PyObject* kind = PyUnicode_InternFromString("kind");
        PyObject* values = PyUnicode_InternFromString("values");
        PyObject* unknown = PyUnicode_InternFromString("unknown");
        PyObject* list_unknown = PyUnicode_InternFromString("list_unknown");
    };

    nb::object got(nb::handle from, PyObject* name) {
        nb::object found = nb::steal(PyObject_GetAttr(from.ptr(), name));
        if (!found.is_valid()) throw nb::python_error();
        kept_.push_back(found);
        return found;
    }

    static ListKind kind_of(nb::handle kind, std::string_view name) {
        if (kind.is_none()) return ListKind::none;
        const std::string_view text = nb::cast<const char*>(kind);
        for (ListKind known : {ListKind::bytes, ListKind::floats, ListKind::integers}) {
            if (text == name_of(known)) return known;
        }
        throw refused(name, "has no kind of list");
    }

    static nb::builtin_exception refused(std::string_view name, const char* why) {
        return nb::type_error(("feature '" + std::string(name.substr(0, 100)) + "' " + why).c_str());
    }

    Bytes viewed(nb::handle data) {
        views_.emplace_back(data);
        return views_.back().bytes();
    }

    template <class T>
    std::span<const T> numbers(nb::handle values, std::string_view letters, std::string_view name) {
        views_.emplace_back(values, PyBUF_STRIDES | PyBUF_FORMAT);
        const Py_buffer& view = views_.back().description();
        if (!PyBuffer_IsContiguous(&view, 'C')) throw refused(name, "needs an array without gaps");
        const std::string_view format = view.format == nullptr ? "B" : view.format;
        if (view.itemsize != sizeof(T) || format.size() != 1 || letters.find(format[0]) == std::string_view::npos) {
            throw refused(name, sizeof(T) == 4 ? "needs an array of float32" : "needs an array of int64");
        }
        return {static_cast<const T*>(view.buf), static_cast<size_t>(view.len) / sizeof(T)};
    }

    std::vector<nb::object> kept_;
    std::vector<BufferView> views_;
};

nb::object put_example(PythonOutput& self, const nb::dict& features, const nb::bytes& unknown,
                       const nb::bytes& features_unknown) {
    const PythonExample python(features, unknown, features_unknown);
    return self.run(python.bytes(), [&](RecordOutput& output) { write_example(output, python.example); });
}

nb::bytes encoded(const nb::dict& features, const nb::bytes& unknown, const nb::bytes& features_unknown) {
    const PythonExample python(features, unknown, features_unknown);
    const std::vector<std::byte> message = encode_example(python.example);
    return nb::bytes(reinterpret_cast<const char*>(message.data()), message.size());
}

}  // namespace

void bind_output(nb::module_& module) {
    nb::class_<PythonOutput>(module, "RecordOutput")
        .def(nb::init<nb::object, int64_t>(), "write"_a, "position"_a = 0)
        .def("tfrecord", &put_record, "pieces"_a)
        .def("example", &put_example, "features"_a, "unknown"_a, "features_unknown"_a)
        .def("recordio", &put_recordio, "head"_a, "body"_a)
        .def("flush", [](PythonOutput& self) { self.run(0, [](RecordOutput& output) { output.flush(); }); });
    module.def("reserve", &reserve, "descriptor"_a, "offset"_a, "bytes"_a, nb::call_guard<nb::gil_scoped_release>());
    module.def("release", &release, "descriptor"_a, nb::call_guard<nb::gil_scoped_release>());
    module.def("encode_example", &encoded, "features"_a, "unknown"_a, "features_unknown"_a);
}

}  // namespace pixelmill

// The only file that knows Python. It is crossed once per batch.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

#include "buffer_view.h"
#include "casters.h"
#include "core/executor.h"
#include "core/kernels/copy.h"
#include "core/resources.h"
#include "core/rng.h"
#include "gil.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace pixelmill {

namespace {

using AnyArray = nb::ndarray<nb::ro, nb::device::cpu>;
using AnyRows = nb::ndarray<nb::ro, nb::c_contig, nb::device::cpu>;
using NumpyArray = nb::ndarray<nb::numpy>;
template <class T>
using Column1 = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Items = nb::ndarray<const int64_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

constexpr nb::dlpack::dtype dlpack_type(nb::dlpack::dtype_code code, uint8_t bits) {
    return {static_cast<uint8_t>(code), bits, 1};
}

// In the order of DType.
using Code = nb::dlpack::dtype_code;
constexpr nb::dlpack::dtype dlpack_types[] = {
    dlpack_type(Code::UInt, 8),   dlpack_type(Code::UInt, 16),  dlpack_type(Code::UInt, 32),
    dlpack_type(Code::UInt, 64),  dlpack_type(Code::Int, 8),    dlpack_type(Code::Int, 16),
    dlpack_type(Code::Int, 32),   dlpack_type(Code::Int, 64),   dlpack_type(Code::Float, 16),
    dlpack_type(Code::Float, 32), dlpack_type(Code::Float, 64), dlpack_type(Code::Bool, 8),
};

DType dtype_of(nb::dlpack::dtype type) {
    for (int code = 0; code < 12; ++code) {
        if (dlpack_types[code] == type) return static_cast<DType>(code);
    }
    throw nb::type_error("the array has an element type that pixelmill does not know");
}

// The caller keeps the array alive for as long as the value is used.
Value borrowed(const AnyArray& array) {
    if (array.ndim() > max_dims) throw nb::value_error("an array of more than 6 dimensions");
    Value value;
    value.dtype = dtype_of(array.dtype());
    value.ndim = static_cast<int>(array.ndim());
    for (size_t d = 0; d < array.ndim(); ++d) {
        value.shape[d] = static_cast<int64_t>(array.shape(d));
        value.stride[d] = array.stride(d);
    }
    value.data = static_cast<std::byte*>(const_cast<void*>(array.data()));
    static std::byte nothing;
    if (value.data == nullptr) value.data = &nothing;  // an empty array is present all the same
    return value;
}

NumpyArray exported(const Value& value, const Buffer& owner, std::optional<size_t> count) {
    std::vector<size_t> shape;
    if (count) shape.push_back(*count);
    for (int d = 0; d < value.ndim; ++d) shape.push_back(static_cast<size_t>(value.shape[d]));
    nb::capsule keep(new Buffer(owner), [](void* buffer) noexcept { delete static_cast<Buffer*>(buffer); });
    return NumpyArray(value.data, shape.size(), shape.data(), keep, nullptr,
                      dlpack_types[static_cast<int>(value.dtype)]);
}

Param parameter(nb::handle value) {
    const auto is_whole = [](nb::handle item) {
        return nb::isinstance<nb::int_>(item) && !nb::isinstance<nb::bool_>(item);
    };
    if (value.is_none()) return std::monostate{};
    if (nb::isinstance<nb::bool_>(value)) return nb::cast<bool>(value);
    if (nb::isinstance<nb::int_>(value)) return nb::cast<int64_t>(value);
    if (nb::isinstance<nb::float_>(value)) return nb::cast<double>(value);
    if (nb::isinstance<nb::str>(value)) return nb::cast<std::string>(value);
    if (nb::isinstance<Resource>(value)) {
        return std::static_pointer_cast<const Resource>(nb::cast<std::shared_ptr<Resource>>(value));
    }
    const nb::tuple list = nb::cast<nb::tuple>(value);
    if (std::all_of(list.begin(), list.end(), is_whole)) return nb::cast<std::vector<int64_t>>(value);
    return nb::cast<std::vector<double>>(value);
}

Params parameters(const std::string& kind, nb::dict given) {
    Params values;
    for (auto [key, value] : given) {
        const auto name = nb::cast<std::string>(key);
        try {
            values.emplace(name, parameter(value));
        } catch (const std::bad_alloc&) {
            throw;
        } catch (const std::exception&) {
            throw StepError(kind, "the parameter " + name + " is of a type that no step takes");
        }
    }
    return values;
}

template <class T>
std::span<const T> span_of(const Column1<T>& column) {
    return {column.data(), column.size()};
}

// Ranges whose arrays belong to Python. They live as long as the Python object, which every step that uses it keeps.
struct BorrowedRanges : ByteRanges {
    Column1<uint8_t> owned_paths;
    Column1<int64_t> owned_path_starts, owned_file, owned_offset, owned_length;
};

std::shared_ptr<ByteRanges> make_ranges(nb::bytes prefix, Column1<uint8_t> paths, Column1<int64_t> path_starts,
                                        Column1<int64_t> file, Column1<int64_t> offset, Column1<int64_t> length,
                                        const std::vector<std::tuple<int64_t, std::string, std::string>>& lost,
                                        int fetched) {
    const auto starts = span_of(path_starts);
    if (starts.empty() || starts.front() != 0 || starts.back() != static_cast<int64_t>(paths.size()))
        throw nb::value_error("the starts of paths do not match the paths");
    auto ranges = std::make_shared<BorrowedRanges>();
    ranges->paths = {reinterpret_cast<const char*>(paths.data()), paths.size()};
    ranges->path_prefix.assign(prefix.c_str(), prefix.size());
    ranges->path_starts = starts;
    ranges->file = span_of(file);
    ranges->offset = span_of(offset);
    ranges->length = span_of(length);
    ranges->fetched = fetched;
    for (const auto& [item, kind, message] : lost) ranges->lost[item] = {fault_kind_named(kind), message};
    ranges->owned_paths = std::move(paths);
    ranges->owned_path_starts = std::move(path_starts);
    ranges->owned_file = std::move(file);
    ranges->owned_offset = std::move(offset);
    ranges->owned_length = std::move(length);
    return ranges;
}

struct BorrowedTable : Table {
    AnyRows owned_rows;
    Column1<int64_t> owned_starts;
};

std::shared_ptr<Table> make_table(AnyRows rows, Column1<int64_t> starts) {
    const Value value = borrowed(AnyArray(rows));
    auto table = std::make_shared<BorrowedTable>();
    table->dtype = value.dtype;
    table->row_shape.assign(value.shape.begin() + 1, value.shape.begin() + value.ndim);
    table->data = {value.data, static_cast<size_t>(value.elements() * size_of(value.dtype))};
    table->starts = span_of(starts);
    table->owned_rows = std::move(rows);
    table->owned_starts = std::move(starts);
    return table;
}

struct Submission {
    Column1<uint32_t> epochs;
    Column1<uint64_t> samples;
    Column1<uint16_t> variants;
    Items items;

    size_t size() const { return samples.size(); }
    void describe(size_t i, Batch::Sample& sample) const {
        sample.id = {epochs.data()[i], samples.data()[i], variants.data()[i]};
        const int64_t* row = items.data() + i * items.shape(1);
        sample.items.assign(row, row + items.shape(1));
    }
};

using Inputs = std::vector<std::vector<std::optional<AnyArray>>>;

// For each of the ranges that are fetched, and each sample: a buffer, the kind and message of a fault, or None.
using FetchedItems = std::vector<std::vector<nb::object>>;

struct Owned {
    Inputs inputs;
    std::vector<BufferView> views;
};

// The last owner of a batch frees them, which may be a worker without the GIL.
std::shared_ptr<const void> owned(Owned memory) {
    return std::shared_ptr<const Owned>(new Owned(std::move(memory)),
                                        [](const Owned* held) { release_with_gil([held] { delete held; }); });
}

Fetched fetched_item(nb::handle given, std::vector<BufferView>& views) {
    Fetched item;
    if (given.is_none()) return item;
    if (nb::isinstance<nb::tuple>(given)) {
        const auto [kind, message] = nb::cast<std::pair<std::string, std::string>>(given);
        item.failed = true;
        item.kind = fault_kind_named(kind);
        item.message = message;
        return item;
    }
    static const std::byte nothing{};
    const Bytes bytes = views.emplace_back(given).bytes();
    item.data = bytes.empty() ? &nothing : bytes.data();
    item.size = bytes.size();
    return item;
}

std::shared_ptr<Batch> submit(Executor& executor, std::shared_ptr<Program> program, const Limits& limits,
                              const Submission& who, Inputs inputs, bool fill, const FetchedItems& fetched) {
    std::vector<Batch::Sample> samples(who.size());
    std::vector<BufferView> views;
    for (size_t i = 0; i < samples.size(); ++i) {
        who.describe(i, samples[i]);
        samples[i].fill = fill;
        for (const auto& input : inputs) {  // None where the branch of a condition that would have made it is not taken
            const std::optional<AnyArray>& given = input.at(i);
            samples[i].inputs.push_back(given ? borrowed(*given) : Value{});
        }
        for (const auto& items : fetched) samples[i].fetched.push_back(fetched_item(items.at(i), views));
    }
    auto kept = owned({std::move(inputs), std::move(views)});
    nb::gil_scoped_release release;
    return executor.submit(std::move(program), limits, std::move(samples), std::move(kept));
}

nb::list outcomes(const Batch& batch) {
    nb::list list;
    for (size_t i = 0; i < batch.size(); ++i) {
        const Outcome& outcome = batch.outcome(i);
        if (!outcome.failed && outcome.notes == 0) continue;
        list.append(nb::make_tuple(i, outcome.failed ? nb::object(nb::str(name_of(outcome.kind))) : nb::none(),
                                   outcome.step, outcome.notes, outcome.message));
    }
    return list;
}

nb::object block_of(const Batch& batch, int number) {
    if (!batch.dense(number)) return nb::none();
    return nb::cast(exported(batch.first_row(number), batch.block_owner(number), batch.size()));
}

// The file that other processes can map to see an array, its number, which no other file of this process ever has, and
// the offset of the array in it; None if there is none.
std::optional<std::tuple<FileHandle, int64_t, size_t>> shared_file(Executor& executor, const AnyArray& array) {
    const auto* start = static_cast<const std::byte*>(array.data());
    const auto found = executor.buffers()->find(start);
    if (!found) return std::nullopt;
    return std::tuple(found->file, found->number, static_cast<size_t>(start - found->start));
}

// Memory that other processes can map, if there is some.
NumpyArray shared_block(Executor& executor, size_t size) {
    const Buffer buffer = executor.buffers()->take_block(size);
    Value value;
    value.dtype = DType::u8;
    value.ndim = 1;
    value.shape[0] = static_cast<int64_t>(size);
    value.data = buffer.get();
    return exported(value, buffer, std::nullopt);
}

// nanobind ends the process when its tables of objects and of what they keep alive cannot grow. They never shrink, so
// this makes room for more objects than programs have at a time, at import, where running out of memory ends nothing.
void grow_tables_of_objects() {
    std::vector<nb::object> objects;
    for (int i = 0; i < 1000; ++i) objects.push_back(nb::cast(std::make_shared<Resource>()));
}

}  // namespace

void bind_codecs(nb::module_& module);
void bind_calls(nb::module_& module);
void bind_records(nb::module_& module);
void bind_output(nb::module_& module);
void bind_create(nb::module_& module);
void bind_pack(nb::module_& module);

}  // namespace pixelmill

NB_MODULE(_core, module) {
    using namespace pixelmill;
    module.doc() = "pixelmill's native core; pixelmill.engine.native is its only user.";
    // Objects in globals of a user's program may live until exit, as in the worker processes of a DataLoader;
    // nanobind's report of them is for developers. A forked child cannot free what its parent's threads had on their
    // stacks.
    nb::set_leak_warnings(std::getenv("PIXELMILL_LEAK_WARNINGS") != nullptr);
    at_fork(nullptr, nullptr, [] { nb::set_leak_warnings(false); });
    adding_thread();  // made here, where its allocation may fail

    nb::class_<Limits>(module, "Limits")
        .def(
            "__init__",
            [](Limits* self, int64_t pixels, int64_t side, int64_t scans, int64_t scan_pixels, int64_t encoded_bytes,
               int64_t record_bytes) {
                new (self) Limits{pixels, side, scans, scan_pixels, encoded_bytes, record_bytes};
            },
            "pixels"_a, "side"_a, "scans"_a, "scan_pixels"_a, "encoded_bytes"_a, "record_bytes"_a);

    nb::class_<Resource>(module, "Resource");
    nb::class_<ByteRanges, Resource>(module, "ByteRanges")
        .def(nb::new_(&make_ranges), "prefix"_a, "paths"_a.noconvert(), "path_starts"_a.noconvert(),
             "file"_a.noconvert(), "offset"_a.noconvert(), "length"_a.noconvert(), "lost"_a, "fetched"_a = -1);
    nb::class_<Table, Resource>(module, "Table")
        .def(nb::new_(&make_table), "rows"_a.noconvert(), "starts"_a.noconvert());

    nb::class_<Program>(module, "Program")
        .def(nb::init<>())
        .def(
            "add_constant",
            [](Program& self, int slot, const AnyArray& array) { self.add_constant(slot, borrowed(array)); }, "slot"_a,
            "value"_a.noconvert())
        .def("add_input", &Program::add_input, "slot"_a, "number"_a)
        .def(
            "add_step",
            [](Program& self, const std::string& kind, nb::typed<nb::dict, nb::str, nb::object> params,
               const std::vector<std::pair<std::string, int>>& inputs, std::vector<int> out,
               const std::vector<std::tuple<int, int64_t, bool>>& guards) {
                std::vector<Guard> made;
                for (const auto& [slot, number, equal] : guards) made.push_back({slot, number, equal});
                self.add_step(kind, parameters(kind, params), inputs, std::move(out), std::move(made));
            },
            "kind"_a, "params"_a, "inputs"_a, "outputs"_a, "guards"_a)
        .def("set_outputs", &Program::set_outputs, "slots"_a)
        .def("watch", &Program::watch)
        .def("watched", &Program::watched);

    nb::class_<Submission>(module, "Submission")
        .def(nb::init<Column1<uint32_t>, Column1<uint64_t>, Column1<uint16_t>, Items>(), "epochs"_a.noconvert(),
             "samples"_a.noconvert(), "variants"_a.noconvert(), "items"_a.noconvert());

    nb::class_<Batch>(module, "Batch")
        .def("__len__", &Batch::size)
        .def_prop_ro("clean", &Batch::clean)
        .def("outcomes", &outcomes)
        .def("block", &block_of, "output"_a)
        .def(
            "value",
            [](const Batch& self, int output, size_t index) -> nb::object {
                if (self.outcome(index).failed || !self.value(output, index).present()) return nb::none();
                return nb::cast(exported(self.value(output, index), self.owner(output, index), std::nullopt));
            },
            "output"_a, "index"_a);

    nb::exception<Closed>(module, "Closed", PyExc_RuntimeError);
    nb::exception<NoThreads>(module, "NoThreads", PyExc_RuntimeError);
    // Joins wait without the GIL, which workers may need (images that Pillow decodes). A destructor never joins.
    nb::class_<Executor>(module, "Executor")
        .def(nb::init<int, bool>(), "threads"_a, "shares"_a = false)
        .def("submit", &submit, "program"_a, "limits"_a, "who"_a, "inputs"_a, "fill"_a = false,
             "fetched"_a = nb::list())
        .def("wait", &Executor::wait, "batch"_a, "seconds"_a, nb::call_guard<nb::gil_scoped_release>())
        .def("shared_file", &shared_file, "array"_a.noconvert())
        .def("shared_block", &shared_block, "size"_a)
        .def("close", &Executor::close, nb::call_guard<nb::gil_scoped_release>());
    module.def("close_all_executors", &WorkerPool::close_all, nb::call_guard<nb::gil_scoped_release>());

    module.def("operator_key", &operator_key, "seed"_a, "operator_id"_a);
    module.def("philox", [](std::vector<uint32_t> counter, uint64_t key) {
        const auto words = philox({counter.at(0), counter.at(1), counter.at(2), counter.at(3)}, key);
        return std::vector<uint32_t>(words.begin(), words.end());
    });
    // Numbers of 64 bits, two from each block whose counter ends with 0, 1, 2…: the last words first.
    module.def("philox_numbers", [](std::vector<uint32_t> counter, uint64_t key, uint32_t first, uint32_t count) {
        std::vector<uint64_t> numbers;
        numbers.reserve(count);
        std::array<uint32_t, 4> words{};
        for (uint32_t i = 0; i < count; ++i) {
            const uint32_t number = first + i;
            if (i == 0 || number % 2 == 0)
                words = philox({counter.at(0), counter.at(1), counter.at(2), number / 2}, key);
            const size_t high = number % 2 == 0 ? 3 : 1;
            numbers.push_back(uint64_t{words[high]} << 32 | words[high - 1]);
        }
        return numbers;
    });
    bind_codecs(module);
    bind_calls(module);
    bind_records(module);
    bind_output(module);
    bind_create(module);
    bind_pack(module);
    grow_tables_of_objects();
}

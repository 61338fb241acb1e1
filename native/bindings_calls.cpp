// Programs that Python runs one call at a time, for the functions of pixelmill.codecs.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <array>
#include <cstring>
#include <optional>

#include "buffer_view.h"
#include "casters.h"
#include "core/call.h"
#include "core/codecs/image.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace pixelmill {

namespace {

using NumpyArray = nb::ndarray<nb::numpy>;

struct Element {
    char letter;  // of the struct module
    DType dtype;
};
constexpr Element elements[] = {{'B', DType::u8}, {'H', DType::u16}};

DType dtype_of(const Py_buffer& view) {
    const char* format = view.format == nullptr ? "B" : view.format;
    for (const Element& element : elements) {
        if (format[0] == element.letter && format[1] == '\0') return element.dtype;
    }
    throw nb::type_error("expected a buffer of uint8 or uint16");
}

// An input of a program: a buffer that is kept alive, or the whole numbers of a tuple.
class Input {
   public:
    explicit Input(nb::handle given) {
        if (given.is_none()) return;
        if (nb::isinstance<nb::tuple>(given)) {
            read(nb::borrow<nb::tuple>(given));
        } else {
            view(given);
        }
    }
    Input(const Input&) = delete;
    Input& operator=(const Input&) = delete;

    Value value;

   private:
    void read(const nb::tuple& given) {
        if (given.size() > numbers_.size()) throw nb::value_error("too many numbers");
        for (size_t i = 0; i < given.size(); ++i) numbers_[i] = nb::cast<int64_t>(given[i]);
        value = {
            reinterpret_cast<std::byte*>(numbers_.data()), DType::i64, 1, {static_cast<int64_t>(given.size())}, {1}};
    }

    void view(nb::handle given) {
        view_.emplace(given, PyBUF_RECORDS_RO);
        const Py_buffer& buffer = view_->description();
        if (buffer.ndim > max_dims) throw nb::value_error("an array of more than 6 dimensions");
        value.dtype = dtype_of(buffer);
        value.ndim = buffer.ndim;
        for (int d = 0; d < buffer.ndim; ++d) {
            if (buffer.strides[d] % buffer.itemsize != 0) throw nb::value_error("unaligned strides");
            value.shape[d] = buffer.shape[d];
            value.stride[d] = buffer.strides[d] / buffer.itemsize;
        }
        value.data = static_cast<std::byte*>(buffer.buf);
        static std::byte nothing;
        if (value.data == nullptr) value.data = &nothing;  // an empty buffer is present all the same
    }

    std::array<int64_t, 4> numbers_{};
    std::optional<BufferView> view_;
};

NumpyArray exported(const Value& value, Block memory) {
    std::array<size_t, max_dims> shape{};
    for (int d = 0; d < value.ndim; ++d) shape[d] = static_cast<size_t>(value.shape[d]);
    const auto bits = static_cast<uint8_t>(8 * size_of(value.dtype));
    const nb::capsule owner(memory.release(), [](void* block) noexcept { free_block(static_cast<std::byte*>(block)); });
    return NumpyArray(value.data, static_cast<size_t>(value.ndim), shape.data(), owner, nullptr,
                      {static_cast<uint8_t>(nb::dlpack::dtype_code::UInt), bits, 1});
}

nb::object fault_of(const Outcome& outcome) {
    return outcome.failed ? nb::object(nb::str(name_of(outcome.kind))) : nb::none();
}

nb::object call(const Program& program, const Limits& limits, nb::handle first, nb::handle second, nb::handle third) {
    const Input inputs[] = {Input(first), Input(second), Input(third)};
    const std::array values{inputs[0].value, inputs[1].value, inputs[2].value};
    CallResult result;
    {
        nb::gil_scoped_release release;
        result = call_program(program, limits, values);
    }
    nb::object made = nb::none();
    if (result.value.present()) made = nb::cast(exported(result.value, std::move(result.memory)));
    return nb::make_tuple(made, fault_of(result.outcome), result.outcome.notes, result.outcome.message);
}

nb::object info_of(nb::handle data, const Limits& limits) {
    const BufferView view(data);
    try {
        const ImageInfo info = read_info(view.bytes(), limits);
        const nb::object found = nb::make_tuple(name_of(info.format), info.height, info.width, info.channels, info.bits,
                                                info.orientation, info.more_frames);
        return nb::make_tuple(found, nb::none(), "");
    } catch (const Fault& fault) {
        return nb::make_tuple(nb::none(), name_of(fault.kind), fault.what());
    }
}

}  // namespace

void bind_calls(nb::module_& module) {
    module.def("call_program", &call, "program"_a, "limits"_a, "first"_a.none(), "second"_a.none() = nb::none(),
               "third"_a.none() = nb::none());
    module.def("image_info", &info_of, "data"_a, "limits"_a);
}

}  // namespace pixelmill

// Converts strings, lists, tuples, optional values and shared pointers, like the headers in nanobind/stl that have
// their names. Those are noexcept where they allocate, so a failed allocation would end the process; here it is a
// std::bad_alloc, which nanobind makes a MemoryError.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/detail/nb_list.h>
#include <nanobind/stl/detail/nb_optional.h>

#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "gil.h"

namespace pixelmill {

// Another signature may fit an argument that Python could not convert, but none helps without memory.
inline void forget_unless_out_of_memory() {
    if (PyErr_ExceptionMatches(PyExc_MemoryError) != 0) throw nanobind::python_error();
    PyErr_Clear();
}

// The items of a list, tuple or other sequence; no object if it is none of these. Text is not meant to be a list of
// letters.
inline nanobind::object sequence_of(nanobind::handle source) {
    if (PyUnicode_Check(source.ptr()) || PyBytes_Check(source.ptr()) || !PySequence_Check(source.ptr())) return {};
    nanobind::object items = nanobind::steal(PySequence_Tuple(source.ptr()));
    if (!items.is_valid()) forget_unless_out_of_memory();
    return items;
}

}  // namespace pixelmill

namespace nanobind::detail {

template <>
struct type_caster<std::string> {
    NB_TYPE_CASTER(std::string, const_name("str"))

    bool from_python(handle source, uint32_t, cleanup_list*) {
        if (!PyUnicode_Check(source.ptr())) return false;
        Py_ssize_t size = 0;
        const char* text = PyUnicode_AsUTF8AndSize(source.ptr(), &size);
        if (text == nullptr) {  // a lone surrogate, or no memory
            pixelmill::forget_unless_out_of_memory();
            return false;
        }
        value.assign(text, static_cast<size_t>(size));
        return true;
    }

    static handle from_cpp(const std::string& text, rv_policy, cleanup_list*) noexcept {
        return PyUnicode_FromStringAndSize(text.data(), static_cast<Py_ssize_t>(text.size()));
    }
};

template <class Entry>
struct type_caster<std::vector<Entry>> : list_caster<std::vector<Entry>, Entry> {
    bool from_python(handle source, uint32_t flags, cleanup_list* cleanup) {
        const object items = pixelmill::sequence_of(source);
        if (!items.is_valid()) return false;
        const Py_ssize_t count = PyTuple_GET_SIZE(items.ptr());
        this->value.clear();
        this->value.reserve(static_cast<size_t>(count));
        for (Py_ssize_t i = 0; i < count; ++i) {
            make_caster<Entry> caster;
            if (!caster.from_python(PyTuple_GET_ITEM(items.ptr(), i), flags_for_local_caster<Entry>(flags), cleanup) ||
                !caster.template can_cast<Entry>()) {
                return false;
            }
            this->value.push_back(caster.operator cast_t<Entry>());
        }
        return true;
    }
};

template <class Entry>
struct type_caster<std::optional<Entry>> : optional_caster<std::optional<Entry>> {
    bool from_python(handle source, uint32_t flags, cleanup_list* cleanup) {
        this->value.reset();
        if (source.is_none()) return true;
        make_caster<Entry> caster;
        if (!caster.from_python(source, flags_for_local_caster<Entry>(flags), cleanup) ||
            !caster.template can_cast<Entry>()) {
            return false;
        }
        this->value.emplace(caster.operator cast_t<Entry>());
        return true;
    }
};
template <class Entry>
struct remove_opt_mono<std::optional<Entry>> : remove_opt_mono<Entry> {};
template <class Entry>
struct has_arg_defaults<std::optional<Entry>> : std::true_type {};

// A tuple or a pair. Its parts may have no default value, so it is made of them when it is asked for.
template <class Value_, class... Parts>
struct fixed_sequence_caster {
    using Value = Value_;
    static constexpr auto Name = const_name("tuple[") + concat(make_caster<Parts>::Name...) + const_name("]");
    template <class>
    using Cast = Value;

    bool from_python(handle source, uint32_t flags, cleanup_list* cleanup) {
        items_ = pixelmill::sequence_of(source);
        if (!items_.is_valid() || PyTuple_GET_SIZE(items_.ptr()) != Py_ssize_t{sizeof...(Parts)}) return false;
        Py_ssize_t at = 0;
        const auto convert = [&]<class Part>(make_caster<Part>& caster, std::type_identity<Part>) {
            return caster.from_python(PyTuple_GET_ITEM(items_.ptr(), at++), flags_for_local_caster<Part>(flags),
                                      cleanup);
        };
        return std::apply([&](auto&... caster) { return (convert(caster, std::type_identity<Parts>{}) && ...); },
                          casters_);
    }

    template <class Given>
    static handle from_cpp(Given&& given, rv_policy policy, cleanup_list* cleanup) noexcept {
        object made = steal(PyTuple_New(sizeof...(Parts)));
        Py_ssize_t at = 0;
        const auto put = [&](handle part) {
            return part.is_valid() && PyTuple_SetItem(made.ptr(), at++, part.ptr()) == 0;
        };
        const bool whole =
            made.is_valid() &&
            std::apply(
                [&](auto&&... part) {
                    return (put(make_caster<Parts>::from_cpp(std::forward<decltype(part)>(part), policy, cleanup)) &&
                            ...);
                },
                std::forward<Given>(given));
        return whole ? made.release() : handle();
    }

    template <class>
    bool can_cast() const noexcept {
        return std::apply([](const auto&... caster) { return (caster.template can_cast<Parts>() && ...); }, casters_);
    }

    explicit operator Value() {
        return std::apply([](auto&... caster) { return Value(caster.operator cast_t<Parts>()...); }, casters_);
    }

   private:
    std::tuple<make_caster<Parts>...> casters_;
    object items_;
};

template <class... Parts>
struct type_caster<std::tuple<Parts...>> : fixed_sequence_caster<std::tuple<Parts...>, Parts...> {};
template <class First, class Second>
struct type_caster<std::pair<First, Second>> : fixed_sequence_caster<std::pair<First, Second>, First, Second> {};

// An object of a class that is bound. While a pointer to an object of Python's lives, so does the object, and the other
// way round.
template <class T>
struct type_caster<std::shared_ptr<T>> {
    static constexpr bool IsClass = true;
    NB_TYPE_CASTER(std::shared_ptr<T>, make_caster<T>::Name)

    bool from_python(handle source, uint32_t flags, cleanup_list* cleanup) {
        make_caster<T> caster;
        if (!caster.from_python(source, flags & ~cast_flags::convert, cleanup)) return false;
        // The last owner may be a thread without the GIL, after the end of Python.
        value = std::shared_ptr<T>(caster.operator T*(), [kept = source.inc_ref()](T*) {
            pixelmill::release_with_gil([kept] { kept.dec_ref(); });
        });
        return true;
    }

    static handle from_cpp(const std::shared_ptr<T>& given, rv_policy, cleanup_list*) {
        if (object known = find(given.get()); known.is_valid()) return known.release();
        auto owner = std::make_unique<std::shared_ptr<T>>(given);
        object made = cast(given.get(), rv_policy::reference);
        keep_alive_cb(made, owner.release(),
                      [](void* last) noexcept { delete static_cast<std::shared_ptr<T>*>(last); });
        return made.release();
    }
};

}  // namespace nanobind::detail

// A view of anything in Python that has a buffer, for as long as this lives.
#pragma once

#include <nanobind/nanobind.h>

#include <utility>

#include "core/codecs/bytes.h"

namespace pixelmill {

class BufferView {
   public:
    explicit BufferView(nanobind::handle data, int flags = PyBUF_SIMPLE) {
        if (PyObject_GetBuffer(data.ptr(), &view_, flags) != 0) throw nanobind::python_error();
    }
    BufferView(BufferView&& other) noexcept : view_(std::exchange(other.view_, Py_buffer{})) {}
    BufferView& operator=(BufferView&&) = delete;
    ~BufferView() { PyBuffer_Release(&view_); }  // does nothing where it was moved away

    Bytes bytes() const { return {static_cast<const std::byte*>(view_.buf), static_cast<size_t>(view_.len)}; }
    const Py_buffer& description() const { return view_; }

   private:
    Py_buffer view_{};
};

}  // namespace pixelmill

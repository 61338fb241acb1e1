#include "step.h"

#include "codecs/jpeg.h"
#include "codecs/jpeg_writer.h"
#include "codecs/pack_decoder.h"
#include "file.h"

namespace pixelmill {

namespace {

template <class T, class... Arguments>
T& on_demand(std::unique_ptr<T>& tool, Arguments&... arguments) {
    if (tool == nullptr) tool = std::make_unique<T>(arguments...);
    return *tool;
}

}  // namespace

ThreadState::ThreadState() = default;
ThreadState::~ThreadState() = default;

JpegReader& ThreadState::jpeg_reader() { return on_demand(jpeg_reader_); }
JpegWriter& ThreadState::jpeg_writer() { return on_demand(jpeg_writer_); }
PackDecoder& ThreadState::pack_decoder() { return on_demand(pack_decoder_, arena); }

const File& ThreadState::file_of_records(const std::string& path) {
    if (file_ == nullptr || path_ != path) {
        file_.reset();
        path_ = path;  // before the file: if there is no memory for it, no file must be open under the old name
        file_ = std::make_unique<File>(path_);
    }
    return *file_;
}

void Context::note(Note kind, const std::string& text) {
    if (notes == 0) note_text = text;
    notes |= static_cast<uint32_t>(kind);
}

namespace {

Value described(DType dtype, std::span<const int64_t> shape) {
    if (shape.size() > max_dims) throw Fault(FaultKind::argument, "more than 6 dimensions");
    Value value;
    value.dtype = dtype;
    value.ndim = static_cast<int>(shape.size());
    for (size_t d = 0; d < shape.size(); ++d) value.shape[d] = shape[d];
    value.stride = packed_strides(value.ndim, value.shape);
    return value;
}

}  // namespace

Value Context::allocate(int index, DType dtype, std::span<const int64_t> shape) {
    const int16_t output = leaving[static_cast<size_t>(index)];
    if (output < 0) return scratch(dtype, shape);
    Value value = described(dtype, shape);
    value.data = sink->place(output, dtype, shape);
    return value;
}

Value Context::scratch(DType dtype, std::span<const int64_t> shape) {
    Value value = described(dtype, shape);
    value.data = thread.arena.take(static_cast<size_t>(value.elements() * size_of(dtype)));
    return value;
}

}  // namespace pixelmill

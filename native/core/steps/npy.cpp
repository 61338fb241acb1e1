// Arrays out of npy files: whole, or only the part that is asked for.
#include "../records/npy.h"

#include <algorithm>
#include <cstring>

#include "../file.h"
#include "../kernels/copy.h"
#include "../resources.h"
#include "declared/sources.h"
#include "read.h"

namespace pixelmill {

namespace {

NpyHeader read_header(Context& context, const ByteSource& source, int64_t offset, int64_t size) {
    std::byte start[npy_start];
    const int64_t begun = std::min(size, npy_start);
    source.read(start, begun, offset);
    const int64_t length = npy_header_length({start, static_cast<size_t>(begun)});
    if (length > size) throw Fault(FaultKind::truncated, "npy: the file ends inside its header");
    const Value header = context.scratch(DType::u8, std::array{length});
    source.read(header.data, length, offset);
    return parse_npy_header({header.data, static_cast<size_t>(length)});
}

void swap_bytes(const Value& packed) {
    const int64_t size = size_of(packed.dtype), count = packed.elements();
    for (int64_t i = 0; i < count; ++i) std::reverse(packed.data + i * size, packed.data + (i + 1) * size);
}

// What is read along an axis: of the two that run slowest in the file, the second only where that saves much.
struct Slab {
    int axis;  // -1 where the array has no such axis
    int64_t low, high;

    int64_t count() const { return high - low; }
};

using Slabs = std::array<Slab, 2>;

constexpr int64_t worth_another_read = 8192;  // bytes that need not be read

// Reads the slabs into memory and returns them as an array of the header's axes.
Value read_slabs(Context& context, const ByteSource& source, int64_t offset, const NpyHeader& header,
                 const Slabs& slabs, bool zeros) {
    Extents file_shape{}, shape = header.shape;
    const auto ndim = static_cast<size_t>(header.ndim);
    int64_t inner = size_of(header.dtype);  // bytes of one step along the second axis
    for (size_t d = 0; d < ndim; ++d) {
        if (static_cast<int>(d) != slabs[0].axis && static_cast<int>(d) != slabs[1].axis) inner *= shape[d];
    }
    const int64_t whole = slabs[1].axis < 0 ? inner : inner * shape[static_cast<size_t>(slabs[1].axis)];
    const int64_t part = inner * slabs[1].count(), rows = slabs[0].count();
    for (const Slab& slab : slabs) {
        if (slab.axis >= 0) shape[static_cast<size_t>(slab.axis)] = slab.count();
    }
    check_encoded_bytes(context, rows * part);
    for (size_t d = 0; d < ndim; ++d) file_shape[d] = shape[header.fortran ? ndim - 1 - d : d];
    const std::span<const int64_t> extents(file_shape.data(), ndim);
    // A file in C order goes straight into the batch; what is transposed or sliced is copied by the step that needs it.
    Value packed = header.fortran && ndim > 1 ? context.scratch(header.dtype, extents)
                                              : context.allocate(0, header.dtype, extents);
    const int64_t start = offset + header.data_offset + slabs[0].low * whole + slabs[1].low * inner;
    if (zeros) {
        std::memset(packed.data, 0, static_cast<size_t>(rows * part));
    } else if (part == whole) {
        source.read(packed.data, rows * part, start);
    } else {
        for (int64_t row = 0; row < rows; ++row) source.read(packed.data + row * part, part, start + row * whole);
    }
    if (header.swapped && !zeros) swap_bytes(packed);
    if (!header.fortran) return packed;
    Value turned = packed;
    for (size_t d = 0; d < ndim; ++d) {
        turned.shape[d] = packed.shape[ndim - 1 - d];
        turned.stride[d] = packed.stride[ndim - 1 - d];
    }
    return turned;
}

Slabs whole_slabs(const NpyHeader& header) {
    Slabs slabs{Slab{-1, 0, 1}, Slab{-1, 0, 1}};
    for (int i = 0; i < std::min(header.ndim, 2); ++i) {
        const int axis = header.fortran ? header.ndim - 1 - i : i;
        slabs[static_cast<size_t>(i)] = {axis, 0, header.shape[static_cast<size_t>(axis)]};
    }
    return slabs;
}

class NpyItem : public Step {
   public:
    template <class Params>
    explicit NpyItem(const Params& params) : ranges_(params.ranges), reader_(params.reader) {}

   protected:
    struct Opened {
        Opened(Context& context, const ByteRanges& ranges, int64_t item) : source(context, ranges, item) {}
        ItemSource source;
        int64_t offset = 0;
        NpyHeader header;
        bool damaged = false;  // the elements are not all there; zeros are wanted instead
    };

    void open(Context& context, Opened& opened, int64_t item) const {
        opened.offset = ranges_->offset_of(item);
        int64_t size = ranges_->length_of(item);
        if (size < 0) size = opened.source->size() - opened.offset;
        opened.header = read_header(context, *opened.source, opened.offset, size);
        try {
            check_npy_size(opened.header, size);
        } catch (const Fault&) {
            if (!context.fill) throw;
            opened.damaged = true;
        }
    }

    int64_t item(const Context& context) const {
        const int64_t number = context.items[reader_];
        ranges_->check(number);
        return number;
    }

    std::shared_ptr<const ByteRanges> ranges_;
    size_t reader_;
};

class NpyShape : public NpyItem {
   public:
    using NpyItem::NpyItem;

    void run(Context& context, std::span<const Value>, std::span<Value> out) const override {
        const int64_t number = item(context);
        Opened opened(context, *ranges_, number);
        open(context, opened, number);
        out[0] = context.allocate(0, DType::i64, std::array{static_cast<int64_t>(opened.header.ndim)});
        std::copy_n(opened.header.shape.begin(), opened.header.ndim, out[0].as<int64_t>());
    }
};

// Of a window, only what it needs along the slowest axes is read.
class ReadNpy : public NpyItem {
   public:
    explicit ReadNpy(const ReadNpyParams& params) : NpyItem(params), axes_(params.axes), strict_(params.strict) {}

    void run(Context& context, std::span<const Value> values, std::span<Value> out) const override {
        const ReadNpyInputs in(values);
        const int64_t number = item(context);
        Opened opened(context, *ranges_, number);
        open(context, opened, number);
        Slabs slabs = whole_slabs(opened.header);
        if (in.start.present()) {
            const auto count = in.start.elements();
            out[1] = context.allocate(1, DType::i64, std::array{count});
            for (int64_t i = 0; i < count; ++i) {
                int64_t start = in.start.integer(i);
                const int axis = axis_of(i, opened.header.ndim);
                check(start, in.extent.integer(i), axis, opened.header);
                for (Slab& slab : slabs) {
                    if (axis != slab.axis || (&slab == &slabs[1] && !saves(opened.header, slab, in.extent.integer(i))))
                        continue;
                    const int64_t whole = slab.high;
                    slab.low = std::clamp<int64_t>(start, 0, whole);
                    slab.high = std::clamp<int64_t>(start + in.extent.integer(i), slab.low, whole);
                    start -= slab.low;
                }
                out[1].as<int64_t>()[i] = start;
            }
        }
        out[0] = read_slabs(context, *opened.source, opened.offset, opened.header, slabs, opened.damaged);
    }

   private:
    static bool saves(const NpyHeader& header, const Slab& slab, int64_t extent) {
        int64_t inner = size_of(header.dtype);
        for (int d = 0; d < header.ndim - 2; ++d)
            inner *= header.shape[static_cast<size_t>(header.fortran ? d : d + 2)];
        return extent < slab.count() && (slab.count() - extent) * inner >= worth_another_read;
    }

    int axis_of(int64_t number, int ndim) const {
        const int axis =
            axes_.empty() ? static_cast<int>(number) : static_cast<int>(axes_[static_cast<size_t>(number)]);
        return axis < 0 ? axis + ndim : axis;
    }

    void check(int64_t start, int64_t extent, int axis, const NpyHeader& header) const {
        const int64_t whole = header.shape[static_cast<size_t>(axis)];
        if (!strict_ || (start >= 0 && start + extent <= whole)) return;
        throw Fault(FaultKind::argument, "the region from " + std::to_string(start) + " to " +
                                             std::to_string(start + extent) + " leaves axis " + std::to_string(axis) +
                                             " of extent " + std::to_string(whole) +
                                             "; out_of_bounds_policy says what to do then");
    }

    std::vector<int64_t> axes_;
    bool strict_;
};

class DecodeNpy : public Step {
   public:
    void run(Context& context, std::span<const Value> values, std::span<Value> out) const override {
        const DecodeNpyInputs in(values);
        if (in.encoded.dtype != DType::u8 || in.encoded.ndim != 1) {
            throw Fault(FaultKind::argument, "an npy file must be uint8 with one axis, got " + describe(in.encoded));
        }
        Value bytes = in.encoded;
        if (!bytes.contiguous()) {
            bytes = context.scratch(DType::u8, std::array{in.encoded.shape[0]});
            copy_elements(bytes, in.encoded);
        }
        const Memory source({bytes.data, static_cast<size_t>(bytes.elements())});
        const NpyHeader header = read_header(context, source, 0, source.size());
        bool damaged = false;
        try {
            check_npy_size(header, source.size());
        } catch (const Fault&) {
            if (!context.fill) throw;
            damaged = true;
        }
        out[0] = read_slabs(context, source, 0, header, whole_slabs(header), damaged);
    }
};

}  // namespace

std::unique_ptr<Step> make_npy_shape(const NpyShapeParams& params) { return std::make_unique<NpyShape>(params); }
std::unique_ptr<Step> make_read_npy(const ReadNpyParams& params) { return std::make_unique<ReadNpy>(params); }
std::unique_ptr<Step> make_decode_npy(const DecodeNpyParams&) { return std::make_unique<DecodeNpy>(); }

}  // namespace pixelmill

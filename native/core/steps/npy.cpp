// Arrays out of npy files: whole, or only the part that is asked for.
#include "../records/npy.h"

#include <algorithm>
#include <cstring>

#include "../file.h"
#include "../kernels/copy.h"
#include "../resources.h"
#include "steps.h"

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

struct Slab {
    int axis;  // the one that runs slowest in the file; -1 for a single number
    int64_t low, high;
};

// Reads the slab into memory and gives it as an array of the header's axes.
Value read_slab(Context& context, const ByteSource& source, int64_t offset, const NpyHeader& header, const Slab& slab,
                bool zeros) {
    Extents file_shape{}, shape = header.shape;
    const auto ndim = static_cast<size_t>(header.ndim);
    int64_t row_bytes = size_of(header.dtype);
    for (size_t d = 0; d < ndim; ++d) {
        if (static_cast<int>(d) != slab.axis) row_bytes *= shape[d];
    }
    if (slab.axis >= 0) shape[static_cast<size_t>(slab.axis)] = slab.high - slab.low;
    const int64_t bytes = slab.axis < 0 ? row_bytes : row_bytes * (slab.high - slab.low);
    check_encoded_bytes(context, bytes);
    for (size_t d = 0; d < ndim; ++d) file_shape[d] = shape[header.fortran ? ndim - 1 - d : d];
    const std::span<const int64_t> extents(file_shape.data(), ndim);
    // A file in C order goes straight into the batch; what is turned or cut has to be copied by whoever needs it.
    Value packed = header.fortran && ndim > 1 ? context.scratch(header.dtype, extents)
                                              : context.allocate(0, header.dtype, extents);
    if (zeros) {
        std::memset(packed.data, 0, static_cast<size_t>(bytes));
    } else {
        source.read(packed.data, bytes, offset + header.data_offset + slab.low * row_bytes);
        if (header.swapped) swap_bytes(packed);
    }
    if (!header.fortran) return packed;
    Value turned = packed;
    for (size_t d = 0; d < ndim; ++d) {
        turned.shape[d] = packed.shape[ndim - 1 - d];
        turned.stride[d] = packed.stride[ndim - 1 - d];
    }
    return turned;
}

Slab whole_slab(const NpyHeader& header) {
    if (header.ndim == 0) return {-1, 0, 0};
    const int axis = header.fortran ? header.ndim - 1 : 0;
    return {axis, 0, header.shape[static_cast<size_t>(axis)]};
}

class NpyItem : public Step {
   public:
    explicit NpyItem(const Params& params)
        : ranges_(params.resource<ByteRanges>("ranges")), reader_(static_cast<size_t>(params.integer("reader"))) {}

   protected:
    struct Opened {
        explicit Opened(const std::string& path) : file(path) {}
        File file;
        int64_t offset = 0;
        NpyHeader header;
        bool damaged = false;  // the elements are not all there; zeros are wanted instead
    };

    void open(Context& context, Opened& opened, int64_t item) const {
        opened.offset = ranges_->offset_of(item);
        int64_t size = ranges_->length_of(item);
        if (size < 0) size = opened.file.size() - opened.offset;
        opened.header = read_header(context, opened.file, opened.offset, size);
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
        Opened opened(ranges_->path_of(number));
        open(context, opened, number);
        out[0] = context.allocate(0, DType::i64, std::array{static_cast<int64_t>(opened.header.ndim)});
        std::copy_n(opened.header.shape.begin(), opened.header.ndim, out[0].as<int64_t>());
    }
};

// in: start, extent of a window, or nothing for all of the array. out: the array, and where the window starts in it: of
// a window, only the part that it needs along the slowest axis is read.
class ReadNpy : public NpyItem {
   public:
    explicit ReadNpy(const Params& params)
        : NpyItem(params), axes_(params.numbers("axes")), strict_(params.flag("strict")) {}

    void run(Context& context, std::span<const Value> in, std::span<Value> out) const override {
        const int64_t number = item(context);
        Opened opened(ranges_->path_of(number));
        open(context, opened, number);
        Slab slab = whole_slab(opened.header);
        if (in[0].present()) {
            const auto count = in[0].elements();
            out[1] = context.allocate(1, DType::i64, std::array{count});
            for (int64_t i = 0; i < count; ++i) {
                int64_t start = in[0].integer(i);
                const int axis = axis_of(i, opened.header.ndim);
                check(start, in[1].integer(i), axis, opened.header);
                if (axis == slab.axis) {
                    const int64_t whole = slab.high;
                    slab.low = std::clamp<int64_t>(start, 0, whole);
                    slab.high = std::clamp<int64_t>(start + in[1].integer(i), slab.low, whole);
                    start -= slab.low;
                }
                out[1].as<int64_t>()[i] = start;
            }
        }
        out[0] = read_slab(context, opened.file, opened.offset, opened.header, slab, opened.damaged);
    }

   private:
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

    std::vector<double> axes_;
    bool strict_;
};

// in: the bytes of an npy file
class DecodeNpy : public Step {
   public:
    void run(Context& context, std::span<const Value> in, std::span<Value> out) const override {
        if (in[0].dtype != DType::u8 || in[0].ndim != 1) {
            throw Fault(FaultKind::argument, "an npy file must be uint8 with one axis, got " + describe(in[0]));
        }
        Value bytes = in[0];
        if (!bytes.contiguous()) {
            bytes = context.scratch(DType::u8, std::array{in[0].shape[0]});
            copy_elements(bytes, in[0]);
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
        out[0] = read_slab(context, source, 0, header, whole_slab(header), damaged);
    }
};

}  // namespace

std::unique_ptr<Step> make_npy_shape(const Params& params) { return std::make_unique<NpyShape>(params); }
std::unique_ptr<Step> make_read_npy(const Params& params) { return std::make_unique<ReadNpy>(params); }
std::unique_ptr<Step> make_decode_npy(const Params&) { return std::make_unique<DecodeNpy>(); }

}  // namespace pixelmill

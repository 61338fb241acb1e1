// Bytes and columns of the item that the sampler chose.
#include "read.h"

#include <algorithm>
#include <atomic>
#include <cctype>
#include <cstring>
#include <map>

#include "../codecs/image.h"
#include "../codecs/pack_layout.h"
#include "../file.h"
#include "../resources.h"
#include "declared/sources.h"

namespace pixelmill {

namespace {

// A PNG named .jpg is decoded by its content all the same, and noted.
void compare_with_name(Context& context, const Value& bytes, const std::string& path) {
    static const std::map<std::string, ImageFormat> endings = {
        {"jpg", ImageFormat::jpeg},  {"jpeg", ImageFormat::jpeg}, {"png", ImageFormat::png},
        {"bmp", ImageFormat::bmp},   {"gif", ImageFormat::gif},   {"tif", ImageFormat::tiff},
        {"tiff", ImageFormat::tiff}, {"webp", ImageFormat::webp}, {"jp2", ImageFormat::jpeg2000},
        {"heic", ImageFormat::heic}, {"heif", ImageFormat::heic}, {"avif", ImageFormat::avif}};
    std::string ending = path.substr(path.find_last_of('.') + 1);
    for (char& letter : ending) letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
    const auto named = endings.find(ending);
    if (named == endings.end()) return;
    const ImageFormat content = sniff({bytes.data, static_cast<size_t>(bytes.elements())});
    if (content == ImageFormat::unknown || content == named->second) return;
    context.note(Note::extension_mismatch, std::string("the content is ") + name_of(content) + ", not ." + ending);
}

// Of a packed image: the header and the index of a photograph of up to 1300 rows. Longer ones take another read.
constexpr int64_t first_bytes = 1024;
constexpr int64_t smallest_sparse = 16384;  // below this, one read is cheaper than two

// Where the index of a packed image ends; 0 when its header makes no sense, which the decoder will say.
int64_t index_end(Bytes start) {
    try {
        return static_cast<int64_t>(PackLayout::header_bytes(start));
    } catch (const Fault&) {
        return 0;
    }
}

class Read : public Step {
   public:
    explicit Read(const ReadParams& params)
        : ranges_(params.ranges), reader_(params.reader), in_part_(params.only_decoded) {}

    void run(Context& context, std::span<const Value>, std::span<Value> out) const override {
        try {
            out[0] = read(context);
        } catch (const Fault&) {
            if (!context.fill) throw;
            out[0] = context.allocate(0, DType::u8, std::array{int64_t{0}});
        }
    }

   private:
    Value read(Context& context) const {
        const int64_t item = context.items[reader_];
        ranges_->check(item);
        const ItemSource source(context, *ranges_, item);
        const int64_t offset = ranges_->offset_of(item);
        int64_t bytes = ranges_->length_of(item);
        if (bytes < 0) bytes = source->size() - offset;
        check_encoded_bytes(context, bytes);
        if (!source.was_fetched() && can_be_sparse(context, bytes)) {
            const Value sparse = read_index(context, *source, item, bytes);
            if (sparse.present()) return sparse;
        }
        const Value value = context.allocate(0, DType::u8, std::array{bytes});
        source->read(value.data, bytes, offset);
        if (in_part_) packed_.store(sniff(bytes_of(value)) == ImageFormat::pack, std::memory_order_relaxed);
        if (ranges_->file.empty()) compare_with_name(context, value, ranges_->path_of(item));
        return value;
    }

    // Images that leave the program as they are must be whole. Whether the one before was packed tells what to expect:
    // looking at the beginning first is a waste for others.
    bool can_be_sparse(const Context& context, int64_t bytes) const {
        return in_part_ && !ranges_->file.empty() && context.leaving[0] < 0 && bytes >= smallest_sparse &&
               packed_.load(std::memory_order_relaxed);
    }

    // A sparse image, if the item begins like a packed one: its header and index, in memory for these alone. The value
    // is not present when the whole item has to be read.
    Value read_index(Context& context, const ByteSource& file, int64_t item, int64_t bytes) const {
        const auto place = std::find_if(context.sparse.begin(), context.sparse.end(),
                                        [](const SparseImage& image) { return image.data == nullptr; });
        if (place == context.sparse.end()) return {};
        const int64_t offset = ranges_->offset_of(item);
        Value start = context.scratch(DType::u8, std::array{first_bytes});
        file.read(start.data, first_bytes, offset);
        if (sniff(bytes_of(start)) != ImageFormat::pack) return {};
        const int64_t header = index_end(bytes_of(start));
        if (header > first_bytes && header <= bytes) {
            const Value whole = context.scratch(DType::u8, std::array{header});
            std::memcpy(whole.data, start.data, first_bytes);
            file.read(whole.data + first_bytes, header - first_bytes, offset + first_bytes);
            start = whole;
        }
        *place = {start.data, start.elements(), ranges_->path_of(item), offset};
        start.shape[0] = bytes;  // decoders know that the rest is not there
        return start;
    }

    static Bytes bytes_of(const Value& value) { return {value.data, static_cast<size_t>(value.elements())}; }

    std::shared_ptr<const ByteRanges> ranges_;
    size_t reader_;
    bool in_part_;
    mutable std::atomic<bool> packed_{false};
};

class Column : public Step {
   public:
    explicit Column(const ColumnParams& params) : table_(params.table), reader_(params.reader) {
        for (int64_t extent : table_->row_shape) row_bytes_ *= extent;
        row_bytes_ *= size_of(table_->dtype);
    }

    void run(Context& context, std::span<const Value>, std::span<Value> out) const override {
        const int64_t item = context.items[reader_];
        int64_t first = item, count = 1;
        if (table_->starts.empty()) {
            out[0] = context.allocate(0, table_->dtype, table_->row_shape);
        } else {
            first = table_->starts[static_cast<size_t>(item)];
            count = table_->starts[static_cast<size_t>(item) + 1] - first;
            std::vector<int64_t> shape = {count};
            shape.insert(shape.end(), table_->row_shape.begin(), table_->row_shape.end());
            out[0] = context.allocate(0, table_->dtype, shape);
        }
        if (count == 0) return;
        std::memcpy(out[0].data, table_->data.data() + first * row_bytes_, static_cast<size_t>(count * row_bytes_));
    }

   private:
    std::shared_ptr<const Table> table_;
    size_t reader_;
    int64_t row_bytes_ = 1;
};

class ReadNamed : public Step {
   public:
    void run(Context& context, std::span<const Value> values, std::span<Value> out) const override {
        const ReadNamedInputs in(values);
        const bool bytes_wide = in.path.dtype == DType::u8 || in.path.dtype == DType::i8;
        if (!bytes_wide || in.path.ndim != 1) {
            throw Fault(FaultKind::argument,
                        "a file name must be uint8 or int8 with one axis, got " + describe(in.path));
        }
        std::string path;
        for (int64_t i = 0; i < in.path.shape[0]; ++i) path += static_cast<char>(in.path.integer(i));
        if (path.find('\0') != std::string::npos) throw Fault(FaultKind::argument, "a file name holds a zero byte");
        try {
            const File file(path);
            const int64_t bytes = file.size();
            check_encoded_bytes(context, bytes);
            out[0] = context.allocate(0, DType::u8, std::array{bytes});
            file.read(out[0].data, bytes, 0);
        } catch (const Fault& fault) {
            if (!context.fill) throw Fault(fault.kind, path + ": " + fault.what());
            out[0] = context.allocate(0, DType::u8, std::array{int64_t{0}});
        }
    }
};

// Returns the same bytes as elements of another type.
class ViewAs : public Step {
   public:
    explicit ViewAs(const ViewAsParams& params) : dtype_(params.dtype) {}

    void run(Context& context, std::span<const Value> values, std::span<Value> out) const override {
        const ViewAsInputs in(values);
        const int64_t bytes = in.encoded.elements(), size = size_of(dtype_);
        if (bytes % size != 0) {
            throw Fault(FaultKind::corrupt,
                        std::to_string(bytes) + " bytes are no whole number of elements of " + name_of(dtype_));
        }
        out[0] = context.allocate(0, dtype_, std::array{bytes / size});
        if (bytes > 0) std::memcpy(out[0].data, in.encoded.data, static_cast<size_t>(bytes));
    }

   private:
    DType dtype_;
};

}  // namespace

void check_encoded_bytes(const Context& context, int64_t bytes) {
    if (bytes <= context.limits.encoded_bytes) return;
    throw Fault(FaultKind::too_large, std::to_string(bytes) + " bytes; the limit encoded_bytes is " +
                                          std::to_string(context.limits.encoded_bytes));
}

std::unique_ptr<Step> make_read_named(const ReadNamedParams&) { return std::make_unique<ReadNamed>(); }
std::unique_ptr<Step> make_view_as(const ViewAsParams& params) { return std::make_unique<ViewAs>(params); }
std::unique_ptr<Step> make_read(const ReadParams& params) { return std::make_unique<Read>(params); }
std::unique_ptr<Step> make_column(const ColumnParams& params) { return std::make_unique<Column>(params); }

}  // namespace pixelmill

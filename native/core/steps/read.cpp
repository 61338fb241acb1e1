// Bytes and columns of the item that the sampler chose.
#include <cctype>
#include <cstring>
#include <map>

#include "../codecs/image.h"
#include "../file.h"
#include "../resources.h"
#include "steps.h"

namespace pixelmill {

namespace {

// A PNG named .jpg is decoded by its content all the same, and noted.
void compare_with_name(Context& context, const Value& bytes, const std::string& path) {
    static const std::map<std::string, ImageFormat> endings = {
        {"jpg", ImageFormat::jpeg}, {"jpeg", ImageFormat::jpeg}, {"png", ImageFormat::png},   {"bmp", ImageFormat::bmp},
        {"gif", ImageFormat::gif},  {"tif", ImageFormat::tiff},  {"tiff", ImageFormat::tiff}, {"webp", ImageFormat::webp},
        {"jp2", ImageFormat::jpeg2000}};
    std::string ending = path.substr(path.find_last_of('.') + 1);
    for (char& letter : ending) letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
    const auto named = endings.find(ending);
    if (named == endings.end()) return;
    const ImageFormat content = sniff({bytes.data, static_cast<size_t>(bytes.elements())});
    if (content == ImageFormat::unknown || content == named->second) return;
    context.note(Note::extension_mismatch, std::string("the content is ") + name_of(content) + ", not ." + ending);
}

class Read : public Step {
   public:
    explicit Read(const Params& params)
        : ranges_(params.resource<ByteRanges>("ranges")), reader_(static_cast<size_t>(params.integer("reader"))) {}

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
        const auto item = static_cast<size_t>(context.items[reader_]);
        const File file(ranges_->path_of(static_cast<int64_t>(item)));
        const int64_t offset = ranges_->offset.empty() ? 0 : ranges_->offset[item];
        int64_t bytes = ranges_->length.empty() ? -1 : ranges_->length[item];
        if (bytes < 0) bytes = file.size() - offset;
        if (bytes > context.limits.encoded_bytes) {
            throw Fault(FaultKind::too_large, std::to_string(bytes) + " bytes; the limit encoded_bytes is " +
                                                  std::to_string(context.limits.encoded_bytes));
        }
        const Value value = context.allocate(0, DType::u8, std::array{bytes});
        file.read(value.data, bytes, offset);
        if (ranges_->file.empty()) compare_with_name(context, value, ranges_->path_of(static_cast<int64_t>(item)));
        return value;
    }

    std::shared_ptr<const ByteRanges> ranges_;
    size_t reader_;
};

class Column : public Step {
   public:
    explicit Column(const Params& params)
        : table_(params.resource<Table>("table")), reader_(static_cast<size_t>(params.integer("reader"))) {
        for (int64_t extent : table_->row_shape) row_bytes_ *= extent;
        row_bytes_ *= size_of(table_->dtype);
    }

    void run(Context& context, std::span<const Value>, std::span<Value> out) const override {
        out[0] = context.allocate(0, table_->dtype, table_->row_shape);
        const std::byte* row = table_->data.data() + context.items[reader_] * row_bytes_;
        std::memcpy(out[0].data, row, static_cast<size_t>(row_bytes_));
    }

   private:
    std::shared_ptr<const Table> table_;
    size_t reader_;
    int64_t row_bytes_ = 1;
};

}  // namespace

std::unique_ptr<Step> make_read(const Params& params) { return std::make_unique<Read>(params); }
std::unique_ptr<Step> make_column(const Params& params) { return std::make_unique<Column>(params); }

}  // namespace pixelmill

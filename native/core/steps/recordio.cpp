// Images and labels out of RecordIO files.
#include "../records/recordio.h"

#include <algorithm>
#include <cstring>

#include "../file.h"
#include "../resources.h"
#include "declared/sources.h"
#include "read.h"

namespace pixelmill {

namespace {

class ReadRecordIO : public Step {
   public:
    explicit ReadRecordIO(const ReadRecordioParams& params) : ranges_(params.ranges), reader_(params.reader) {}

    void run(Context& context, std::span<const Value>, std::span<Value> out) const override {
        try {
            const int64_t item = context.items[reader_];
            ranges_->check(item);
            const ItemSource source(context, *ranges_, item);
            read(context, *source, ranges_->offset_of(item), ranges_->length_of(item), out);
        } catch (const Fault&) {
            if (!context.fill) throw;
            out[0] = context.allocate(0, DType::u8, std::array{int64_t{0}});
            put_label(context, 0, out);
        }
    }

   private:
    static void put_label(Context& context, float label, std::span<Value> out) {
        out[1] = context.allocate(1, DType::f32, std::array{int64_t{1}});
        *out[1].as<float>() = label;
    }

    // `left` bytes belong to the record and perhaps to others after it, which the index does not name.
    static void read(Context& context, const ByteSource& file, int64_t offset, int64_t left, std::span<Value> out) {
        std::byte start[recordio_head + image_head];
        const auto begun = std::min<int64_t>(left, sizeof start);
        file.read(start, begun, offset);
        const RecordPart part = parse_part({start, static_cast<size_t>(begun)}, left);
        if (part.flag == PartFlag::whole) {
            const auto have = static_cast<size_t>(std::clamp<int64_t>(begun - recordio_head, 0, part.length));
            const int64_t labels = label_count({start + recordio_head, have}, part.length);
            const int64_t at = offset + recordio_head + image_head, image = part.length - image_head - 4 * labels;
            check_encoded_bytes(context, part.length);
            put_labels(context, {start + recordio_head, image_head}, labels, out,
                       [&](std::byte* to) { file.read(to, 4 * labels, at); });
            out[0] = context.allocate(0, DType::u8, std::array{image});
            file.read(out[0].data, image, at + 4 * labels);
            check_part({out[0].data, static_cast<size_t>(image)});
            return;
        }
        check_encoded_bytes(context, left);
        const Value framed = context.scratch(DType::u8, std::array{left});
        file.read(framed.data, left, offset);
        const std::span<std::byte> payload = join_parts({framed.data, static_cast<size_t>(left)});
        const auto size = static_cast<int64_t>(payload.size());
        const int64_t labels = label_count(payload, size), image = size - image_head - 4 * labels;
        put_labels(context, payload, labels, out, [&](std::byte* to) {
            std::memcpy(to, payload.data() + image_head, static_cast<size_t>(4 * labels));
        });
        out[0] = context.allocate(0, DType::u8, std::array{image});
        if (image > 0) std::memcpy(out[0].data, payload.data() + size - image, static_cast<size_t>(image));
    }

    template <class Fetch>
    static void put_labels(Context& context, Bytes header, int64_t count, std::span<Value> out, const Fetch& fetch) {
        if (count == 0) return put_label(context, header_label(header), out);
        out[1] = context.allocate(1, DType::f32, std::array{count});
        fetch(out[1].data);
    }

    std::shared_ptr<const ByteRanges> ranges_;
    size_t reader_;
};

}  // namespace

std::unique_ptr<Step> make_read_recordio(const ReadRecordioParams& params) {
    return std::make_unique<ReadRecordIO>(params);
}

}  // namespace pixelmill

#include "example_writer.h"

#include <algorithm>
#include <bit>

namespace pixelmill {

namespace {

static_assert(std::endian::native == std::endian::little, "floats are written as they are in memory");

size_t varint_size(uint64_t value) { return (static_cast<size_t>(std::bit_width(value | 1)) + 6) / 7; }

// The size of a field of bytes that holds `size` bytes, with its tag.
size_t field_size(size_t size) { return 1 + varint_size(size) + size; }

// A few tags and numbers that stand side by side.
class Head {
   public:
    Head& varint(uint64_t value) {
        for (; value >= 0x80; value >>= 7) bytes_[size_++] = static_cast<std::byte>(value | 0x80);
        bytes_[size_++] = static_cast<std::byte>(value);
        return *this;
    }
    Head& field(uint32_t number, size_t size) { return varint(number << 3 | 2).varint(size); }
    operator Bytes() const { return {bytes_, size_}; }

   private:
    std::byte bytes_[64];
    size_t size_ = 0;
};

struct Sizes {
    size_t packed = 0, list = 0, feature = 0, entry = 0;
};

Sizes sizes_of(const FeatureToWrite& feature) {
    Sizes sizes;
    for (Bytes value : feature.values) sizes.list += field_size(value.size());
    for (int64_t value : feature.integers) sizes.packed += varint_size(static_cast<uint64_t>(value));
    sizes.packed += feature.floats.size_bytes();
    if (sizes.packed > 0) sizes.list += field_size(sizes.packed);
    sizes.list += feature.list_unknown.size();
    sizes.feature = feature.kind == ListKind::none ? sizes.list : field_size(sizes.list);
    sizes.feature += feature.unknown.size();
    sizes.entry = field_size(feature.name.size()) + field_size(sizes.feature);
    return sizes;
}

template <class Put>
void put_integers(std::span<const int64_t> values, const Put& put) {
    for (; !values.empty(); values = values.subspan(std::min<size_t>(values.size(), 6))) {
        Head head;  // holds six of them
        for (int64_t value : values.first(std::min<size_t>(values.size(), 6)))
            head.varint(static_cast<uint64_t>(value));
        put(head);
    }
}

template <class Put>
void put_feature(const FeatureToWrite& feature, const Sizes& sizes, const Put& put) {
    put(Head().field(1, sizes.entry).field(1, feature.name.size()));
    put(std::as_bytes(std::span(feature.name)));
    Head head;
    head.field(2, sizes.feature);
    if (feature.kind != ListKind::none) head.field(static_cast<uint32_t>(feature.kind), sizes.list);
    if (sizes.packed > 0) head.field(1, sizes.packed);
    put(head);
    for (Bytes value : feature.values) {
        put(Head().field(1, value.size()));
        put(value);
    }
    put(std::as_bytes(feature.floats));
    put_integers(feature.integers, put);
    put(feature.list_unknown);
    put(feature.unknown);
}

class Message {
   public:
    explicit Message(const ExampleToWrite& example) : example_(example) {
        features_ = example.features_unknown.size();
        for (const FeatureToWrite& feature : example.features) {
            sizes_.push_back(sizes_of(feature));
            features_ += field_size(sizes_.back().entry);
        }
    }

    size_t size() const { return field_size(features_) + example_.unknown.size(); }

    template <class Put>
    void write(const Put& put) const {
        put(Head().field(1, features_));
        for (size_t i = 0; i < sizes_.size(); ++i) put_feature(example_.features[i], sizes_[i], put);
        put(example_.features_unknown);
        put(example_.unknown);
    }

   private:
    const ExampleToWrite& example_;
    std::vector<Sizes> sizes_;
    size_t features_ = 0;  // bytes of the message inside
};

}  // namespace

void sort_features(ExampleToWrite& example) {
    std::sort(example.features.begin(), example.features.end(),
              [](const FeatureToWrite& a, const FeatureToWrite& b) { return a.name < b.name; });
}

void write_example(RecordOutput& output, const ExampleToWrite& example) {
    write_example(output, example, [&](Bytes piece) { output.put(piece); });
}

void write_example(RecordOutput& output, const ExampleToWrite& example, const Put& put) {
    const Message message(example);
    output.begin_tfrecord(message.size());
    message.write(put);
    output.end_tfrecord();
}

std::vector<std::byte> encode_example(const ExampleToWrite& example) {
    const Message message(example);
    std::vector<std::byte> encoded;
    encoded.reserve(message.size());
    message.write([&](Bytes piece) { encoded.insert(encoded.end(), piece.begin(), piece.end()); });
    return encoded;
}

}  // namespace pixelmill

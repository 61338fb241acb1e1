// Writes tf.train.Example. Nothing is copied on the way: values must live until the message is written.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "../codecs/bytes.h"
#include "example.h"
#include "record_output.h"

namespace pixelmill {

struct FeatureToWrite {
    std::string_view name;
    ListKind kind = ListKind::none;
    std::vector<Bytes> values;          // of ListKind::bytes
    std::span<const float> floats;      // of ListKind::floats
    std::span<const int64_t> integers;  // of ListKind::integers
    Bytes unknown, list_unknown;        // fields that are not part of the format, kept after the others
};

struct ExampleToWrite {
    std::vector<FeatureToWrite> features;  // sorted by their names, so that equal features become equal bytes
    Bytes unknown, features_unknown;
};

void sort_features(ExampleToWrite& example);

// Appends a TFRecord that holds the message. `put` brings its pieces to the output; without it they are copied.
using Put = std::function<void(Bytes)>;
void write_example(RecordOutput& output, const ExampleToWrite& example);
void write_example(RecordOutput& output, const ExampleToWrite& example, const Put& put);

// Returns the message itself.
std::vector<std::byte> encode_example(const ExampleToWrite& example);

}  // namespace pixelmill

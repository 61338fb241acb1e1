// tf.train.Example: a map from names to lists of bytes, floats or integers.
//
//     Example { Features features = 1; }      Features { map<string, Feature> feature = 1; }
//     Feature { oneof { BytesList bytes_list = 1; FloatList float_list = 2; Int64List int64_list = 3; } }
//     each list { repeated value = 1; }       numbers packed or one by one
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "protobuf.h"

namespace pixelmill {

inline constexpr size_t most_features = 65536;

enum class ListKind : uint8_t { none = 0, bytes = 1, floats = 2, integers = 3 };  // the numbers of the fields

const char* name_of(ListKind kind);

// A feature, not copied: the entry of the map that holds it.
struct Feature {
    std::string_view name;
    Bytes entry;
    ListKind kind = ListKind::none;
    size_t skipped = 0;  // lists before the ones that count: the last kind wins
    size_t count = 0;    // values
};

// Fields that are not ours, joined.
struct Unknown {
    std::vector<std::byte> example, features;
    void add(std::vector<std::byte>& to, Bytes raw) { to.insert(to.end(), raw.begin(), raw.end()); }
};

// The entries of all features, in their order, as the wire has them. Of entries with one name the last counts.
std::vector<Feature> parse_example(Bytes example, Unknown* unknown = nullptr);

// The same for the features of these names alone; others are stepped over. `found[i]` has no entry where there is none.
void find_features(Bytes example, std::span<const std::string_view> names, std::span<Feature> found);

// Learns kind and count of a feature.
void measure(Feature& feature);

// Writes the `count` values of a measured feature.
void read_floats(const Feature& feature, float* out);
void read_integers(const Feature& feature, int64_t* out);
void read_bytes(const Feature& feature, Bytes* out);
Bytes first_bytes(const Feature& feature);  // count > 0

// Fields of the Feature message and of its lists that are not ours.
void unknown_of(const Feature& feature, std::vector<std::byte>& in_feature, std::vector<std::byte>& in_list);

}  // namespace pixelmill

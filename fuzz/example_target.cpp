// The parser of tf.train.Example: every value it counts can be read into memory of exactly that size.
#include <memory>
#include <string>

#include "../native/core/fault.h"
#include "../native/core/records/example.h"
#include "promise.h"
#include "target.h"

namespace {

using namespace pixelmill;
using Input = std::vector<uint8_t>;

std::string field(int number, const std::string& bytes) {
    std::string made(1, static_cast<char>(number << 3 | 2));
    for (size_t rest = bytes.size(); true; rest >>= 7) {
        made += static_cast<char>((rest & 0x7F) | (rest >= 0x80 ? 0x80 : 0));
        if (rest < 0x80) return made + bytes;
    }
}

std::string entry(const std::string& name, const std::string& feature) {
    return field(1, field(1, name) + field(2, feature));
}

Input example(const std::string& entries) {
    const std::string bytes = field(1, entries);
    return Input(bytes.begin(), bytes.end());
}

std::vector<Input> seeds() {
    const std::string text = field(1, field(1, "an image") + field(1, "another"));
    const std::string packed = field(2, field(1, std::string("\0\0\x80\x3f\0\0\0\x40", 8)));
    const std::string single = field(2, std::string("\x0d\0\0\x80\x3f\x0d\0\0\0\x40", 10));
    const std::string integers =
        field(3, field(1, std::string("\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x80\x01", 13)));
    const std::string one_by_one = field(3, std::string("\x08\x07\x08\x80\x08", 5));
    const std::string group("\x2b\x08\x01\x33\x12\x02xy\x34\x2c", 10);
    return {
        example(entry("image/encoded", text) + entry("label", integers) + entry("boxes", packed)),
        example(entry("a", single) + entry("a", one_by_one) + entry("b", packed + text) + entry("", "")),
        example(entry("g", text + group) + group),
        example(entry("twice", text + packed + text + integers + integers)),
        Input{},
    };
}

template <class T, class Read>
void read_all(const Feature& feature, const Read& read) {
    // Its own allocation, so that overruns show.
    const std::unique_ptr<T[]> values(new T[feature.count]);
    read(feature, values.get());
}

void look_at(const Feature& feature) {
    if (feature.kind == ListKind::floats) return read_all<float>(feature, read_floats);
    if (feature.kind == ListKind::integers) return read_all<int64_t>(feature, read_integers);
    if (feature.kind == ListKind::none) return promise(feature.count == 0, "no list has no values");
    read_all<Bytes>(feature, read_bytes);
    if (feature.count == 0) return;
    const Bytes first = first_bytes(feature);
    uint64_t sum = 0;
    for (std::byte byte : first) sum += std::to_integer<uint64_t>(byte);
    promise(sum <= first.size() * 255, "bytes can be read");
}

const char* run(const uint8_t* data, size_t size) {
    // Its own allocation of exactly this size: the sanitizer reports a read past its end.
    const std::unique_ptr<std::byte[]> copy(new std::byte[size]);
    if (size > 0) std::memcpy(copy.get(), data, size);
    const Bytes bytes{copy.get(), size};
    try {
        Unknown unknown;
        const std::vector<Feature> features = parse_example(bytes, &unknown);
        size_t counted = unknown.example.size() + unknown.features.size();
        for (const Feature& feature : features) {
            promise(feature.count <= size, "there are no more values than bytes");
            look_at(feature);
            std::vector<std::byte> in_feature, in_list;
            unknown_of(feature, in_feature, in_list);
            counted += in_feature.size() + in_list.size();
        }
        promise(counted <= size, "unknown fields are part of the input");
        if (features.empty()) return "empty";
        const Feature& last = features.back();
        Feature found;
        find_features(bytes, {&last.name, 1}, {&found, 1});
        promise(found.entry.data() == last.entry.data() && found.count == last.count && found.kind == last.kind,
                "the last entry of a name is found");
        return "parsed";
    } catch (const Fault& fault) {
        promise(fault.kind == FaultKind::corrupt || fault.kind == FaultKind::too_large, "the kind of a fault");
        return name_of(fault.kind);
    }
}

}  // namespace

FuzzTarget fuzz_target() { return {seeds, run}; }

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    run(data, size);
    return 0;
}

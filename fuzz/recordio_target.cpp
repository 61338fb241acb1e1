// Records of RecordIO: whatever the bytes are, a payload is no longer than its frame, and labels are inside of it.
#include <string>

#include "../native/core/fault.h"
#include "../native/core/records/recordio.h"
#include "promise.h"
#include "target.h"

namespace {

using namespace pixelmill;
using Input = std::vector<uint8_t>;

void add_word(Input& made, uint32_t word) {
    for (int shift = 0; shift < 32; shift += 8) made.push_back(static_cast<uint8_t>(word >> shift));
}

void add_part(Input& made, uint32_t flag, const Input& data) {
    add_word(made, recordio_magic);
    add_word(made, flag << 29 | static_cast<uint32_t>(data.size()));
    made.insert(made.end(), data.begin(), data.end());
    made.resize((made.size() + 3) / 4 * 4);
}

Input image_record(uint32_t labels, size_t bytes) {
    Input made;
    add_word(made, labels);
    made.resize(static_cast<size_t>(image_head) + 4 * labels + bytes, 9);
    return made;
}

std::vector<Input> seeds() {
    std::vector<Input> made(4);
    add_part(made[0], 0, image_record(0, 30));
    add_part(made[1], 0, image_record(3, 5));
    add_part(made[2], 1, image_record(0, 8));
    add_part(made[2], 2, {});
    add_part(made[2], 2, Input(16, 4));
    add_part(made[2], 3, Input(3, 5));
    add_part(made[3], 1, image_record(2, 0));
    add_part(made[3], 3, Input(1, 5));
    return made;
}

const char* run(const uint8_t* data, size_t size) {
    Input framed(data, data + size);
    try {
        const std::span<std::byte> payload = join_parts({reinterpret_cast<std::byte*>(framed.data()), framed.size()});
        promise(payload.size() + recordio_head <= framed.size(), "a payload is shorter than its frame");
        const auto bytes = static_cast<int64_t>(payload.size());
        const int64_t labels = label_count(payload, bytes);
        promise(labels >= 0 && image_head + 4 * labels <= bytes, "labels are inside of the record");
        return header_label(payload) == 0 || labels > 0 ? "record" : "labelled";
    } catch (const Fault& fault) {
        return name_of(fault.kind);
    }
}

}  // namespace

FuzzTarget fuzz_target() { return {seeds, run}; }

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    run(data, size);
    return 0;
}

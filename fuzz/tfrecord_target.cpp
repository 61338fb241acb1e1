// The scanner of TFRecords: whatever the bytes are, records and losses cover the file without a gap, and a record that
// was verified is one.
#include <cstring>
#include <string>

#include "../native/core/records/crc32c.h"
#include "../native/core/records/tfrecord.h"
#include "promise.h"
#include "target.h"

namespace {

using namespace pixelmill;
using Input = std::vector<uint8_t>;

void add_record(Input& file, const std::string& payload) {
    const Bytes bytes{reinterpret_cast<const std::byte*>(payload.data()), payload.size()};
    const Frame frame = frame_of(payload.size(), crc32c(bytes));
    const auto* head = reinterpret_cast<const uint8_t*>(frame.head);
    const auto* tail = reinterpret_cast<const uint8_t*>(frame.tail);
    file.insert(file.end(), head, head + sizeof frame.head);
    file.insert(file.end(), payload.begin(), payload.end());
    file.insert(file.end(), tail, tail + sizeof frame.tail);
}

std::vector<Input> seeds() {
    std::vector<Input> made(4);
    for (const char* text : {"first", "the second record", "", "and a fourth one, longer than the others"}) {
        add_record(made[0], text);
    }
    add_record(made[1], std::string(300, 'x'));
    for (size_t i = 0; i < 40; ++i) add_record(made[2], std::string(i % 5, 'y'));
    Input inner;
    add_record(inner, "a record inside of a record");
    add_record(made[3], std::string(inner.begin(), inner.end()));
    return made;
}

// A changed length is found by its checksum at once. To see what lengths that lie can do, half of the inputs get heads
// whose checksums fit.
void forge_heads(Input& file) {
    for (size_t at = 0; at + record_frame <= file.size();) {
        const uint64_t length = little64(reinterpret_cast<const std::byte*>(file.data()) + at);
        const Frame frame = frame_of(length, 0);
        std::memcpy(file.data() + at, frame.head, sizeof frame.head);
        if (length > file.size() - at - record_frame) break;
        at += length + record_frame;
    }
}

void check(const Input& file, const RecordScan& scan, bool verified) {
    const auto* data = reinterpret_cast<const std::byte*>(file.data());
    int64_t at = 0;
    size_t record = 0, loss = 0;
    while (record < scan.offset.size() || loss < scan.losses.size()) {
        if (record < scan.offset.size() && scan.offset[record] == at) {
            uint64_t length = 0;
            promise(read_head(data + at, length), "the head of a record fits");
            promise(static_cast<int64_t>(length) + record_frame == scan.length[record], "its length is the one there");
            promise(!verified || payload_fits(data + at + record_head, length), "a verified record fits");
            at += scan.length[record++];
        } else {
            promise(loss < scan.losses.size() && scan.losses[loss].offset == at, "there is no gap");
            promise(scan.losses[loss].length > 0, "a loss has bytes");
            promise(!scan.losses[loss].message.empty(), "a loss has a message");
            at += scan.losses[loss++].length;
        }
    }
    promise(at == static_cast<int64_t>(file.size()), "everything is accounted for");
}

const char* run(const uint8_t* data, size_t size) {
    Input file(data, data + size);
    const uint64_t hash = hash_of(data, size);
    if (hash & 1) forge_heads(file);
    const Memory memory({reinterpret_cast<const std::byte*>(file.data()), file.size()});
    ScanOptions options;
    if (hash & 2) options.losses = 3;
    if (hash & 4) options.record_bytes = 32;
    const RecordScan quick = scan_records(memory, options);
    check(file, quick, false);
    options.verify = true;
    const RecordScan whole = scan_records(memory, options);
    check(file, whole, true);
    return whole.losses.empty() ? "clean" : whole.offset.empty() ? "nothing" : "partly";
}

}  // namespace

FuzzTarget fuzz_target() { return {seeds, run}; }

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    run(data, size);
    return 0;
}

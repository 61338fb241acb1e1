// The framing of TFRecords: length (8 bytes, little-endian), its checksum (4), payload, checksum of the payload (4).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "../fault.h"
#include "../file.h"

namespace pixelmill {

inline constexpr int64_t record_head = 12, record_tail = 4, record_frame = record_head + record_tail;

// The length that a head declares; false when its checksum does not match.
bool read_head(const std::byte* head, uint64_t& length);

// Whether the checksum after a payload of `bytes` bytes matches it.
bool payload_fits(const std::byte* payload, size_t bytes);

// The head and the tail of a record with this payload.
struct Frame {
    std::byte head[record_head];
    std::byte tail[record_tail];
};
Frame frame_of(uint64_t length, uint32_t crc);

// A piece of a file that is no record, and what is wrong with it.
struct Loss {
    int64_t record, offset, length;
    FaultKind kind;
    std::string message;
};

struct ScanOptions {
    bool verify = false;                      // read the payloads too
    int64_t record_bytes = int64_t{1} << 30;  // longest payload
    size_t losses = 10000;                    // after which scanning stops
};

struct RecordScan {
    std::vector<int64_t> offset, length;  // of whole frames
    std::vector<Loss> losses;
};

// Finds the records of a file. After a damaged frame it continues at the next head whose checksum matches.
RecordScan scan_records(const ByteSource& source, const ScanOptions& options);

}  // namespace pixelmill

#include "record_output.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>
#include <vector>

#include "crc32c.h"
#include "recordio.h"
#include "tfrecord.h"

namespace pixelmill {

namespace {

static_assert(std::endian::native == std::endian::little, "numbers are written as they are in memory");

// Large writes at multiples of their size get large pages from the file system, and still fit the processor's cache.
constexpr size_t capacity = size_t{1} << 20;

template <class T>
Bytes bytes_of(const T& value) {
    return std::as_bytes(std::span(&value, 1));
}

}  // namespace

RecordOutput::RecordOutput(Sink sink, int64_t position)
    : sink_(std::move(sink)), buffer_(std::make_unique_for_overwrite<std::byte[]>(capacity)), position_(position) {}

void RecordOutput::begin_tfrecord(uint64_t length) {
    put(frame_of(length, 0).head);
    checked_ = filled_;
    crc_ = 0;
    summing_ = true;
}

void RecordOutput::put(Bytes piece) {
    while (!piece.empty()) {
        const size_t count = std::min(piece.size(), room().size());
        std::memcpy(room().data(), piece.data(), count);
        put_in_room(count);
        piece = piece.subspan(count);
    }
}

std::span<std::byte> RecordOutput::room() { return {buffer_.get() + filled_, capacity - filled_}; }

void RecordOutput::put_in_room(size_t filled) {
    position_ += static_cast<int64_t>(filled);
    filled_ += filled;
    if (filled_ == capacity) hand_on();
}

void RecordOutput::end_tfrecord() {
    add_to_checksum();
    summing_ = false;
    put(bytes_of(masked(crc_)));
}

void RecordOutput::recordio(Bytes head, Bytes body) {
    std::vector<size_t> cuts = magic_words(head);
    for (size_t place : magic_words(body)) cuts.push_back(head.size() + place);
    cuts.push_back(head.size() + body.size());
    size_t from = 0;
    for (size_t i = 0; i < cuts.size(); ++i) {
        const bool first = i == 0, last = i + 1 == cuts.size();
        const PartFlag flag =
            first ? (last ? PartFlag::whole : PartFlag::first) : (last ? PartFlag::last : PartFlag::middle);
        const size_t to = cuts[i], middle = std::clamp(head.size(), from, to), length = to - from;
        put(bytes_of(recordio_magic));
        put(bytes_of(static_cast<uint32_t>(flag) << recordio_length_bits | static_cast<uint32_t>(length)));
        put(head.subspan(std::min(from, head.size()), middle - from));
        if (to > middle) put(body.subspan(middle - head.size(), to - middle));
        put(bytes_of(uint32_t{0}).first((4 - length % 4) % 4));
        from = to + sizeof recordio_magic;  // the word itself is left out
    }
}

void RecordOutput::flush() {
    if (filled_ > 0) hand_on();
}

void RecordOutput::hand_on() {
    if (summing_) add_to_checksum();
    const size_t count = std::exchange(filled_, 0);
    checked_ = 0;
    sink_({buffer_.get(), count});
}

void RecordOutput::add_to_checksum() {
    crc_ = crc32c({buffer_.get() + checked_, filled_ - checked_}, crc_);
    checked_ = filled_;
}

}  // namespace pixelmill

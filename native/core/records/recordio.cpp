#include "recordio.h"

#include <bit>
#include <cstring>
#include <string>

#include "../fault.h"
#include "../platform/compiler.h"

namespace pixelmill {

namespace {

constexpr uint32_t little_magic =
    std::endian::native == std::endian::little ? recordio_magic : byteswap(recordio_magic);

// Reads everything, which vectorizes, instead of stopping at the first.
bool holds_magic(Bytes part) {
    uint32_t hits = 0;
    for (size_t at = 0; at + 4 <= part.size(); at += 4) {
        uint32_t word;
        std::memcpy(&word, part.data() + at, 4);
        hits |= word == little_magic;
    }
    return hits != 0;
}

}  // namespace

RecordPart parse_part(Bytes head, int64_t left) {
    if (static_cast<int64_t>(head.size()) < recordio_head || left < recordio_head) {
        throw Fault(FaultKind::truncated, "recordio: the file ends inside the head of a record");
    }
    if (le32(head, 0) != recordio_magic) {
        throw Fault(FaultKind::corrupt, "recordio: there is no magic word where a record should begin");
    }
    const uint32_t word = le32(head, 4), flag = word >> recordio_length_bits;
    const int64_t length = word & ((1u << recordio_length_bits) - 1);
    if (flag > 3) throw Fault(FaultKind::corrupt, "recordio: a part with the flag " + std::to_string(flag));
    if (length > left - recordio_head) {
        throw Fault(FaultKind::truncated, "recordio: " + std::to_string(length) + " bytes are announced, and " +
                                              std::to_string(left - recordio_head) + " are there");
    }
    return {static_cast<PartFlag>(flag), length};
}

// RecordIO splits a payload at aligned magic words and drops them, so the magic word never occurs inside a part.
// Joining puts it back between parts, and a part that does contain it was framed with a wrong length.
std::span<std::byte> join_parts(std::span<std::byte> framed) {
    int64_t read = 0, written = 0;
    const auto size = static_cast<int64_t>(framed.size());
    for (int64_t number = 0;; ++number) {
        const int64_t left = size - read;
        const RecordPart part = parse_part(framed.subspan(static_cast<size_t>(read)), left);
        const bool begins = part.flag == PartFlag::whole || part.flag == PartFlag::first;
        if (begins != (number == 0)) {
            throw Fault(FaultKind::corrupt, "recordio: part " + std::to_string(number) + " of a record has the flag " +
                                                std::to_string(static_cast<uint32_t>(part.flag)));
        }
        if (number > 0) {
            std::memcpy(framed.data() + written, &little_magic, 4);
            written += 4;
        }
        check_part(framed.subspan(static_cast<size_t>(read + recordio_head), static_cast<size_t>(part.length)));
        // Heads are longer than the word that takes their place, so bytes only move toward the beginning.
        std::memmove(framed.data() + written, framed.data() + read + recordio_head, static_cast<size_t>(part.length));
        written += part.length;
        if (part.flag == PartFlag::whole || part.flag == PartFlag::last) break;
        read += recordio_head + (part.length + 3) / 4 * 4;
        if (read > size) throw Fault(FaultKind::truncated, "recordio: a record has no last part");
    }
    return framed.first(static_cast<size_t>(written));
}

void check_part(Bytes part) {
    if (holds_magic(part)) {
        throw Fault(FaultKind::corrupt, "recordio: a part holds the magic word, so its length is wrong");
    }
}

std::vector<size_t> magic_words(Bytes payload) {
    std::vector<size_t> found;
    if (!holds_magic(payload)) return found;
    for (size_t at = 0; at + 4 <= payload.size(); at += 4) {
        if (std::memcmp(payload.data() + at, &little_magic, 4) == 0) found.push_back(at);
    }
    return found;
}

int64_t label_count(Bytes header, int64_t size) {
    if (size < image_head || static_cast<int64_t>(header.size()) < image_head) {
        throw Fault(FaultKind::corrupt,
                    "recordio: a record of " + std::to_string(size) + " bytes has no room for its header");
    }
    const int64_t count = le32(header, 0);
    if (count > (size - image_head) / 4) {
        throw Fault(FaultKind::corrupt, "recordio: the header tells of " + std::to_string(count) +
                                            " labels, but the record has " + std::to_string(size) + " bytes only");
    }
    return count;
}

float header_label(Bytes header) { return std::bit_cast<float>(le32(header, 4)); }

}  // namespace pixelmill

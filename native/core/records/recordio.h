// MXNet RecordIO: parts with a magic word and a length, and the header of image records inside.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "../codecs/bytes.h"

namespace pixelmill {

inline constexpr uint32_t recordio_magic = 0xced7230a;
inline constexpr int64_t recordio_head = 8, image_head = 24;
inline constexpr int recordio_length_bits = 29;  // the flag has the other three

enum class PartFlag : uint32_t { whole, first, middle, last };

struct RecordPart {
    PartFlag flag;
    int64_t length;
};

// Reads the head of a part, of which `left` bytes are there from its begin on.
RecordPart parse_part(Bytes head, int64_t left);

// Joins the parts of the record that `framed` begins with, in place; returns its payload. What follows it is left
// unchanged.
std::span<std::byte> join_parts(std::span<std::byte> framed);

// Throws where a part holds the magic word at a multiple of four: writers cut records there, so its length is wrong.
void check_part(Bytes part);

// The places of the magic word at multiples of four.
std::vector<size_t> magic_words(Bytes payload);

// How many labels follow the header of an image record, whose payload has `size` bytes; 0 for one in the header.
int64_t label_count(Bytes header, int64_t size);

// The label that stands in the header.
float header_label(Bytes header);

}  // namespace pixelmill

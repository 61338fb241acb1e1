// The wire format of protocol buffers, field by field. Nothing is copied, nothing recurses, every length is checked.
#pragma once

#include <cstdint>

#include "../codecs/bytes.h"

namespace pixelmill {

enum class Wire : uint8_t { varint = 0, fixed64 = 1, bytes = 2, group = 3, end_group = 4, fixed32 = 5 };

struct Field {
    uint32_t number = 0;
    Wire wire = Wire::varint;
    uint64_t value = 0;  // of a varint or a fixed one
    Bytes bytes;         // of a field of bytes
    Bytes raw;           // the whole field with its tag
};

// Reads a varint of at most ten bytes and 64 bits; false when there is none.
bool read_varint(Bytes bytes, size_t& at, uint64_t& value);

// The fields of one message. A group is one field, skipped as a whole.
class Fields {
   public:
    explicit Fields(Bytes message) : message_(message) {}
    bool next(Field& field);  // false at the end; a Fault (corrupt) for anything that is no field

   private:
    void skip_group(uint32_t number);
    Bytes message_;
    size_t at_ = 0;
};

}  // namespace pixelmill

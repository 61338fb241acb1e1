#include "protobuf.h"

#include <array>
#include <string>

#include "../fault.h"

namespace pixelmill {

namespace {

constexpr size_t deepest_group = 100;  // as protobuf's own limit

[[noreturn]] void corrupt(const std::string& what, size_t at) {
    throw Fault(FaultKind::corrupt,
                "the Example is no protocol buffer: " + what + " at its byte " + std::to_string(at));
}

}  // namespace

bool read_varint(Bytes bytes, size_t& at, uint64_t& value) {
    value = 0;
    for (int shift = 0; shift < 70 && at < bytes.size(); shift += 7) {
        const uint64_t byte = byte_at(bytes, at++);
        if (shift == 63 && byte > 1) return false;
        value |= (byte & 0x7F) << shift;
        if (byte < 0x80) return true;
    }
    return false;
}

bool Fields::next(Field& field) {
    const size_t start = at_;
    if (at_ == message_.size()) return false;
    uint64_t tag = 0;
    if (!read_varint(message_, at_, tag) || tag > 0xFFFFFFFF || tag >> 3 == 0) corrupt("a wrong tag", start);
    field.number = static_cast<uint32_t>(tag >> 3);
    field.wire = static_cast<Wire>(tag & 7);
    field.bytes = {};
    const auto take = [&](uint64_t count) {
        if (!holds(message_, at_, count)) {
            corrupt("a field of " + std::to_string(count) + " bytes where " + std::to_string(message_.size() - at_) +
                        " are left",
                    start);
        }
        const Bytes taken = message_.subspan(at_, count);
        at_ += count;
        return taken;
    };
    switch (field.wire) {
        case Wire::varint:
            if (!read_varint(message_, at_, field.value)) corrupt("a wrong number", start);
            break;
        case Wire::fixed64: field.value = little64(take(8).data()); break;
        case Wire::fixed32: field.value = le32(take(4), 0); break;
        case Wire::bytes: {
            uint64_t count = 0;
            if (!read_varint(message_, at_, count)) corrupt("a wrong length", start);
            field.bytes = take(count);
            break;
        }
        case Wire::group: skip_group(field.number); break;
        default: corrupt("a field of no kind", start);
    }
    field.raw = message_.subspan(start, at_ - start);
    return true;
}

void Fields::skip_group(uint32_t number) {
    std::array<uint32_t, deepest_group> open{number};
    size_t depth = 1;
    while (depth > 0) {
        const size_t start = at_;
        uint64_t tag = 0, value = 0;
        if (!read_varint(message_, at_, tag) || tag > 0xFFFFFFFF || tag >> 3 == 0) corrupt("a wrong tag", start);
        switch (static_cast<Wire>(tag & 7)) {
            case Wire::group:
                if (depth == deepest_group) corrupt("groups nested too deep", start);
                open[depth++] = static_cast<uint32_t>(tag >> 3);
                continue;
            case Wire::end_group:
                if (open[--depth] != tag >> 3) corrupt("the end of another group", start);
                continue;
            case Wire::varint:
                if (!read_varint(message_, at_, value)) corrupt("a wrong number", start);
                continue;
            case Wire::fixed64: value = 8; break;
            case Wire::fixed32: value = 4; break;
            case Wire::bytes:
                if (!read_varint(message_, at_, value)) corrupt("a wrong length", start);
                break;
            default: corrupt("a field of no kind", start);
        }
        if (!holds(message_, at_, value)) corrupt("a field beyond the end", start);
        at_ += value;
    }
}

}  // namespace pixelmill

#include "wrap.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <string_view>

#include "../records/crc32c.h"

namespace pixelmill {

namespace {

static_assert(std::endian::native == std::endian::little, "records are written as they are in memory");

constexpr uint32_t magic = 0xCED7230A;
constexpr int length_bits = 29;  // RecordIO keeps the kind of a part in the other three
constexpr size_t headroom = 128, tailroom = 16;
constexpr size_t largest = (size_t{1} << length_bits) - 1 - headroom;

// One file with room before and behind it.
struct Buffer {
    std::vector<std::byte> memory;
    size_t begin = 0, end = 0;

    std::byte* prepend(size_t count) { return memory.data() + (begin -= count); }
    template <class T>
    void prepend_value(T value) {
        std::memcpy(prepend(sizeof value), &value, sizeof value);
    }
    void prepend_text(std::string_view text) { std::memcpy(prepend(text.size()), text.data(), text.size()); }
    void prepend_varint(uint64_t value) {
        uint8_t bytes[10];
        size_t count = 0;
        for (; value >= 0x80; value >>= 7) bytes[count++] = static_cast<uint8_t>(value | 0x80);
        bytes[count++] = static_cast<uint8_t>(value);
        std::memcpy(prepend(count), bytes, count);
    }
    // A protobuf field of bytes whose content is everything from `begin` to `until`.
    void prepend_field(uint8_t tag, size_t until) {
        prepend_varint(until - begin);
        prepend_value(tag);
    }
    template <class T>
    void append_value(T value) {
        std::memcpy(memory.data() + end, &value, sizeof value);
        end += sizeof value;
    }
    Bytes bytes() const { return {memory.data() + begin, end - begin}; }
};

// 0, or errno.
int read_file(const std::string& path, Buffer& buffer) {
    const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) return errno;
    struct stat about {};
    int error = fstat(file, &about) < 0 ? errno : S_ISREG(about.st_mode) ? 0 : EINVAL;
    if (error == 0 && static_cast<uint64_t>(about.st_size) > largest) error = EFBIG;
    if (error == 0) {
        const auto size = static_cast<size_t>(about.st_size);
        if (buffer.memory.size() < size + headroom + tailroom) buffer.memory.resize(size + headroom + tailroom);
        buffer.begin = buffer.end = headroom;
        while (buffer.end < headroom + size) {
            const ssize_t count = read(file, buffer.memory.data() + buffer.end, headroom + size - buffer.end);
            if (count < 0 && errno == EINTR) continue;
            if (count < 0) error = errno;
            if (count <= 0) break;
            buffer.end += static_cast<size_t>(count);
        }
    }
    close(file);
    return error;
}

int write_all(int output, const std::byte* data, size_t count) {
    while (count > 0) {
        const ssize_t written = write(output, data, count);
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) return errno;
        data += written;
        count -= static_cast<size_t>(written);
    }
    return 0;
}

// The message is built from its end, where the image is, to its beginning.
void frame_example(Buffer& buffer, int64_t label) {
    constexpr uint8_t field1 = 0x0A, field2 = 0x12, field3 = 0x1A;
    const size_t end = buffer.end;
    buffer.prepend_field(field1, end);  // BytesList.value
    buffer.prepend_field(field1, end);  // Feature.bytes_list
    buffer.prepend_field(field2, end);  // the value of the entry
    buffer.prepend_text("\x0A\x0Dimage/encoded");
    buffer.prepend_field(field1, end);  // Features.feature
    const size_t other = buffer.begin;
    buffer.prepend_varint(static_cast<uint64_t>(label));
    buffer.prepend_field(field1, other);  // Int64List.value, packed
    buffer.prepend_field(field3, other);  // Feature.int64_list
    buffer.prepend_field(field2, other);
    buffer.prepend_text("\x0A\x11image/class/label");
    buffer.prepend_field(field1, other);
    buffer.prepend_field(field1, end);  // Example.features
    const uint64_t length = buffer.end - buffer.begin;
    buffer.append_value(masked(crc32c(buffer.bytes())));
    buffer.prepend_value(masked(crc32c({reinterpret_cast<const std::byte*>(&length), sizeof length})));
    buffer.prepend_value(length);
}

std::vector<size_t> find_magic(Bytes payload) {
    std::vector<size_t> found;
    for (size_t i = 0; i + 4 <= payload.size(); i += 4) {
        uint32_t word;
        std::memcpy(&word, payload.data() + i, 4);
        if (word == magic) found.push_back(i);
    }
    return found;
}

bool holds_magic(Bytes payload) {
    uint32_t hits = 0;
    for (size_t i = 0; i + 4 <= payload.size(); i += 4) {
        uint32_t word;
        std::memcpy(&word, payload.data() + i, 4);
        hits |= word == magic;
    }
    return hits != 0;
}

void frame_part(Buffer& buffer, uint32_t kind) {
    const auto length = static_cast<uint32_t>(buffer.end - buffer.begin);
    while ((buffer.end - buffer.begin) % 4 != 0) buffer.append_value(uint8_t{0});
    buffer.prepend_value(kind << length_bits | length);
    buffer.prepend_value(magic);
}

// A payload with the magic word at a multiple of four is cut there, and the word is left out.
int write_cut(int output, const Buffer& whole, const std::vector<size_t>& cuts, int64_t* position) {
    const Bytes payload = whole.bytes();
    Buffer part;
    for (size_t i = 0, from = 0; i <= cuts.size(); ++i) {
        const size_t to = i < cuts.size() ? cuts[i] : payload.size();
        part.memory.resize(to - from + headroom + tailroom);
        part.begin = headroom, part.end = headroom + to - from;
        std::copy_n(payload.data() + from, to - from, part.memory.data() + headroom);
        frame_part(part, i == 0 ? 1 : i < cuts.size() ? 2 : 3);
        if (const int error = write_all(output, part.bytes().data(), part.bytes().size())) return error;
        *position += static_cast<int64_t>(part.bytes().size());
        from = to + 4;
    }
    return 0;
}

int write_record(RecordKind kind, int output, Buffer& buffer, const WrapItem& item, int64_t* position) {
    if (kind == RecordKind::tfrecord) {
        frame_example(buffer, item.label);
    } else {
        buffer.prepend_value(uint64_t{0});
        buffer.prepend_value(item.identifier);
        buffer.prepend_value(static_cast<float>(item.label));
        buffer.prepend_value(uint32_t{0});
        if (holds_magic(buffer.bytes())) return write_cut(output, buffer, find_magic(buffer.bytes()), position);
        frame_part(buffer, 0);
    }
    *position += static_cast<int64_t>(buffer.bytes().size());
    return write_all(output, buffer.bytes().data(), buffer.bytes().size());
}

}  // namespace

Wrapped wrap_files(RecordKind kind, int output, std::span<const WrapItem> items) {
    Wrapped wrapped;
    Buffer buffer;
    int64_t position = 0;
    for (size_t i = 0; i < items.size(); ++i) {
        if (const int error = read_file(items[i].path, buffer)) {
            wrapped.failure = {static_cast<int64_t>(i), error};
            break;
        }
        wrapped.image_bytes += static_cast<int64_t>(buffer.end - buffer.begin);
        wrapped.offsets.push_back(position);
        if (const int error = write_record(kind, output, buffer, items[i], &position)) {
            wrapped.failure = {WrapFailure::output, error};
            break;
        }
    }
    return wrapped;
}

int write_new_file(const std::string& path, std::span<const std::byte> content) {
    const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file < 0) return errno;
    const int error = write_all(file, content.data(), content.size());
    return close(file) < 0 && error == 0 ? errno : error;
}

}  // namespace pixelmill

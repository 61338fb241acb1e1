#include "wrap.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include "../file.h"
#include "../records/example_writer.h"
#include "../records/recordio.h"

namespace pixelmill {

namespace {

static_assert(std::endian::native == std::endian::little, "headers are written as they are in memory");

constexpr size_t large = 1 << 20;  // bytes; smaller files need no space reserved
constexpr int64_t ahead = 16 << 20;
constexpr size_t largest = (size_t{1} << recordio_length_bits) - 1 - image_head;

// A file that is open for reading; its size is that of the moment when it was opened.
class InputFile {
   public:
    explicit InputFile(const std::string& path) : file_(open_to_read(path)) {
        FileStatus status;
        if (file_ == no_file || !status_of(file_, status)) fail(errno);
        if (status.kind != FileKind::regular) fail(EINVAL);
        if (static_cast<uint64_t>(status.size) > largest) fail(EFBIG);
        size = static_cast<size_t>(status.size);
    }
    InputFile(const InputFile&) = delete;
    InputFile& operator=(const InputFile&) = delete;
    ~InputFile() {
        if (file_ != no_file) close_file(file_);
    }

    // Reads some of what comes next, at least a byte.
    size_t read_some(std::span<std::byte> out) {
        const int64_t count = read_next(file_, out.data(), out.size());
        if (count < 0) fail(errno);
        if (count == 0) fail(EIO);  // it has become shorter
        return static_cast<size_t>(count);
    }

    struct Error {
        int number;
    };
    size_t size = 0;

   private:
    [[noreturn]] void fail(int number) {
        if (file_ != no_file) close_file(std::exchange(file_, no_file));
        throw Error{number};
    }
    FileHandle file_;
};

// The image is read into the output without a copy in between. In the message a piece without data stands for it.
void put_example(RecordOutput& output, InputFile& image, int64_t label) {
    ExampleToWrite example;
    example.features.resize(2);
    example.features[0].name = "image/class/label";
    example.features[0].kind = ListKind::integers;
    example.features[0].integers = {&label, 1};
    example.features[1].name = "image/encoded";
    example.features[1].kind = ListKind::bytes;
    example.features[1].values = {Bytes(static_cast<const std::byte*>(nullptr), image.size)};
    write_example(output, example, [&](Bytes piece) {
        if (piece.data() != nullptr) return output.put(piece);
        for (size_t left = piece.size(); left > 0;) {
            const std::span<std::byte> room = output.room();
            const size_t count = image.read_some(room.first(std::min(left, room.size())));
            output.put_in_room(count);
            left -= count;
        }
    });
}

// The header of an image record: no further labels, the label, the number, and another that is 0.
void put_image_record(RecordOutput& output, InputFile& image, std::vector<std::byte>& content, const WrapItem& item) {
    if (content.size() < image.size) content.resize(image.size);
    const std::span<std::byte> whole = std::span(content).first(image.size);
    for (size_t done = 0; done < whole.size();) done += image.read_some(whole.subspan(done));
    std::array<std::byte, image_head> header{};
    const auto value = static_cast<float>(item.label);
    std::memcpy(header.data() + 4, &value, sizeof value);
    std::memcpy(header.data() + 8, &item.identifier, sizeof item.identifier);
    output.recordio(header, whole);
}

}  // namespace

Wrapped wrap_files(RecordKind kind, FileHandle output, std::span<const WrapItem> items) {
    Wrapped wrapped;
    std::vector<std::byte> content;
    int64_t written = 0, reserved = 0;
    RecordOutput records([&](Bytes bytes) {
        written += static_cast<int64_t>(bytes.size());
        if (written > reserved && bytes.size() >= large) {
            reserve(output, reserved, written + ahead - reserved);
            reserved = written + ahead;
        }
        if (const int error = write_all(output, bytes)) throw std::system_error(error, std::generic_category());
    });
    size_t item = 0;
    try {
        for (; item < items.size(); ++item) {
            InputFile image(items[item].path);
            wrapped.offsets.push_back(records.position());
            if (kind == RecordKind::tfrecord) {
                put_example(records, image, items[item].label);
            } else {
                put_image_record(records, image, content, items[item]);
            }
            wrapped.image_bytes += static_cast<int64_t>(image.size);
        }
        records.flush();
        if (reserved > written) release(output);
    } catch (const InputFile::Error& error) {
        wrapped.failure = {static_cast<int64_t>(item), error.number};
    } catch (const std::system_error& error) {
        wrapped.failure = {WrapFailure::output, error.code().value()};
    }
    return wrapped;
}

int write_new_file(const std::string& path, std::span<const std::byte> content) {
    const FileHandle file = open_new(path);
    if (file == no_file) return errno;
    const int error = write_all(file, content);
    return !close_file(file) && error == 0 ? errno : error;
}

}  // namespace pixelmill

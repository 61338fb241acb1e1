#include "wrap.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <bit>
#include <cerrno>
#include <cstring>
#include <system_error>

#include "../file.h"
#include "../records/example_writer.h"
#include "../records/recordio.h"

namespace pixelmill {

namespace {

static_assert(std::endian::native == std::endian::little, "headers are written as they are in memory");

constexpr size_t largest = (size_t{1} << recordio_length_bits) - 1 - image_head;

// Reads a whole file into `content`, which only grows. 0, or errno.
int read_file(const std::string& path, std::vector<std::byte>& content, Bytes& found) {
    const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) return errno;
    struct stat about {};
    int error = fstat(file, &about) < 0 ? errno : S_ISREG(about.st_mode) ? 0 : EINVAL;
    if (error == 0 && static_cast<uint64_t>(about.st_size) > largest) error = EFBIG;
    size_t done = 0;
    if (error == 0) {
        const auto size = static_cast<size_t>(about.st_size);
        if (content.size() < size) content.resize(size);
        while (done < size) {
            const ssize_t count = read(file, content.data() + done, size - done);
            if (count < 0 && errno == EINTR) continue;
            if (count < 0) error = errno;
            if (count <= 0) break;
            done += static_cast<size_t>(count);
        }
    }
    close(file);
    found = Bytes(content).first(done);
    return error;
}

void put_example(RecordOutput& output, Bytes image, int64_t label) {
    ExampleToWrite example;
    example.features.resize(2);
    example.features[0].name = "image/class/label";
    example.features[0].kind = ListKind::integers;
    example.features[0].integers = {&label, 1};
    example.features[1].name = "image/encoded";
    example.features[1].kind = ListKind::bytes;
    example.features[1].values = {image};
    write_example(output, example);
}

// The header of an image record: no further labels, the label, the number, and another that is 0.
void put_image_record(RecordOutput& output, Bytes image, int64_t label, uint64_t identifier) {
    std::array<std::byte, image_head> header{};
    const auto value = static_cast<float>(label);
    std::memcpy(header.data() + 4, &value, sizeof value);
    std::memcpy(header.data() + 8, &identifier, sizeof identifier);
    output.recordio(header, image);
}

// The bytes of all files with what is put around them, rounded down, so that nothing reserved is left over.
int64_t expected_bytes(std::span<const WrapItem> items) {
    int64_t total = 0;
    for (const WrapItem& item : items) {
        struct stat about {};
        if (stat(item.path.c_str(), &about) == 0) total += about.st_size;
    }
    return total;
}

}  // namespace

Wrapped wrap_files(RecordKind kind, int output, std::span<const WrapItem> items) {
    Wrapped wrapped;
    std::vector<std::byte> content;
    if (const int64_t bytes = expected_bytes(items); bytes > 0) reserve(output, 0, bytes);
    RecordOutput records([output](Bytes bytes) {
        if (const int error = write_all(output, bytes)) throw std::system_error(error, std::generic_category());
    });
    try {
        for (size_t i = 0; i < items.size(); ++i) {
            Bytes image;
            if (const int error = read_file(items[i].path, content, image)) {
                wrapped.failure = {static_cast<int64_t>(i), error};
                return wrapped;
            }
            wrapped.image_bytes += static_cast<int64_t>(image.size());
            wrapped.offsets.push_back(records.position());
            if (kind == RecordKind::tfrecord) {
                put_example(records, image, items[i].label);
            } else {
                put_image_record(records, image, items[i].label, items[i].identifier);
            }
        }
        records.flush();
    } catch (const std::system_error& error) {
        wrapped.failure = {WrapFailure::output, error.code().value()};
    }
    return wrapped;
}

int write_new_file(const std::string& path, std::span<const std::byte> content) {
    const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file < 0) return errno;
    const int error = write_all(file, content);
    return close(file) < 0 && error == 0 ? errno : error;
}

}  // namespace pixelmill

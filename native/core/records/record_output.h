// Records written one after the other: framed and collected in memory, then passed on in large pieces of equal size.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "../codecs/bytes.h"

namespace pixelmill {

class RecordOutput {
   public:
    using Sink = std::function<void(Bytes)>;  // takes all of it, or throws

    explicit RecordOutput(Sink sink, int64_t position = 0);

    // The byte of the file where the next record begins.
    int64_t position() const { return position_; }

    // A TFRecord: its payload of `length` bytes is put piece by piece between the two.
    void begin_tfrecord(uint64_t length);
    void put(Bytes piece);
    void end_tfrecord();

    // The same without a copy: `filled` bytes were written to the beginning of `room`, which is never empty.
    std::span<std::byte> room();
    void put_in_room(size_t filled);

    // A record of RecordIO whose payload is both, one after the other; `head` has a multiple of four bytes.
    void recordio(Bytes head, Bytes body);

    // Passes on what is still here. Without it the last records are lost.
    void flush();

   private:
    void hand_on();
    void add_to_checksum();

    Sink sink_;
    std::unique_ptr<std::byte[]> buffer_;
    size_t filled_ = 0;
    size_t checked_ = 0;  // what lies before is in the checksum
    uint32_t crc_ = 0;
    bool summing_ = false;  // inside the payload of a TFRecord
    int64_t position_;
};

}  // namespace pixelmill

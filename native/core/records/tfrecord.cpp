#include "tfrecord.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "crc32c.h"

namespace pixelmill {

namespace {

constexpr int64_t chunk = int64_t{1} << 18;  // read at a time; stays in the cache between the file and the checksum
constexpr int64_t small_record = 4096;       // of shorter ones many are read at a time

uint32_t le32_at(const std::byte* at) { return le32(Bytes(at, 4), 0); }

std::string count_of(int64_t bytes) { return std::to_string(bytes) + (bytes == 1 ? " byte" : " bytes"); }

// Reads a file in windows, for the next record or the search for one.
class Reader {
   public:
    explicit Reader(const ByteSource& source)
        : source_(source),
          size_(source.size()),
          memory_(new std::byte[static_cast<size_t>(std::clamp<int64_t>(size_, record_head, chunk))]) {}

    int64_t size() const { return size_; }

    // `count` bytes at `offset`, both known to exist; up to `ahead` bytes are read with them.
    const std::byte* at(int64_t offset, int64_t count, int64_t ahead) {
        if (offset < begin_ || offset + count > end_) {
            const int64_t wanted = std::min(std::clamp(ahead, count, chunk), size_ - offset);
            begin_ = end_ = 0;
            source_.read(memory_.get(), wanted, offset);
            begin_ = offset;
            end_ = offset + wanted;
        }
        return memory_.get() + (offset - begin_);
    }

    uint32_t checksum(int64_t offset, int64_t count) {
        uint32_t crc = 0;
        while (count > 0) {
            const int64_t step = std::min(count, chunk);
            crc = crc32c({at(offset, step, step), static_cast<size_t>(step)}, crc);
            offset += step;
            count -= step;
        }
        return crc;
    }

   private:
    const ByteSource& source_;
    int64_t size_;
    std::unique_ptr<std::byte[]> memory_;
    int64_t begin_ = 0, end_ = 0;
};

// Finds records and, after damage, the next head. A length is trusted when its own checksum matches and either the
// payload's checksum matches or a record begins where it ends; everything else is searched byte by byte.
class Scanner {
   public:
    Scanner(const ByteSource& source, const ScanOptions& options)
        : reader_(source), options_(options), budget_(16 * reader_.size() + (1 << 20)) {}

    RecordScan run() {
        int64_t at = 0;
        while (at < reader_.size() && !full()) at = step(at);
        return std::move(scan_);
    }

   private:
    // Takes the record at `at`, or what is lost there, and returns the offset after it.
    int64_t step(int64_t at) {
        const int64_t left = reader_.size() - at;
        if (left < record_head) {
            return recover(at, FaultKind::truncated,
                           "the file ends within the head of a record: " + count_of(left) + " of 12");
        }
        uint64_t announced = 0;
        if (!read_head(reader_.at(at, record_head, ahead_), announced)) {
            return recover(at, FaultKind::checksum, "the checksum of the length does not fit");
        }
        if (left < record_frame || announced > static_cast<uint64_t>(left - record_frame)) {
            return recover(at, FaultKind::truncated,
                           "a record announces " + std::to_string(announced) + " bytes and " +
                               count_of(std::max<int64_t>(left - record_frame, 0)) + " are left");
        }
        const auto length = static_cast<int64_t>(announced);
        if (length > options_.record_bytes) {
            lose(at, at + length + record_frame, FaultKind::too_large,
                 "a record of " + count_of(length) + "; the limit is " + std::to_string(options_.record_bytes));
            trusted_ = true;
            return at + length + record_frame;
        }
        return take(at, length);
    }

    int64_t take(int64_t at, int64_t length) {
        ahead_ = length < small_record ? chunk / 4 : record_head;
        const int64_t end = at + length + record_frame;
        trusted_ = options_.verify && fits(at, length);
        if (options_.verify && !trusted_ && !begins_record(end)) {
            return resume(at, at + record_head, FaultKind::checksum, "the checksum of the record does not fit");
        }
        if (options_.verify && !trusted_) {
            lose(at, end, FaultKind::checksum, "the checksum of the record does not fit");
            trusted_ = true;  // its length is right, as the next record begins where it ends
            return end;
        }
        scan_.offset.push_back(at);
        scan_.length.push_back(length + record_frame);
        return end;
    }

    // Nothing can be read at `at`. If the record before it is damaged too, its length is wrong or bytes are missing
    // from it, and the next head may lie within it: the search starts there, so that one damaged length loses one
    // record.
    int64_t recover(int64_t at, FaultKind kind, const std::string& message) {
        if (!trusted_ && !scan_.offset.empty() && scan_.offset.back() + scan_.length.back() == at) {
            const int64_t before = scan_.offset.back();
            if (!fits(before, scan_.length.back() - record_frame)) {
                scan_.offset.pop_back();
                scan_.length.pop_back();
                return resume(before, before + record_head, FaultKind::checksum,
                              "the checksum of the record does not fit, and no record follows it");
            }
        }
        return resume(at, at + 1, kind, message);
    }

    // Everything from `lost` to the next head is lost.
    int64_t resume(int64_t lost, int64_t from, FaultKind kind, const std::string& message) {
        const int64_t found = next_head(from);
        lose(lost, found, kind, message);
        trusted_ = true;
        return found;
    }

    // The first offset from `at` on where a record begins, or the end of the file. A random place passes by chance once
    // in 2^32, and only if its length also fits the file.
    int64_t next_head(int64_t at) {
        for (; at + record_frame <= reader_.size(); ++at) {
            const std::byte* head = reader_.at(at, record_head, chunk);
            const auto room = static_cast<uint64_t>(reader_.size() - at - record_frame);
            uint64_t length = 0;
            if (little64(head) <= room && read_head(head, length)) return at;  // most places fail the first test
        }
        return reader_.size();
    }

    bool begins_record(int64_t at) {
        if (at == reader_.size()) return true;
        uint64_t length = 0;
        return reader_.size() - at >= record_head && read_head(reader_.at(at, record_head, record_head), length);
    }

    // Hostile heads can point at the same bytes again and again, which would take quadratic time: the bytes that are
    // checked in all are limited to a multiple of the file.
    bool fits(int64_t at, int64_t length) {
        budget_ -= length;
        if (budget_ < 0) return false;
        const uint32_t crc = reader_.checksum(at + record_head, length);
        return masked(crc) == le32_at(reader_.at(at + record_head + length, record_tail, record_frame + record_head));
    }

    void lose(int64_t begin, int64_t end, FaultKind kind, const std::string& message) {
        const auto record = static_cast<int64_t>(scan_.offset.size() + scan_.losses.size());
        scan_.losses.push_back({record, begin, end - begin, kind, message});
    }

    bool full() {
        if (scan_.losses.size() < options_.losses && budget_ >= 0) return false;
        Loss& last = scan_.losses.back();
        last.length = reader_.size() - last.offset;
        last.message += "; too much is damaged, and the rest of the file is not read";
        return true;
    }

    Reader reader_;
    const ScanOptions& options_;
    RecordScan scan_;
    int64_t budget_;
    int64_t ahead_ = chunk / 4;
    bool trusted_ = true;  // whether the end of the last record is known to be right
};

}  // namespace

bool read_head(const std::byte* head, uint64_t& length) {
    length = little64(head);
    return masked(crc32c({head, 8})) == le32_at(head + 8);
}

bool payload_fits(const std::byte* payload, size_t bytes) {
    return masked(crc32c({payload, bytes})) == le32_at(payload + bytes);
}

Frame frame_of(uint64_t length, uint32_t crc) {
    Frame frame;
    for (int i = 0; i < 8; ++i) frame.head[i] = static_cast<std::byte>(length >> 8 * i);
    const uint32_t sum = masked(crc32c({frame.head, 8})), tail = masked(crc);
    for (int i = 0; i < 4; ++i) {
        frame.head[8 + i] = static_cast<std::byte>(sum >> 8 * i);
        frame.tail[i] = static_cast<std::byte>(tail >> 8 * i);
    }
    return frame;
}

RecordScan scan_records(const ByteSource& source, const ScanOptions& options) { return Scanner(source, options).run(); }

}  // namespace pixelmill

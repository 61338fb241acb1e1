// Copies past the caches: a store to a line that is not in a cache reads it first, which costs as much as the copy.
// They pay off for results that are larger than the caches and that this thread does not read again.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "../arena.h"
#include "../value.h"

namespace pixelmill {

// Writes bytes one after the other. Only whole lines are written past the caches, for one ordinary store between them
// would hold up all that follow; so the bytes of a line are kept until it is full. All is there after `end`.
class LineStream {
   public:
    explicit LineStream(std::byte* out);
    // As many bytes at `next` are fetched meanwhile; there need not be any.
    void put(const std::byte* in, size_t bytes, const std::byte* next);
    void fill(std::byte value, size_t bytes);
    // The next line if none of its bytes is there, and what to do after somebody else wrote whole lines.
    std::byte* begun() const { return held_ == 0 ? out_ : nullptr; }
    void skip(size_t bytes) { out_ += bytes; }
    void end();

   private:
    static constexpr size_t line = 64;
    size_t space(size_t bytes) const { return bytes < line - held_ ? bytes : line - held_; }
    void hold(size_t bytes);
    void put_wide(const std::byte* in, size_t bytes, const std::byte* next);
    alignas(line) std::byte kept_[line];
    std::byte* out_;             // the line that is kept
    bool wide_;                  // whether there are registers of a whole line
    size_t held_, skipped_ = 0;  // bytes of it that are there, and that precede the stream
};

// Results of bytes that are made in order, in place or past the caches. All is there after `end`.
class ResultStream {
    struct Nothing {
        int64_t operator()(uint8_t*, const uint8_t*, int64_t) const { return 0; }
    };

   public:
    ResultStream(std::byte* out, bool past_caches)
        : lines_(out), out_(reinterpret_cast<uint8_t*>(out)), past_caches_(past_caches) {}

    // `make(out, in, units)` makes units of `made` bytes from units of `read` bytes. `write(out, in, units)` does so
    // past the caches, from the beginning of a line on, and returns how many units it made, which are whole lines; 0 if
    // it can not. The others are made some at a time, which stay in the nearest cache until they are written.
    template <class Make, class Write = Nothing>
    void put(const uint8_t* in, int64_t units, int64_t read, int64_t made, const Make& make, const Write& write = {}) {
        if (!past_caches_) {
            make(out_, in, units);
            out_ += units * made;
            return;
        }
        if (std::byte* line = lines_.begun()) {
            const int64_t count = write(reinterpret_cast<uint8_t*>(line), in, units);
            lines_.skip(static_cast<size_t>(count * made));
            in += count * read;
            units -= count;
        }
        constexpr int64_t most = 3072;
        alignas(64) uint8_t part[most];
        for (const int64_t step = most / made; units > 0; units -= step) {
            const int64_t count = std::min(units, step);
            make(part, in, count);
            in += count * read;
            lines_.put(reinterpret_cast<const std::byte*>(part), static_cast<size_t>(count * made),
                       reinterpret_cast<const std::byte*>(in));
        }
    }
    void end() {
        if (past_caches_) lines_.end();
    }

   private:
    LineStream lines_;
    uint8_t* out_;
    bool past_caches_;
};

// `pack` past the caches, where rows of the input lie in memory as rows.
void stream_elements(const Value& out, const Value& in, Arena& arena);

}  // namespace pixelmill

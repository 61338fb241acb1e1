// Copies past the caches: a store to a line that is not in a cache reads it first, which costs as much as the copy.
// They pay off for results that are larger than the caches and that this thread does not read again.
#pragma once

#include <cstddef>

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

// `pack` past the caches, where rows of the input lie in memory as rows.
void stream_elements(const Value& out, const Value& in, Arena& arena);

}  // namespace pixelmill

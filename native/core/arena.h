// Memory for the intermediates of one sample: taken piece by piece, freed all at once.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

namespace pixelmill {

class Arena {
   public:
    // 64-byte aligned and not initialized, with 64 readable and writable bytes after it: vector code may run over the
    // end without a tail. Valid until `reset`.
    std::byte* take(size_t bytes);
    template <class T>
    T* take(size_t count) {
        return reinterpret_cast<T*>(take(count * sizeof(T)));
    }
    // Where the next piece comes from. Rewinding to it invalidates everything taken since.
    struct Mark {
        size_t block = 0, used = 0;
    };
    Mark mark() const { return {block_, used_}; }
    void rewind(const Mark& mark) noexcept {
        block_ = mark.block;
        used_ = mark.used;
    }
    void reset() noexcept;       // invalidates everything taken; the memory stays for the next sample
    void reset_to(size_t most);  // the same, but frees the memory if there is more of it than this

   private:
    struct Unmap {
        size_t bytes = 0;
        void operator()(std::byte* memory) const noexcept;
    };
    struct Block {
        std::unique_ptr<std::byte, Unmap> memory;
        size_t size = 0;
        std::byte* begin() const;  // aligned
    };
    // Null when there is no memory.
    static std::unique_ptr<std::byte, Unmap> new_memory(size_t size) noexcept;

    std::vector<Block> blocks_;
    size_t block_ = 0, used_ = 0;
};

// What is taken during the life of this is invalid after it.
class ArenaScope {
   public:
    explicit ArenaScope(Arena& arena) : arena_(arena), mark_(arena.mark()) {}
    ArenaScope(const ArenaScope&) = delete;
    ArenaScope& operator=(const ArenaScope&) = delete;
    ~ArenaScope() { arena_.rewind(mark_); }

   private:
    Arena& arena_;
    Arena::Mark mark_;
};

}  // namespace pixelmill

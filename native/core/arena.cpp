#include "arena.h"

#include <algorithm>
#include <cstdint>
#include <new>

#include "platform/system.h"

namespace pixelmill {

namespace {

constexpr size_t alignment = 64, slack = 64, smallest_block = size_t{1} << 20;

size_t rounded(size_t bytes) { return (bytes + slack + alignment - 1) / alignment * alignment; }

}  // namespace

void Arena::Unmap::operator()(std::byte* memory) const noexcept { unmap_pages(memory, bytes); }

std::byte* Arena::Block::begin() const {
    std::byte* const base = memory.get();
    return base + (-reinterpret_cast<uintptr_t>(base) & (alignment - 1));
}

// Pages of the system: what a thread outgrows goes back to it at once. The C library would keep blocks of such sizes
// in the heap of the thread, where they stay resident and are too small for what comes next.
std::unique_ptr<std::byte, Arena::Unmap> Arena::new_memory(size_t size) noexcept {
    const size_t bytes = size + alignment;
    return {map_pages(bytes), Unmap{bytes}};
}

// Bump allocation. A request that does not fit the current block moves on and wastes its rest until `reset` merges the
// blocks, so a thread soon has one block of the right size and takes from it with an addition. Earlier samples may have
// touched the rest: it goes back to the system, so that a thread never has more memory than a sample needs.
std::byte* Arena::take(size_t bytes) {
    const size_t need = rounded(bytes);
    while (block_ < blocks_.size() && used_ + need > blocks_[block_].size) {
        const Block& full = blocks_[block_++];
        drop_pages(full.begin() + used_, full.size - used_);
        used_ = 0;
    }
    if (block_ == blocks_.size()) {
        const size_t size = std::max(need, smallest_block);
        auto memory = new_memory(size);
        if (memory == nullptr) throw std::bad_alloc();
        blocks_.push_back({std::move(memory), size});
        used_ = 0;
    }
    std::byte* const memory = blocks_[block_].begin() + used_;
    used_ += need;
    return memory;
}

void Arena::reset() noexcept {
    // One block of the size that was needed beats several: the next sample is usually like this one.
    if (blocks_.size() > 1) {
        size_t total = 0;
        for (const Block& block : blocks_) total += block.size;
        blocks_.clear();  // it keeps its capacity, so adding one block takes no memory
        auto memory = new_memory(total);
        if (memory != nullptr) blocks_.push_back({std::move(memory), total});  // else the next sample starts with none
    }
    block_ = used_ = 0;
}

void Arena::reset_to(size_t most) {
    size_t total = 0;
    for (const Block& block : blocks_) total += block.size;
    if (total > most) blocks_.clear();
    reset();
}

}  // namespace pixelmill

#include "block.h"

#include <new>

#include "platform/system.h"

namespace pixelmill {

std::byte* new_block(size_t bytes) {
    constexpr size_t line = 64, huge_page = size_t{2} << 20;
    const size_t unit = bytes < huge_page ? line : huge_page;
    // One more cache line after the end, so that vector loads and stores may run over.
    const size_t size = (bytes + line + unit - 1) / unit * unit;
    std::byte* memory = allocate_aligned(unit, size);
    if (memory == nullptr) throw std::bad_alloc();
    if (unit == huge_page) prefer_huge_pages(memory, size);
    return memory;
}

void free_block(std::byte* memory) { free_aligned(memory); }

}  // namespace pixelmill

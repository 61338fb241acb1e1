#include "block.h"

#include <sys/mman.h>

#include <cstdlib>
#include <new>

namespace pixelmill {

std::byte* new_block(size_t bytes) {
    constexpr size_t line = 64, huge_page = size_t{2} << 20;
    const size_t unit = bytes < huge_page ? line : huge_page;
    // One more cache line after the end, so that vector loads and stores may run over.
    const size_t size = (bytes + line + unit - 1) / unit * unit;
    auto* memory = static_cast<std::byte*>(std::aligned_alloc(unit, size));
    if (memory == nullptr) throw std::bad_alloc();
#ifdef MADV_HUGEPAGE
    if (unit == huge_page) ::madvise(memory, size, MADV_HUGEPAGE);  // a hint: one page fault instead of 512
#endif
    return memory;
}

void free_block(std::byte* memory) { std::free(memory); }

}  // namespace pixelmill

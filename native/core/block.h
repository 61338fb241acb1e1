// Memory for results that leave the core: whole cache lines, huge pages where it is large.
#pragma once

#include <cstddef>
#include <memory>

namespace pixelmill {

std::byte* new_block(size_t bytes);
void free_block(std::byte* memory);

struct FreeBlock {
    void operator()(std::byte* memory) const { free_block(memory); }
};
using Block = std::unique_ptr<std::byte, FreeBlock>;

}  // namespace pixelmill

// Memory for the intermediates of one sample: taken piece by piece, given back all at once.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

namespace pixelmill {

class Arena {
   public:
    // 64-byte aligned, with 64 readable bytes behind it so that vector loads may run over the end.
    std::byte* take(size_t bytes);
    template <class T>
    T* take(size_t count) {
        return reinterpret_cast<T*>(take(count * sizeof(T)));
    }
    void reset();                // everything taken is gone; the memory stays for the next sample
    void reset_to(size_t most);  // the same, but more memory than this is freed

   private:
    struct Block {
        std::unique_ptr<std::byte[]> memory;
        size_t size = 0;
    };
    std::vector<Block> blocks_;
    size_t block_ = 0, used_ = 0;
};

}  // namespace pixelmill

// Where the samples of a reader lie: byte ranges of files, and columns beside them.
#pragma once

#include <string>
#include <vector>

#include "step.h"

namespace pixelmill {

// Item i is `length[i]` bytes of file `file[i]` at `offset[i]`; a length of -1 means the whole file.
class ByteRanges : public Resource {
   public:
    std::vector<std::string> paths;
    std::vector<int64_t> file, offset, length;  // file is empty when item i is simply path i

    const std::string& path_of(int64_t item) const {
        return paths[static_cast<size_t>(file.empty() ? item : file[static_cast<size_t>(item)])];
    }
};

// Row i of a table is what item i carries beside its bytes: labels, mostly.
class Table : public Resource {
   public:
    DType dtype = DType::i32;
    std::vector<int64_t> row_shape;
    std::vector<std::byte> data;
};

}  // namespace pixelmill

// Where the samples of a reader are stored: byte ranges of files, and columns of values beside them.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "file.h"
#include "step.h"

namespace pixelmill {

// Item i is `length[i]` bytes of file `file[i]` at `offset[i]`; a length of -1 means the whole file.
class ByteRanges : public Resource {
   public:
    std::vector<std::string> paths;
    std::vector<int64_t> file, offset, length;                  // file is empty when item i is simply path i
    std::map<int64_t, std::pair<FaultKind, std::string>> lost;  // items that were found to be damaged
    int fetched = -1;  // the number of these ranges among what is fetched for a sample; -1 for files of this machine

    const std::string& path_of(int64_t item) const {
        return paths[static_cast<size_t>(file.empty() ? item : file[static_cast<size_t>(item)])];
    }
    int64_t offset_of(int64_t item) const { return offset.empty() ? 0 : offset[static_cast<size_t>(item)]; }
    // -1 for everything up to the end of the file.
    int64_t length_of(int64_t item) const { return length.empty() ? -1 : length[static_cast<size_t>(item)]; }
    void check(int64_t item) const {
        if (lost.empty()) return;
        const auto found = lost.find(item);
        if (found != lost.end()) throw Fault(found->second.first, found->second.second);
    }
};

// The source of an item's bytes for as long as this lives: memory if they were fetched, else the file.
class ItemSource {
   public:
    ItemSource(Context& context, const ByteRanges& ranges, int64_t item);
    ItemSource(const ItemSource&) = delete;
    ItemSource& operator=(const ItemSource&) = delete;

    const ByteSource& operator*() const { return *source_; }
    const ByteSource* operator->() const { return source_; }
    bool was_fetched() const { return memory_.has_value(); }

   private:
    std::optional<Memory> memory_;
    std::optional<File> file_;
    const ByteSource* source_;
};

// Row i of a table is what item i carries beside its bytes: labels, mostly. With `starts`, item i carries the rows from
// starts[i] up to starts[i + 1].
class Table : public Resource {
   public:
    DType dtype = DType::i32;
    std::vector<int64_t> row_shape;
    std::vector<std::byte> data;
    std::vector<int64_t> starts;
};

}  // namespace pixelmill

// Where the samples of a reader are stored: byte ranges of files, and columns of values beside them.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "file.h"
#include "step.h"

namespace pixelmill {

// Item i is `length[i]` bytes of file `file[i]` at `offset[i]`; a length of -1 means the whole file. The arrays belong
// to whoever made this, and may be mapped from a file that many processes share.
class ByteRanges : public Resource {
   public:
    std::string path_prefix;                        // the beginning of all paths
    std::span<const char> paths;                    // their ends, one after the other, each followed by a zero byte
    std::span<const int64_t> path_starts;           // path i begins at path_starts[i]; one entry more than paths
    std::span<const int64_t> file, offset, length;  // file is empty when item i is simply path i
    std::map<int64_t, std::pair<FaultKind, std::string>> lost;  // items that were found to be damaged
    int fetched = -1;  // the number of these ranges among what is fetched for a sample; -1 for files of this machine

    std::string path_of(int64_t item) const {
        const auto number = static_cast<size_t>(file.empty() ? item : file[static_cast<size_t>(item)]);
        const auto start = static_cast<size_t>(path_starts[number]), end = static_cast<size_t>(path_starts[number + 1]);
        std::string path = path_prefix;
        return path.append(paths.data() + start, end - start - 1);
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
    std::span<const std::byte> data;
    std::span<const int64_t> starts;
};

}  // namespace pixelmill

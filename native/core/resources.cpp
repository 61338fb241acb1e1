#include "resources.h"

namespace pixelmill {

ItemSource::ItemSource(Context& context, const ByteRanges& ranges, int64_t item) {
    const auto number = static_cast<size_t>(ranges.fetched);
    if (ranges.fetched >= 0 && number < context.fetched.size()) {
        const Fetched& fetched = context.fetched[number];
        if (fetched.failed) throw Fault(fetched.kind, fetched.message);
        if (fetched.data != nullptr) {
            source_ = &memory_.emplace(Bytes{fetched.data, fetched.size}, ranges.offset_of(item));
            return;
        }
    }
    if (ranges.file.empty()) {
        source_ = &file_.emplace(ranges.path_of(item));
    } else {
        source_ = &context.thread.file_of_records(ranges.path_of(item));
    }
}

}  // namespace pixelmill

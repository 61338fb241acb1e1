#include "objects.h"

#include <algorithm>
#include <unordered_map>

#include "../fault.h"
#include "../kernels/convert.h"

namespace pixelmill {

int64_t Object::volume(int axes) const {
    int64_t product = 1;
    for (int a = 0; a < axes; ++a) product *= high[static_cast<size_t>(a)] - low[static_cast<size_t>(a)];
    return product;
}

namespace {

// Equal pixels side by side in one row along the last axis. `parent` leads to the first run of the object.
struct Run {
    int64_t label;
    int32_t first, last;  // last is excluded
    int32_t parent;
};

class Runs {
   public:
    template <class T>
    void read(const T* mask, int64_t rows, int64_t length, int64_t background) {
        begins_.reserve(static_cast<size_t>(rows) + 1);
        for (int64_t y = 0; y < rows; ++y, mask += length) {
            begins_.push_back(static_cast<int32_t>(runs_.size()));
            for (int64_t x = 0; x < length;) {
                const int64_t from = x;
                const T label = mask[x];
                while (x < length && mask[x] == label) ++x;
                if (static_cast<int64_t>(label) == background) continue;
                const auto number = static_cast<int32_t>(runs_.size());
                runs_.push_back(
                    {static_cast<int64_t>(label), static_cast<int32_t>(from), static_cast<int32_t>(x), number});
            }
        }
        begins_.push_back(static_cast<int32_t>(runs_.size()));
    }

    // Joins what touches in two rows.
    void join(int64_t row, int64_t other) {
        int32_t a = begin(row), b = begin(other);
        while (a < begin(row + 1) && b < begin(other + 1)) {
            const Run &one = run(a), &two = run(b);
            if (one.label == two.label && one.first < two.last && two.first < one.last) unite(a, b);
            (one.last < two.last ? a : b) += 1;
        }
    }

    int32_t begin(int64_t row) const { return begins_[static_cast<size_t>(row)]; }
    const Run& run(int32_t number) const { return runs_[static_cast<size_t>(number)]; }

    int32_t root(int32_t number) {
        while (runs_[static_cast<size_t>(number)].parent != number) {
            int32_t& parent = runs_[static_cast<size_t>(number)].parent;
            parent = runs_[static_cast<size_t>(parent)].parent;
            number = parent;
        }
        return number;
    }

   private:
    void unite(int32_t a, int32_t b) {
        a = root(a);
        b = root(b);
        runs_[static_cast<size_t>(std::max(a, b))].parent = std::min(a, b);
    }

    std::vector<Run> runs_;
    std::vector<int32_t> begins_;
};

// Where a row lies along the axes before `last`.
Extents place_of(int64_t row, const Value& mask, int last) {
    Extents place{};
    for (int d = last - 1; d >= 0; --d) {
        place[static_cast<size_t>(d)] = row % mask.shape[static_cast<size_t>(d)];
        row /= mask.shape[static_cast<size_t>(d)];
    }
    return place;
}

void widen(Object& object, const Extents& place, const Run& run, int last) {
    for (size_t d = 0; d < static_cast<size_t>(last); ++d) {
        object.low[d] = std::min(object.low[d], place[d]);
        object.high[d] = std::max(object.high[d], place[d] + 1);
    }
    const auto axis = static_cast<size_t>(last);
    object.low[axis] = std::min<int64_t>(object.low[axis], run.first);
    object.high[axis] = std::max<int64_t>(object.high[axis], run.last);
}

}  // namespace

std::vector<Object> find_objects(const Value& mask, int64_t background) {
    int last = mask.ndim - 1;
    while (last > 0 && mask.shape[static_cast<size_t>(last)] == 1) --last;  // a channel makes no runs
    const int64_t length = mask.shape[static_cast<size_t>(last)],
                  rows = mask.elements() == 0 ? 0 : mask.elements() / length;
    if (mask.elements() >= int64_t{1} << 31) throw Fault(FaultKind::too_large, "a mask of 2^31 pixels or more");
    Runs runs;
    with_type(mask.dtype, [&](auto zero) {
        using T = decltype(zero);
        if constexpr (std::is_integral_v<T>) {
            runs.read(mask.as<const T>(), rows, length, background);
        } else {
            throw Fault(FaultKind::argument, "a mask must hold whole numbers, got " + describe(mask));
        }
    });
    for (int64_t row = 0; row < rows; ++row) {
        const Extents place = place_of(row, mask, last);
        int64_t step = 1;
        for (int d = last - 1; d >= 0; --d) {
            if (place[static_cast<size_t>(d)] > 0) runs.join(row, row - step);
            step *= mask.shape[static_cast<size_t>(d)];
        }
    }
    std::vector<Object> objects;
    std::unordered_map<int32_t, size_t> known;
    for (int64_t row = 0; row < rows; ++row) {
        const Extents place = place_of(row, mask, last);
        for (int32_t i = runs.begin(row); i < runs.begin(row + 1); ++i) {
            const auto [found, fresh] = known.try_emplace(runs.root(i), objects.size());
            if (fresh) {
                Object object{runs.run(i).label, place, {}};
                for (int d = last + 1; d < mask.ndim; ++d) object.high[static_cast<size_t>(d)] = 1;
                object.low[static_cast<size_t>(last)] = runs.run(i).first;
                objects.push_back(object);
            }
            widen(objects[found->second], place, runs.run(i), last);
        }
    }
    return objects;
}

}  // namespace pixelmill

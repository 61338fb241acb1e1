#include "broadcast.h"

#include <algorithm>
#include <cstring>

namespace pixelmill {

namespace {

// Elements are copied by their size alone.
template <class T>
void copy_run(T* out, const T* in, int64_t stride, int64_t count) {
    if (stride == 1) {
        std::memcpy(out, in, static_cast<size_t>(count) * sizeof(T));
    } else if (stride == 0) {
        std::fill_n(out, count, *in);
    } else {
        for (int64_t i = 0; i < count; ++i) out[i] = in[i * stride];
    }
}

// Short runs side by side, such as the channels of pixels: a call of memcpy for each would cost more than the copy.
template <class T>
int64_t copy_short_runs(T* out, const T* in, int64_t run, int64_t inner, int64_t step, int64_t runs) {
    if (run == 3) {
        for (int64_t i = 0; i < runs; ++i) {
            const T* from = in + i * step;
            out[3 * i] = from[0];
            out[3 * i + 1] = from[inner];
            out[3 * i + 2] = from[2 * inner];
        }
    } else {
        for (int64_t i = 0; i < runs; ++i) {
            for (int64_t j = 0; j < run; ++j) out[i * run + j] = in[i * step + j * inner];
        }
    }
    return run * runs;
}

template <class T>
void gather_typed(const BroadcastView& view, T* out, int64_t offset, int64_t count) {
    Extents at{};
    for (int d = view.axes - 1; d >= 0; --d) {
        at[d] = offset % view.extent[d];
        offset /= view.extent[d];
    }
    const int last = view.axes - 1;
    const int64_t run = view.extent[last], inner = view.stride[last];
    const T* const base = reinterpret_cast<const T*>(view.data);
    while (count > 0) {
        const T* in = base;
        for (int d = 0; d <= last; ++d) in += at[d] * view.stride[d];
        int64_t copied = std::min(count, run - at[last]);
        if (run <= 16 && last > 0 && at[last] == 0 && count >= run) {
            const int64_t runs = std::min(count / run, view.extent[last - 1] - at[last - 1]);
            copied = copy_short_runs(out, in, run, inner, view.stride[last - 1], runs);
            at[last - 1] += runs;
        } else {
            copy_run(out, in, inner, copied);
            at[last] += copied;
        }
        out += copied;
        count -= copied;
        for (int d = last; d > 0; --d) {
            if (at[d] < view.extent[d]) continue;
            at[d] = 0;
            ++at[d - 1];
        }
    }
}

}  // namespace

void BroadcastView::gather(std::byte* out, int64_t offset, int64_t count) const {
    switch (size) {
        case 1: return gather_typed(*this, reinterpret_cast<uint8_t*>(out), offset, count);
        case 2: return gather_typed(*this, reinterpret_cast<uint16_t*>(out), offset, count);
        case 4: return gather_typed(*this, reinterpret_cast<uint32_t*>(out), offset, count);
        default: return gather_typed(*this, reinterpret_cast<uint64_t*>(out), offset, count);
    }
}

BroadcastView broadcast_view(const Value& value, int ndim, const Extents& shape) {
    BroadcastView view;
    view.data = value.data;
    view.size = size_of(value.dtype);
    const int missing = ndim - value.ndim;
    for (int d = 0; d < ndim; ++d) {
        if (shape[d] == 1) continue;
        const int own = d - missing;
        const int64_t stride = own < 0 || value.shape[own] == 1 ? 0 : value.stride[own];
        const int before = view.axes - 1;
        if (before >= 0 && view.stride[before] == stride * shape[d]) {
            view.extent[before] *= shape[d];
            view.stride[before] = stride;
        } else {
            view.extent[view.axes] = shape[d];
            view.stride[view.axes++] = stride;
        }
    }
    return view;
}

bool broadcast(int& ndim, Extents& shape, const Value& other) {
    const int wide = std::max(ndim, other.ndim);
    Extents result{};
    for (int back = 1; back <= wide; ++back) {
        const int64_t a = back <= ndim ? shape[ndim - back] : 1;
        const int64_t b = back <= other.ndim ? other.shape[other.ndim - back] : 1;
        if (a != b && a != 1 && b != 1) return false;
        result[wide - back] = a == 1 ? b : a;
    }
    ndim = wide;
    shape = result;
    return true;
}

}  // namespace pixelmill

#include "stream.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "copy.h"
#include "pointwise.h"
#include "simd.h"

namespace pixelmill {

#if PIXELMILL_BMI2

BEGIN_AVX2_CODE

namespace {

// Both write whole lines. `next` is read soon: rows that go upwards are not what processors foresee.
void stream_lines(std::byte* out, const std::byte* in, size_t bytes, const std::byte* next) {
    for (size_t i = 0; i < bytes; i += 64) {
        _mm_prefetch(reinterpret_cast<const char*>(next + i), _MM_HINT_T0);
        const __m256i low = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(in + i));
        const __m256i high = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(in + i + 32));
        _mm256_stream_si256(reinterpret_cast<__m256i*>(out + i), low);
        _mm256_stream_si256(reinterpret_cast<__m256i*>(out + i + 32), high);
    }
}

void stream_value(std::byte* out, std::byte value, size_t bytes) {
    const __m256i all = _mm256_set1_epi8(static_cast<char>(value));
    for (size_t i = 0; i < bytes; i += 32) _mm256_stream_si256(reinterpret_cast<__m256i*>(out + i), all);
}

}  // namespace

END_AVX2_CODE

#endif

namespace {

void put_lines(std::byte* out, const std::byte* in, size_t bytes, const std::byte* next) {
#if PIXELMILL_BMI2
    if (simd_level() == SimdLevel::avx2) return stream_lines(out, in, bytes, next);
#endif
    (void)next;
    std::memcpy(out, in, bytes);
}

void fill_lines(std::byte* out, std::byte value, size_t bytes) {
#if PIXELMILL_BMI2
    if (simd_level() == SimdLevel::avx2) return stream_value(out, value, bytes);
#endif
    std::memset(out, static_cast<int>(value), bytes);
}

}  // namespace

LineStream::LineStream(std::byte* out)
    : out_(out), wide_(uses_wide_tables()), held_(reinterpret_cast<uintptr_t>(out) % line) {
    out_ -= held_;
    skipped_ = held_;
}

// Counts bytes that were added to the line, and writes it when it is full.
void LineStream::hold(size_t bytes) {
    held_ += bytes;
    if (held_ < line) return;
    if (skipped_ > 0) {
        std::memcpy(out_ + skipped_, kept_ + skipped_, line - skipped_);
    } else {
        put_lines(out_, kept_, line, kept_);
    }
    out_ += line;
    held_ = skipped_ = 0;
}

#if PIXELMILL_WIDE_TABLES

// As `put`, with the ends of rows in registers: calls of `memcpy` for a few bytes take as long as some whole lines.
WIDE_TABLES_CODE void LineStream::put_wide(const std::byte* in, size_t bytes, const std::byte* next) {
    if (held_ > 0) {
        const size_t first = space(bytes);
        const uint64_t added = ((uint64_t{1} << first) - 1) << held_;  // what is not added is not read either
        const __m512i filled = _mm512_mask_loadu_epi8(_mm512_load_si512(kept_), added, in - held_);
        _mm512_store_si512(kept_, filled);
        held_ += first;
        if (held_ < line) return;
        if (skipped_ > 0) {
            _mm512_mask_storeu_epi8(out_, ~uint64_t{0} << skipped_, filled);
        } else {
            _mm512_stream_si512(reinterpret_cast<__m512i*>(out_), filled);
        }
        out_ += line;
        held_ = skipped_ = 0;
        in += first;
        next += first;
        bytes -= first;
    }
    const std::byte* const end = in + bytes / line * line;
    for (; in < end; in += line, next += line, out_ += line) {
        _mm_prefetch(reinterpret_cast<const char*>(next), _MM_HINT_T0);
        _mm512_stream_si512(reinterpret_cast<__m512i*>(out_), _mm512_loadu_si512(in));
    }
    held_ = bytes % line;
    if (held_ > 0) _mm512_store_si512(kept_, _mm512_maskz_loadu_epi8((uint64_t{1} << held_) - 1, in));
}

#endif

// Calls of `memcpy` and `memset` for no bytes are left out: they may be stores with an empty mask, which would end the
// stream as well.
void LineStream::put(const std::byte* in, size_t bytes, const std::byte* next) {
#if PIXELMILL_WIDE_TABLES
    if (wide_) return put_wide(in, bytes, next);
#endif
    size_t done = 0;
    if (held_ > 0 && bytes > 0) {
        done = space(bytes);
        std::memcpy(kept_ + held_, in, done);
        hold(done);
    }
    const size_t whole = (bytes - done) / line * line, rest = bytes - done - whole;
    if (whole > 0) put_lines(out_, in + done, whole, next + done);
    out_ += whole;
    if (rest == 0) return;
    std::memcpy(kept_, in + done + whole, rest);
    held_ = rest;
}

void LineStream::fill(std::byte value, size_t bytes) {
    size_t done = 0;
    if (held_ > 0 && bytes > 0) {
        done = space(bytes);
        std::memset(kept_ + held_, static_cast<int>(value), done);
        hold(done);
    }
    const size_t whole = (bytes - done) / line * line, rest = bytes - done - whole;
    if (whole > 0) fill_lines(out_, value, whole);
    out_ += whole;
    if (rest == 0) return;
    std::memset(kept_, static_cast<int>(value), rest);
    held_ = rest;
}

void LineStream::end() {
    if (held_ > skipped_) std::memcpy(out_ + skipped_, kept_ + skipped_, held_ - skipped_);
    skipped_ = held_;
#if PIXELMILL_BMI2
    _mm_sfence();
#endif
}

namespace {

// A run of bytes, or rows of them.
struct Rows {
    int axes;       // before those of a row
    bool mirrored;  // pixels of a row are from right to left
    Value first;
};

bool rows_of(Rows& rows, const Value& in) {
    int64_t packed = 1;
    int axes = in.ndim;
    for (; axes > 0 && (in.shape[axes - 1] == 1 || in.stride[axes - 1] == packed); --axes) packed *= in.shape[axes - 1];
    rows.mirrored = axes > 1 && axes == in.ndim - 1 && in.stride[axes - 1] == -packed;
    rows.axes = axes - (rows.mirrored ? 1 : 0);
    rows.first = in;
    rows.first.ndim = in.ndim - rows.axes;
    std::copy(in.shape.begin() + rows.axes, in.shape.begin() + in.ndim, rows.first.shape.begin());
    std::copy(in.stride.begin() + rows.axes, in.stride.begin() + in.ndim, rows.first.stride.begin());
    return rows.first.elements() * size_of(in.dtype) >= 256;
}

}  // namespace

void stream_elements(const Value& out, const Value& in, Arena& arena) {
    Rows rows;
    if (!rows_of(rows, in)) return pack(out, in, arena);
    Value& row = rows.first;
    const int64_t size = size_of(in.dtype), bytes = row.elements() * size;
    Value turned = row;
    turned.stride = packed_strides(row.ndim, row.shape);
    if (rows.mirrored) turned.data = arena.take(static_cast<size_t>(bytes));
    const bool threes = rows.mirrored && size == 1 && row.ndim == 2 && row.shape[1] == 3;
    // Rows that are read some time later: memory takes about as long as it takes to copy 8 KiB.
    const int64_t ahead = rows.axes > 0 ? (1 + 8192 / bytes) * in.stride[rows.axes - 1] * size : 0;
    LineStream stream(out.data);
    for (int64_t i = 0, count = in.elements() / row.elements(); i < count; ++i) {
        int64_t at = 0, rest = i;
        for (int d = rows.axes - 1; d >= 0; --d) {
            at += rest % in.shape[d] * in.stride[d];
            rest /= in.shape[d];
        }
        row.data = in.data + at * size;
        const std::byte* next = row.data + ahead - (rows.mirrored ? bytes - row.shape[1] * size : 0);
        if (threes) {
            reverse_pixels(turned.as<uint8_t>(), row.as<const uint8_t>(), row.shape[0]);
        } else if (rows.mirrored) {
            copy_elements(turned, row);
        }
        stream.put(rows.mirrored ? turned.data : row.data, static_cast<size_t>(bytes), next);
    }
    stream.end();
}

}  // namespace pixelmill

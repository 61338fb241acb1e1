#include "elementwise.h"

#include <array>
#include <cmath>
#include <cstring>
#include <stdexcept>
#include <string>

#include "convert.h"
#include "simd.h"

namespace pixelmill {

#define KERNELS "elementwise.inl"
#include "both_levels.inl"

namespace {

struct MixedEqual {
    static bool run(uint64_t a, int64_t b) { return b >= 0 && a == static_cast<uint64_t>(b); }
};
struct MixedLess {
    static bool run(uint64_t a, int64_t b) { return b >= 0 && a < static_cast<uint64_t>(b); }
};
struct MixedLessEqual {
    static bool run(uint64_t a, int64_t b) { return b >= 0 && a <= static_cast<uint64_t>(b); }
};

template <class Op, bool wanted>
void mixed(void* out, const void* a, const void* b, const void*, int64_t count, unsigned) {
    auto* to = static_cast<bool*>(out);
    const auto* x = static_cast<const uint64_t*>(a);
    const auto* y = static_cast<const int64_t*>(b);
    for (int64_t i = 0; i < count; ++i) to[i] = Op::run(x[i], y[i]) == wanted;
}

template <class T>
bool any_zero_typed(const void* values, int64_t count) {
    const auto* x = static_cast<const T*>(values);
    T least = 1;
    for (int64_t i = 0; i < count; ++i) least = x[i] < least ? x[i] : least;
    return least == 0;
}

}  // namespace

RowLoop row_loop(Operation operation, DType operand) {
    const auto* loops = AT_THIS_LEVEL(loops_of)(operation);
    RowLoop found = loops == nullptr ? nullptr : (*loops)[static_cast<size_t>(operand)];
    if (found == nullptr && operand == DType::f32) found = float_function(operation);
    return found != nullptr ? found : slow_row_loop(operation, operand);
}

bool scales(Operation operation) {
    return operation == Operation::add || operation == Operation::sub || operation == Operation::mul ||
           operation == Operation::fdiv;
}

RowLoop scale_loop(Scale scale) {
#if PIXELMILL_AVX2
    if (simd_level() == SimdLevel::avx2) return avx2::scale_loop(scale);
#endif
    return base::scale_loop(scale);
}

RowLoop mixed_comparison(Operation operation) {
    switch (operation) {
        case Operation::eq: return mixed<MixedEqual, true>;
        case Operation::neq: return mixed<MixedEqual, false>;
        case Operation::lt: return mixed<MixedLess, true>;
        case Operation::leq: return mixed<MixedLessEqual, true>;
        case Operation::gt: return mixed<MixedLessEqual, false>;
        case Operation::geq: return mixed<MixedLess, false>;
        default: throw std::logic_error(std::string("not a comparison: ") + name_of(operation));
    }
}

RowLoop conversion(DType to, DType from) {
    if (to == DType::f16 || from == DType::f16) return half_conversion(to, from);
    return AT_THIS_LEVEL(conversion)(to, from);
}

RowLoop promotion(DType to, DType from) {
    return conversion(to, to == DType::i64 && from == DType::u64 ? DType::i64 : from);
}

bool any_zero(DType dtype, const void* values, int64_t count) {
    switch (size_of(dtype)) {
        case 1: return any_zero_typed<uint8_t>(values, count);
        case 2: return any_zero_typed<uint16_t>(values, count);
        case 4: return any_zero_typed<uint32_t>(values, count);
        default: return any_zero_typed<uint64_t>(values, count);
    }
}

}  // namespace pixelmill

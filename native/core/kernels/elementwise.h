// Arithmetic on rows: one operation on many elements of one type. Arithmetic on nodes is made of these.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "../value.h"

namespace pixelmill {

// clang-format off
enum class Operation : uint8_t {
    // of one operand
    minus, abs, fabs, floor, ceil, sqrt, rsqrt, cbrt, exp, log, log2, log10,
    sin, cos, tan, asin, acos, atan, sinh, cosh, tanh, asinh, acosh, atanh, bitnot,
    // of two
    add, sub, mul, div, fdiv, mod, min, max, pow, fpow, atan2,
    eq, neq, lt, leq, gt, geq, bitand_, bitor_, bitxor_, lshift, rshift,
    // of three
    clamp,
    // of one, to a type that is told beside it
    cast,
};
// clang-format on

const char* name_of(Operation operation);
Operation operation_named(std::string_view name);  // an unknown name is our bug: std::logic_error
int arity(Operation operation);

// The types of an operation: what its operands are converted to, what its loop computes, and what the result has.
struct Typing {
    DType operand, computed, result;
    bool mixed = false;  // a comparison of uint64 with int64, which have no common type
};

// DALI's rules. A combination that it refuses is a Fault.
Typing typing_of(Operation operation, std::span<const DType> operands);
DType promoted(DType a, DType b);

// out[i] = operation(a[i], b[i], c[i]); operands that the operation does not have are null. Out overlaps no operand.
// `single` has bit 0, 1 or 2 set where all elements of a, b or c are the same: a loop may make use of it.
using RowLoop = void (*)(void* out, const void* a, const void* b, const void* c, int64_t count, unsigned single);

RowLoop row_loop(Operation operation, DType operand);
// Floats, or bytes brought to floats, that are added to, subtracted from, multiplied with or divided by one number, and
// then by another: most chains of arithmetic on images are made of this. `cast` stands for no operation.
struct Scale {
    DType from = DType::boolean;  // u8 or f32; anything else for what is not of this form
    Operation first = Operation::cast, second = Operation::cast;
    bool present() const { return from == DType::u8 || from == DType::f32; }
    int numbers() const { return (first != Operation::cast) + (second != Operation::cast); }
};
bool scales(Operation operation);
// out[i] = (a[i] first *b) second *c
RowLoop scale_loop(Scale scale);
// Compares uint64 (a) with int64 (b) by their values.
RowLoop mixed_comparison(Operation operation);
// Rounds and saturates, as `cast` does.
RowLoop conversion(DType to, DType from);
// As C converts: every promotion is exact or rounds, but uint64 to int64 wraps.
RowLoop promotion(DType to, DType from);

// To or from float16, one by one.
RowLoop half_conversion(DType to, DType from);
// Functions of float32, and its powers and remainders; null for other operations.
RowLoop float_function(Operation operation);
// Whole division and the C library, which do not vectorize: one build for all.
RowLoop slow_row_loop(Operation operation, DType operand);

bool any_zero(DType dtype, const void* values, int64_t count);

}  // namespace pixelmill

// Which types arithmetic has: float beats integer, the wider one wins, signed with unsigned of its width takes the next
// wider signed one. bool is an integer of one bit.
#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>

#include "../fault.h"
#include "elementwise.h"

namespace pixelmill {

namespace {

constexpr std::string_view names[] = {
    "minus", "abs", "fabs", "floor",  "ceil",  "sqrt",   "rsqrt",  "cbrt",   "exp",   "log",   "log2",  "log10",  "sin",
    "cos",   "tan", "asin", "acos",   "atan",  "sinh",   "cosh",   "tanh",   "asinh", "acosh", "atanh", "bitnot", "add",
    "sub",   "mul", "div",  "fdiv",   "mod",   "min",    "max",    "pow",    "fpow",  "atan2", "eq",    "neq",    "lt",
    "leq",   "gt",  "geq",  "bitand", "bitor", "bitxor", "lshift", "rshift", "clamp", "cast"};

bool is_real(DType dtype) { return dtype == DType::f16 || dtype == DType::f32 || dtype == DType::f64; }
bool is_signed(DType dtype) { return dtype >= DType::i8 && dtype <= DType::i64; }

bool between(Operation operation, Operation first, Operation last) { return operation >= first && operation <= last; }

bool compares(Operation operation) { return between(operation, Operation::eq, Operation::geq); }

bool on_bits(Operation operation) {
    return operation == Operation::bitnot || between(operation, Operation::bitand_, Operation::rshift);
}

bool returns_real(Operation operation) {
    return between(operation, Operation::fabs, Operation::atanh) || operation == Operation::fdiv ||
           operation == Operation::fpow || operation == Operation::atan2;
}

void check(Operation operation, std::span<const DType> operands) {
    const std::string name = name_of(operation);
    if (on_bits(operation) && std::any_of(operands.begin(), operands.end(), is_real)) {
        throw Fault(FaultKind::argument, name + ": works on bits and so on integers only, not on floats");
    }
    const bool all_bool = std::all_of(operands.begin(), operands.end(), [](DType d) { return d == DType::boolean; });
    if (all_bool && !on_bits(operation) && !compares(operation) && operation != Operation::mul) {
        throw Fault(FaultKind::argument,
                    name + ": not defined for booleans; combine them with & | ^ ~ * or cast one to a number");
    }
}

DType signed_of_width(int64_t bytes) {
    return bytes == 1 ? DType::i8 : bytes == 2 ? DType::i16 : bytes == 4 ? DType::i32 : DType::i64;
}

}  // namespace

const char* name_of(Operation operation) { return names[static_cast<size_t>(operation)].data(); }

Operation operation_named(std::string_view name) {
    const auto found = std::find(std::begin(names), std::end(names), name);
    if (found == std::end(names)) throw std::logic_error("there is no operation " + std::string(name));
    return static_cast<Operation>(found - std::begin(names));
}

int arity(Operation operation) {
    if (operation == Operation::clamp) return 3;
    return between(operation, Operation::add, Operation::rshift) ? 2 : 1;
}

DType promoted(DType a, DType b) {
    if (a == b || b == DType::boolean) return a;
    if (a == DType::boolean) return b;
    if (is_real(a) != is_real(b)) return is_real(a) ? a : b;
    if (is_real(a) || is_signed(a) == is_signed(b)) return std::max(a, b);  // the numbers of types grow with the width
    const int64_t wide = size_of(is_signed(a) ? a : b), other = size_of(is_signed(a) ? b : a);
    return signed_of_width(wide > other ? wide : 2 * other);
}

Typing typing_of(Operation operation, std::span<const DType> operands) {
    check(operation, operands);
    DType common = operands[0];
    for (DType operand : operands.subspan(1)) common = promoted(common, operand);
    const bool half = common == DType::f16;  // computed with as float32, rounded after every operation
    if (half) common = DType::f32;
    if (compares(operation)) {
        const bool mixed = is_signed(operands[0]) != is_signed(operands[1]) && !is_real(common) &&
                           (operands[0] == DType::u64 || operands[1] == DType::u64);
        return {common, DType::boolean, DType::boolean,
                mixed && operands[0] != DType::boolean && operands[1] != DType::boolean};
    }
    if (returns_real(operation) && !is_real(common)) common = DType::f32;
    // The C library's fmod of an integer and a float is that of doubles.
    if (operation == Operation::mod && is_real(common) && is_real(operands[0]) != is_real(operands[1])) {
        return {DType::f64, DType::f64, half ? DType::f16 : common};
    }
    return {common, common, half ? DType::f16 : common};
}

}  // namespace pixelmill

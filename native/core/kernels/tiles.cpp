#include "tiles.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "../fault.h"

namespace pixelmill {

namespace {

constexpr int64_t register_bytes = 2048;      // a handful of registers fit into half a first-level cache
constexpr int64_t longest_bytes = 16384;      // of a tile that goes straight from operands to the result
constexpr int64_t longest_period = 16 << 10;  // elements of a repeated operand that are worth preparing

bool is_whole(DType dtype) { return dtype <= DType::i64; }

Operation mirrored(Operation comparison) {
    switch (comparison) {
        case Operation::lt: return Operation::gt;
        case Operation::leq: return Operation::geq;
        case Operation::gt: return Operation::lt;
        case Operation::geq: return Operation::leq;
        default: return comparison;
    }
}

}  // namespace

void Tiles::begin(std::span<const Value> values, const Value& out) {
    values_ = values;
    out_ = &out;
    for (size_t i = 0; i < values.size(); ++i) known_[i].fill(-1);
    registers_.clear();
    instructions_.clear();
}

int Tiles::computed(RowLoop loop, DType dtype, std::array<int, 3> operands, Operation divides, Scale scale) {
    const int out = static_cast<int>(registers_.size());
    registers_.push_back({Kind::computed, dtype, dtype});
    instructions_.push_back({loop, operands, out, divides, scale});
    return out;
}

int Tiles::operand_register(int value, DType dtype) {
    const Value& operand = values_[static_cast<size_t>(value)];
    Register reg{Kind::gathered, operand.dtype, operand.dtype};
    reg.view = broadcast_view(operand, out_->ndim, out_->shape);
    const int64_t period = reg.view.single() ? 1 : reg.view.period();
    if (reg.view.dense()) {
        reg.kind = Kind::dense;
    } else if (period > 0 && period <= longest_period) {
        reg.kind = Kind::repeated;
        reg.period = period;
        reg.dtype = dtype;  // converted once, not in every tile
    }
    registers_.push_back(reg);
    known_[static_cast<size_t>(value)][static_cast<size_t>(reg.dtype)] = static_cast<int16_t>(registers_.size() - 1);
    return static_cast<int>(registers_.size() - 1);
}

int Tiles::in_type(int value, DType dtype) {
    const auto number = static_cast<size_t>(value);
    if (known_[number][static_cast<size_t>(dtype)] >= 0) return known_[number][static_cast<size_t>(dtype)];
    const DType own = values_[number].dtype;
    int found = known_[number][static_cast<size_t>(own)];
    if (found < 0) {
        found = operand_register(value, dtype);
        if (registers_[static_cast<size_t>(found)].dtype == dtype) return found;
    }
    const Scale scale{dtype == DType::f32 ? own : DType::boolean};
    found = computed(promotion(dtype, own), dtype, {found, -1, -1}, Operation::cast, scale);
    known_[number][static_cast<size_t>(dtype)] = static_cast<int16_t>(found);
    return found;
}

// The type of an integer operand if it is compared with one number that this type also has, else `common`: bytes need
// not be widened to be compared with 100.
DType Tiles::compared_in(Operation operation, std::span<const int> operands, DType common) const {
    if (operation < Operation::eq || operation > Operation::geq || !is_whole(common)) return common;
    for (size_t i = 0; i < 2; ++i) {
        const Value &wide = values_[static_cast<size_t>(operands[i])],
                    &narrow = values_[static_cast<size_t>(operands[1 - i])];
        if (!wide.present() || wide.elements() != 1 || !is_whole(narrow.dtype) || narrow.dtype == common) continue;
        if (wide.dtype == DType::u64 || narrow.dtype == DType::u64) continue;
        int64_t before = 0, after = 0;
        std::byte narrowed[8];
        promotion(DType::i64, wide.dtype)(&before, wide.data, nullptr, nullptr, 1, 0);
        conversion(narrow.dtype, wide.dtype)(narrowed, wide.data, nullptr, nullptr, 1, 0);
        promotion(DType::i64, narrow.dtype)(&after, narrowed, nullptr, nullptr, 1, 0);
        if (before == after) return narrow.dtype;
    }
    return common;
}

void Tiles::add(Operation operation, std::span<const int> operands, int result) {
    std::array<DType, 3> dtypes{};
    for (size_t i = 0; i < operands.size(); ++i) dtypes[i] = values_[static_cast<size_t>(operands[i])].dtype;
    const Typing typing = typing_of(operation, {dtypes.data(), operands.size()});
    std::array<int, 3> in{-1, -1, -1};
    int made = -1;
    if (typing.mixed) {
        const bool swapped = dtypes[0] != DType::u64;
        in[0] = in_type(operands[swapped ? 1 : 0], DType::u64);
        in[1] = in_type(operands[swapped ? 0 : 1], DType::i64);
        made = computed(mixed_comparison(swapped ? mirrored(operation) : operation), typing.result, in);
    } else {
        const DType operand = compared_in(operation, operands, typing.operand);
        for (size_t i = 0; i < operands.size(); ++i) in[i] = in_type(operands[i], operand);
        const bool divides = (operation == Operation::div || operation == Operation::mod) && is_whole(typing.operand);
        const Scale scale{scales(operation) ? typing.operand : DType::boolean, operation};
        made = computed(row_loop(operation, operand), typing.computed, in, divides ? operation : Operation::cast,
                        typing.operand == DType::f32 ? scale : Scale{});
        if (typing.computed != typing.result) {
            made = computed(conversion(typing.result, typing.computed), typing.result, {made, -1, -1});
        }
    }
    known_[static_cast<size_t>(result)][static_cast<size_t>(typing.result)] = static_cast<int16_t>(made);
}

void Tiles::add_cast(int operand, int result) {
    const DType from = values_[static_cast<size_t>(operand)].dtype, to = values_[static_cast<size_t>(result)].dtype;
    const int in = in_type(operand, from);
    const Scale scale{to == DType::f32 ? from : DType::boolean};
    const int made = from == to ? in : computed(conversion(to, from), to, {in, -1, -1}, Operation::cast, scale);
    known_[static_cast<size_t>(result)][static_cast<size_t>(to)] = static_cast<int16_t>(made);
}

// Lets `instruction` also do the work of `before`, whose result no other instruction needs.
bool Tiles::join(Instruction& instruction, const Instruction& before) const {
    const Scale &own = instruction.scale, &other = before.scale;
    if (!own.present() || own.from != DType::f32 || own.numbers() != 1 || !other.present() || other.numbers() > 1)
        return false;
    const auto is_number = [&](int operand) { return registers_[static_cast<size_t>(operand)].period == 1; };
    if (!is_number(instruction.operands[1]) || (other.numbers() == 1 && !is_number(before.operands[1]))) return false;
    const int number = instruction.operands[1];
    if (other.numbers() == 0) {
        instruction.scale = {other.from, own.first};
        instruction.operands = {before.operands[0], number, -1};
    } else {
        instruction.scale = {other.from, other.first, own.first};
        instruction.operands = {before.operands[0], before.operands[1], number};
    }
    instruction.loop = scale_loop(instruction.scale);
    return true;
}

// Makes one pass of several where their loops can be joined, and finds out who is needed for how long.
void Tiles::join() {
    users_.assign(registers_.size(), 0);
    makers_.assign(registers_.size(), -1);
    for (size_t i = 0; i < instructions_.size(); ++i) {
        Instruction& instruction = instructions_[i];
        makers_[static_cast<size_t>(instruction.out)] = static_cast<int>(i);
        for (int operand : instruction.operands) {
            if (operand >= 0) ++users_[static_cast<size_t>(operand)];
        }
        auto& in = instruction.operands;
        const bool turns = instruction.scale.first == Operation::add || instruction.scale.first == Operation::mul;
        if (turns && in[1] >= 0 && registers_[static_cast<size_t>(in[0])].period == 1) std::swap(in[0], in[1]);
    }
    for (Instruction& instruction : instructions_) {
        const auto first = static_cast<size_t>(instruction.operands[0]);
        if (makers_[first] < 0 || users_[first] != 1) continue;
        Instruction& before = instructions_[static_cast<size_t>(makers_[first])];
        if (join(instruction, before)) before.loop = nullptr;
    }
    std::erase_if(instructions_, [](const Instruction& instruction) { return instruction.loop == nullptr; });
    for (size_t i = 0; i < instructions_.size(); ++i) {
        for (int operand : instructions_[i].operands) {
            if (operand >= 0) registers_[static_cast<size_t>(operand)].last_use = static_cast<int>(i);
        }
    }
}

void Tiles::prepare(Register& reg, Arena& arena) const {
    const int64_t size = size_of(reg.dtype), wanted = (reg.period + tile_) * size;
    reg.start = reg.data = arena.take(static_cast<size_t>(wanted));
    promotion(reg.dtype, reg.source)(reg.start, reg.view.data, nullptr, nullptr, reg.period, 0);
    for (int64_t filled = reg.period * size; filled < wanted;) {
        const int64_t more = std::min(filled, wanted - filled);
        std::memcpy(reg.start + filled, reg.start, static_cast<size_t>(more));
        filled += more;
    }
}

// Chooses the tile and assigns memory to every register; a register that is no longer needed passes it to the next.
void Tiles::place(int64_t total, Arena& arena) {
    int64_t widest = 1;
    for (Register& reg : registers_) {
        reg.size = size_of(reg.dtype);
        widest = std::max(widest, reg.size);
    }
    const bool straight = instructions_.size() == 1 && std::ranges::all_of(registers_, [](const Register& reg) {
                              return reg.kind != Kind::gathered && reg.period <= 1;
                          });
    tile_ = std::min((straight ? longest_bytes : register_bytes) / widest, total);
    moving_.clear();
    for (Register& reg : registers_) {
        if (reg.kind == Kind::gathered) reg.data = arena.take(static_cast<size_t>(tile_ * reg.size));
        if (reg.kind == Kind::repeated) prepare(reg, arena);
        if (reg.kind != Kind::computed && reg.period != 1) moving_.push_back(&reg);
    }
    spare_.clear();
    for (int number = 0; number < static_cast<int>(instructions_.size()); ++number) {
        Instruction& instruction = instructions_[static_cast<size_t>(number)];
        instruction.single = single_operands(instruction);
        Register& out = registers_[static_cast<size_t>(instruction.out)];
        if (out.kind == Kind::computed) {
            if (spare_.empty()) spare_.push_back(arena.take(static_cast<size_t>(tile_ * widest)));
            out.data = spare_.back();
            spare_.pop_back();
        }
        for (int operand : instruction.operands) {
            if (operand < 0) continue;
            Register& used = registers_[static_cast<size_t>(operand)];
            if (used.kind != Kind::computed || used.last_use != number) continue;
            spare_.push_back(used.data);
            used.last_use = -1;  // an operand may be named twice
        }
    }
}

unsigned Tiles::single_operands(const Instruction& instruction) const {
    unsigned single = 0;
    for (unsigned i = 0; i < 3; ++i) {
        const int operand = instruction.operands[i];
        if (operand >= 0 && registers_[static_cast<size_t>(operand)].period == 1) single |= 1u << i;
    }
    return single;
}

void Tiles::run_tile(int64_t offset, int64_t count) {
    for (Register* reg : moving_) {
        switch (reg->kind) {
            case Kind::dense: reg->data = const_cast<std::byte*>(reg->view.data) + offset * reg->size; break;
            case Kind::repeated: reg->data = reg->start + offset % reg->period * reg->size; break;
            case Kind::gathered: reg->view.gather(reg->data, offset, count); break;
            case Kind::output: reg->data = out_->data + offset * reg->size; break;
            case Kind::computed: break;
        }
    }
    const auto data = [&](int number) { return number < 0 ? nullptr : registers_[static_cast<size_t>(number)].data; };
    for (const Instruction& instruction : instructions_) {
        const auto& in = instruction.operands;
        if (instruction.divides != Operation::cast &&
            any_zero(registers_[static_cast<size_t>(in[1])].dtype, data(in[1]),
                     (instruction.single & 2) != 0 ? 1 : count)) {
            throw Fault(FaultKind::argument,
                        std::string(name_of(instruction.divides)) + ": a division of integers by zero");
        }
        instruction.loop(data(instruction.out), data(in[0]), data(in[1]), data(in[2]), count, instruction.single);
    }
}

void Tiles::run(int result, Arena& arena) {
    const int64_t total = out_->elements();
    if (total == 0) return;
    int last = in_type(result, out_->dtype);
    if (registers_[static_cast<size_t>(last)].kind != Kind::computed) {
        last = computed(conversion(out_->dtype, out_->dtype), out_->dtype, {last, -1, -1});
    }
    registers_[static_cast<size_t>(last)].kind = Kind::output;
    join();
    place(total, arena);
    for (int64_t offset = 0; offset < total; offset += tile_) run_tile(offset, std::min(tile_, total - offset));
}

}  // namespace pixelmill

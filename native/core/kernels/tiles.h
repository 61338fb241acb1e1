// A small machine for element-wise operations: tile by tile through registers that stay in the first-level cache, so
// that a chain of operations reads each operand once and writes its result once.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "../arena.h"
#include "broadcast.h"
#include "elementwise.h"

namespace pixelmill {

class Tiles {
   public:
    static constexpr int max_values = 64;  // operands and results; engine/fusion.py knows it

    // Begins an expression over `values`: those with memory are operands, the others get it from `add`.
    void begin(std::span<const Value> values, const Value& out);
    // values[result] = operation(values[operands]...), in the types that `typing_of` returns.
    void add(Operation operation, std::span<const int> operands, int result);
    // values[result] = values[operand], rounded and saturated to the type of the result.
    void add_cast(int operand, int result);
    // Works everything out; values[result] is written to `out`. A whole division by zero is a Fault.
    void run(int result, Arena& arena);

   private:
    enum class Kind : uint8_t { dense, repeated, gathered, computed, output };
    struct Register {
        Kind kind;
        DType dtype;
        DType source;        // the type of the operand, where it is not `dtype`
        int last_use = -1;   // the number of an instruction
        int64_t size = 0;    // of an element
        int64_t period = 0;  // of a repeated one
        std::byte* data = nullptr;
        std::byte* start = nullptr;  // of a repeated one
        BroadcastView view{};        // of an operand
    };
    struct Instruction {
        RowLoop loop;
        std::array<int, 3> operands;
        int out;
        Operation divides;  // div or mod where the second operand must have no zeros; else cast
        Scale scale;        // what the loop does, where it is one that can be joined with others
        unsigned single = 0;
    };

    DType compared_in(Operation operation, std::span<const int> operands, DType common) const;
    int in_type(int value, DType dtype);
    int operand_register(int value, DType dtype);
    int computed(RowLoop loop, DType dtype, std::array<int, 3> operands, Operation divides = Operation::cast,
                 Scale scale = {});
    void join();
    bool join(Instruction& instruction, const Instruction& before) const;
    void place(int64_t total, Arena& arena);
    void prepare(Register& reg, Arena& arena) const;
    unsigned single_operands(const Instruction& instruction) const;
    void run_tile(int64_t offset, int64_t count);

    std::span<const Value> values_;
    const Value* out_ = nullptr;
    int64_t tile_ = 0;
    std::array<std::array<int16_t, 12>, max_values> known_{};  // the register that holds a value in a type, or -1
    std::vector<Register> registers_;
    std::vector<Instruction> instructions_;
    std::vector<int> users_, makers_;  // of each register: how many, and the number of the instruction
    std::vector<std::byte*> spare_;
    std::vector<Register*> moving_;  // those that lie elsewhere for every tile
};

}  // namespace pixelmill

// Arithmetic on nodes: one operation, or a whole chain of them in one pass.
#include <algorithm>
#include <sstream>

#include "../kernels/tiles.h"
#include "../platform/per_thread.h"
#include "declared/elements.h"

namespace pixelmill {

namespace {

// Operands are numbers of values: the inputs of the step first, then the results in order.
struct Operator {
    Operation operation;
    std::vector<int> operands;
    DType dtype = DType::u8;  // of a cast
};

bool same_shape(const Value& a, const Value& b) { return a.ndim == b.ndim && a.shape == b.shape; }

std::span<const int64_t> extents_of(const Value& value) {
    return {value.shape.data(), static_cast<size_t>(value.ndim)};
}

class Expression : public Step {
   public:
    explicit Expression(std::vector<Operator> operators) : operators_(std::move(operators)) {}

    // All inputs are operands.
    void run(Context& context, std::span<const Value> operands, std::span<Value> out) const override {
        PER_THREAD(std::vector<Value>, values);
        PER_THREAD(Tiles, tiles);
        values.assign(operands.begin(), operands.end());
        for (const Operator& op : operators_) values.push_back(described(op, values));
        const Value root = values.back();
        const auto first = operands.size();
        // What is smaller than the result is worked out beforehand, and once: a product of two numbers, say.
        for (size_t i = 0; i + 1 < operators_.size(); ++i) {
            if (same_shape(values[first + i], root)) continue;
            const Value made = context.scratch(values[first + i].dtype, extents_of(values[first + i]));
            tiles.begin(values, made);
            add(tiles, i, first);
            tiles.run(static_cast<int>(first + i), context.thread.arena);
            values[first + i] = made;
        }
        out[0] = context.allocate(0, root.dtype, extents_of(root));
        tiles.begin(values, out[0]);
        for (size_t i = 0; i < operators_.size(); ++i) {
            if (!values[first + i].present()) add(tiles, i, first);
        }
        tiles.run(static_cast<int>(values.size() - 1), context.thread.arena);
    }

   private:
    void add(Tiles& tiles, size_t number, size_t first) const {
        const Operator& op = operators_[number];
        if (op.operation == Operation::cast) {
            tiles.add_cast(op.operands[0], static_cast<int>(first + number));
        } else {
            tiles.add(op.operation, op.operands, static_cast<int>(first + number));
        }
    }

    // Type and shape of the result.
    static Value described(const Operator& op, const std::vector<Value>& values) {
        Value result = values[static_cast<size_t>(op.operands[0])];
        std::array<DType, 3> dtypes{result.dtype};
        for (size_t i = 1; i < op.operands.size(); ++i) {
            const Value& other = values[static_cast<size_t>(op.operands[i])];
            dtypes[i] = other.dtype;
            const Value before = result;
            if (!broadcast(result.ndim, result.shape, other)) {
                throw Fault(FaultKind::argument, std::string(name_of(op.operation)) + ": the shapes of " +
                                                     describe(before) + " and " + describe(other) +
                                                     " do not fit together");
            }
        }
        result.data = nullptr;
        result.dtype = op.operation == Operation::cast
                           ? op.dtype
                           : typing_of(op.operation, {dtypes.data(), op.operands.size()}).result;
        return result;
    }

    std::vector<Operator> operators_;
};

// "mul 0 1; add 2 3; cast 4 9": names, numbers of operands, and the new type of a cast.
std::vector<Operator> parsed(const std::string& code) {
    std::vector<Operator> operators;
    std::istringstream lines(code);
    for (std::string line; std::getline(lines, line, ';');) {
        std::istringstream words(line);
        std::string name;
        words >> name;
        Operator op{operation_named(name), {}};
        op.operands.resize(static_cast<size_t>(arity(op.operation)));
        for (int& operand : op.operands) words >> operand;
        if (op.operation == Operation::cast) {
            int dtype = 0;
            words >> dtype;
            op.dtype = static_cast<DType>(dtype);
        }
        if (!words) throw std::logic_error("an expression cannot be read: " + code);
        operators.push_back(std::move(op));
    }
    return operators;
}

}  // namespace

std::unique_ptr<Step> make_expression(const ExpressionParams& params) {
    return std::make_unique<Expression>(parsed(params.code));
}

std::unique_ptr<Step> make_arithmetic(const ArithmeticParams& params) {
    Operator op{operation_named(params.operation), {0, 1, 2}};
    op.operands.resize(static_cast<size_t>(arity(op.operation)));
    return std::make_unique<Expression>(std::vector{op});
}

}  // namespace pixelmill

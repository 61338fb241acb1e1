// The moves that placements are made of.
#pragma once

#include <cmath>
#include <span>
#include <string>
#include <vector>

#include "../step.h"
#include "placement.h"

namespace pixelmill {

inline constexpr Matrix3 identity = {1, 0, 0, 0, 1, 0, 0, 0, 1};

struct Canvas {
    double height, width;
};

struct Moved {
    Matrix3 matrix;
    Canvas canvas;
};

// The arguments of a move, whatever arrays they came in.
class Numbers {
   public:
    Numbers(std::span<const Value> values, const std::string& move) : move_(move) {
        for (const Value& value : values) {
            for (int64_t i = 0; i < value.elements(); ++i) numbers_.push_back(value.number(i));
        }
        for (double number : numbers_) {
            if (!std::isfinite(number)) throw Fault(FaultKind::argument, move + ": an argument is not a finite number");
        }
    }
    double operator[](size_t index) const {
        if (index >= numbers_.size()) {
            throw Fault(FaultKind::argument, move_ + ": " + std::to_string(index + 1) +
                                                 " numbers are needed or more, got " + std::to_string(numbers_.size()));
        }
        return numbers_[index];
    }
    double positive(size_t index, const char* name) const {
        if ((*this)[index] > 0) return (*this)[index];
        throw Fault(FaultKind::argument,
                    move_ + ": " + name + " must be above 0, got " + std::to_string((*this)[index]));
    }

   private:
    std::vector<double> numbers_;
    const std::string& move_;
};

using Move = Moved(Canvas from, const Numbers& numbers);

Move* move_named(const std::string& name);

}  // namespace pixelmill

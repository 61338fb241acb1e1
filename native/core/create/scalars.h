// Single random numbers and functions of them that have the same bits on every machine, which libm does not promise.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "../rng.h"

namespace pixelmill {

struct Direction {
    double cosine, sine;
};

// Of an angle counted in whole turns. The series of a quarter turn, with terms until they vanish in a double.
inline Direction direction(double turns) {
    constexpr double full_turn = 6.283185307179586;
    const double share = turns - std::floor(turns), quarter = std::floor(4 * share + 0.5);
    const double angle = (share - 0.25 * quarter) * full_turn, square = angle * angle;
    double cosine = 1, sine = 1;
    for (int term = 18; term > 0; term -= 2) {
        cosine = 1 - cosine * square / (term * (term - 1));
        sine = 1 - sine * square / (term * (term + 1));
    }
    sine *= angle;
    switch (static_cast<int>(quarter) % 4) {
        case 1: return {-sine, cosine};
        case 2: return {-cosine, -sine};
        case 3: return {sine, -cosine};
        default: return {cosine, sine};
    }
}

inline double exponential(double x) {
    constexpr double log_of_two = 0.6931471805599453;
    const double power = std::floor(x / log_of_two + 0.5), rest = x - power * log_of_two;
    double sum = 1;
    for (int term = 14; term > 0; --term) sum = 1 + sum * rest / term;
    return std::ldexp(sum, static_cast<int>(power));
}

// Nearly normal, of mean 0 and deviation 1, within 3.5.
inline double bell(Stream& stream) {
    double sum = -2;
    for (int i = 0; i < 4; ++i) sum += stream.unit();
    return sum * 1.7320508075688772;
}

// A factor whose logarithm has the deviation `spread`.
inline double varied(Stream& stream, double middle, double spread) {
    return middle * exponential(spread * bell(stream));
}

inline bool happens(Stream& stream, double probability) { return stream.unit() < probability; }

}  // namespace pixelmill

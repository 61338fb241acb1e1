#include "lab.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "simd.h"

namespace pixelmill {

namespace {

// Fixed point: linear light has 3 bits below a byte on the way to L*a*b* and 12 in all on the way back, weights have
// 12, cube roots 15, and what is computed between L*a*b* and XYZ has 14.
constexpr int weight_bits = 12, root_bits = 15, light_scale = 255 * 8, base_bits = 14, base_unit = 1 << base_bits;
constexpr int root_count = 256 * 3 / 2 * 8, gamma_count = 1 << 12;
constexpr int64_t block = 256;  // pixels at a time
constexpr int least_ab = -8145, ab_count = base_unit * 9 / 4;

// sRGB to XYZ and back, for the white of daylight (D65).
constexpr double to_xyz[9] = {0.412453, 0.357580, 0.180423, 0.212671, 0.715160, 0.072169, 0.019334, 0.119193, 0.950227};
constexpr double to_rgb[9] = {3.240479, -1.53715, -0.498535, -0.969256, 1.875991,
                              0.041556, 0.055648, -0.204043, 1.057311};
constexpr double white[3] = {0.950456, 1.0, 1.088754};

int rounded(double x) { return static_cast<int>(std::nearbyint(x)); }

struct LabTables {
    std::array<uint16_t, 256> light;         // of a byte of sRGB
    std::array<uint16_t, root_count> roots;  // cube roots of light
    std::array<uint8_t, gamma_count> gamma;  // the byte of linear light
    std::array<int32_t, 256> luminance, lightness_root;
    std::array<int32_t, ab_count> cubes;
    std::array<int32_t, 9> forward, back;

    LabTables() {
        for (int i = 0; i < 256; ++i) {
            const double x = i / 255.0;
            light[i] = static_cast<uint16_t>(
                rounded(light_scale * (x <= 0.04045 ? x / 12.92 : std::pow((x + 0.055) / 1.055, 2.4))));
        }
        for (int i = 0; i < root_count; ++i) {
            const double x = static_cast<double>(i) / light_scale;
            const double root = x < 216.0 / 24389 ? x * (841.0 / 108) + 16.0 / 116 : std::cbrt(x);
            roots[i] =
                static_cast<uint16_t>(rounded(static_cast<float>((1 << root_bits) * root)));  // OpenCV has floats here
        }
        for (int i = 0; i < gamma_count; ++i) {
            const double x = i / static_cast<double>(gamma_count);
            gamma[i] = static_cast<uint8_t>(
                rounded(255 * (x <= 0.0031308 ? x * 12.92 : std::pow(x, 1 / 2.4) * 1.055 - 0.055)));
        }
        fill_back();
        for (int i = 0; i < 9; ++i) {
            forward[i] = rounded((1 << weight_bits) * to_xyz[i] / white[i / 3]);
            back[i] = rounded((1 << weight_bits) * to_rgb[i] * white[i % 3]);
        }
    }

    void fill_back() {
        for (int i = 0; i < 256; ++i) {
            const double level = i * 100.0 / 255;
            double y, root;
            if (level <= 8) {
                y = level / (24389.0 / 27);
                root = 841.0 / 108 * y + 16.0 / 116;
            } else {
                root = (level + 16) / 116;
                y = root * root * root;
            }
            luminance[i] = rounded(y * base_unit);
            lightness_root[i] = rounded(root * base_unit);
        }
        for (int i = 0; i < ab_count; ++i) {
            const int v = i + least_ab;
            cubes[i] = v <= base_unit * 6 / 29 ? v * 108 / 841 - base_unit * 16 / 116 * 108 / 841
                                               : v * v / base_unit * v / base_unit;
        }
    }
};

const LabTables& tables() {
    static const LabTables made;
    return made;
}

}  // namespace

#define KERNELS "lab.inl"
#include "both_levels.inl"

void to_lab(uint8_t* lightness, uint8_t* a, uint8_t* b, const uint8_t* rgb, int64_t pixels) {
    const auto pass = AT_THIS_LEVEL(to_lab);
    for (int64_t i = 0; i < pixels; i += block) {
        pass(lightness + i, a + i, b + i, rgb + 3 * i, std::min(block, pixels - i), tables());
    }
}

void from_lab(uint8_t* rgb, const uint8_t* lightness, const uint8_t* a, const uint8_t* b, int64_t pixels) {
    const auto pass = AT_THIS_LEVEL(from_lab);
    for (int64_t i = 0; i < pixels; i += block) {
        pass(rgb + 3 * i, lightness + i, a + i, b + i, std::min(block, pixels - i), tables());
    }
}

}  // namespace pixelmill

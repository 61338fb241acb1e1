// Included once per SIMD level: the compiler makes vectors of the loops with arithmetic; those that look up stay apart.

inline uint8_t cut(int32_t value) {
    value = value > 0 ? value : 0;
    return static_cast<uint8_t>(value < 255 ? value : 255);
}

inline int32_t descaled(int32_t value, int bits) { return (value + (1 << (bits - 1))) >> bits; }

// Three sums of three products for each pixel.
inline void weigh_three(int32_t (*out)[block], const int32_t (*in)[block], const std::array<int32_t, 9>& weights,
                        int bits, int64_t count) {
    for (int k = 0; k < 3; ++k) {
        const int32_t a = weights[3 * k], b = weights[3 * k + 1], c = weights[3 * k + 2];
        for (int64_t i = 0; i < count; ++i) out[k][i] = descaled(in[0][i] * a + in[1][i] * b + in[2][i] * c, bits);
    }
}

inline void to_lab(uint8_t* lightness, uint8_t* a, uint8_t* b, const uint8_t* rgb, int64_t count, const LabTables& t) {
    constexpr int32_t scale = (116 * 255 + 50) / 100, shift = -((16 * 255 * (1 << root_bits) + 50) / 100),
                      middle = 128 << root_bits;
    int32_t light[3][block], roots[3][block];
    for (int64_t i = 0; i < count; ++i) {
        for (int k = 0; k < 3; ++k) light[k][i] = t.light[rgb[3 * i + k]];
    }
    weigh_three(roots, light, t.forward, weight_bits, count);
    for (int k = 0; k < 3; ++k) {
        for (int64_t i = 0; i < count; ++i) roots[k][i] = t.roots[roots[k][i]];
    }
    for (int64_t i = 0; i < count; ++i) lightness[i] = cut(descaled(scale * roots[1][i] + shift, root_bits));
    for (int64_t i = 0; i < count; ++i) a[i] = cut(descaled(500 * (roots[0][i] - roots[1][i]) + middle, root_bits));
    for (int64_t i = 0; i < count; ++i) b[i] = cut(descaled(200 * (roots[1][i] - roots[2][i]) + middle, root_bits));
}

inline void from_lab(uint8_t* rgb, const uint8_t* lightness, const uint8_t* a, const uint8_t* b, int64_t count,
                     const LabTables& t) {
    int32_t xyz[3][block], light[3][block], root[block];
    for (int64_t i = 0; i < count; ++i) {
        xyz[1][i] = t.luminance[lightness[i]];
        root[i] = t.lightness_root[lightness[i]];
    }
    for (int64_t i = 0; i < count; ++i) {
        xyz[0][i] = root[i] + ((5 * a[i] * 53687 + (1 << 7)) >> 13) - 128 * base_unit / 500 - least_ab;
        xyz[2][i] = root[i] - ((b[i] * 41943 + (1 << 4)) >> 9) + 128 * base_unit / 200 - 1 - least_ab;
    }
    for (int64_t i = 0; i < count; ++i) {
        xyz[0][i] = t.cubes[xyz[0][i]];
        xyz[2][i] = t.cubes[xyz[2][i]];
    }
    weigh_three(light, xyz, t.back, weight_bits + base_bits - 12, count);
    for (int k = 0; k < 3; ++k) {
        for (int64_t i = 0; i < count; ++i) {
            const int32_t low = light[k][i] > 0 ? light[k][i] : 0;
            light[k][i] = low < gamma_count - 1 ? low : gamma_count - 1;
        }
    }
    for (int64_t i = 0; i < count; ++i) {
        for (int k = 0; k < 3; ++k) rgb[3 * i + k] = t.gamma[light[k][i]];
    }
}

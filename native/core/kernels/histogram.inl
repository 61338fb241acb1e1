// Included once per SIMD level: the compiler makes vectors of the loop.

// Four levels weighed by the place between them: upper left, upper right, lower left, lower right.
inline void blend(uint8_t* out, const uint8_t* const* levels, const float* shares, float share, int64_t count) {
    const uint8_t *a = levels[0], *b = levels[1], *c = levels[2], *d = levels[3];
    for (int64_t x = 0; x < count; ++x) {
        const float right = shares[x], left = 1.0f - right;
        const float above = static_cast<float>(a[x]) * left + static_cast<float>(b[x]) * right;
        const float below = static_cast<float>(c[x]) * left + static_cast<float>(d[x]) * right;
        out[x] = static_cast<uint8_t>(std::bit_cast<uint32_t>(above * (1.0f - share) + below * share + 0x1p23f));
    }
}

// Included once per SIMD level: the compiler makes vectors of the loop.

// Four levels weighed by the place between them: upper left in the lowest byte, upper right, lower left, lower right.
inline void blend(uint8_t* out, const uint32_t* levels, const float* shares, float share, int64_t count) {
    for (int64_t x = 0; x < count; ++x) {
        const uint32_t four = levels[x];
        const float right = shares[x], left = 1.0f - right;
        const float a = static_cast<float>(static_cast<int32_t>(four & 255)),
                    b = static_cast<float>(static_cast<int32_t>(four >> 8 & 255));
        const float c = static_cast<float>(static_cast<int32_t>(four >> 16 & 255)),
                    d = static_cast<float>(static_cast<int32_t>(four >> 24));
        const float mixed = (a * left + b * right) * (1.0f - share) + (c * left + d * right) * share;
        out[x] = static_cast<uint8_t>(std::bit_cast<uint32_t>(mixed + 0x1p23f));
    }
}

// Included once per SIMD level: the compiler makes vectors of the loops.

inline void project_row(float* x, float* y, const double* m, int64_t at, int64_t width) {
    const auto down = static_cast<double>(at);
    for (int32_t i = 0; i < static_cast<int32_t>(width); ++i) {
        const auto across = static_cast<double>(i);
        const double divisor = m[6] * across + m[7] * down + m[8];
        const double share = 1 / divisor, scale = divisor == 0 ? 0 : share;
        x[i] = static_cast<float>((m[0] * across + m[1] * down + m[2]) * scale);
        y[i] = static_cast<float>((m[3] * across + m[4] * down + m[5]) * scale);
    }
}

inline void project(float* x, float* y, const double* m, int64_t width) {
    for (int64_t i = 0; i < width; ++i) {
        const auto across = static_cast<double>(x[i]), down = static_cast<double>(y[i]);
        const double divisor = m[6] * across + m[7] * down + m[8];
        const double share = 1 / divisor, scale = divisor == 0 ? 0 : share;
        const auto to_x = static_cast<float>((m[0] * across + m[1] * down + m[2]) * scale),
                   to_y = static_cast<float>((m[3] * across + m[4] * down + m[5]) * scale);
        const bool lost = x[i] == nowhere;
        x[i] = lost ? x[i] : to_x;
        y[i] = lost ? y[i] : to_y;
    }
}

inline void move(float* x, float* y, const double* m, int64_t width) {
    for (int64_t i = 0; i < width; ++i) {
        const auto across = static_cast<double>(x[i]), down = static_cast<double>(y[i]);
        x[i] = static_cast<float>(m[0] * across + m[1] * down + m[2]);
        y[i] = static_cast<float>(m[3] * across + m[4] * down + m[5]);
    }
}

inline void displace(float* x, const float* weights, int64_t width, const float* nodes, float first, float step,
                     int64_t count) {
    const float *a = weights, *b = a + width, *c = b + width, *d = c + width;
    for (int32_t i = 0; i < static_cast<int32_t>(count); ++i) {
        const float at = first + static_cast<float>(i) * step;
        x[i] = at + (a[i] * nodes[0] + b[i] * nodes[1] + c[i] * nodes[2] + d[i] * nodes[3]);
    }
}

constexpr PlacePasses place_passes{project_row, project, move, displace};

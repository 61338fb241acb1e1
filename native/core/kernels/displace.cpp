#include "displace.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "convert.h"
#include "simd.h"

namespace pixelmill {

namespace {

struct BallRow {
    float center_x, center_y, radius, y;  // y from the center
};

void ball_row(float* out_x, float* out_y, const BallRow& ball, int64_t first, int64_t width) {
    for (int64_t i = first; i < width; ++i) {
        const float x = static_cast<float>(i) + 0.5f - ball.center_x;
        const float rise = std::sqrt(x * x + ball.y * ball.y) / ball.radius;
        out_x[i] = ball.center_x + rise * x;
        out_y[i] = ball.center_y + rise * ball.y;
    }
}

#if PIXELMILL_AVX2
BEGIN_AVX2_CODE
void ball_row_avx2(float* out_x, float* out_y, const BallRow& ball, int64_t width) {
    const __m256 middle = _mm256_set1_ps(ball.center_x), top = _mm256_set1_ps(ball.center_y),
                 down = _mm256_set1_ps(ball.y);
    const __m256 square = _mm256_mul_ps(down, down), divisor = _mm256_set1_ps(ball.radius);
    int64_t i = 0;
    for (; i + 8 <= width; i += 8) {
        const __m256i place =
            _mm256_add_epi32(_mm256_set1_epi32(static_cast<int>(i)), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
        const __m256 x = _mm256_sub_ps(_mm256_add_ps(_mm256_cvtepi32_ps(place), _mm256_set1_ps(0.5f)), middle);
        const __m256 rise = _mm256_div_ps(_mm256_sqrt_ps(_mm256_add_ps(_mm256_mul_ps(x, x), square)), divisor);
        _mm256_storeu_ps(out_x + i, _mm256_add_ps(middle, _mm256_mul_ps(rise, x)));
        _mm256_storeu_ps(out_y + i, _mm256_add_ps(top, _mm256_mul_ps(rise, down)));
    }
    ball_row(out_x, out_y, ball, i, width);
}
END_AVX2_CODE
#endif

// Far outside is as good as infinitely far, and fits an int.
int32_t whole(float place) {
    const float cut = place > -1e9f ? std::min(place, 1e9f) : -1e9f;
    const auto below = static_cast<int32_t>(cut);
    return below - (static_cast<float>(below) > cut ? 1 : 0);
}

// `fixed` is the number of channels where it is a constant for the compiler, else 0.
template <class T, int fixed>
class Sampler {
   public:
    Sampler(const Raster& in, float fill, Arena& arena)
        : in_(in), fill_(arena.take<T>(static_cast<size_t>(in.channels))) {
        // DALI converts by truncation; beyond the range of a byte that is not defined, and cut here.
        const T value = std::is_same_v<T, float> ? static_cast<T>(fill) : convert<T>(std::trunc(fill));
        std::fill_n(fill_, in.channels, value);
    }

    const T* at(int64_t y, int64_t x) const {
        const bool inside = x >= 0 && y >= 0 && x < in_.width && y < in_.height;
        return inside ? reinterpret_cast<const T*>(in_.data) + y * in_.row + x * in_.pixel : fill_;
    }

    void nearest(T* out, float x, float y) const {
        const T* from = at(whole(y), whole(x));
        for (int64_t c = 0; c < channels(); ++c) out[c] = from[c];
    }

    void linear(T* out, float x, float y) const {
        const int32_t left = whole(x - 0.5f), top = whole(y - 0.5f);
        const float across = x - 0.5f - static_cast<float>(left), down = y - 0.5f - static_cast<float>(top);
        const bool inside = left >= 0 && top >= 0 && left < in_.width - 1 && top < in_.height - 1;
        const T* a = at(top, left);
        const T *b = inside ? a + in_.pixel : at(top, left + 1), *c = inside ? a + in_.row : at(top + 1, left);
        const T* d = inside ? c + in_.pixel : at(top + 1, left + 1);
        for (int64_t i = 0; i < channels(); ++i) {
            const float above = static_cast<float>(a[i]) * (1 - across) + static_cast<float>(b[i]) * across;
            const float below = static_cast<float>(c[i]) * (1 - across) + static_cast<float>(d[i]) * across;
            const float value = above * (1 - down) + below * down;
            if constexpr (std::is_same_v<T, float>) {
                out[i] = value;
            } else {
                out[i] = static_cast<T>(static_cast<int32_t>(value + 0.5f));
            }
        }
    }

    int64_t channels() const { return fixed > 0 ? fixed : in_.channels; }

   private:
    const Raster& in_;
    T* fill_;
};

template <class T, int fixed>
void displace_as(const Raster& out, const Raster& in, const Displacement& displacement, bool linear, float fill,
                 Arena& arena) {
    const Sampler<T, fixed> sampler(in, fill, arena);
    auto *x = arena.take<float>(static_cast<size_t>(in.width)), *y = arena.take<float>(static_cast<size_t>(in.width));
    for (int64_t row = 0; row < in.height; ++row) {
        displacement.row(x, y, row, in.width);
        auto* to = reinterpret_cast<T*>(out.at(row, 0));
        for (int64_t i = 0; i < in.width; ++i, to += sampler.channels()) {
            if (linear) {
                sampler.linear(to, x[i], y[i]);
            } else {
                sampler.nearest(to, x[i], y[i]);
            }
        }
    }
}

template <class T>
void displace_channels(const Raster& out, const Raster& in, const Displacement& displacement, bool linear, float fill,
                       Arena& arena) {
    switch (in.channels) {
        case 1: return displace_as<T, 1>(out, in, displacement, linear, fill, arena);
        case 3: return displace_as<T, 3>(out, in, displacement, linear, fill, arena);
        default: return displace_as<T, 0>(out, in, displacement, linear, fill, arena);
    }
}

// Sine in double precision from additions and multiplications alone, so that every machine computes the same bits.
double sine(double angle) {
    const double turns = std::round(angle * 0.31830988618379067154);  // half turns
    const double x = (angle - turns * 3.1415926535897931160) - turns * 1.2246467991473532072e-16, square = x * x;
    double sum = 0, sign = std::fmod(turns, 2) == 0 ? 1 : -1;
    for (int k = 27; k >= 3; k -= 2) sum = (1 + sum) * (-square / (k * (k - 1)));
    return sign * (x + x * sum);
}

}  // namespace

Ball::Ball(int64_t height, int64_t width)
    : center_x_(static_cast<float>(width) * 0.5f),
      center_y_(static_cast<float>(height) * 0.5f),
      radius_(std::trunc(std::max(center_x_, center_y_))) {}

void Ball::row(float* x, float* y, int64_t at, int64_t width) const {
    const BallRow ball{center_x_, center_y_, radius_, static_cast<float>(at) + 0.5f - center_y_};
#if PIXELMILL_AVX2
    if (simd_level() == SimdLevel::avx2) return ball_row_avx2(x, y, ball, width);
#endif
    ball_row(x, y, ball, 0, width);
}

Ripples::Ripples(const Wave& across, const Wave& down, int64_t width, Arena& arena)
    : across_(across), lifts_(arena.take<float>(static_cast<size_t>(width))) {
    constexpr double quarter = 1.57079632679489661923;
    for (int64_t i = 0; i < width; ++i) {
        const float angle = down.frequency * static_cast<float>(i) + down.phase;
        lifts_[i] = down.amplitude * static_cast<float>(sine(quarter - std::fabs(static_cast<double>(angle))));
    }
}

void Ripples::row(float* x, float* y, int64_t at, int64_t width) const {
    const float angle = across_.frequency * static_cast<float>(at) + across_.phase;
    const float push = across_.amplitude * static_cast<float>(sine(angle));
    for (int64_t i = 0; i < width; ++i) {
        x[i] = static_cast<float>(i) + push;
        y[i] = static_cast<float>(at) + lifts_[i];
    }
}

void displace(const Raster& out, const Raster& in, const Displacement& displacement, bool linear, float fill,
              Arena& arena) {
    if (in.dtype == DType::u8) return displace_channels<uint8_t>(out, in, displacement, linear, fill, arena);
    displace_channels<float>(out, in, displacement, linear, fill, arena);
}

}  // namespace pixelmill

#include "simd.h"

#include <atomic>
#include <cstdlib>
#include <string_view>

namespace pixelmill {

namespace {

SimdLevel detected() {
#if PIXELMILL_AVX2
    __builtin_cpu_init();
    const bool all = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
    if (all) return SimdLevel::avx2;
#endif
    return SimdLevel::base;
}

SimdLevel chosen() {
    const char* wish = std::getenv("PIXELMILL_SIMD");
    return wish != nullptr && std::string_view(wish) == "base" ? SimdLevel::base : detected();
}

std::atomic<SimdLevel>& current() {
    static std::atomic<SimdLevel> level{chosen()};
    return level;
}

}  // namespace

SimdLevel simd_level() { return current().load(std::memory_order_relaxed); }

void force_simd_level(SimdLevel level) {
    if (level <= detected()) current().store(level, std::memory_order_relaxed);
}

const char* name_of(SimdLevel level) { return level == SimdLevel::avx2 ? "avx2" : "base"; }

}  // namespace pixelmill

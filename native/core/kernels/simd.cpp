#include "simd.h"

#include <atomic>
#include <cstdlib>
#include <string_view>

#if PIXELMILL_BMI2
#include <cpuid.h>
#endif

namespace pixelmill {

namespace {

#if PIXELMILL_BMI2
// Processors without LZCNT run it as BSR, which returns other numbers instead of failing. Not every compiler's
// __builtin_cpu_supports knows it, so this reads the bit itself.
bool has_lzcnt() {
    unsigned a = 0, b = 0, c = 0, d = 0;
    return __get_cpuid(0x80000001, &a, &b, &c, &d) != 0 && (c & (1u << 5)) != 0;
}
#endif

SimdLevel detected() {
#if PIXELMILL_BMI2
    __builtin_cpu_init();
    const bool all = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
                     __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("popcnt") && has_lzcnt();
    return all ? SimdLevel::avx2 : SimdLevel::base;
#else
    return PIXELMILL_AVX2 ? SimdLevel::avx2 : SimdLevel::base;
#endif
}

SimdLevel chosen() {
    const char* requested = std::getenv("PIXELMILL_SIMD");
    return requested != nullptr && std::string_view(requested) == "base" ? SimdLevel::base : detected();
}

std::atomic<SimdLevel>& current() {
    static std::atomic<SimdLevel> level{chosen()};
    return level;
}

// What only some processors with AVX2 have besides.
struct alignas(4) Extensions {  // of a size that atomics need no lock for
    bool wide_tables = false, wide_blocks = false, wide_sums = false;
};

Extensions extensions() {
    Extensions found;
#if PIXELMILL_WIDE_TABLES
    __builtin_cpu_init();
    found.wide_tables =
        __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vbmi");
    found.wide_blocks = found.wide_tables && detected() == SimdLevel::avx2 && __builtin_cpu_supports("avx512vbmi2") &&
                        __builtin_cpu_supports("avx512bitalg");
    found.wide_sums = found.wide_tables && detected() == SimdLevel::avx2 && __builtin_cpu_supports("avx512vnni");
#endif
    return found;
}

std::atomic<Extensions>& used() {
    static std::atomic<Extensions> now{std::getenv("PIXELMILL_SIMD") == nullptr ? extensions() : Extensions{}};
    return now;
}

}  // namespace

bool uses_wide_tables() { return used().load(std::memory_order_relaxed).wide_tables; }

bool uses_wide_blocks() { return used().load(std::memory_order_relaxed).wide_blocks; }

bool uses_wide_sums() { return used().load(std::memory_order_relaxed).wide_sums; }

SimdLevel simd_level() { return current().load(std::memory_order_relaxed); }

void force_simd_level(SimdLevel level) {
    used().store({}, std::memory_order_relaxed);
    static const SimdLevel highest = detected();  // CPUID is slow, above all in virtual machines
    if (level <= highest) current().store(level, std::memory_order_relaxed);
}

void force_best_instructions() {
    force_simd_level(detected());
    used().store(extensions(), std::memory_order_relaxed);
}

const char* name_of(SimdLevel level) {
    if (level == SimdLevel::base) return "base";
    return PIXELMILL_BMI2 ? "avx2" : "neon";
}

}  // namespace pixelmill

// The decode gate as a target of the driver.
#include "builtin_seeds.h"
#include "decode_gate.h"
#include "target.h"

namespace {

const char* run(const uint8_t* data, size_t size) {
    const pixelmill::Verdict verdict = pixelmill::run_decode_gate(data, size);
    if (verdict == pixelmill::Verdict::decoded) return "decoded";
    if (verdict == pixelmill::Verdict::noted) return "noted";
    return pixelmill::name_of(static_cast<pixelmill::FaultKind>(verdict));
}

}  // namespace

FuzzTarget fuzz_target() { return {builtin_seeds, run}; }

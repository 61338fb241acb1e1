#include "rng.h"

namespace pixelmill {

namespace {

uint64_t mix(uint64_t x) {  // the finaliser of splitmix64
    x += 0x9E3779B97F4A7C15u;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return x ^ (x >> 31);
}

}  // namespace

std::array<uint32_t, 4> philox(std::array<uint32_t, 4> counter, uint64_t key) {
    auto low = static_cast<uint32_t>(key), high = static_cast<uint32_t>(key >> 32);
    for (int round = 0; round < 10; ++round) {
        const uint64_t a = uint64_t{0xD2511F53u} * counter[0], b = uint64_t{0xCD9E8D57u} * counter[2];
        counter = {static_cast<uint32_t>(b >> 32) ^ counter[1] ^ low, static_cast<uint32_t>(b),
                   static_cast<uint32_t>(a >> 32) ^ counter[3] ^ high, static_cast<uint32_t>(a)};
        low += 0x9E3779B9u;
        high += 0xBB67AE85u;
    }
    return counter;
}

uint64_t operator_key(uint64_t seed, uint64_t operator_id) { return mix(seed ^ mix(operator_id)); }

StreamId stream_id(uint64_t key, const SampleId& id) {
    return {key, static_cast<uint32_t>(id.sample), id.epoch, static_cast<uint32_t>(id.sample >> 32) << 16 | id.variant};
}

Stream::Stream(uint64_t key, const SampleId& id, uint64_t first_word) : key_(key) {
    const StreamId stream = stream_id(key, id);
    counter_ = {static_cast<uint32_t>(first_word / 4), stream.sample, stream.epoch, stream.rest};
    for (uint64_t skip = first_word % 4; skip > 0; --skip) word();
}

uint32_t Stream::word() {
    if (used_ == 4) {
        block_ = philox(counter_, key_);
        ++counter_[0];
        used_ = 0;
    }
    return block_[used_++];
}

double Stream::unit() { return word() * 0x1p-32; }

int64_t Stream::below(int64_t bound) {
    // 53 bits are enough for any image; the bias is below 2^-20 for bounds up to 2^32.
    const uint64_t high = word(), low = word();
    const double unit = static_cast<double>((high << 32 | low) >> 11) * 0x1p-53;
    return static_cast<int64_t>(unit * static_cast<double>(bound));
}

double Stream::uniform(double low, double high) { return low + unit() * (high - low); }

}  // namespace pixelmill

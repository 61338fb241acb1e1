#include "pack_trainer.h"

#include <algorithm>
#include <bit>

#include "../fault.h"
#include "pack_kernels.h"
#include "pack_source.h"

namespace pixelmill {
namespace {

constexpr int64_t wanted_blocks = 60000;  // of luma, and of chroma; more change the size of packs by less than 0.1 %

// SplitMix64.
class Random {
   public:
    explicit Random(uint64_t seed) : state_(seed) {}
    uint64_t next() {
        uint64_t z = state_ += 0x9E3779B97F4A7C15u;
        z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
        z = (z ^ z >> 27) * 0x94D049BB133111EBu;
        return z ^ z >> 31;
    }

   private:
    uint64_t state_;
};

int64_t blocks_of(const PackSource& source, bool chroma) {
    int64_t blocks = 0;
    for (int i = chroma ? 1 : 0; i < (chroma ? source.frame().count : 1); ++i) {
        const JpegComponent& component = source.frame().components[static_cast<size_t>(i)];
        blocks += source.blocks_a_row(i) * source.mcu_rows() * component.v;
    }
    return blocks;
}

// Takes one of `every` blocks at random.
class Sampler {
   public:
    Sampler(int64_t blocks, uint64_t seed)
        : random_(seed),
          below_(blocks <= wanted_blocks
                     ? UINT64_MAX
                     : UINT64_MAX / static_cast<uint64_t>(blocks) * static_cast<uint64_t>(wanted_blocks)) {}

    void see(const int16_t* block) {
        if (random_.next() > below_) return;
        PackWidths needs{};
        for (uint64_t left = pack_kernels().nonzero(block) & ~uint64_t{1}; left != 0; left &= left - 1) {
            const auto k = static_cast<size_t>(std::countr_zero(left));
            const int width = pack_width(block[k]);
            if (width > most_pack_width) return;
            needs[k] = static_cast<uint8_t>(width);
        }
        seen_.push_back(needs);
    }

    PackBlockSample take() {
        PackBlockSample sample;
        std::sort(seen_.begin(), seen_.end());
        for (const PackWidths& needs : seen_) {
            if (sample.needs.empty() || sample.needs.back() != needs) {
                sample.needs.push_back(needs);
                sample.counts.push_back(0);
            }
            ++sample.counts.back();
        }
        return sample;
    }

   private:
    Random random_;
    uint64_t below_;
    std::vector<PackWidths> seen_;
};

void see_band(const PackSource& source, int64_t mcu_rows, Sampler& luma, Sampler& chroma) {
    for (int i = 0; i < source.frame().count; ++i) {
        const int64_t rows = mcu_rows * source.frame().components[static_cast<size_t>(i)].v;
        for (int64_t block = 0; block < rows * source.blocks_a_row(i); ++block)
            (i == 0 ? luma : chroma).see(source.block(i, 0, block));
    }
}

}  // namespace

std::vector<std::byte> train_codebook(std::span<const Bytes> images, uint64_t seed) {
    PackSource source;
    int64_t luma_blocks = 0, chroma_blocks = 0;
    for (const Bytes image : images) {
        if (!source.open(image).empty()) continue;
        luma_blocks += blocks_of(source, false);
        chroma_blocks += blocks_of(source, true);
    }
    Sampler luma(luma_blocks, seed), chroma(chroma_blocks, seed + 1);
    for (const Bytes image : images) {
        if (!source.open(image).empty()) continue;
        // What comes before damage is as good as the rest.
        for (int64_t row = 0; row < source.mcu_rows() && source.read_band(1); ++row) see_band(source, 1, luma, chroma);
    }
    const PackBlockSample lumas = luma.take(), chromas = chroma.take();
    if (lumas.needs.empty()) {
        throw Fault(FaultKind::argument, "no codebook can be trained: none of " + std::to_string(images.size()) +
                                             " images is a sound sequential JPEG file");
    }
    const PackWidthsList trained = train_profiles(lumas, seed);
    return serialize_codebook(trained, chromas.needs.empty() ? trained : train_profiles(chromas, seed));
}

}  // namespace pixelmill

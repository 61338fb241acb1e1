// The choice of profiles: candidates from clusters of blocks, and of those, one after the other, the one that saves
// most; then the same again with clusters that are the blocks of each profile.
#include <algorithm>
#include <bit>
#include <cstdlib>
#include <numeric>
#include <queue>

#include "pack_trainer.h"

namespace pixelmill {
namespace {

constexpr size_t first_rounds = 6, rounds = 4;
// Which part of a cluster's blocks a candidate holds, coefficient by coefficient. In thousandths.
constexpr std::array<uint64_t, 10> quantiles{400, 550, 700, 800, 880, 930, 960, 980, 995, 1000};

using Clusters = std::vector<uint16_t>;  // of each block

int distance(const PackWidths& a, const PackWidths& b) {
    int sum = 0;
    for (size_t k = 0; k < 64; ++k) sum += std::abs(a[k] - b[k]);
    return sum;
}

PackWidths universal() {
    PackWidths all;
    all.fill(most_pack_width);
    all[0] = 0;
    return all;
}

// How often each width occurs in a cluster, coefficient by coefficient.
struct Histogram {
    std::array<std::array<uint64_t, most_pack_width + 1>, 64> counts{};
    uint64_t total = 0;

    void add(const PackWidths& needs, uint64_t count) {
        for (size_t k = 0; k < 64; ++k) counts[k][needs[k]] += count;
        total += count;
    }

    PackWidths quantile(uint64_t thousandths) const {
        PackWidths found{};
        for (size_t k = 1; k < 64; ++k) {
            uint64_t sum = counts[k][0];
            while (sum * 1000 < total * thousandths) sum += counts[k][++found[k]];
        }
        return found;
    }
};

std::vector<Histogram> histograms_of(const PackBlockSample& sample, const Clusters& clusters) {
    std::vector<Histogram> made(pack_profiles);
    for (size_t i = 0; i < sample.needs.size(); ++i) made[clusters[i]].add(sample.needs[i], sample.counts[i]);
    return made;
}

// k-means with medians.
Clusters clusters_of(const PackBlockSample& sample, uint64_t seed) {
    std::vector<PackWidths> centers;
    const size_t count = sample.needs.size();
    for (size_t i = 0; i < pack_profiles; ++i)  // blocks are sorted, so these are spread over their kinds
        centers.push_back(sample.needs[(i * count + seed % count) / pack_profiles % count]);
    Clusters clusters(count);
    for (size_t round = 0; round < first_rounds; ++round) {
        for (size_t i = 0; i < count; ++i) {
            int nearest = INT32_MAX;
            for (size_t center = 0; center < centers.size(); ++center) {
                const int far = distance(sample.needs[i], centers[center]);
                if (far >= nearest) continue;
                nearest = far;
                clusters[i] = static_cast<uint16_t>(center);
            }
        }
        const std::vector<Histogram> histograms = histograms_of(sample, clusters);
        for (size_t center = 0; center < centers.size(); ++center) {
            if (histograms[center].total > 0) centers[center] = histograms[center].quantile(500);
        }
    }
    return clusters;
}

struct Candidate {
    PackWidths widths;
    uint32_t length;
    std::vector<uint32_t> covered;  // blocks
};

// For each coefficient and each width: which candidates hold it, as a bitmap. A block takes some steps for all
// candidates together instead of one or more for each.
class Coverage {
   public:
    explicit Coverage(const std::vector<PackWidths>& candidates)
        : words_((candidates.size() + 63) / 64), sets_(64 * (most_pack_width + 1) * words_), fit_(words_) {
        for (size_t i = 0; i < candidates.size(); ++i) {
            for (size_t k = 0; k < 64; ++k) {
                for (size_t width = 0; width <= candidates[i][k]; ++width)
                    sets_[place(k, width) + i / 64] |= uint64_t{1} << i % 64;
            }
        }
    }

    // Calls `found` with each candidate that holds a block.
    template <typename Found>
    void find(const PackWidths& needs, const Found& found) {
        std::copy_n(sets_.begin() + static_cast<ptrdiff_t>(place(0, 0)), words_, fit_.begin());
        for (size_t k = 1; k < 64; ++k) {
            if (needs[k] == 0) continue;
            const uint64_t* const holding = sets_.data() + place(k, needs[k]);
            for (size_t word = 0; word < words_; ++word) fit_[word] &= holding[word];
        }
        for (size_t word = 0; word < words_; ++word) {
            for (uint64_t left = fit_[word]; left != 0; left &= left - 1)
                found(64 * word + static_cast<size_t>(std::countr_zero(left)));
        }
    }

   private:
    size_t place(size_t k, size_t width) const { return (k * (most_pack_width + 1) + width) * words_; }

    size_t words_;
    std::vector<uint64_t> sets_, fit_;
};

std::vector<Candidate> candidates_of(const PackBlockSample& sample, const Clusters& clusters,
                                     const std::vector<PackWidths>& kept) {
    std::vector<PackWidths> all = kept;
    for (const Histogram& histogram : histograms_of(sample, clusters)) {
        if (histogram.total == 0) continue;
        for (const uint64_t part : quantiles) all.push_back(histogram.quantile(part));
    }
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    std::vector<Candidate> candidates;
    for (const PackWidths& widths : all)
        candidates.push_back({widths, static_cast<uint32_t>(pack_payload_length(widths)), {}});
    Coverage coverage(all);
    for (uint32_t i = 0; i < sample.needs.size(); ++i)
        coverage.find(sample.needs[i], [&](size_t candidate) { candidates[candidate].covered.push_back(i); });
    return candidates;
}

class Choice {
   public:
    explicit Choice(const PackBlockSample& sample)
        : sample_(sample),
          chosen_{universal()},
          costs_(sample.needs.size(), static_cast<uint32_t>(pack_payload_length(universal()))),
          owners_(sample.needs.size(), 0) {}

    // Takes the best candidate again and again. A candidate never gains by what is taken before it, so most of them
    // need not be looked at again.
    void take_best(std::vector<Candidate> candidates) {
        using Entry = std::pair<uint64_t, size_t>;
        std::priority_queue<Entry> queue;
        for (size_t i = 0; i < candidates.size(); ++i) queue.emplace(gain(candidates[i]), i);
        while (!queue.empty() && chosen_.size() < pack_profiles) {
            const size_t best = queue.top().second;
            queue.pop();
            const uint64_t now = gain(candidates[best]);
            if (!queue.empty() && now < queue.top().first) {
                queue.emplace(now, best);
                continue;
            }
            if (now == 0) break;
            take(candidates[best]);
        }
    }

    // Makes each profile as narrow as its blocks allow.
    void shrink() {
        std::vector<PackWidths> needed(chosen_.size(), PackWidths{});
        for (size_t i = 0; i < owners_.size(); ++i) {
            PackWidths& most = needed[owners_[i]];
            for (size_t k = 0; k < 64; ++k) most[k] = std::max(most[k], sample_.needs[i][k]);
        }
        for (size_t i = 1; i < chosen_.size(); ++i) chosen_[i] = needed[i];
    }

    const std::vector<PackWidths>& profiles() const { return chosen_; }
    const Clusters& owners() const { return owners_; }

   private:
    // Forgets the blocks that it does not make cheaper: they never become dearer again.
    uint64_t gain(Candidate& candidate) const {
        uint64_t sum = 0;
        size_t kept = 0;
        for (const uint32_t i : candidate.covered) {
            const uint32_t saved = std::max(costs_[i], candidate.length) - candidate.length;
            sum += uint64_t{saved} * sample_.counts[i];
            candidate.covered[kept] = i;
            kept += saved > 0 ? 1 : 0;
        }
        candidate.covered.resize(kept);
        return sum;
    }

    void take(const Candidate& candidate) {
        for (const uint32_t i : candidate.covered) {
            if (candidate.length >= costs_[i]) continue;
            costs_[i] = candidate.length;
            owners_[i] = static_cast<uint16_t>(chosen_.size());
        }
        chosen_.push_back(candidate.widths);
    }

    const PackBlockSample& sample_;
    std::vector<PackWidths> chosen_;  // the first one holds every block
    std::vector<uint32_t> costs_;
    Clusters owners_;
};

}  // namespace

PackWidthsList train_profiles(const PackBlockSample& sample, uint64_t seed) {
    Clusters clusters = clusters_of(sample, seed);
    std::vector<PackWidths> kept;
    for (size_t round = 0; round < rounds; ++round) {
        Choice choice(sample);
        choice.take_best(candidates_of(sample, clusters, kept));
        choice.shrink();
        kept = choice.profiles();
        clusters = choice.owners();
    }
    kept.resize(pack_profiles, universal());
    std::stable_sort(kept.begin(), kept.end(), [](const PackWidths& a, const PackWidths& b) {
        const int left = pack_payload_length(a), right = pack_payload_length(b);
        return left != right ? left < right : a < b;
    });
    PackWidthsList list;
    std::copy(kept.begin(), kept.end(), list.begin());
    list.back() = universal();
    return list;
}

}  // namespace pixelmill

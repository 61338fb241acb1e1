// Random windows that mind the objects in an image.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "../rng.h"
#include "boxes.h"
#include "declared/random.h"
#include "layout.h"

namespace pixelmill {

namespace {

// No window may fit what was asked for; DALI would search for ever.
constexpr int64_t most_attempts = 100000;

class RandomBoxCrop : public Step {
   public:
    explicit RandomBoxCrop(const RandomBoxCropParams& params)
        : key_(params.key),
          layout_(params.layout),
          shape_layout_(params.shape_layout),
          thresholds_(params.thresholds),
          ratios_(params.aspect_ratio),
          smallest_(params.scaling.at(0)),
          largest_(params.scaling.at(1)),
          prune_(params.prune_threshold),
          attempts_(params.attempts),
          total_(params.total_attempts),
          overlap_(params.overlap),
          every_box_(params.every_box),
          may_keep_(params.allow_no_crop),
          outputs_indices_(params.output_indices) {}

    void run(Context& context, std::span<const Value> values, std::span<Value> out) const override {
        const RandomBoxCropInputs in(values);
        const int axes = in.boxes.ndim == 2 && in.boxes.shape[1] == 6 ? 3 : 2;
        const std::string layout =
            layout_.size() == 1 ? (layout_ == "X" ? (axes == 3 ? "xyzXYZ" : "xyXY") : (axes == 3 ? "xyzWHD" : "xyWH"))
                                : layout_;
        const BoxLayout columns(layout, axes, "random_bbox_crop");
        const std::vector<Box> boxes = columns.read(in.boxes);
        check(boxes, axes);
        Stream draws(key_, context.id);
        Search search{*this, draws, boxes, axes, {}, {}};
        if (in.input_shape.present()) search.extents(in.input_shape, search.input);
        if (in.crop_shape.present()) search.extents(in.crop_shape, search.crop);
        const Found found = search.run();
        put_window(context, out, found.window, axes);
        out[2] = put_boxes(context, 2, columns, found.boxes);
        size_t next = 3;
        if (in.labels.present()) out[next++] = put_rows(context, 3, in.labels, found.kept, "random_bbox_crop");
        if (outputs_indices_) put_kept(context, out, next, found.kept);
    }

   private:
    struct Found {
        Box window;  // as returned: in fractions, or in pixels
        std::vector<Box> boxes;
        std::vector<int64_t> kept;
    };

    // The search for one sample.
    struct Search {
        const RandomBoxCrop& step;
        Stream& draws;
        const std::vector<Box>& boxes;
        int axes;
        std::vector<int64_t> input, crop;  // extents in the order x, y, z; empty where they are not given

        void extents(const Value& value, std::vector<int64_t>& to) const {
            const std::string layout = step.shape_layout_.empty() ? (axes == 3 ? "WHD" : "WH") : step.shape_layout_;
            for (int a = 0; a < axes; ++a) {
                const int at = axis_named(layout, "WHD"[a]);
                if (at < 0 || value.elements() < static_cast<int64_t>(layout.size())) {
                    throw Fault(FaultKind::argument,
                                "random_bbox_crop: the shape " + describe(value) + " does not fit \"" + layout + "\"");
                }
                const int64_t extent = value.integer(at);
                if (extent < 1 || extent > std::numeric_limits<int32_t>::max()) {
                    throw Fault(FaultKind::argument, "random_bbox_crop: an extent of " + std::to_string(extent) +
                                                         " is not one of a window or an image");
                }
                to.push_back(extent);
            }
        }

        Found run() {
            Found best;
            float best_score = -1;
            const auto options = static_cast<int64_t>(step.thresholds_.size()) + (step.may_keep_ ? 1 : 0);
            const int64_t total = step.total_ > 0 ? step.total_ : most_attempts;
            for (int64_t count = 0; count < total;) {
                const int64_t option = draws.below(options);
                if (option == static_cast<int64_t>(step.thresholds_.size())) return everything();
                const auto threshold = static_cast<float>(step.thresholds_[static_cast<size_t>(option)]);
                bool found = false;
                // All attempts are made, and the last window that fits is taken: so does DALI, and it can be seen in
                // how often the whole image is taken instead.
                for (int64_t i = 0; i < step.attempts_; ++i, ++count) {
                    Box window, share;
                    if (!draw(window, share)) continue;
                    const float score = scored(share, std::min(threshold, std::nextafter(best_score, 2.0f)));
                    if (score < threshold && score <= best_score) continue;
                    best_score = score;
                    best = filtered(window, share);
                    found = score >= threshold && (boxes.empty() || !best.kept.empty());
                }
                if (found || (best_score >= 0 && hopeless())) return best;
            }
            if (best_score < 0) return everything();  // not one window had an allowed shape
            return best;
        }

        // Without boxes nothing is ever covered.
        bool hopeless() const {
            return boxes.empty() && !step.may_keep_ &&
                   *std::min_element(step.thresholds_.begin(), step.thresholds_.end()) > 0;
        }

        Found everything() const {
            Found found;
            for (int a = 0; a < axes; ++a)
                found.window.high[a] = crop.empty() ? 1.0f : static_cast<float>(input[static_cast<size_t>(a)]);
            found.boxes = boxes;
            found.kept.resize(boxes.size());
            std::iota(found.kept.begin(), found.kept.end(), int64_t{0});
            return found;
        }

        // `share` is the window relative to the image.
        bool draw(Box& window, Box& share) {
            if (!crop.empty()) return draw_fixed(window, share);
            float extent[3];
            for (int a = 0; a < axes; ++a) extent[a] = static_cast<float>(draws.uniform(step.smallest_, step.largest_));
            force_ratios(extent);
            if (!allowed(extent)) return false;
            for (int a = 0; a < axes; ++a) {
                share.low[a] = static_cast<float>(draws.uniform(0, 1.0 - extent[a]));
                share.high[a] = share.low[a] + extent[a];
            }
            window = share;
            return true;
        }

        bool draw_fixed(Box& window, Box& share) {
            for (int a = 0; a < axes; ++a) {
                const int64_t room = input[static_cast<size_t>(a)] - crop[static_cast<size_t>(a)];
                const auto whole = static_cast<float>(input[static_cast<size_t>(a)]);
                // A window that is larger than the image covers all of it.
                window.low[a] = static_cast<float>(room < 0 ? -draws.below(1 - room) : draws.below(room + 1));
                window.high[a] = window.low[a] + static_cast<float>(crop[static_cast<size_t>(a)]);
                share.low[a] = window.low[a] / whole;
                share.high[a] = share.low[a] + static_cast<float>(crop[static_cast<size_t>(a)]) / whole;
            }
            return true;
        }

        float pixels(const float* extent, int axis) const {
            return input.empty() ? extent[axis] : extent[axis] * static_cast<float>(input[static_cast<size_t>(axis)]);
        }

        // The range of the ratio of axes i and j, counted in the order xy, xz, yz.
        std::pair<float, float> range(int i, int j) const {
            const size_t pair = step.ratios_.size() == 2 ? 0 : static_cast<size_t>(i + j - 1);
            return {static_cast<float>(step.ratios_[2 * pair]), static_cast<float>(step.ratios_[2 * pair + 1])};
        }

        bool allowed(const float* extent) const {
            constexpr float slack = 1e-5f;  // forced ratios are not exact
            for (int i = 0; i < axes; ++i) {
                for (int j = i + 1; j < axes; ++j) {
                    const auto [low, high] = range(i, j);
                    const float ratio = pixels(extent, i) / pixels(extent, j);
                    if (!(ratio >= low * (1 - slack) && ratio <= high * (1 + slack))) return false;
                }
            }
            return true;
        }

        // A ratio that is not a range is given to the window, one axis after the other in a random order; its longest
        // extent stays.
        void force_ratios(float* extent) {
            bool forced = false;
            for (int i = 0; i < axes; ++i) {
                for (int j = i + 1; j < axes; ++j) forced |= range(i, j).first == range(i, j).second;
            }
            if (!forced) return;
            int order[3] = {0, 1, 2};
            for (int i = axes - 1; i > 0; --i) std::swap(order[i], order[draws.below(i + 1)]);
            const float before = *std::max_element(extent, extent + axes);
            for (int p = 0; p < axes; ++p) {
                for (int q = p + 1; q < axes; ++q) {
                    const int from = order[p], to = order[q];
                    const auto [low, high] = range(std::min(from, to), std::max(from, to));
                    if (low != high || !(low > 0)) continue;
                    const float wanted = to < from ? pixels(extent, from) * low : pixels(extent, from) / low;
                    extent[to] = input.empty() ? wanted : wanted / static_cast<float>(input[static_cast<size_t>(to)]);
                }
            }
            const float after = *std::max_element(extent, extent + axes);
            for (int a = 0; a < axes; ++a) extent[a] *= before / after;
        }

        // The least overlap of all boxes with the window, or the greatest. Not worked out to the end where it falls
        // below `needed`.
        float scored(const Box& window, float needed) const {
            float score = 0;
            for (size_t i = 0; i < boxes.size(); ++i) {
                const float mine = step.overlap_ ? common_volume(window, boxes[i], axes) / boxes[i].volume(axes)
                                                 : overlap_over_union(window, boxes[i], axes);
                score = i == 0 ? mine : step.every_box_ ? std::min(score, mine) : std::max(score, mine);
                if (step.every_box_ && score < needed) break;
            }
            return score;
        }

        bool kept(const Box& window, const Box& box) const {
            if (step.prune_) {
                const float left = common_volume(window, box, axes);
                return left > 0 && left / box.volume(axes) >= static_cast<float>(*step.prune_);
            }
            for (int a = 0; a < axes; ++a) {
                const float center = 0.5f * (box.high[a] + box.low[a]);
                if (!(center >= window.low[a] && center < window.high[a])) return false;
            }
            return true;
        }

        Found filtered(const Box& window, const Box& share) const {
            Found found{window, {}, {}};
            for (size_t i = 0; i < boxes.size(); ++i) {
                if (!kept(share, boxes[i])) continue;
                Box moved;
                for (int a = 0; a < axes; ++a) {
                    const float extent = share.extent(a);
                    moved.low[a] =
                        std::clamp((std::max(share.low[a], boxes[i].low[a]) - share.low[a]) / extent, 0.0f, 1.0f);
                    moved.high[a] =
                        std::clamp((std::min(share.high[a], boxes[i].high[a]) - share.low[a]) / extent, 0.0f, 1.0f);
                }
                found.boxes.push_back(moved);
                found.kept.push_back(static_cast<int64_t>(i));
            }
            return found;
        }
    };

    static void check(const std::vector<Box>& boxes, int axes) {
        for (const Box& box : boxes) {
            for (int a = 0; a < axes; ++a) {
                if (box.low[a] >= 0 && box.high[a] <= 1 && box.low[a] <= box.high[a]) continue;
                throw Fault(FaultKind::argument,
                            "random_bbox_crop: out of bounds: boxes must lie between 0 and 1, got " +
                                std::to_string(box.low[a]) + " to " + std::to_string(box.high[a]));
            }
        }
    }

    static void put_window(Context& context, std::span<Value> out, const Box& window, int axes) {
        const int64_t count = axes;
        for (int i = 0; i < 2; ++i) out[static_cast<size_t>(i)] = context.allocate(i, DType::f32, {&count, 1});
        for (int a = 0; a < axes; ++a) {
            out[0].as<float>()[a] = window.low[a];
            out[1].as<float>()[a] = window.extent(a);
        }
    }

    static void put_kept(Context& context, std::span<Value> out, size_t index, const std::vector<int64_t>& kept) {
        const auto count = static_cast<int64_t>(kept.size());
        out[index] = context.allocate(static_cast<int>(index), DType::i32, {&count, 1});
        for (size_t i = 0; i < kept.size(); ++i) out[index].as<int32_t>()[i] = static_cast<int32_t>(kept[i]);
    }

    uint64_t key_;
    std::string layout_, shape_layout_;
    std::vector<double> thresholds_, ratios_;
    double smallest_, largest_;
    std::optional<double> prune_;
    int64_t attempts_, total_;
    bool overlap_, every_box_, may_keep_, outputs_indices_;
};

// Covers as much of a region as a window of fixed extents can.
class RegionCrop : public Step {
   public:
    explicit RegionCrop(const RegionCropParams& params) : key_(params.key) {}

    void run(Context& context, std::span<const Value> values, std::span<Value> out) const override {
        const RegionCropInputs in(values);
        const int64_t count = in.crop_shape.elements();
        for (const Value* bound : {&in.roi_start, &in.roi_end, &in.roi_shape}) check(*bound, count, true);
        check(in.in_shape, count, false);
        out[0] = context.allocate(0, DType::i64, {&count, 1});
        Stream draws(key_, context.id);
        for (int64_t d = 0; d < count; ++d) {
            const int64_t extent = in.crop_shape.integer(d), start = in.roi_start.integer(d);
            const int64_t region = in.roi_end.present() ? in.roi_end.integer(d) - start : in.roi_shape.integer(d);
            int64_t low = std::min(start, start + region - extent), high = std::max(start, start + region - extent);
            if (in.in_shape.present()) {
                const int64_t whole = in.in_shape.integer(d);
                if (extent < 0 || extent > whole || start < 0 || start + region > whole) {
                    throw Fault(FaultKind::argument, "roi_random_crop: a window of " + std::to_string(extent) +
                                                         " or a region from " + std::to_string(start) + " to " +
                                                         std::to_string(start + region) + " does not fit into " +
                                                         std::to_string(whole));
                }
                low = std::max<int64_t>(0, low);
                high = std::min(whole - extent, high);
            }
            out[0].as<int64_t>()[d] = low + draws.below(std::max<int64_t>(high - low, 0) + 1);
        }
    }

   private:
    static void check(const Value& value, int64_t count, bool exact) {
        if (!value.present() || (exact ? value.elements() == count : value.elements() >= count)) return;
        throw Fault(FaultKind::argument,
                    "roi_random_crop: " + std::to_string(count) + " numbers are needed, got " + describe(value));
    }

    uint64_t key_;
};

}  // namespace

std::unique_ptr<Step> make_random_box_crop(const RandomBoxCropParams& params) {
    return std::make_unique<RandomBoxCrop>(params);
}
std::unique_ptr<Step> make_region_crop(const RegionCropParams& params) { return std::make_unique<RegionCrop>(params); }

}  // namespace pixelmill

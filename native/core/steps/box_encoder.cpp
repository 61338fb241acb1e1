// The targets of a detector: every anchor is told which object it should find, and where.
#include <bit>
#include <cmath>

#include "boxes.h"
#include "declared/boxes.h"

namespace pixelmill {

namespace {

class BoxEncoder : public Step {
   public:
    explicit BoxEncoder(const BoxEncoderParams& params)
        : layout_("xyXY", 2, "box_encoder"),
          criteria_(static_cast<float>(params.criteria)),
          scale_(static_cast<float>(params.scale)),
          offset_(params.offset) {
        const std::vector<double>& numbers = params.anchors;
        for (size_t i = 0; i + 4 <= numbers.size(); i += 4) {
            Box anchor;
            for (size_t a = 0; a < 2; ++a) {
                anchor.low[a] = static_cast<float>(numbers[i + a]);
                anchor.high[a] = static_cast<float>(numbers[i + 2 + a]);
            }
            anchors_.push_back(anchor);
            for (size_t a = 0; a < 2; ++a) {
                low_[a].push_back(anchor.low[a]);
                high_[a].push_back(anchor.high[a]);
            }
            volume_.push_back(anchor.volume(2));
        }
        for (size_t i = 0; i < 4; ++i) {
            mean_[i] = static_cast<float>(params.means.at(i));
            deviation_[i] = static_cast<float>(params.stds.at(i));
        }
    }

    void run(Context& context, std::span<const Value> values, std::span<Value> out) const override {
        const BoxEncoderInputs in(values);
        const std::vector<Box> boxes = layout_.read(in.boxes);
        const auto count = static_cast<int64_t>(anchors_.size());
        if (in.labels.elements() < static_cast<int64_t>(boxes.size())) {
            throw Fault(FaultKind::argument, "box_encoder: there are fewer labels than boxes");
        }
        out[0] = context.allocate(0, DType::f32, std::array<int64_t, 2>{count, 4});
        out[1] = context.allocate(1, DType::i32, std::array{count});
        const std::vector<int32_t> matches = matched(boxes);
        for (size_t i = 0; i < anchors_.size(); ++i) {
            const int64_t match = matches[i];
            float* row = out[0].as<float>() + 4 * static_cast<int64_t>(i);
            out[1].as<int32_t>()[i] = match < 0 ? 0 : static_cast<int32_t>(label(in.labels, match));
            if (match >= 0) {
                write(row, boxes[static_cast<size_t>(match)], anchors_[i]);
            } else if (offset_) {
                std::fill_n(row, 4, 0.0f);
            } else {
                centered(row, anchors_[i]);
            }
        }
    }

   private:
    static int64_t label(const Value& labels, int64_t index) {
        return labels.integer(labels.ndim == 2 ? index * labels.stride[0] : index);
    }

    // For each anchor the box that covers it best, or -1. The anchor that a box covers best is that box's in any case.
    // Of equals the last is taken.
    std::vector<int32_t> matched(const std::vector<Box>& boxes) const {
        const size_t count = anchors_.size();
        std::vector<int32_t> best(count, -1);
        std::vector<float> score(count, -1.0f), mine(count);
        for (size_t b = 0; b < boxes.size(); ++b) {
            overlaps(mine.data(), boxes[b]);
            if (count > 0) mine[last_of_largest(mine)] = 2;
            const auto number = static_cast<int32_t>(b);
            for (size_t i = 0; i < count; ++i) {
                const float now = mine[i], before = score[i];
                const int32_t kept = best[i];
                best[i] = now < before ? kept : number;
                score[i] = now < before ? before : now;
            }
        }
        for (size_t i = 0; i < count; ++i) {
            if (!(score[i] > criteria_)) best[i] = -1;
        }
        return best;
    }

    // None is negative, so their bits are ordered as they are.
    static size_t last_of_largest(const std::vector<float>& numbers) {
        int32_t largest = 0;
        for (float number : numbers) {
            const auto bits = std::bit_cast<int32_t>(number);
            largest = bits > largest ? bits : largest;
        }
        size_t last = numbers.size() - 1;
        while (std::bit_cast<int32_t>(numbers[last]) != largest && last > 0) --last;
        return last;
    }

    // Overlap over union of a box with all anchors. The compiler makes vectors of the loop, because the core is built
    // with -fno-trapping-math.
    void overlaps(float* __restrict out, Box box) const {
        const float volume = box.volume(2), x0 = box.low[0], y0 = box.low[1], x1 = box.high[0], y1 = box.high[1];
        const float *left = low_[0].data(), *top = low_[1].data(), *right = high_[0].data(), *bottom = high_[1].data();
        const float* volumes = volume_.data();
        const size_t count = anchors_.size();
        for (size_t i = 0; i < count; ++i) {
            const float l = left[i], t = top[i], r = right[i], b = bottom[i];
            const float width = (x1 < r ? x1 : r) - (x0 > l ? x0 : l), height = (y1 < b ? y1 : b) - (y0 > t ? y0 : t);
            const float common = (width > 0 ? width : 0) * (height > 0 ? height : 0);
            // Where nothing is shared, 0 is divided by a sum of volumes, which is not 0 but for an empty anchor.
            const float whole = volume + volumes[i] - common;
            out[i] = common / (whole > 0 ? whole : 1);
        }
    }

    static void centered(float* row, const Box& box) {
        for (int a = 0; a < 2; ++a) {
            row[a] = 0.5f * (box.high[a] + box.low[a]);
            row[2 + a] = box.extent(a);
        }
    }

    void write(float* row, const Box& box, const Box& anchor) const {
        centered(row, box);
        if (!offset_) return;
        float reference[4];
        centered(reference, anchor);
        for (int i = 0; i < 4; ++i) {
            row[i] *= scale_;
            reference[i] *= scale_;
        }
        for (int a = 0; a < 2; ++a) {
            row[a] = ((row[a] - reference[a]) / reference[2 + a] - mean_[a]) / deviation_[a];
            row[2 + a] = (std::log(row[2 + a] / reference[2 + a]) - mean_[2 + a]) / deviation_[2 + a];
        }
    }

    BoxLayout layout_;
    std::vector<Box> anchors_;
    std::vector<float> low_[2], high_[2], volume_;  // of the anchors, side by side
    float criteria_, scale_, mean_[4], deviation_[4];
    bool offset_;
};

}  // namespace

std::unique_ptr<Step> make_box_encoder(const BoxEncoderParams& params) { return std::make_unique<BoxEncoder>(params); }

}  // namespace pixelmill

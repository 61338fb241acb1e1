// The targets of a detector: every anchor is told which object it should find, and where.
#include <cmath>

#include "boxes.h"
#include "steps.h"

namespace pixelmill {

namespace {

// in: boxes (left, top, right, bottom), labels
class BoxEncoder : public Step {
   public:
    explicit BoxEncoder(const Params& params)
        : layout_("xyXY", 2, "box_encoder"),
          criteria_(static_cast<float>(params.number("criteria"))),
          scale_(static_cast<float>(params.number("scale"))),
          offset_(params.flag("offset")) {
        const std::vector<double>& numbers = params.numbers("anchors");
        for (size_t i = 0; i + 4 <= numbers.size(); i += 4) {
            Box anchor;
            for (size_t a = 0; a < 2; ++a) {
                anchor.low[a] = static_cast<float>(numbers[i + a]);
                anchor.high[a] = static_cast<float>(numbers[i + 2 + a]);
            }
            anchors_.push_back(anchor);
        }
        for (size_t i = 0; i < 4; ++i) {
            mean_[i] = static_cast<float>(params.numbers("means").at(i));
            deviation_[i] = static_cast<float>(params.numbers("stds").at(i));
        }
    }

    void run(Context& context, std::span<const Value> in, std::span<Value> out) const override {
        const std::vector<Box> boxes = layout_.read(in[0]);
        const auto count = static_cast<int64_t>(anchors_.size());
        if (in[1].elements() < static_cast<int64_t>(boxes.size())) {
            throw Fault(FaultKind::argument, "box_encoder: there are fewer labels than boxes");
        }
        out[0] = context.allocate(0, DType::f32, std::array<int64_t, 2>{count, 4});
        out[1] = context.allocate(1, DType::i32, std::array{count});
        const std::vector<int64_t> matches = matched(boxes);
        for (size_t i = 0; i < anchors_.size(); ++i) {
            const int64_t match = matches[i];
            float* row = out[0].as<float>() + 4 * static_cast<int64_t>(i);
            out[1].as<int32_t>()[i] = match < 0 ? 0 : static_cast<int32_t>(label(in[1], match));
            if (match >= 0) {
                write(row, boxes[static_cast<size_t>(match)], anchors_[i]);
            } else if (offset_) {
                std::fill_n(row, 4, 0.0f);
            } else {
                centred(row, anchors_[i]);
            }
        }
    }

   private:
    static int64_t label(const Value& labels, int64_t index) { return labels.integer(labels.ndim == 2 ? index * labels.stride[0] : index); }

    // For each anchor the box that covers it best, or -1. The anchor that a box covers best is that box's in any case. Of
    // equals the last is taken.
    std::vector<int64_t> matched(const std::vector<Box>& boxes) const {
        std::vector<int64_t> best(anchors_.size(), -1);
        std::vector<float> score(anchors_.size(), -1.0f), mine(anchors_.size());
        for (size_t b = 0; b < boxes.size(); ++b) {
            size_t closest = 0;
            for (size_t i = 0; i < anchors_.size(); ++i) {
                mine[i] = overlap_over_union(boxes[b], anchors_[i], 2);
                if (mine[i] >= mine[closest]) closest = i;
            }
            if (!anchors_.empty()) mine[closest] = 2;
            for (size_t i = 0; i < anchors_.size(); ++i) {
                if (mine[i] < score[i]) continue;
                score[i] = mine[i];
                best[i] = static_cast<int64_t>(b);
            }
        }
        for (size_t i = 0; i < anchors_.size(); ++i) {
            if (!(score[i] > criteria_)) best[i] = -1;
        }
        return best;
    }

    static void centred(float* row, const Box& box) {
        for (int a = 0; a < 2; ++a) {
            row[a] = 0.5f * (box.high[a] + box.low[a]);
            row[2 + a] = box.extent(a);
        }
    }

    void write(float* row, const Box& box, const Box& anchor) const {
        centred(row, box);
        if (!offset_) return;
        float reference[4];
        centred(reference, anchor);
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
    float criteria_, scale_, mean_[4], deviation_[4];
    bool offset_;
};

}  // namespace

std::unique_ptr<Step> make_box_encoder(const Params& params) { return std::make_unique<BoxEncoder>(params); }

}  // namespace pixelmill

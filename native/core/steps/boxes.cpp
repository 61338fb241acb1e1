#include "boxes.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "../kernels/copy.h"
#include "affine.h"
#include "declared/boxes.h"
#include "layout.h"

namespace pixelmill {

BoxLayout::BoxLayout(const std::string& layout, int axes, const std::string& name)
    : axes_(axes), extents_(layout.find('W') != std::string::npos), name_(name) {
    for (int a = 0; a < axes; ++a) {
        low_[a] = axis_named(layout, "xyz"[a]);
        high_[a] = axis_named(layout, extents_ ? "WHD"[a] : "XYZ"[a]);
        if (low_[a] < 0 || high_[a] < 0 || static_cast<int>(layout.size()) != 2 * axes) {
            throw Fault(FaultKind::argument, name + ": the layout \"" + layout + "\" does not fit boxes of " +
                                                 std::to_string(2 * axes) + " numbers");
        }
    }
}

std::vector<Box> BoxLayout::read(const Value& table) const {
    const int64_t width = 2 * axes_;
    const bool list = table.ndim == 1 && table.shape[0] % width == 0;
    if ((!list && (table.ndim != 2 || table.shape[1] != width)) || table.dtype != DType::f32) {
        throw Fault(FaultKind::argument, name_ + ": boxes must be a table of floats with " + std::to_string(width) +
                                             " columns, got " + describe(table));
    }
    const int64_t down = list ? width * table.stride[0] : table.stride[0], across = table.stride[list ? 0 : 1];
    std::vector<Box> boxes(static_cast<size_t>(list ? table.shape[0] / width : table.shape[0]));
    const auto* from = table.as<const float>();
    for (Box& box : boxes) {
        for (int a = 0; a < axes_; ++a) {
            box.low[a] = from[low_[a] * across];
            box.high[a] = from[high_[a] * across];
            if (extents_) box.high[a] += box.low[a];
        }
        from += down;
    }
    return boxes;
}

void BoxLayout::write(float* row, const Box& box) const {
    for (int a = 0; a < axes_; ++a) {
        row[low_[a]] = box.low[a];
        row[high_[a]] = extents_ ? box.extent(a) : box.high[a];
    }
}

Value put_boxes(Context& context, int index, const BoxLayout& layout, const std::vector<Box>& boxes) {
    const int64_t shape[2] = {static_cast<int64_t>(boxes.size()), 2 * layout.axes()};
    const Value out = context.allocate(index, DType::f32, shape);
    for (size_t i = 0; i < boxes.size(); ++i)
        layout.write(out.as<float>() + static_cast<int64_t>(i) * shape[1], boxes[i]);
    return out;
}

Value put_rows(Context& context, int index, const Value& rows, const std::vector<int64_t>& kept,
               const std::string& name) {
    Extents shape = rows.shape;
    shape[0] = static_cast<int64_t>(kept.size());
    const Value out = context.allocate(index, rows.dtype, {shape.data(), static_cast<size_t>(rows.ndim)});
    Value from = rows, to = out;
    from.shape[0] = to.shape[0] = 1;
    for (size_t i = 0; i < kept.size(); ++i) {
        if (kept[i] >= rows.shape[0]) throw Fault(FaultKind::argument, name + ": there are fewer labels than boxes");
        from.data = rows.data + kept[i] * rows.stride[0] * size_of(rows.dtype);
        to.data = out.data + static_cast<int64_t>(i) * out.stride[0] * size_of(out.dtype);
        copy_elements(to, from);
    }
    return out;
}

namespace {

// A table of boxes of two axes, or a single box, of the same shape as the input.
Value like_boxes(Context& context, const Value& in, const BoxLayout& layout, const std::vector<Box>& boxes) {
    const Value out = context.allocate(0, DType::f32, {in.shape.data(), static_cast<size_t>(in.ndim)});
    for (size_t i = 0; i < boxes.size(); ++i) layout.write(out.as<float>() + 4 * static_cast<int64_t>(i), boxes[i]);
    return out;
}

class BoxFlip : public Step {
   public:
    explicit BoxFlip(const BoxFlipParams& params) : layout_(params.layout, 2, "bb_flip") {}

    void run(Context& context, std::span<const Value> values, std::span<Value> out) const override {
        const BoxFlipInputs in(values);
        std::vector<Box> boxes = layout_.read(in.boxes);
        for (int a = 0; a < 2; ++a) {
            if ((a == 0 ? in.horizontal : in.vertical).number() == 0) continue;
            for (Box& box : boxes) {
                const float low = box.low[a];
                box.low[a] = 1.0f - box.high[a];
                box.high[a] = 1.0f - low;
            }
        }
        out[0] = like_boxes(context, in.boxes, layout_, boxes);
    }

   private:
    BoxLayout layout_;
};

class BoxPaste : public Step {
   public:
    explicit BoxPaste(const BoxPasteParams& params) : corners_(params.ltrb) {}

    void run(Context& context, std::span<const Value> values, std::span<Value> out) const override {
        const BoxPasteInputs in(values);
        const Value& x = in.boxes;
        if (x.elements() % 4 != 0 || x.dtype != DType::f32) {
            throw Fault(FaultKind::argument, "bbox_paste: boxes must be floats, four for each box, got " + describe(x));
        }
        const auto ratio = static_cast<float>(in.ratio.number());
        if (!(ratio >= 1))
            throw Fault(FaultKind::argument, "bbox_paste: ratio must be at least 1, got " + std::to_string(ratio));
        const float scale = 1 / ratio, room = (ratio - 1) / ratio;
        const float shift[2] = {inside(static_cast<float>(in.paste_x.number()) * room, scale),
                                inside(static_cast<float>(in.paste_y.number()) * room, scale)};
        out[0] = context.allocate(0, DType::f32, {x.shape.data(), static_cast<size_t>(x.ndim)});
        copy_elements(out[0], x);
        auto* at = out[0].as<float>();
        for (int64_t i = 0; i < x.elements(); ++i) {
            const bool corner = corners_ || i % 4 < 2;
            at[i] = at[i] * scale + (corner ? shift[i % 2] : 0.0f);
        }
    }

   private:
    // Boxes that were inside of the image stay inside of the canvas, whatever rounding does.
    static float inside(float shift, float scale) {
        if (scale + shift > 1) shift = 1 - scale;
        while (scale + shift > 1) shift = std::nextafter(shift, -1.0f);
        return shift;
    }

    bool corners_;
};

class BoxRotate : public Step {
   public:
    explicit BoxRotate(const BoxRotateParams& params)
        : layout_(params.layout, 2, "bbox_rotate"),
          shape_layout_(params.shape_layout),
          mode_(params.mode),
          normalized_(params.normalized),
          keeps_size_(params.keep_size),
          threshold_(static_cast<float>(params.remove_threshold)) {}

    void run(Context& context, std::span<const Value> values, std::span<Value> out) const override {
        const BoxRotateInputs in(values);
        const float angle = radians(static_cast<float>(in.angle.number()));
        int64_t source[2], canvas[2];
        for (size_t a = 0; a < 2; ++a) {
            const int at = axis_named(shape_layout_, "WH"[a]);
            if (at < 0 || at >= in.input_shape.elements()) {
                throw Fault(FaultKind::argument, "bbox_rotate: input_shape " + describe(in.input_shape) +
                                                     " does not fit \"" + shape_layout_ + "\"");
            }
            source[a] = in.input_shape.integer(at);
        }
        std::copy_n(source, 2, canvas);
        if (in.size.present()) {
            read_size(canvas, in.size, 2, "bbox_rotate");
        } else if (!keeps_size_) {
            rotated_canvas(canvas, source, angle);
        }
        std::vector<Box> moved;
        std::vector<int64_t> kept;
        const std::vector<Box> boxes = layout_.read(in.boxes);
        const float c = std::cos(angle), s = std::sin(angle);
        moved.reserve(boxes.size());
        kept.reserve(boxes.size());
        for (size_t i = 0; i < boxes.size(); ++i) {
            Box box = rotated(boxes[i], c, s, source, canvas);
            if (!clipped(box, canvas)) continue;
            moved.push_back(normalized_ ? shares(box, canvas) : box);
            kept.push_back(static_cast<int64_t>(i));
        }
        out[0] = put_boxes(context, 0, layout_, moved);
        if (in.labels.present()) out[1] = put_rows(context, 1, in.labels, kept, "bbox_rotate");
    }

   private:
    Box rotated(const Box& box, float c, float s, const int64_t* source, const int64_t* canvas) const {
        float edge[2][2], size[2];  // of the box from the center of the image, in pixels
        for (int a = 0; a < 2; ++a) {
            size[a] = static_cast<float>(source[a]);
            edge[a][0] = normalized_ ? (box.low[a] - 0.5f) * size[a] : box.low[a] - size[a] / 2;
            edge[a][1] = normalized_ ? (box.high[a] - 0.5f) * size[a] : box.high[a] - size[a] / 2;
        }
        Box hull;
        for (int k = 0; k < 4; ++k) {
            const float x = edge[0][k % 2], y = edge[1][k / 2];
            const float at[2] = {x * c + y * s + static_cast<float>(canvas[0]) / 2,
                                 -x * s + y * c + static_cast<float>(canvas[1]) / 2};
            for (int a = 0; a < 2; ++a) {
                hull.low[a] = k == 0 ? at[a] : std::min(hull.low[a], at[a]);
                hull.high[a] = k == 0 ? at[a] : std::max(hull.high[a], at[a]);
            }
        }
        if (mode_ != "expand") shrink(hull, edge[0][1] - edge[0][0], edge[1][1] - edge[1][0]);
        return hull;
    }

    // Back to the extents of the box, or halfway; width and height change places when the rotation makes them.
    void shrink(Box& hull, float width, float height) const {
        if ((width < height) != (hull.extent(0) < hull.extent(1))) std::swap(width, height);
        const float share = mode_ == "halfway" ? 0.5f : 1.0f;
        const float less[2] = {(hull.extent(0) - width) * 0.5f * share, (hull.extent(1) - height) * 0.5f * share};
        for (int a = 0; a < 2; ++a) {
            hull.low[a] += less[a];
            hull.high[a] -= less[a];
        }
    }

    // Clips a box to the canvas and returns whether enough of it is left.
    bool clipped(Box& box, const int64_t* canvas) const {
        const float before = box.volume(2);
        for (int a = 0; a < 2; ++a) {
            const auto size = static_cast<float>(canvas[a]);
            box.low[a] = std::clamp(box.low[a], 0.0f, size);
            box.high[a] = std::clamp(box.high[a], 0.0f, size);
        }
        return box.volume(2) / before >= threshold_;
    }

    static Box shares(const Box& box, const int64_t* canvas) {
        Box share;
        for (int a = 0; a < 2; ++a) {
            const float part = 1.0f / static_cast<float>(canvas[a]);
            share.low[a] = box.low[a] * part;
            share.high[a] = box.high[a] * part;
        }
        return share;
    }

    BoxLayout layout_;
    std::string shape_layout_, mode_;
    bool normalized_, keeps_size_;
    float threshold_;
};

}  // namespace

std::unique_ptr<Step> make_box_flip(const BoxFlipParams& params) { return std::make_unique<BoxFlip>(params); }
std::unique_ptr<Step> make_box_paste(const BoxPasteParams& params) { return std::make_unique<BoxPaste>(params); }
std::unique_ptr<Step> make_box_rotate(const BoxRotateParams& params) { return std::make_unique<BoxRotate>(params); }

}  // namespace pixelmill

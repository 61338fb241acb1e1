// Images on larger canvases: one in the middle of nothing, or parts of several side by side.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "../kernels/convert.h"
#include "../kernels/copy.h"
#include "../kernels/pointwise.h"
#include "declared/pixels.h"
#include "layout.h"

namespace pixelmill {

namespace {

std::byte* pixel_at(const Value& image, int64_t y, int64_t x) {
    return image.data + (y * image.stride[0] + x * image.stride[1]) * size_of(image.dtype);
}

// A part of an image of rows, columns and channels.
Value part(const Value& image, int64_t y, int64_t x, int64_t height, int64_t width) {
    Value found = image;
    found.data = pixel_at(image, y, x);
    found.shape[0] = height;
    found.shape[1] = width;
    return found;
}

void check_image(const Value& x, const std::string& name) {
    if (x.ndim != 3)
        throw Fault(FaultKind::argument, name + ": images must have rows, columns and channels, got " + describe(x));
}

Value new_canvas(Context& context, DType dtype, int64_t height, int64_t width, int64_t channels,
                 const std::string& name) {
    const double elements = static_cast<double>(height) * static_cast<double>(width) * static_cast<double>(channels);
    if (elements > 4.0 * static_cast<double>(context.limits.pixels)) {
        throw Fault(FaultKind::too_large, name + ": a canvas of " + std::to_string(height) + " x " +
                                              std::to_string(width) + " passes the limit of " +
                                              std::to_string(context.limits.pixels) + " pixels");
    }
    return context.allocate(0, dtype, std::array{height, width, channels});
}

class Paste : public Step {
   public:
    void run(Context& context, std::span<const Value> values, std::span<Value> out) const override {
        const PasteInputs in(values);
        const Value& x = in.image;
        check_image(x, "paste");
        const auto ratio = static_cast<float>(in.ratio.number());
        if (!(ratio >= 1))
            throw Fault(FaultKind::argument, "paste: ratio must be at least 1, got " + std::to_string(ratio));
        const auto least = static_cast<int64_t>(in.min_canvas_size.number());
        int64_t size[2], at[2];
        for (int d = 0; d < 2; ++d) {
            const auto share = static_cast<float>((d == 0 ? in.paste_y : in.paste_x).number());
            if (!(share >= 0 && share <= 1)) {
                throw Fault(FaultKind::argument, std::string("paste: paste_") + "yx"[d] + " must be from 0 to 1, got " +
                                                     std::to_string(share));
            }
            const float extent = ratio * static_cast<float>(x.shape[d]);
            if (!(extent < 0x1p31f)) throw Fault(FaultKind::too_large, "paste: the canvas is too large");
            size[d] = std::max(static_cast<int64_t>(extent), least);
            at[d] = static_cast<int64_t>(share * static_cast<float>(size[d] - x.shape[d]));
        }
        out[0] = new_canvas(context, x.dtype, size[0], size[1], x.shape[2], "paste");
        surround(context, out[0], x, in.fill_value, at);
        copy_elements(part(out[0], at[0], at[1], x.shape[0], x.shape[1]), x);
    }

   private:
    // Fills what the image does not cover.
    static void surround(Context& context, const Value& canvas, const Value& x, const Value& fill, const int64_t* at) {
        const int64_t channels = canvas.shape[2];
        if (fill.elements() != 1 && fill.elements() != channels) {
            throw Fault(FaultKind::argument, "paste: fill_value must be one value or " + std::to_string(channels) +
                                                 ", got " + std::to_string(fill.elements()));
        }
        with_type(canvas.dtype, [&](auto zero) {
            using T = decltype(zero);
            const int64_t width = canvas.shape[1], row = width * channels;
            T* line = context.thread.arena.take<T>(static_cast<size_t>(row));
            for (int64_t i = 0; i < row; ++i)
                line[i] = convert<T>(fill.number(fill.elements() == 1 ? 0 : i % channels));
            const int64_t from = at[1] * channels, to = (at[1] + x.shape[1]) * channels;
            for (int64_t y = 0; y < canvas.shape[0]; ++y) {
                T* here = canvas.as<T>() + y * row;
                const bool beside = y >= at[0] && y < at[0] + x.shape[0];
                std::copy_n(line, beside ? from : row, here);
                if (beside) std::copy_n(line, row - to, here + to);
            }
        });
    }
};

// Later images lie on earlier ones.
class MultiPaste : public Step {
   public:
    explicit MultiPaste(const MultiPasteParams& params) : dtype_(params.dtype) {}

    void run(Context& context, std::span<const Value> values, std::span<Value> out) const override {
        const MultiPasteInputs in(values);
        const std::span<const Value> images = in.images;
        int64_t size[2];
        for (const Value& image : images) check_image(image, "multi_paste");
        for (int d = 0; d < 2; ++d)
            size[d] = in.output_size.present() ? in.output_size.integer(in.output_size.elements() == 1 ? 0 : d)
                                               : images[0].shape[d];
        if (size[0] < 0 || size[1] < 0) throw Fault(FaultKind::argument, "multi_paste: output_size cannot be negative");
        const DType dtype = dtype_.value_or(images[0].dtype);
        const Value canvas = new_canvas(context, dtype, size[0], size[1], images[0].shape[2], "multi_paste");
        std::vector<Part> parts;
        for (size_t i = 0; i < images.size(); ++i) {
            parts.push_back(part_of(canvas, images[i], in, static_cast<int64_t>(i), images.size()));
        }
        if (!cover(parts, canvas)) std::memset(canvas.data, 0, static_cast<size_t>(canvas.elements() * size_of(dtype)));
        for (size_t i = 0; i < images.size(); ++i) put(context, canvas, images[i], parts[i]);
        out[0] = canvas;
    }

   private:
    // Where a part begins in its image and on the canvas, and its extents.
    struct Part {
        int64_t from[2], extent[2], to[2];
    };

    // Whether nothing of the canvas can be seen; not found out where parts lie on each other.
    static bool cover(const std::vector<Part>& parts, const Value& canvas) {
        int64_t area = 0;
        for (size_t i = 0; i < parts.size(); ++i) {
            area += parts[i].extent[0] * parts[i].extent[1];
            for (size_t j = 0; j < i; ++j) {
                bool apart = false;
                for (int d = 0; d < 2; ++d) {
                    apart |= parts[i].to[d] >= parts[j].to[d] + parts[j].extent[d] ||
                             parts[j].to[d] >= parts[i].to[d] + parts[i].extent[d];
                }
                if (!apart) return false;
            }
        }
        return area == canvas.shape[0] * canvas.shape[1];
    }

    static Part part_of(const Value& canvas, const Value& image, const MultiPasteInputs& in, int64_t index,
                        size_t count) {
        Part found{};
        auto& [from, extent, to] = found;
        for (int d = 0; d < 2; ++d) {
            const auto whole = static_cast<float>(image.shape[d]), room = static_cast<float>(canvas.shape[d]);
            from[d] = in.in_anchors.present() ? at(in.in_anchors, index, d, count)
                      : in.in_anchors_rel.present()
                          ? static_cast<int64_t>(std::floor(share(in.in_anchors_rel, index, d, count) * whole))
                          : 0;
            extent[d] = in.shapes.present() ? at(in.shapes, index, d, count)
                        : in.shapes_rel.present()
                            ? static_cast<int64_t>(std::ceil(share(in.shapes_rel, index, d, count) * whole))
                            : image.shape[d] - from[d];
            to[d] = in.out_anchors.present() ? at(in.out_anchors, index, d, count)
                    : in.out_anchors_rel.present()
                        ? static_cast<int64_t>(std::floor(share(in.out_anchors_rel, index, d, count) * room))
                        : 0;
            const bool fits = from[d] >= 0 && extent[d] >= 0 && to[d] >= 0 && from[d] + extent[d] <= image.shape[d] &&
                              to[d] + extent[d] <= canvas.shape[d];
            if (!fits) {
                throw Fault(FaultKind::argument, "multi_paste: part " + std::to_string(index) + ", " +
                                                     std::to_string(extent[d]) + " long from " +
                                                     std::to_string(from[d]) + " to " + std::to_string(to[d]) +
                                                     ", reaches outside its image or the canvas");
            }
        }
        if (image.shape[2] != canvas.shape[2]) {
            throw Fault(FaultKind::argument, "multi_paste: images have different numbers of channels");
        }
        return found;
    }

    static void put(Context& context, const Value& canvas, const Value& image, const Part& where) {
        const auto& [from, extent, to] = where;
        const Value source = part(image, from[0], from[1], extent[0], extent[1]);
        const Value target = part(canvas, to[0], to[1], extent[0], extent[1]);
        if (source.dtype == target.dtype) return copy_elements(target, source);
        const Value converted = context.scratch(target.dtype, {source.shape.data(), 3});
        convert_elements(converted, source);
        copy_elements(target, converted);
    }

    static double number(const Value& table, int64_t index, int d, size_t count) {
        if (table.elements() != 2 * static_cast<int64_t>(count) && table.elements() != 1) {
            throw Fault(FaultKind::argument, "multi_paste: anchors and shapes must be two numbers for each of " +
                                                 std::to_string(count) + " images, got " + describe(table));
        }
        if (table.elements() == 1) return table.number();
        return table.number(table.ndim == 2 ? index * table.stride[0] + d * table.stride[1] : 2 * index + d);
    }
    static int64_t at(const Value& table, int64_t index, int d, size_t count) {
        return static_cast<int64_t>(number(table, index, d, count));
    }
    static float share(const Value& table, int64_t index, int d, size_t count) {
        const auto found = static_cast<float>(number(table, index, d, count));
        if (!(found >= 0 && found <= 1)) {
            throw Fault(FaultKind::argument,
                        "multi_paste: relative anchors and shapes must be from 0 to 1, got " + std::to_string(found));
        }
        return found;
    }

    std::optional<DType> dtype_;
};

}  // namespace

std::unique_ptr<Step> make_paste(const PasteParams&) { return std::make_unique<Paste>(); }
std::unique_ptr<Step> make_multi_paste(const MultiPasteParams& params) { return std::make_unique<MultiPaste>(params); }

}  // namespace pixelmill

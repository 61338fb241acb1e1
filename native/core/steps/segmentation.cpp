// Draws from masks, and choices among polygons.
#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "../kernels/convert.h"
#include "../kernels/copy.h"
#include "../kernels/pointwise.h"
#include "../rng.h"
#include "declared/boxes.h"
#include "declared/random.h"
#include "objects.h"

namespace pixelmill {

namespace {

Value packed(Context& context, const Value& x) {
    if (x.contiguous()) return x;
    const Value copy = context.scratch(x.dtype, {x.shape.data(), static_cast<size_t>(x.ndim)});
    copy_elements(copy, x);
    return copy;
}

// The number of a choice by weights, or -1 when they are all 0.
int64_t weighted(Stream& draws, const std::vector<double>& weights) {
    double total = 0;
    for (double weight : weights) total += std::max(weight, 0.0);
    if (!(total > 0)) return -1;
    double left = draws.unit() * total;
    int64_t chosen = -1;
    for (size_t i = 0; i < weights.size(); ++i) {
        if (!(weights[i] > 0)) continue;
        chosen = static_cast<int64_t>(i);
        left -= weights[i];
        if (left < 0) break;
    }
    return chosen;
}

class RandomObject : public Step {
   public:
    explicit RandomObject(const RandomObjectParams& params)
        : key_(params.key),
          format_(params.format),
          largest_(params.k_largest),
          ignores_class_(params.ignore_class),
          outputs_class_(params.output_class) {}

    void run(Context& context, std::span<const Value> values, std::span<Value> out) const override {
        const RandomObjectInputs in(values);
        const Value& mask = in.mask;
        if (mask.ndim < 1) throw Fault(FaultKind::argument, "random_object_bbox: a mask must have axes");
        if (in.threshold.present() && in.threshold.elements() != 1 && in.threshold.elements() != mask.ndim) {
            throw Fault(FaultKind::argument, "random_object_bbox: threshold must be one number or " +
                                                 std::to_string(mask.ndim) + ", got " + describe(in.threshold));
        }
        Stream draws(key_, context.id);
        const bool foreground = draws.unit() < in.foreground_prob.number();
        Classes classes = classes_of(in);
        std::optional<Object> found;
        if (foreground) {
            const std::vector<Object> objects = find_objects(packed(context, mask), classes.background);
            found = ignores_class_ ? pick(draws, objects, mask.ndim, in.threshold)
                                   : pick_class(draws, objects, classes, mask.ndim, in.threshold);
        }
        Object box{classes.background, {}, mask.shape};
        if (found) box = *found;
        put(context, out, box, mask.ndim);
    }

   private:
    struct Classes {
        int64_t background = 0;
        std::vector<int64_t> labels;
        std::vector<double> weights;
        bool given = false;
    };

    static Classes classes_of(const RandomObjectInputs& in) {
        Classes classes;
        classes.background = in.background.present() ? in.background.integer() : 0;
        classes.given = in.classes.present() || in.class_weights.present();
        for (int64_t i = 0; in.classes.present() && i < in.classes.elements(); ++i)
            classes.labels.push_back(in.classes.integer(i));
        const auto& labels = classes.labels;
        if (std::find(labels.begin(), labels.end(), classes.background) != labels.end()) {
            if (in.background.present()) {
                throw Fault(FaultKind::argument, "random_object_bbox: the background " +
                                                     std::to_string(classes.background) + " is also among the classes");
            }
            classes.background = *std::min_element(labels.begin(), labels.end()) - 1;
        }
        for (int64_t i = 0, next = 0; in.class_weights.present() && i < in.class_weights.elements(); ++i, ++next) {
            classes.weights.push_back(in.class_weights.number(i));
            if (in.classes.present()) continue;
            if (next == classes.background) ++next;
            classes.labels.push_back(next);
        }
        if (classes.weights.empty()) classes.weights.assign(classes.labels.size(), 1.0);
        if (classes.weights.size() != classes.labels.size()) {
            throw Fault(FaultKind::argument, "random_object_bbox: classes and class_weights must be equally long");
        }
        return classes;
    }

    // Draws a class, then one of its objects; a class without a fitting one is left out and another drawn.
    std::optional<Object> pick_class(Stream& draws, const std::vector<Object>& objects, Classes& classes, int axes,
                                     const Value& threshold) const {
        std::map<int64_t, std::vector<Object>> by_label;
        for (const Object& object : objects) by_label[object.label].push_back(object);
        if (!classes.given) {
            for (const auto& [label, unused] : by_label) classes.labels.push_back(label);
            classes.weights.assign(classes.labels.size(), 1.0);
        }
        for (size_t i = 0; i < classes.labels.size(); ++i) {
            if (by_label.count(classes.labels[i]) == 0) classes.weights[i] = 0;
        }
        for (;;) {
            const int64_t chosen = weighted(draws, classes.weights);
            if (chosen < 0) return std::nullopt;
            const auto at = static_cast<size_t>(chosen);
            std::optional<Object> found = pick(draws, by_label[classes.labels[at]], axes, threshold);
            if (found) return found;
            classes.weights[at] = 0;
        }
    }

    std::optional<Object> pick(Stream& draws, const std::vector<Object>& objects, int axes,
                               const Value& threshold) const {
        std::vector<Object> fitting;
        for (const Object& object : objects) {
            bool fits = true;
            for (int a = 0; threshold.present() && a < axes; ++a) {
                const auto axis = static_cast<size_t>(a);
                fits &= object.high[axis] - object.low[axis] >= threshold.integer(threshold.elements() == 1 ? 0 : a);
            }
            if (fits) fitting.push_back(object);
        }
        if (fitting.empty()) return std::nullopt;
        if (largest_ > 0 && largest_ < static_cast<int64_t>(fitting.size())) {
            std::stable_sort(fitting.begin(), fitting.end(),
                             [&](const Object& a, const Object& b) { return a.volume(axes) > b.volume(axes); });
            fitting.resize(static_cast<size_t>(largest_));
        }
        return fitting[static_cast<size_t>(draws.below(static_cast<int64_t>(fitting.size())))];
    }

    void put(Context& context, std::span<Value> out, const Object& box, int axes) const {
        const bool joined = format_ == "box", ends = format_ != "anchor_shape";
        const int64_t count = joined ? 2 * axes : axes;
        for (size_t i = 0; i < (joined ? 1u : 2u); ++i)
            out[i] = context.allocate(static_cast<int>(i), DType::i32, {&count, 1});
        int32_t *first = out[0].as<int32_t>(), *second = joined ? first + axes : out[1].as<int32_t>();
        for (size_t a = 0; a < static_cast<size_t>(axes); ++a) {
            first[a] = static_cast<int32_t>(box.low[a]);
            second[a] = static_cast<int32_t>(ends ? box.high[a] : box.high[a] - box.low[a]);
        }
        if (!outputs_class_) return;
        const size_t last = joined ? 1 : 2;
        out[last] = context.allocate(static_cast<int>(last), DType::i32, {});
        *out[last].as<int32_t>() = static_cast<int32_t>(box.label);
    }

    uint64_t key_;
    std::string format_;
    int64_t largest_;
    bool ignores_class_, outputs_class_;
};

// Draw one of the pixels that pass a test: count them all, draw a rank, then find the pixel of that rank. Blocks whose
// count fits a byte let the compiler count with vectors. Clang 14 to 19 do not emit this function when it is a static
// member of RandomPixel, so it is not.
template <class Test>
int64_t nth(Stream& draws, int64_t pixels, Test&& test) {
    constexpr int64_t block = 128;  // as many as a byte can count
    const auto counted = [&](int64_t from) {
        uint8_t count = 0;
        const int64_t to = std::min(from + block, pixels);
        for (int64_t i = from; i < to; ++i) count = static_cast<uint8_t>(count + (test(i) ? 1 : 0));
        return int64_t{count};
    };
    int64_t total = 0;
    for (int64_t from = 0; from < pixels; from += block) total += counted(from);
    if (total == 0) return -1;
    int64_t left = draws.below(total), from = 0;
    for (int64_t count = counted(0); left >= count; count = counted(from)) {
        left -= count;
        from += block;
    }
    while (!test(from) || left-- > 0) ++from;
    return from;
}

class RandomPixel : public Step {
   public:
    explicit RandomPixel(const RandomPixelParams& params) : key_(params.key) {}

    void run(Context& context, std::span<const Value> values, std::span<Value> out) const override {
        const RandomPixelInputs in(values);
        const Value& mask = in.mask;
        if (mask.elements() == 0) throw Fault(FaultKind::argument, "random_mask_pixel: the mask is empty");
        const int64_t count = mask.ndim;
        out[0] = context.allocate(0, DType::i64, {&count, 1});
        auto* place = out[0].as<int64_t>();
        Stream draws(key_, context.id);
        int64_t index = in.foreground.number() != 0 ? drawn(draws, packed(context, mask), in.wanted, in.threshold) : -1;
        if (index < 0) index = draws.below(mask.elements());
        for (int d = mask.ndim - 1; d >= 0; --d) {
            place[d] = index % mask.shape[static_cast<size_t>(d)];
            index /= mask.shape[static_cast<size_t>(d)];
        }
    }

   private:
    // The index of a pixel of the foreground, or -1 where there is none.
    static int64_t drawn(Stream& draws, const Value& mask, const Value& value, const Value& threshold) {
        return with_type(mask.dtype, [&](auto zero) -> int64_t {
            using T = decltype(zero);
            const auto* pixels = mask.as<const T>();
            if constexpr (std::is_same_v<T, uint8_t> || std::is_same_v<T, bool>) {
                const auto* bytes = reinterpret_cast<const uint8_t*>(pixels);
                if (value.present() && (value.number() < 0 || value.number() > 255)) return -1;
                const auto wanted = value.present() ? static_cast<uint8_t>(value.number()) : uint8_t{0};
                if (value.present()) return nth(draws, mask.elements(), [=](int64_t i) { return bytes[i] == wanted; });
                const double above = std::floor(static_cast<float>(threshold.number()));
                if (above >= 0 && above < 255) {
                    const auto bound = static_cast<uint8_t>(above);
                    return nth(draws, mask.elements(), [=](int64_t i) { return bytes[i] > bound; });
                }
            }
            if (value.present()) {
                const auto wanted = value.number();
                return nth(draws, mask.elements(), [=](int64_t i) { return convert<double>(pixels[i]) == wanted; });
            }
            const auto above = static_cast<float>(threshold.number());
            return nth(draws, mask.elements(), [=](int64_t i) { return convert<float>(pixels[i]) > above; });
        });
    }

    uint64_t key_;
};

class SelectMasks : public Step {
   public:
    explicit SelectMasks(const SelectMasksParams& params) : renumbers_(params.reindex_masks) {}

    void run(Context& context, std::span<const Value> values, std::span<Value> out) const override {
        const SelectMasksInputs in(values);
        const Value &ids = in.mask_ids, &polygons = in.polygons, &vertices = in.vertices;
        if (ids.ndim != 1 || polygons.ndim != 2 || polygons.shape[1] != 3 || vertices.ndim != 2) {
            throw Fault(FaultKind::argument,
                        "select_masks: a list of ids, a table of polygons with 3 columns and a table of vertices are "
                        "needed, got " +
                            describe(ids) + ", " + describe(polygons) + " and " + describe(vertices));
        }
        std::vector<Polygon> chosen;
        int64_t total = 0;
        for (int64_t i = 0; i < ids.elements(); ++i) {
            const int64_t id = ids.integer(i);
            for (int64_t k = 0; k < i; ++k) {
                if (ids.integer(k) == id)
                    throw Fault(FaultKind::argument,
                                "select_masks: the mask " + std::to_string(id) + " is named twice");
            }
            const size_t before = chosen.size();
            for (int64_t row = 0; row < polygons.shape[0]; ++row) {
                const Polygon polygon = read(polygons, row, vertices.shape[0]);
                if (polygon.id != id) continue;
                chosen.push_back({renumbers_ ? i : id, polygon.first, polygon.last});
                total += polygon.last - polygon.first;
            }
            if (chosen.size() == before) {
                throw Fault(FaultKind::argument, "select_masks: there is no mask " + std::to_string(id));
            }
        }
        put(context, out, chosen, vertices, total);
    }

   private:
    struct Polygon {
        int64_t id, first, last;  // last is excluded
    };

    static Polygon read(const Value& polygons, int64_t row, int64_t vertices) {
        const auto column = [&](int64_t c) {
            return polygons.integer(row * polygons.stride[0] + c * polygons.stride[1]);
        };
        const Polygon polygon{column(0), column(1), column(2)};
        if (polygon.first < 0 || polygon.last > vertices || polygon.last < polygon.first) {
            throw Fault(FaultKind::argument, "select_masks: polygon " + std::to_string(row) + " has the vertices " +
                                                 std::to_string(polygon.first) + " to " + std::to_string(polygon.last) +
                                                 " of " + std::to_string(vertices));
        }
        return polygon;
    }

    static void put(Context& context, std::span<Value> out, const std::vector<Polygon>& chosen, const Value& vertices,
                    int64_t total) {
        out[0] = context.allocate(0, DType::i32, std::array<int64_t, 2>{static_cast<int64_t>(chosen.size()), 3});
        out[1] = context.allocate(1, vertices.dtype, std::array{total, vertices.shape[1]});
        int64_t at = 0;
        for (size_t i = 0; i < chosen.size(); ++i) {
            const int64_t count = chosen[i].last - chosen[i].first;
            int32_t* row = out[0].as<int32_t>() + 3 * static_cast<int64_t>(i);
            row[0] = static_cast<int32_t>(chosen[i].id);
            row[1] = static_cast<int32_t>(at);
            row[2] = static_cast<int32_t>(at + count);
            Value from = vertices, to = out[1];
            from.data += chosen[i].first * vertices.stride[0] * size_of(vertices.dtype);
            to.data += at * to.stride[0] * size_of(to.dtype);
            from.shape[0] = to.shape[0] = count;
            copy_elements(to, from);
            at += count;
        }
    }

    bool renumbers_;
};

}  // namespace

std::unique_ptr<Step> make_random_object(const RandomObjectParams& params) {
    return std::make_unique<RandomObject>(params);
}
std::unique_ptr<Step> make_random_pixel(const RandomPixelParams& params) {
    return std::make_unique<RandomPixel>(params);
}
std::unique_ptr<Step> make_select_masks(const SelectMasksParams& params) {
    return std::make_unique<SelectMasks>(params);
}

}  // namespace pixelmill

// The record that the sampler chose: read, verified, parsed, and its features as outputs.
#include <array>
#include <cstring>
#include <string>

#include "../file.h"
#include "../records/example_features.h"
#include "../records/tfrecord.h"
#include "../resources.h"
#include "declared/sources.h"

namespace pixelmill {

namespace {

using Spec = ExampleFeatures::Spec;

constexpr int64_t read_at_once = int64_t{1} << 22;  // before a longer record is read, its head is checked

DType dtype_of(ListKind kind) {
    return kind == ListKind::bytes ? DType::u8 : kind == ListKind::floats ? DType::f32 : DType::i64;
}

// Bytes as a value, where they lie.
Value view_of(Bytes bytes) {
    static std::byte nothing;
    Value value;
    value.data = bytes.data() == nullptr ? &nothing : const_cast<std::byte*>(bytes.data());
    value.dtype = DType::u8;
    value.ndim = 1;
    value.shape[0] = static_cast<int64_t>(bytes.size());
    value.stride[0] = 1;
    return value;
}

void check_head(const std::byte* head, int64_t length, int64_t left) {
    uint64_t announced = 0;
    if (length < record_frame) {
        throw Fault(FaultKind::truncated, std::to_string(length) + " bytes are no record; a frame alone has 16");
    }
    if (!read_head(head, announced))
        throw Fault(FaultKind::checksum, "the checksum of the record's length does not fit");
    if (announced == static_cast<uint64_t>(length - record_frame)) return;
    const std::string text = "the record announces " + std::to_string(announced) + " bytes and ";
    if (left < record_frame || announced > static_cast<uint64_t>(left - record_frame)) {
        throw Fault(FaultKind::truncated,
                    text + "the file has " + std::to_string(std::max<int64_t>(left - record_frame, 0)));
    }
    throw Fault(FaultKind::checksum, text + "the index " + std::to_string(length - record_frame) +
                                         "; the record is damaged, or the index is of another file");
}

class ReadExample : public Step {
   public:
    explicit ReadExample(const ReadExampleParams& params)
        : ranges_(params.ranges), features_(params.features), reader_(params.reader) {
        for (const Spec& spec : features_->specs) names_.push_back(spec.name);
    }

    void run(Context& context, std::span<const Value>, std::span<Value> out) const override {
        try {
            std::vector<Feature> found(names_.size());
            find_features(payload(context), names_, found);
            for (size_t i = 0; i < found.size(); ++i) out[i] = give(context, static_cast<int>(i), found[i]);
        } catch (const Fault&) {
            if (!context.fill) throw;
            for (size_t i = 0; i < names_.size(); ++i) out[i] = fill(context, static_cast<int>(i));
        }
    }

   private:
    Bytes payload(Context& context) const {
        const auto item = static_cast<size_t>(context.items[reader_]);
        const ItemSource file(context, *ranges_, static_cast<int64_t>(item));
        const int64_t offset = ranges_->offset[item], length = ranges_->length[item];
        const int64_t left = file->size() - offset;
        if (length > left) {
            throw Fault(FaultKind::truncated,
                        "the file ends " + std::to_string(length - left) + " bytes before the record");
        }
        if (length - record_frame > context.limits.record_bytes) {
            throw Fault(FaultKind::too_large, std::to_string(length - record_frame) +
                                                  " bytes; the limit record_bytes is " +
                                                  std::to_string(context.limits.record_bytes));
        }
        if (length > read_at_once) {
            std::array<std::byte, record_head> head;
            file->read(head.data(), record_head, offset);
            check_head(head.data(), length, left);
        }
        std::byte* record = context.thread.arena.take(static_cast<size_t>(std::max(length, record_frame)));
        file->read(record, length, offset);
        check_head(record, length, left);
        const auto bytes = static_cast<size_t>(length - record_frame);
        if (!payload_fits(record + record_head, bytes)) {
            throw Fault(FaultKind::checksum, "the checksum of the record does not fit");
        }
        return {record + record_head, bytes};
    }

    Value give(Context& context, int index, const Feature& feature) const {
        const Spec& spec = features_->specs[static_cast<size_t>(index)];
        const bool must_have = spec.kind == ListKind::bytes || (spec.fixed && spec.elements > 0);
        if (feature.count == 0 && (must_have || feature.kind == ListKind::none)) return initial(context, index);
        if (feature.kind != spec.kind) {
            throw Fault(FaultKind::corrupt, "feature '" + spec.name + "' holds " + name_of(feature.kind) +
                                                " values, not " + name_of(spec.kind));
        }
        if (spec.kind == ListKind::bytes) return view_of(first_bytes(feature));
        const Value value =
            context.allocate(index, dtype_of(spec.kind), shape(spec, static_cast<int64_t>(feature.count)));
        if (spec.kind == ListKind::floats) {
            read_floats(feature, value.as<float>());
        } else {
            read_integers(feature, value.as<int64_t>());
        }
        return value;
    }

    std::vector<int64_t> shape(const Spec& spec, int64_t count) const {
        if (spec.fixed ? count == spec.elements : (spec.elements > 0 && count % spec.elements == 0)) {
            std::vector<int64_t> extents = spec.shape;
            if (!spec.fixed) extents.insert(extents.begin(), count / spec.elements);
            return extents;
        }
        const std::string found =
            "feature '" + spec.name + "' has " + std::to_string(count) + " value" + (count == 1 ? "" : "s");
        // The record may be whole: the program asks for another number of values than it has.
        if (spec.fixed) {
            throw Fault(FaultKind::argument, found + ", FixedLenFeature asks for " + std::to_string(spec.elements) +
                                                 "; VarLenFeature takes any number");
        }
        throw Fault(FaultKind::argument, found + ", not a multiple of " + std::to_string(spec.elements));
    }

    // The value for a record without this feature: the default, or an empty list.
    Value initial(Context& context, int index) const {
        const Spec& spec = features_->specs[static_cast<size_t>(index)];
        if (!spec.fixed && spec.kind != ListKind::bytes)
            return context.allocate(index, dtype_of(spec.kind), shape(spec, 0));
        if (!spec.has_default) {
            throw Fault(FaultKind::corrupt, "feature '" + spec.name + "' is missing, and it has no default");
        }
        if (spec.kind == ListKind::bytes) return view_of(spec.initial);
        const Value value = context.allocate(index, dtype_of(spec.kind), spec.shape);
        std::memcpy(value.data, spec.initial.data(), spec.initial.size());
        return value;
    }

    Value fill(Context& context, int index) const {
        const Spec& spec = features_->specs[static_cast<size_t>(index)];
        if (spec.kind == ListKind::bytes) return view_of({});
        const std::vector<int64_t> extents = spec.fixed ? spec.shape : shape(spec, 0);
        const Value value = context.allocate(index, dtype_of(spec.kind), extents);
        std::memset(value.data, 0, static_cast<size_t>(value.elements() * size_of(value.dtype)));
        return value;
    }

    std::shared_ptr<const ByteRanges> ranges_;
    std::shared_ptr<const ExampleFeatures> features_;
    size_t reader_;
    std::vector<std::string_view> names_;
};

}  // namespace

std::unique_ptr<Step> make_read_example(const ReadExampleParams& params) {
    return std::make_unique<ReadExample>(params);
}

}  // namespace pixelmill

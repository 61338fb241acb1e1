#include "example.h"

#include <bit>
#include <string>

#include "../fault.h"

namespace pixelmill {

namespace {

constexpr bool is(const Field& field, uint32_t number) { return field.number == number && field.wire == Wire::bytes; }

std::string_view text(Bytes bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

[[noreturn]] void corrupt(const Feature& feature, const std::string& what) {
    throw Fault(FaultKind::corrupt, "feature '" + std::string(feature.name.substr(0, 100)) + "': " + what);
}

std::string_view name_in(Bytes entry) {
    std::string_view name;
    Field field;
    for (Fields fields(entry); fields.next(field);) {
        if (is(field, 1)) name = text(field.bytes);
    }
    return name;
}

// Calls `visit(entry)` for every entry of the map, and `other` for what is none.
template <class Visit, class Other>
void for_entries(Bytes example, const Visit& visit, const Other& other) {
    size_t count = 0;
    Field outer, inner;
    for (Fields fields(example); fields.next(outer);) {
        if (!is(outer, 1)) {
            other(outer, true);
            continue;
        }
        for (Fields features(outer.bytes); features.next(inner);) {
            if (!is(inner, 1)) {
                other(inner, false);
            } else if (++count > most_features) {
                throw Fault(FaultKind::too_large,
                            "the Example has more than " + std::to_string(most_features) + " features");
            } else {
                visit(inner.bytes);
            }
        }
    }
}

// Calls `visit(kind, list)` for every list of a feature; messages that come in pieces are joined by this.
template <class Visit>
void for_lists(Bytes entry, const Visit& visit) {
    Field outer, inner;
    for (Fields fields(entry); fields.next(outer);) {
        if (!is(outer, 2)) continue;
        for (Fields lists(outer.bytes); lists.next(inner);) {
            if (inner.wire == Wire::bytes && inner.number <= 3) visit(static_cast<ListKind>(inner.number), inner.bytes);
        }
    }
}

// Calls `visit(list)` for the lists that count.
template <class Visit>
void for_own_lists(const Feature& feature, const Visit& visit) {
    size_t number = 0;
    for_lists(feature.entry, [&](ListKind, Bytes list) {
        if (number++ >= feature.skipped) visit(list);
    });
}

size_t varints_in(const Feature& feature, Bytes packed) {
    size_t count = 0, at = 0;
    for (uint64_t value; at < packed.size(); ++count) {
        if (!read_varint(packed, at, value)) corrupt(feature, "a wrong number in a list of int64");
    }
    return count;
}

size_t values_in(const Feature& feature, Bytes list) {
    size_t count = 0;
    Field field;
    for (Fields fields(list); fields.next(field);) {
        if (field.number != 1) continue;
        if (feature.kind == ListKind::bytes) {
            count += field.wire == Wire::bytes;
        } else if (feature.kind == ListKind::floats) {
            if (field.wire == Wire::bytes && field.bytes.size() % 4 != 0) corrupt(feature, "a list of floats is cut");
            count += field.wire == Wire::bytes ? field.bytes.size() / 4 : field.wire == Wire::fixed32;
        } else {
            count += field.wire == Wire::bytes ? varints_in(feature, field.bytes) : field.wire == Wire::varint;
        }
    }
    return count;
}

}  // namespace

const char* name_of(ListKind kind) {
    switch (kind) {
        case ListKind::none: return "nothing";
        case ListKind::bytes: return "bytes";
        case ListKind::floats: return "float";
        case ListKind::integers: return "int64";
    }
    return "unknown";
}

std::vector<Feature> parse_example(Bytes example, Unknown* unknown) {
    std::vector<Feature> features;
    for_entries(
        example,
        [&](Bytes entry) {
            Feature feature;
            feature.name = name_in(entry);
            feature.entry = entry;
            measure(feature);
            features.push_back(feature);
        },
        [&](const Field& field, bool outside) {
            if (unknown != nullptr) unknown->add(outside ? unknown->example : unknown->features, field.raw);
        });
    return features;
}

void find_features(Bytes example, std::span<const std::string_view> names, std::span<Feature> found) {
    const auto ignore = [](const Field&, bool) {};
    const auto look = [&](Bytes entry) {
        const std::string_view name = name_in(entry);
        for (size_t i = 0; i < names.size(); ++i) {
            if (names[i] == name) found[i] = {names[i], entry, ListKind::none, 0, 0};
        }
    };
    for (size_t i = 0; i < names.size(); ++i) found[i] = {names[i], {}, ListKind::none, 0, 0};
    for_entries(example, look, ignore);
    for (Feature& feature : found) measure(feature);
}

void measure(Feature& feature) {
    size_t number = 0;
    feature.kind = ListKind::none;
    feature.skipped = feature.count = 0;
    for_lists(feature.entry, [&](ListKind kind, Bytes list) {
        if (kind != feature.kind) {
            feature.kind = kind;
            feature.skipped = number;
            feature.count = 0;
        }
        feature.count += values_in(feature, list);
        ++number;
    });
}

void read_floats(const Feature& feature, float* out) {
    for_own_lists(feature, [&](Bytes list) {
        Field field;
        for (Fields fields(list); fields.next(field);) {
            if (field.number != 1) continue;
            if (field.wire == Wire::fixed32) *out++ = std::bit_cast<float>(static_cast<uint32_t>(field.value));
            if (field.wire != Wire::bytes) continue;
            for (size_t at = 0; at < field.bytes.size(); at += 4) *out++ = std::bit_cast<float>(le32(field.bytes, at));
        }
    });
}

void read_integers(const Feature& feature, int64_t* out) {
    for_own_lists(feature, [&](Bytes list) {
        Field field;
        for (Fields fields(list); fields.next(field);) {
            if (field.number != 1) continue;
            if (field.wire == Wire::varint) *out++ = static_cast<int64_t>(field.value);
            if (field.wire != Wire::bytes) continue;
            uint64_t value = 0;
            for (size_t at = 0; at < field.bytes.size();) {
                read_varint(field.bytes, at, value);
                *out++ = static_cast<int64_t>(value);
            }
        }
    });
}

void read_bytes(const Feature& feature, Bytes* out) {
    for_own_lists(feature, [&](Bytes list) {
        Field field;
        for (Fields fields(list); fields.next(field);) {
            if (is(field, 1)) *out++ = field.bytes;
        }
    });
}

Bytes first_bytes(const Feature& feature) {
    Bytes first;
    bool found = false;
    for_own_lists(feature, [&](Bytes list) {
        Field field;
        for (Fields fields(list); !found && fields.next(field);) {
            if (is(field, 1)) first = field.bytes, found = true;
        }
    });
    return first;
}

void unknown_of(const Feature& feature, std::vector<std::byte>& in_feature, std::vector<std::byte>& in_list) {
    const auto keep = [](std::vector<std::byte>& to, Bytes raw) { to.insert(to.end(), raw.begin(), raw.end()); };
    Field outer, inner;
    for (Fields fields(feature.entry); fields.next(outer);) {
        if (!is(outer, 2)) continue;
        for (Fields lists(outer.bytes); lists.next(inner);) {
            if (inner.wire != Wire::bytes || inner.number > 3) keep(in_feature, inner.raw);
        }
    }
    for_own_lists(feature, [&](Bytes list) {
        for (Fields fields(list); fields.next(inner);) {
            const bool ours = inner.wire == Wire::bytes ||
                              (feature.kind == ListKind::floats && inner.wire == Wire::fixed32) ||
                              (feature.kind == ListKind::integers && inner.wire == Wire::varint);
            if (inner.number != 1 || !ours) keep(in_list, inner.raw);
        }
    });
}

}  // namespace pixelmill

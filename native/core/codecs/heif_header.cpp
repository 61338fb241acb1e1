// HEIC and AVIF: boxes of the ISO base media format. The size is a property of the primary item, and so are rotations
// and reflections, which belong to the image and not to its EXIF: the header describes the image upright.
#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../fault.h"
#include "headers.h"

namespace pixelmill {
namespace {

[[noreturn]] void cut_short(ImageFormat format, Bytes file) {
    throw Fault(FaultKind::truncated, std::string("truncated ") + name_of(format) + ": the " +
                                          std::to_string(file.size()) + " bytes present end inside the header");
}

[[noreturn]] void refuse(ImageFormat format, const std::string& why) {
    throw Fault(FaultKind::corrupt, std::string("corrupt ") + name_of(format) + ": " + why);
}

struct Box {
    Bytes content;
    Bytes type;

    bool is(const char* name) const { return starts_with(type, name, 4); }
};

// Takes the next box off a row of boxes; one that is longer than the row is cut off. False at the end.
bool next_box(Bytes& row, Box& box, bool& is_cut) {
    if (!holds(row, 0, 8)) return false;
    uint64_t head = 8, size = be32(row, 0);
    if (size == 1) {
        if (!holds(row, 0, 16)) return false;
        head = 16;
        size = uint64_t{be32(row, 8)} << 32 | be32(row, 12);
    }
    if (size == 0) size = row.size();  // up to the end
    if (size < head) return false;
    is_cut = size > row.size();
    size = std::min<uint64_t>(size, row.size());
    box = {row.subspan(head, size - head), row.subspan(4, 4)};
    row = row.subspan(size);
    return true;
}

bool find_box(Bytes row, const char* name, Box& found) {
    for (bool is_cut = false; next_box(row, found, is_cut);)
        if (found.is(name)) return true;
    return false;
}

// A number of two bytes, or of four where `wide`; the rest of the content follows.
bool take(Bytes& content, bool wide, uint32_t& number) {
    const uint64_t size = wide ? 4 : 2;
    if (!holds(content, 0, size)) return false;
    number = wide ? be32(content, 0) : be16(content, 0);
    content = content.subspan(size);
    return true;
}

constexpr int max_references = 64;  // real files have an alpha, a depth map and some gain maps

struct Meta {
    std::vector<Box> properties;
    Bytes associations, references;
    uint32_t primary = 0;
};

bool read_primary(Bytes content, uint32_t& item) {
    if (!holds(content, 0, 4)) return false;
    const bool wide = byte_at(content, 0) > 0;
    content = content.subspan(4);
    return take(content, wide, item);
}

Meta read_meta(Bytes content, ImageFormat format) {
    Meta meta;
    Box box, inner, box_of_list;
    bool has_primary = false, is_cut = false;
    for (Bytes row = content; next_box(row, box, is_cut);) {
        if (box.is("pitm")) has_primary = read_primary(box.content, meta.primary);
        if (box.is("iref")) meta.references = box.content;
        if (box.is("iprp")) {
            if (find_box(box.content, "ipco", inner))
                for (Bytes list = inner.content; next_box(list, box_of_list, is_cut);)
                    meta.properties.push_back(box_of_list);
            if (find_box(box.content, "ipma", inner)) meta.associations = inner.content;
        }
    }
    if (!has_primary) refuse(format, "no box names the primary image");
    return meta;
}

// Calls `use` with each property of an item, in order.
template <typename Use>
void each_property(const Meta& meta, uint32_t item, const Use& use) {
    Bytes rest = meta.associations;
    if (!holds(rest, 0, 8)) return;
    const bool wide = byte_at(rest, 0) > 0;
    const uint64_t entry = byte_at(rest, 3) & 1 ? 2 : 1;
    rest = rest.subspan(8);
    for (uint32_t owner = 0; take(rest, wide, owner);) {
        if (!holds(rest, 0, 1)) return;
        const uint64_t count = byte_at(rest, 0);
        if (!holds(rest, 1, count * entry)) return;
        for (uint64_t i = 0; i < count && owner == item; i++) {
            const uint32_t number = entry == 2 ? be16(rest, 1 + 2 * i) & 0x7FFF : byte_at(rest, 1 + i) & 0x7F;
            if (number >= 1 && number <= meta.properties.size()) use(meta.properties[number - 1]);
        }
        rest = rest.subspan(1 + count * entry);
    }
}

bool is_alpha(const Meta& meta, uint32_t item) {
    bool found = false;
    each_property(meta, item, [&](const Box& box) {
        constexpr std::string_view kinds[] = {"urn:mpeg:mpegB:cicp:systems:auxiliary:alpha",
                                              "urn:mpeg:hevc:2015:auxid:1"};
        for (const std::string_view kind : kinds)
            found |= box.is("auxC") && starts_with(box.content, kind.data(), kind.size(), 4);
    });
    return found;
}

// Whether an item that describes the alpha of the primary one refers to it.
bool has_alpha(const Meta& meta) {
    if (!holds(meta.references, 0, 4)) return false;
    const bool wide = byte_at(meta.references, 0) > 0;
    Bytes row = meta.references.subspan(4);
    Box box;
    int left = max_references;
    for (bool is_cut = false; next_box(row, box, is_cut) && left > 0;) {
        uint32_t from = 0, count = 0, to = 0;
        Bytes content = box.content;
        if (!box.is("auxl") || !take(content, wide, from) || !take(content, false, count)) continue;
        for (uint32_t i = 0; i < count && left > 0 && take(content, wide, to); i++, left--)
            if (to == meta.primary && is_alpha(meta, from)) return true;
    }
    return false;
}

// Width or height of a clean aperture: a fraction, of which the whole part is kept.
int64_t whole_part(Bytes content, uint64_t at) {
    const uint32_t divisor = be32(content, at + 4);
    return divisor == 0 ? 0 : be32(content, at) / divisor;
}

void apply_property(ImageInfo& info, const Box& box) {
    const Bytes content = box.content;
    if (box.is("ispe") && holds(content, 0, 12)) {
        info.width = info.coded_width = be32(content, 4);
        info.height = info.coded_height = be32(content, 8);
    } else if (box.is("pixi") && holds(content, 0, 6)) {
        info.channels = byte_at(content, 4) == 1 ? 1 : 3;
        info.bits = byte_at(content, 5) > 8 ? 16 : 8;
    } else if (box.is("irot") && holds(content, 0, 1) && byte_at(content, 0) & 1) {
        std::swap(info.width, info.height);
    } else if (box.is("clap") && holds(content, 0, 16) &&
               info.format == ImageFormat::heic) {  // libavif leaves it alone
        info.width = whole_part(content, 0);
        info.height = whole_part(content, 8);
    }
}

}  // namespace

ImageFormat heif_format(Bytes file) {
    if (!holds(file, 0, 16) || !starts_with(file, "ftyp", 4, 4)) return ImageFormat::unknown;
    const uint64_t end = std::min<uint64_t>(be32(file, 0), file.size());
    bool is_avif = false, is_heic = false;
    for (uint64_t at = 8; at + 4 <= end; at += at == 8 ? 8 : 4) {  // the major brand, its version, the compatible ones
        is_avif |= starts_with(file, "avif", 4, at) || starts_with(file, "avis", 4, at);
        for (const char* brand : {"heic", "heix", "heim", "heis", "hevc", "hevx"})
            is_heic |= starts_with(file, brand, 4, at);
    }
    return is_avif ? ImageFormat::avif : is_heic ? ImageFormat::heic : ImageFormat::unknown;
}

ImageInfo heif_info(Bytes file, ImageFormat format) {
    ImageInfo info{format, 0, 0, 3};
    Bytes row = file;
    Box box;
    bool is_cut = false, is_found = false;
    int boxes = 0;
    for (; next_box(row, box, is_cut); boxes++) {
        if (box.is("moov")) info.more_frames = true;
        if (!box.is("meta") || is_found) continue;
        if (is_cut || !holds(box.content, 0, 4)) cut_short(format, file);
        is_found = true;
        const Meta meta = read_meta(box.content.subspan(4), format);
        each_property(meta, meta.primary, [&](const Box& property) { apply_property(info, property); });
        if (has_alpha(meta)) info.channels++;
    }
    if (!is_found && (is_cut || boxes < 2)) cut_short(format, file);
    if (!is_found) refuse(format, "it has no still image");
    if (info.coded_width == 0 || info.coded_height == 0) info.width = info.height = 0;  // which is refused
    return info;
}

}  // namespace pixelmill

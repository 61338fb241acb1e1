#include "pack_codebook.h"

#include <algorithm>
#include <bit>
#include <map>
#include <mutex>
#include <string>

#include "../fault.h"

namespace pixelmill {
namespace {

constexpr char magic[] = "PMBOOK1\n";
constexpr uint8_t last_in_corner = 9, last_anywhere = 63;
constexpr size_t magic_bytes = 8, profile_bytes = 32;

// FNV-1a.
uint64_t hash_of(Bytes data) {
    uint64_t hash = 0xCBF29CE484222325u;
    for (const std::byte byte : data) hash = (hash ^ std::to_integer<uint64_t>(byte)) * 0x100000001B3u;
    return hash;
}

[[noreturn]] void refuse(const std::string& reason) {
    throw Fault(FaultKind::corrupt, "corrupt codebook of packed images: " + reason);
}

// Where the fields of a payload begin, in bits. A field lies in two bytes, so one that would reach into a third begins
// at the next byte.
struct Fields {
    std::array<int, 64> bit{};
    int length = 0;  // bytes

    explicit Fields(const PackWidths& widths) {
        int at = 0;
        for (size_t k = 0; k < 64; ++k) {
            if ((at & 7) + widths[k] > 16) at = (at + 7) & ~7;
            bit[k] = at;
            at += widths[k];
        }
        length = (at + 7) / 8;
    }
};

PackWidthsList widths_of(Bytes book, const char* name) {
    PackWidthsList list;
    for (size_t number = 0; number < pack_profiles; ++number) {
        for (size_t k = 0; k < 64; ++k) {
            const uint32_t pair = byte_at(book, number * profile_bytes + k / 2);
            const uint32_t width = k % 2 == 0 ? pair & 15 : pair >> 4;
            if (width > most_pack_width || (k == 0 && width != 0)) {
                refuse("width " + std::to_string(width) + " of coefficient " + std::to_string(k) + " in " + name +
                       " profile " + std::to_string(number));
            }
            list[number][k] = static_cast<uint8_t>(width);
        }
    }
    const PackWidths& final = list.back();
    if (std::any_of(final.begin() + 1, final.end(), [](uint8_t width) { return width != most_pack_width; }))
        refuse(std::string("the last ") + name + " profile does not hold every block");
    return list;
}

struct Registry {
    std::mutex mutex;
    std::map<uint64_t, std::shared_ptr<const PackCodebook>> books;
};

Registry& registry() {
    static Registry& all = *new Registry;  // workers may look into it until the very end
    return all;
}

}  // namespace

int pack_payload_length(const PackWidths& widths) { return Fields(widths).length; }

PackBook::PackBook(const PackWidthsList& given) : widths(given) {
    for (size_t number = 0; number < pack_profiles; ++number) expand(number);
}

const PackWritingTables& PackBook::writing() const {
    std::call_once(made_, [this] { writing_ = std::make_unique<const PackWritingTables>(*this); });
    return *writing_;
}

void PackBook::expand(size_t number) {
    const PackWidths& wide = widths[number];
    const Fields fields(wide);
    length[number] = static_cast<uint8_t>(fields.length);
    last[number] = 0;
    for (size_t k = 1; k < 64; ++k) {
        const bool corner = k / 8 < 4 && k % 8 < 4;
        if (wide[k] > 0) last[number] = std::max(last[number], corner ? last_in_corner : last_anywhere);
    }
    for (size_t row = 0; row < 8; ++row) {
        const int first = fields.bit[8 * row] / 8;
        rows[number][row] = static_cast<uint8_t>(first);
        PackRowPair& pair = profiles[number].pairs[row / 2];
        for (size_t column = 0; column < 8; ++column) {
            const size_t k = 8 * row + column, lane = 8 * (row % 2) + column;
            const int width = wide[k], byte = width > 0 ? fields.bit[k] / 8 - first : 0, bit = fields.bit[k] % 8;
            pair.source[2 * lane] = static_cast<uint8_t>(byte);
            pair.source[2 * lane + 1] = static_cast<uint8_t>(byte + 1);
            pair.up[lane] = static_cast<uint16_t>(width > 0 ? 1u << (16 - width - bit) : 0);
            pair.down[lane] = static_cast<uint16_t>(1u << width);
        }
    }
}

PackWritingTables::PackWritingTables(const PackBook& book) : quads{}, covering{} {
    for (size_t number = 0; number < pack_profiles; ++number) {
        const PackWidths& widths = book.widths[number];
        const Fields fields(widths);
        PackQuads& made = quads[number];
        int bit = 0;
        for (size_t k = 0; k < 64; ++k) {
            const uint64_t width = widths[k];
            bits[number][k] = static_cast<uint16_t>(fields.bit[k]);
            made.fields[k / 4] |= ((uint64_t{1} << width) - 1) << k % 4 * 16;
            made.used |= (width > 0 ? 1u : 0u) << k / 4;
            made.gaps = made.gaps || (width > 0 && fields.bit[k] != bit);
            bit += static_cast<int>(width);
            const size_t widest = k == 0 ? covering[k].size() - 1 : width;
            for (size_t w = 0; w <= widest; ++w) covering[k][w].words[number / 64] |= uint64_t{1} << (number % 64);
        }
    }
}

PackCodebook::PackCodebook(Bytes data) : data_(data.begin(), data.end()), identity_(hash_of(data)) {
    if (!starts_with(data, magic, magic_bytes)) refuse("it does not begin with PMBOOK1");
    if (data.size() != serialized_bytes) {
        throw Fault(data.size() < serialized_bytes ? FaultKind::truncated : FaultKind::corrupt,
                    "codebook of packed images: " + std::to_string(data.size()) + " bytes instead of " +
                        std::to_string(serialized_bytes));
    }
    const size_t half = pack_profiles * profile_bytes;
    luma_ = std::make_unique<const PackBook>(widths_of(data.subspan(magic_bytes, half), "luma"));
    chroma_ = std::make_unique<const PackBook>(widths_of(data.subspan(magic_bytes + half, half), "chroma"));
}

std::vector<std::byte> serialize_codebook(const PackWidthsList& luma, const PackWidthsList& chroma) {
    std::vector<std::byte> data(PackCodebook::serialized_bytes);
    std::memcpy(data.data(), magic, magic_bytes);
    std::byte* at = data.data() + magic_bytes;
    for (const PackWidthsList* list : {&luma, &chroma}) {
        for (const PackWidths& widths : *list) {
            for (size_t k = 0; k < 64; k += 2) *at++ = static_cast<std::byte>(widths[k] | widths[k + 1] << 4);
        }
    }
    return data;
}

std::shared_ptr<const PackCodebook> register_codebook(Bytes data) {
    const auto book = std::make_shared<const PackCodebook>(data);
    Registry& all = registry();
    const std::lock_guard lock(all.mutex);
    const auto [place, added] = all.books.try_emplace(book->identity(), book);
    if (!added && place->second->data() != book->data())
        throw Fault(FaultKind::argument, "another codebook with the same identity is in use");
    return place->second;
}

std::shared_ptr<const PackCodebook> find_codebook(uint64_t identity) {
    Registry& all = registry();
    const std::lock_guard lock(all.mutex);
    const auto found = all.books.find(identity);
    return found == all.books.end() ? nullptr : found->second;
}

std::shared_ptr<const PackCodebook> required_codebook(uint64_t identity) {
    auto found = find_codebook(identity);
    if (found != nullptr) return found;
    constexpr char digits[] = "0123456789abcdef";
    std::string name;
    for (int shift = 60; shift >= 0; shift -= 4) name += digits[identity >> shift & 15];
    throw Fault(FaultKind::argument, "packed image: its codebook " + name +
                                         " is not loaded; read the image through the pack that it belongs to");
}

}  // namespace pixelmill

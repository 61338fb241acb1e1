#include "pack_writer.h"

#include <algorithm>
#include <cstring>

#include "../fault.h"
#include "../records/crc32c.h"
#include "exif.h"
#include "jpeg_markers.h"

namespace pixelmill {
namespace {

constexpr int64_t band_pixels = 32;                         // rows of pixels that a band has at least
constexpr int64_t checked_height = 32, checked_width = 64;  // of the window whose pixels are compared
// It begins in the first rows, since a JPEG decoder reads all that comes before it. That every coefficient is right is
// known by then; this compares what becomes of them, which depends on no row.
constexpr int64_t checked_rows = 32;
constexpr uint64_t most_bytes = uint64_t{1} << 31;

// A buffer of known size that is filled from its beginning.
class Output {
   public:
    explicit Output(std::byte* to) : at_(to) {}
    void put(uint64_t value, int bytes) {
        for (int i = 0; i < bytes; ++i) *at_++ = static_cast<std::byte>(value >> 8 * i);
    }
    void put(Bytes bytes) {
        if (!bytes.empty()) std::memcpy(at_, bytes.data(), bytes.size());
        at_ += bytes.size();
    }

   private:
    std::byte* at_;
};

// The quantization tables that are used, each once, and which of them a component has.
struct Quantization {
    std::vector<const std::array<uint16_t, 64>*> tables;
    std::array<size_t, JpegFrame::most_components> number{};
    bool wide = false;

    explicit Quantization(const JpegParser& parser) {
        for (int i = 0; i < parser.frame().count; ++i) {
            const int slot = parser.frame().components[static_cast<size_t>(i)].quant;
            const auto& table = parser.tables().quant[static_cast<size_t>(slot)];
            const auto known = std::find_if(tables.begin(), tables.end(), [&](auto* other) { return *other == table; });
            number[static_cast<size_t>(i)] = static_cast<size_t>(known - tables.begin());
            if (known == tables.end()) tables.push_back(&table);
            wide = wide || *std::max_element(table.begin(), table.end()) > 255;
        }
    }
};

uint32_t orientation_byte(Bytes exif) {
    const ExifOrientation orientation = exif_orientation(exif);
    return orientation.invalid ? 0 : static_cast<uint32_t>(orientation.value);
}

uint64_t flags_of(bool wide_quantization, bool wide_lengths, bool zero_padding, bool more_frames) {
    return (wide_quantization ? pack_wide_quantization : 0) | (wide_lengths ? pack_wide_lengths : 0) |
           (zero_padding ? pack_zero_padding : 0) | (more_frames ? pack_several_frames : 0);
}

}  // namespace

PackWriter::Result PackWriter::pack(Bytes file, const PackCodebook& codebook) {
    Result result;
    if (file.size() >= most_bytes) return {{}, "larger than 2 GB"};
    result.reason = source_.open(file);
    if (result.reason.empty()) result.reason = write_sections(codebook);
    uint64_t scan_end = 0;
    if (result.reason.empty() && !source_.finish(scan_end)) result.reason = "damaged: its scan does not end";
    if (!result.reason.empty()) return result;
    codebook_ = codebook.identity();
    // Encoders fill the last byte of a scan with ones; a few use zeros.
    for (const bool zero_padding : {false, true}) {
        assemble(file, scan_end, zero_padding);
        if (!restores(file)) continue;
        if (!has_same_pixels(file)) break;
        result.packed = packed_;
        return result;
    }
    return {{}, "it would not be restored byte for byte"};
}

std::string PackWriter::write_sections(const PackCodebook& codebook) {
    const int64_t mcu_height = int64_t{source_.frame().max_v} * 8;
    band_rows_ = (band_pixels + mcu_height - 1) / mcu_height;
    bands_ = 0;
    sections_.begin(codebook);
    for (int64_t row = 0; row < source_.mcu_rows(); row += band_rows_, ++bands_) {
        const int64_t rows = std::min(band_rows_, source_.mcu_rows() - row);
        if (!source_.read_band(rows)) return "damaged or truncated";
        if (!sections_.add_band(source_, rows)) return "coefficients of more than 12 bits";
        for (size_t section = 0; section < pack_sections; ++section) {
            if (sections_[section].bytes().size() >= most_bytes) return "larger than 2 GB";
        }
    }
    return {};
}

// The order of the fields is that of docs/packed-image.md.
void PackWriter::assemble(Bytes file, uint64_t scan_end, bool zero_padding) {
    const JpegFrame& frame = source_.frame();
    const Quantization quantization(source_.parser());
    const JpegHeader header = read_jpeg_header(file);
    const Bytes before = file.first(source_.parser().scan().data), after = file.subspan(scan_end);
    const bool wide_lengths = has_long_band();
    const size_t header_bytes = pack_fixed_bytes + quantization.tables.size() * (quantization.wide ? 128 : 64) +
                                bands_ * pack_sections * (wide_lengths ? 8 : 6);
    size_t total = header_bytes + before.size() + after.size();
    for (size_t section = 0; section < pack_sections; ++section) total += sections_[section].bytes().size();
    packed_.resize(total);

    Output out(packed_.data());
    out.put({reinterpret_cast<const std::byte*>(pack_magic), pack_magic_bytes});
    out.put(pack_version, 2);
    out.put(static_cast<uint64_t>(frame.count), 1);
    out.put(frame.space == JpegSpace::gray ? 0 : frame.space == JpegSpace::ycc ? 1 : 2, 1);
    out.put(static_cast<uint64_t>(frame.width), 4);
    out.put(static_cast<uint64_t>(frame.height), 4);
    for (size_t i = 0; i < JpegFrame::most_components; ++i) {
        const JpegComponent& component = frame.components[i];
        out.put(static_cast<int>(i) < frame.count ? static_cast<uint64_t>(component.h << 4 | component.v) : 0, 1);
    }
    out.put(orientation_byte(header.exif), 1);
    for (const size_t number : quantization.number) out.put(number, 1);
    out.put(quantization.tables.size(), 1);
    out.put(static_cast<uint64_t>(band_rows_), 1);
    out.put(flags_of(quantization.wide, wide_lengths, zero_padding, header.more_frames), 1);
    out.put(0, 2);
    out.put(codebook_, 8);
    out.put(header_bytes, 4);
    for (size_t section = 0; section < pack_sections; ++section) out.put(sections_[section].bytes().size(), 4);
    out.put(before.size(), 4);
    out.put(after.size(), 4);
    out.put(file.size(), 4);
    out.put(crc32c(file), 4);
    out.put(crc32c(after, crc32c(before)), 4);
    out.put(0, 4);  // the checksum of the header comes when all of it is there
    for (const auto* table : quantization.tables) {
        for (const uint16_t entry : *table) out.put(entry, quantization.wide ? 2 : 1);
    }
    for (size_t band = 0; band < bands_; ++band) {
        for (size_t section = 0; section < pack_sections; ++section) {
            out.put(sections_[section].band(band).size(), wide_lengths ? 4 : 2);
            out.put(crc32c(sections_[section].band(band)), 4);
        }
    }
    for (size_t section = 0; section < pack_sections; ++section) out.put(sections_[section].bytes());
    out.put(before);
    out.put(after);
    Output(packed_.data() + pack_checksum_at).put(pack_header_checksum(packed_, header_bytes), 4);
}

bool PackWriter::has_long_band() const {
    for (size_t section = 0; section < pack_sections; ++section) {
        for (size_t band = 0; band < bands_; ++band) {
            if (sections_[section].band(band).size() > 0xFFFF) return true;
        }
    }
    return false;
}

bool PackWriter::restores(Bytes file) {
    try {
        restorer_.restore(restored_, packed_);
        return restored_.size() == file.size() && std::memcmp(restored_.data(), file.data(), file.size()) == 0;
    } catch (const Fault&) {
        return false;  // a file that encodes its coefficients as no writer of ours does
    }
}

// Compares a window with what the decoder of JPEG files makes of it; where, depends on the file.
bool PackWriter::has_same_pixels(Bytes file) {
    const JpegFrame& frame = source_.frame();
    arena_.reset();
    decoder_.open(packed_, Limits{.pixels = INT64_MAX, .side = INT64_MAX});
    const uint32_t seed = decoder_.layout().original_checksum;
    const int64_t height = std::min(checked_height, frame.height), width = std::min(checked_width, frame.width);
    const int64_t y = (seed & 0xFFFF) % (std::min(checked_rows, frame.height - height) + 1);
    const int64_t x = (seed >> 16) % (frame.width - width + 1);
    const JpegRequest request{JpegColor::rgb, 1, {y, x, height, width}};
    std::vector<uint8_t> ours(static_cast<size_t>(3 * height * width)), theirs(ours.size());
    const auto view = [&](std::vector<uint8_t>& pixels) {
        return View<uint8_t>{pixels.data(), height, width, 3, 3 * width, 3, 1};
    };
    decoder_.decode(request, view(ours));
    return jpeg_.open(file) && jpeg_.decode(request, view(theirs)) && ours == theirs;
}

}  // namespace pixelmill

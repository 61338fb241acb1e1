#include "jpeg_frame.h"

#include <algorithm>
#include <cstring>

#include "jpeg_zigzag.h"

namespace pixelmill {
namespace {

constexpr uint32_t sof0 = 0xC0, sof1 = 0xC1, sof2 = 0xC2, dht = 0xC4, soi = 0xD8, eoi = 0xD9, sos = 0xDA, dqt = 0xDB,
                   dri = 0xDD, app0 = 0xE0, app14 = 0xEE, app15 = 0xEF, comment = 0xFE;
constexpr int64_t longest_side = 65500;  // what libjpeg-turbo decodes
constexpr int most_blocks = 10;          // of an MCU, by the standard

}  // namespace

void JpegParser::open(Bytes file) {
    file_ = file;
    at_ = 2;
    frame_ = {};
    tables_.quant_defined = {};
    for (HuffmanSpec& spec : tables_.dc) spec.defined = false;
    for (HuffmanSpec& spec : tables_.ac) spec.defined = false;
    tables_.restart_interval = 0;
    jfif_ = adobe_ = scan_seen_ = false;
    if (file.size() < 4 || byte_at(file, 0) != 0xFF || byte_at(file, 1) != soi) at_ = file.size();
}

JpegParser::Found JpegParser::next_scan(uint64_t at) {
    at_ = at;
    return next_scan();
}

JpegParser::Found JpegParser::next_scan() {
    while (holds(file_, at_, 2)) {
        if (byte_at(file_, at_) != 0xFF) return Found::other;
        const uint32_t marker = byte_at(file_, at_ + 1);
        if (marker == 0xFF) {  // fill bytes may stand before any marker
            ++at_;
            continue;
        }
        at_ += 2;
        if (marker == eoi) return Found::end;
        if (!holds(file_, at_, 2)) return Found::other;
        const uint32_t length = be16(file_, at_);
        if (length < 2 || !holds(file_, at_, length)) return Found::other;
        const Bytes payload = file_.subspan(at_ + 2, length - 2);
        at_ += length;
        if (!read_segment(marker, payload)) return Found::other;
        if (marker == sos) {
            scan_.data = at_;
            return Found::scan;
        }
    }
    return Found::other;
}

bool JpegParser::read_segment(uint32_t marker, Bytes payload) {
    switch (marker) {
        case sof0:
        case sof1:
        case sof2: return read_frame(marker, payload);
        case dqt: return read_quantization(payload);
        case dht: return read_huffman(payload);
        case sos: return read_scan(payload);
        case dri:
            if (payload.size() != 2) return false;
            tables_.restart_interval = be16(payload, 0);
            return true;
        default:
            return (marker >= app0 && marker <= app15) || marker == comment ? read_application(marker, payload) : false;
    }
}

bool JpegParser::read_frame(uint32_t marker, Bytes payload) {
    if (frame_.count != 0 || payload.size() < 6) return false;
    const auto count = byte_at(payload, 5);
    if (byte_at(payload, 0) != 8 || (count != 1 && count != 3) || payload.size() != 6 + 3 * count) return false;
    frame_.progressive = marker == sof2;
    frame_.height = be16(payload, 1);
    frame_.width = be16(payload, 3);
    if (frame_.height == 0 || frame_.width == 0 || std::max(frame_.height, frame_.width) > longest_side) return false;
    int blocks = 0;
    for (uint32_t i = 0; i < count; ++i) {
        const uint32_t factors = byte_at(payload, 7 + 3 * i), quant = byte_at(payload, 8 + 3 * i);
        JpegComponent& component = frame_.components[i];
        component = {byte_at(payload, 6 + 3 * i), static_cast<int>(factors >> 4), static_cast<int>(factors & 15),
                     static_cast<int>(quant)};
        for (uint32_t j = 0; j < i; ++j) {
            if (frame_.components[j].id == component.id) return false;
        }
        if (component.h < 1 || component.h > 4 || component.v < 1 || component.v > 4 || quant >= JpegTables::slots)
            return false;
        // The blocks of a single component come one by one, whatever its factors are.
        if (count == 1) {
            frame_.rows_at_once = component.v;
            component.h = component.v = 1;
        }
        frame_.max_h = std::max(frame_.max_h, component.h);
        frame_.max_v = std::max(frame_.max_v, component.v);
        blocks += component.h * component.v;
    }
    for (uint32_t i = 0; i < count; ++i) {
        if (frame_.max_h % frame_.components[i].h != 0 || frame_.max_v % frame_.components[i].v != 0) return false;
    }
    frame_.count = static_cast<int>(count);
    return blocks <= most_blocks;
}

// Which table counts depends on the scans of a component when tables change between them; hardly any file does that.
bool JpegParser::read_quantization(Bytes payload) {
    if (scan_seen_) return false;
    uint64_t at = 0;
    while (at < payload.size()) {
        const uint32_t kind = byte_at(payload, at++), slot = kind & 15, bytes = (kind >> 4) + 1;
        if (slot >= JpegTables::slots || bytes > 2 || !holds(payload, at, uint64_t{64} * bytes)) return false;
        for (size_t k = 0; k < 64; ++k, at += bytes) {
            tables_.quant[slot][zigzag[k]] =
                static_cast<uint16_t>(bytes == 1 ? byte_at(payload, at) : be16(payload, at));
        }
        tables_.quant_defined[slot] = true;
    }
    return true;
}

bool JpegParser::read_huffman(Bytes payload) {
    uint64_t at = 0;
    while (at < payload.size()) {
        const uint32_t kind = byte_at(payload, at++), slot = kind & 15;
        if (slot >= JpegTables::slots || kind > 0x1F || !holds(payload, at, 16)) return false;
        HuffmanSpec& spec = (kind >> 4 ? tables_.ac : tables_.dc)[slot];
        uint32_t total = 0;
        for (size_t length = 1; length <= 16; ++length) {
            spec.counts[length] = static_cast<uint8_t>(byte_at(payload, at++));
            total += spec.counts[length];
        }
        if (total > spec.symbols.size() || !holds(payload, at, total)) return false;
        spec.symbols.fill(0);
        std::memcpy(spec.symbols.data(), payload.data() + at, total);
        spec.defined = true;
        at += total;
    }
    return true;
}

bool JpegParser::read_scan(Bytes payload) {
    if (frame_.count == 0 || payload.empty()) return false;
    const uint32_t count = byte_at(payload, 0);
    if (count < 1 || count > static_cast<uint32_t>(frame_.count) || payload.size() != 4 + 2 * count) return false;
    scan_.count = static_cast<int>(count);
    int before = -1;
    for (uint32_t i = 0; i < count; ++i) {
        const uint32_t id = byte_at(payload, 1 + 2 * i), numbers = byte_at(payload, 2 + 2 * i);
        int found = before + 1;  // components come in the order of the frame
        while (found < frame_.count && frame_.components[static_cast<size_t>(found)].id != id) ++found;
        if (found == frame_.count || (numbers >> 4) >= JpegTables::slots || (numbers & 15) >= JpegTables::slots)
            return false;
        scan_.parts[i] = {found, static_cast<int>(numbers >> 4), static_cast<int>(numbers & 15)};
        before = found;
    }
    scan_.first = static_cast<int>(byte_at(payload, 1 + 2 * count));
    scan_.last = static_cast<int>(byte_at(payload, 2 + 2 * count));
    scan_.high = static_cast<int>(byte_at(payload, 3 + 2 * count) >> 4);
    scan_.low = static_cast<int>(byte_at(payload, 3 + 2 * count) & 15);
    const bool known = scan_seen_ || choose_space();
    scan_seen_ = true;
    return known;
}

// The first APP0 or APP14 that is large enough decides, as in libjpeg-turbo; a JFIF version it would warn about is left
// to it.
bool JpegParser::read_application(uint32_t marker, Bytes payload) {
    if (marker == app0 && payload.size() >= 14 && starts_with(payload, "JFIF\0", 5)) {
        if (byte_at(payload, 5) != 1) return false;
        jfif_ = true;
    }
    if (marker == app14 && payload.size() >= 12 && starts_with(payload, "Adobe", 5)) {
        adobe_ = true;
        adobe_transform_ = byte_at(payload, 11);
    }
    return true;
}

bool JpegParser::choose_space() {
    if (frame_.count == 1) {
        frame_.space = JpegSpace::gray;
        return true;
    }
    const auto& c = frame_.components;
    const bool named_rgb = c[0].id == 'R' && c[1].id == 'G' && c[2].id == 'B';
    const bool rgb = !jfif_ && (adobe_ ? adobe_transform_ == 0 : named_rgb);
    frame_.space = rgb ? JpegSpace::rgb : JpegSpace::ycc;
    return jfif_ || !adobe_ || adobe_transform_ <= 1;
}

}  // namespace pixelmill

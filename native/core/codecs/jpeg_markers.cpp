#include "jpeg_markers.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "../fault.h"
#include "exif.h"

namespace pixelmill {
namespace {

constexpr uint32_t soi = 0xD8, eoi = 0xD9, sos = 0xDA, app1 = 0xE1, app2 = 0xE2;
constexpr uint32_t image_count_tag = 0xB001;  // CIPA DC-007, 5.2.3.2

bool is_frame(uint32_t marker) {
    return marker >= 0xC0 && marker <= 0xCF && marker != 0xC4 && marker != 0xC8 && marker != 0xCC;
}

bool stands_alone(uint32_t marker) { return marker == 0x01 || (marker >= 0xD0 && marker <= soi); }

struct Segment {
    uint32_t marker = 0;  // 0 at the end of the file
    uint64_t payload = 0, length = 0;
    bool cut = false;  // the file ends inside of it
    uint64_t next = 0;
};

// The next marker at or after `at`, as libjpeg looks for it: anything that is not 0xFF is passed over, and so are
// stuffed zeros, which makes this the way through entropy-coded data too.
Segment next_segment(Bytes file, uint64_t at) {
    Segment segment;
    while (at < file.size()) {
        const void* found = std::memchr(file.data() + at, 0xFF, file.size() - at);
        if (!found) break;
        at = static_cast<uint64_t>(static_cast<const std::byte*>(found) - file.data()) + 1;
        while (at < file.size() && byte_at(file, at) == 0xFF) at++;
        if (at == file.size()) break;
        const uint32_t marker = byte_at(file, at++);
        if (marker == 0 || stands_alone(marker)) continue;
        segment.marker = marker;
        segment.next = at;
        if (marker == eoi) return segment;
        segment.cut = !holds(file, at, 2) || !holds(file, at, be16(file, at));
        if (segment.cut) return segment;
        // As libjpeg does, an impossible length is read as an empty segment.
        const uint64_t length = std::max<uint64_t>(be16(file, at), 2);
        segment.payload = at + 2;
        segment.length = length - 2;
        segment.next = at + length;
        return segment;
    }
    return segment;
}

[[noreturn]] void header_cut(Bytes file) {
    throw Fault(FaultKind::truncated, "truncated JPEG: the " + std::to_string(file.size()) +
                                          " bytes present end inside the header, row 0 is the first missing");
}

void read_frame(JpegHeader& header, Bytes file, const Segment& segment) {
    if (segment.length < 6) throw Fault(FaultKind::corrupt, "corrupt JPEG: the frame header is too short");
    header.frame = segment.marker;
    header.bits = static_cast<int>(byte_at(file, segment.payload));
    header.height = be16(file, segment.payload + 1);
    header.width = be16(file, segment.payload + 3);
    header.components = static_cast<int>(byte_at(file, segment.payload + 5));
}

void read_application(JpegHeader& header, Bytes file, const Segment& segment) {
    const Bytes payload = file.subspan(segment.payload, segment.length);
    if (segment.marker == app1 && header.exif.empty() && starts_with(payload, "Exif\0\0", 6))
        header.exif = payload.subspan(6);
    if (segment.marker == app2 && starts_with(payload, "MPF\0", 4))
        header.more_frames = tiff_tag(payload.subspan(4), image_count_tag).value_or(1) > 1;
}

// The scans of the whole file; stops counting above `enough`.
int64_t count_scans(Bytes file, int64_t enough) {
    int64_t scans = 0;
    for (uint64_t at = 2; scans <= enough;) {
        const Segment segment = next_segment(file, at);
        if (segment.marker == 0 || segment.marker == eoi || segment.cut) break;
        scans += segment.marker == sos;
        at = segment.next;
    }
    return scans;
}

}  // namespace

JpegHeader read_jpeg_header(Bytes file) {
    JpegHeader header;
    for (uint64_t at = 2;;) {
        const Segment segment = next_segment(file, at);
        if (segment.marker == 0 || segment.cut) {
            if (header.frame) return header;
            header_cut(file);
        }
        if (segment.marker == sos || segment.marker == eoi) {
            if (header.frame) return header;
            throw Fault(FaultKind::corrupt, "corrupt JPEG: no frame header before the first scan");
        }
        if (is_frame(segment.marker) && !header.frame) read_frame(header, file, segment);
        if (segment.marker == app1 || segment.marker == app2) read_application(header, file, segment);
        at = segment.next;
    }
}

void check_scans(Bytes file, int64_t width, int64_t height, const Limits& limits) {
    const int64_t most = std::min(limits.scans, limits.scan_pixels / (width * height));
    if (count_scans(file, most) <= most) return;
    throw Fault(FaultKind::too_large, "JPEG of more than " + std::to_string(most) + " scans of " +
                                          std::to_string(height) + " x " + std::to_string(width) +
                                          " pixels: the limits are " + std::to_string(limits.scans) + " scans and " +
                                          std::to_string(limits.scan_pixels) + " pixels in all of them");
}

}  // namespace pixelmill

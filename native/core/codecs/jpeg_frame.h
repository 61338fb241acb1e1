// The markers of a JPEG file, parsed strictly: everything our own decoder needs to know about a file, or the verdict
// that the file is not one of those it takes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "bytes.h"

namespace pixelmill {

enum class JpegSpace : uint8_t { gray, ycc, rgb };

struct JpegComponent {
    uint32_t id = 0;
    int h = 1, v = 1;  // sampling factors
    int quant = 0;     // number of its quantization table
};

struct JpegFrame {
    static constexpr int most_components = 3;

    int64_t width = 0, height = 0;
    bool progressive = false;
    JpegSpace space = JpegSpace::ycc;
    int count = 0;  // of components
    std::array<JpegComponent, most_components> components{};
    int max_h = 1, max_v = 1;
    int rows_at_once = 1;  // of MCUs that libjpeg-turbo reads together: more than one for odd files of one component
};

// A Huffman table as a file defines it: how many codes have each length, and their symbols in order.
struct HuffmanSpec {
    bool defined = false;
    std::array<uint8_t, 17> counts{};
    std::array<uint8_t, 256> symbols{};
};

struct JpegTables {
    static constexpr int slots = 4;

    std::array<bool, slots> quant_defined{};
    std::array<std::array<uint16_t, 64>, slots> quant{};  // row by row
    std::array<HuffmanSpec, slots> dc{}, ac{};
    uint32_t restart_interval = 0;  // MCUs between restart markers; 0: there are none
};

struct JpegScan {
    struct Part {
        int component = 0, dc = 0, ac = 0;  // which component, and the numbers of its Huffman tables
    };

    int count = 0;
    std::array<Part, JpegFrame::most_components> parts{};
    int first = 0, last = 63;  // coefficients of the stream that the scan holds
    int high = 0, low = 0;     // successive approximation
    uint64_t data = 0;         // where the entropy-coded bytes begin
};

// Moves from scan to scan. Anything that libjpeg-turbo would warn about, refuse or treat specially is `other`: such
// files are left to it, so that they have its pixels and its messages.
class JpegParser {
   public:
    enum class Found : uint8_t { scan, end, other };

    // Starts with a file.
    void open(Bytes file);

    // Moves on to the next scan. `at` is where to go on: after the previous scan's data.
    Found next_scan();
    Found next_scan(uint64_t at);

    const JpegFrame& frame() const { return frame_; }
    const JpegTables& tables() const { return tables_; }
    const JpegScan& scan() const { return scan_; }

   private:
    bool read_segment(uint32_t marker, Bytes payload);
    bool read_frame(uint32_t marker, Bytes payload);
    bool read_quantization(Bytes payload);
    bool read_huffman(Bytes payload);
    bool read_scan(Bytes payload);
    bool read_application(uint32_t marker, Bytes payload);
    bool choose_space();

    Bytes file_;
    uint64_t at_ = 0;
    JpegFrame frame_;
    JpegTables tables_;
    JpegScan scan_;
    bool jfif_ = false, adobe_ = false, scan_seen_ = false;
    uint32_t adobe_transform_ = 0;
};

}  // namespace pixelmill

#include "jpeg_header_writer.h"

#include <initializer_list>
#include <span>

#include "jpeg_zigzag.h"

namespace pixelmill {

namespace {

// ITU-T T.81, table B.1
enum Marker : uint8_t { SOF0 = 0xC0, DHT = 0xC4, SOI = 0xD8, EOI = 0xD9, SOS = 0xDA, DQT = 0xDB, APP0 = 0xE0 };

class MarkerWriter {
   public:
    explicit MarkerWriter(std::vector<std::byte>& out) : out_(out) {}

    void bytes(std::span<const uint8_t> values) {
        for (const uint8_t value : values) out_.push_back(static_cast<std::byte>(value));
    }
    void bytes(std::initializer_list<int> values) {
        for (const int value : values) out_.push_back(static_cast<std::byte>(value));
    }
    void word(int value) { bytes({value >> 8, value & 0xFF}); }
    void marker(Marker marker) { bytes({0xFF, marker}); }
    // The length counts its own two bytes.
    void segment(Marker which, int content) {
        marker(which);
        word(content + 2);
    }

   private:
    std::vector<std::byte>& out_;
};

void write_jfif(MarkerWriter& to) {
    to.segment(APP0, 14);
    to.bytes({'J', 'F', 'I', 'F', 0});
    to.bytes({1, 1});                 // version 1.01
    to.bytes({0, 0, 1, 0, 1, 0, 0});  // pixels are square, of no known size; no thumbnail
}

void write_quantization(MarkerWriter& to, int number, const QuantizationTable& table) {
    to.segment(DQT, 1 + 64);
    to.bytes({number});
    for (size_t k = 0; k < table.size(); ++k) to.bytes({table[zigzag[k]]});
}

void write_frame(MarkerWriter& to, const JpegFileHeader& header) {
    const bool subsampled = header.components == 3 && header.sampling != ChromaSampling::full;
    const int across = subsampled ? 2 : 1, down = subsampled && header.sampling == ChromaSampling::quarter ? 2 : 1;
    to.segment(SOF0, 6 + 3 * header.components);
    to.bytes({8});  // bits of a sample
    to.word(header.height);
    to.word(header.width);
    to.bytes({header.components});
    to.bytes({1, across << 4 | down, 0});
    for (int number = 2; number <= header.components; ++number) to.bytes({number, 0x11, 1});
}

void write_huffman(MarkerWriter& to, int number, const StandardHuffman& dc, const StandardHuffman& ac) {
    for (const auto& [kind, table] : {std::pair{0x00, &dc}, std::pair{0x10, &ac}}) {
        to.segment(DHT, 1 + 16 + static_cast<int>(table->symbols.size()));
        to.bytes({kind | number});
        to.bytes(table->counts);
        to.bytes(table->symbols);
    }
}

void write_scan(MarkerWriter& to, const JpegFileHeader& header) {
    to.segment(SOS, 4 + 2 * header.components);
    to.bytes({header.components});
    to.bytes({1, 0x00});
    for (int number = 2; number <= header.components; ++number) to.bytes({number, 0x11});
    to.bytes({0, 63, 0});  // all coefficients, with all of their bits
}

}  // namespace

void write_jpeg_header(const JpegFileHeader& header, std::vector<std::byte>& out) {
    MarkerWriter to(out);
    const bool colors = header.components == 3;
    to.marker(SOI);
    write_jfif(to);
    write_quantization(to, 0, header.luma);
    if (colors) write_quantization(to, 1, header.chroma);
    write_frame(to, header);
    write_huffman(to, 0, standard_luma_dc, standard_luma_ac);
    if (colors) write_huffman(to, 1, standard_chroma_dc, standard_chroma_ac);
    write_scan(to, header);
}

void write_jpeg_end(std::vector<std::byte>& out) { MarkerWriter(out).marker(EOI); }

}  // namespace pixelmill

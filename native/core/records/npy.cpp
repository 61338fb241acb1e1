#include "npy.h"

#include <algorithm>
#include <bit>
#include <string>
#include <string_view>

#include "../fault.h"

namespace pixelmill {

namespace {

constexpr int64_t largest_header = 1 << 16;

[[noreturn]] void refuse(const std::string& what) { throw Fault(FaultKind::corrupt, "npy: " + what); }

// Parses the dictionary {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }.
class Parser {
   public:
    explicit Parser(std::string_view text) : text_(text) {}

    NpyHeader parse() {
        NpyHeader header;
        unsigned seen = 0;
        expect('{');
        while (!accept('}')) {
            const std::string_view key = quoted();
            expect(':');
            unsigned bit = 0;
            if (key == "descr") {
                bit = 1;
                type(quoted(), header);
            } else if (key == "fortran_order") {
                bit = 2;
                header.fortran = flag();
            } else if (key == "shape") {
                bit = 4;
                shape(header);
            }
            if (bit == 0 || (seen & bit) != 0) refuse("the header must hold descr, fortran_order and shape, each once");
            seen |= bit;
            if (!accept(',')) {
                expect('}');
                break;
            }
        }
        blanks();
        if (seen != 7) refuse("the header must hold descr, fortran_order and shape, each once");
        if (at_ != text_.size()) refuse("unexpected data after the dictionary of the header");
        return header;
    }

   private:
    void blanks() {
        while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t')) ++at_;
    }

    bool accept(char letter) {
        blanks();
        if (at_ == text_.size() || text_[at_] != letter) return false;
        ++at_;
        return true;
    }

    void expect(char letter) {
        if (!accept(letter)) refuse(std::string("the header is no dictionary: '") + letter + "' is missing");
    }

    std::string_view quoted() {
        const char quote = accept('\'') ? '\'' : '"';
        if (quote == '"') expect('"');
        const size_t begin = at_;
        at_ = text_.find(quote, begin);
        if (at_ == std::string_view::npos) refuse("a string in the header has no end");
        return text_.substr(begin, at_++ - begin);
    }

    bool flag() {
        blanks();
        for (const std::string_view word : {"True", "False"}) {
            if (text_.substr(at_, word.size()) == word) {
                at_ += word.size();
                return word == "True";
            }
        }
        refuse("fortran_order must be True or False");
    }

    void shape(NpyHeader& header) {
        expect('(');
        bool more = true;
        while (!accept(')')) {
            if (!more) refuse("the shape is no list of numbers");
            if (header.ndim == max_dims) {
                throw Fault(FaultKind::unsupported, "npy: arrays of more than " + std::to_string(max_dims) + " axes");
            }
            header.shape[static_cast<size_t>(header.ndim++)] = number();
            more = accept(',');
        }
    }

    int64_t number() {
        blanks();
        const size_t begin = at_;
        int64_t value = 0;
        while (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9') {
            if (value > (INT64_MAX - 9) / 10) refuse("an extent of the shape is too large");
            value = value * 10 + (text_[at_++] - '0');
        }
        if (at_ == begin) refuse("the shape is no list of numbers of 0 or more");
        return value;
    }

    static void type(std::string_view descr, NpyHeader& header) {
        static constexpr std::pair<std::string_view, DType> types[] = {
            {"b1", DType::boolean}, {"u1", DType::u8},  {"u2", DType::u16}, {"u4", DType::u32},
            {"u8", DType::u64},     {"i1", DType::i8},  {"i2", DType::i16}, {"i4", DType::i32},
            {"i8", DType::i64},     {"f2", DType::f16}, {"f4", DType::f32}, {"f8", DType::f64}};
        constexpr bool little = std::endian::native == std::endian::little;
        if (descr.size() == 3 && std::string_view("<>|=").find(descr[0]) != std::string_view::npos) {
            for (const auto& [name, dtype] : types) {
                if (descr.substr(1) != name) continue;
                header.dtype = dtype;
                header.swapped = size_of(dtype) > 1 && descr[0] == (little ? '>' : '<');
                return;
            }
        }
        throw Fault(FaultKind::unsupported, "npy: arrays of numbers are read, and no objects; the header says '" +
                                                std::string(descr.substr(0, 40)) + "'");
    }

    std::string_view text_;
    size_t at_ = 0;
};

}  // namespace

int64_t NpyHeader::bytes() const {
    int64_t total = size_of(dtype);
    for (int d = 0; d < ndim; ++d) total *= shape[static_cast<size_t>(d)];
    return total;
}

int64_t npy_header_length(Bytes start) {
    if (!starts_with(start, "\x93NUMPY", 6))
        throw Fault(FaultKind::wrong_format, "npy: the file does not begin with \\x93NUMPY");
    if (start.size() < 10) throw Fault(FaultKind::truncated, "npy: the file ends inside its header");
    const uint32_t major = byte_at(start, 6);
    if (major < 1 || major > 3 || byte_at(start, 7) != 0) {
        throw Fault(FaultKind::unsupported, "npy: version " + std::to_string(major) + " is not known");
    }
    if (major == 1) return 10 + int64_t{le16(start, 8)};
    if (start.size() < 12) throw Fault(FaultKind::truncated, "npy: the file ends inside its header");
    const int64_t length = le32(start, 8);
    if (length > largest_header) {
        throw Fault(FaultKind::too_large, "npy: a header of " + std::to_string(length) + " bytes; " +
                                              std::to_string(largest_header) + " are allowed");
    }
    return 12 + length;
}

NpyHeader parse_npy_header(Bytes header) {
    const int64_t length = npy_header_length(header.first(std::min(header.size(), static_cast<size_t>(npy_start))));
    if (length > static_cast<int64_t>(header.size()))
        throw Fault(FaultKind::truncated, "npy: the file ends inside its header");
    const int64_t begin = byte_at(header, 6) == 1 ? 10 : 12;
    const auto* text = reinterpret_cast<const char*>(header.data()) + begin;
    NpyHeader parsed = Parser({text, static_cast<size_t>(length - begin)}).parse();
    parsed.data_offset = length;
    // An extent of 0 makes the array empty, but the others must not overflow either: they are multiplied later.
    int64_t total = size_of(parsed.dtype);
    for (int d = 0; d < parsed.ndim; ++d) {
        const int64_t extent = std::max<int64_t>(parsed.shape[static_cast<size_t>(d)], 1);
        if (extent > (int64_t{1} << 62) / total) refuse("the shape is too large");
        total *= extent;
    }
    return parsed;
}

void check_npy_size(const NpyHeader& header, int64_t file_size) {
    const int64_t wanted = header.bytes(), present = file_size - header.data_offset;
    if (wanted == present) return;
    const std::string sizes = std::to_string(wanted) + " bytes, and " + std::to_string(present) + " are there";
    throw Fault(wanted > present ? FaultKind::truncated : FaultKind::corrupt, "npy: the shape asks for " + sizes);
}

}  // namespace pixelmill

// What every encoded image passes, driven with arbitrary bytes: header, limits, decode at any scale and window.
// libFuzzer-compatible; standalone.cpp drives it where there is no libFuzzer.
#include "decode_gate.h"

#include <zlib.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "../native/core/codecs/external_decoder.h"
#include "../native/core/codecs/jpeg.h"
#include "../native/core/codecs/png.h"
#include "../native/core/kernels/axis.h"
#include "../native/core/kernels/copy.h"
#include "../native/core/steps/declared/codecs.h"
#include "target.h"

namespace pixelmill {
namespace {

constexpr std::array colors{"rgb", "bgr", "gray", "ycbcr", "any"};
constexpr std::array dtypes{DType::u8, DType::u8, DType::u8, DType::u16, DType::f32, DType::i8};

[[noreturn]] void broken(const char* what) {
    std::fprintf(stderr, "broken promise: %s\n", what);
    std::abort();
}

// splitmix64: all choices follow from the input, so an input alone reproduces a run.
struct Choices {
    uint64_t state;
    uint64_t below(uint64_t bound) {
        uint64_t z = state += 0x9E3779B97F4A7C15;
        z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9;
        z = (z ^ z >> 27) * 0x94D049BB133111EB;
        return (z ^ z >> 31) % bound;
    }
};

uint64_t hash_of(const uint8_t* data, size_t size) {
    uint64_t hash = 0xCBF29CE484222325;
    for (size_t i = 0; i < size; i++) hash = (hash ^ data[i]) * 0x100000001B3;
    return hash;
}

struct Variant {
    const char* color;
    DType dtype;
    std::unique_ptr<Step> shape, decode;
};

Variant make_variant(Choices& choices) {
    Variant variant{colors[choices.below(colors.size())], dtypes[choices.below(dtypes.size())], {}, {}};
    const auto flag = [&] { return choices.below(2) != 0; };
    const bool orientation = flag();
    variant.shape = make_image_shape({.color = variant.color, .orientation = orientation});
    variant.decode = make_decode({.color = variant.color,
                                  .dtype = variant.dtype,
                                  .orientation = orientation,
                                  .padded_pixels = flag(),
                                  .scaling = static_cast<int64_t>(choices.below(3)),
                                  .filter_min = Filter::triangular,
                                  .filter_mag = Filter::triangular,
                                  .antialias = true});
    return variant;
}

// Replaces Pillow: returns an image of the size in the header.
ExternalImage paint(Bytes, const ImageInfo& info, const ExternalAllocator& allocate) {
    ExternalImage image{nullptr, info.height, info.width, 1 + static_cast<int>(info.width % 4), info.bits, false};
    const int64_t bytes = image.height * image.width * image.channels * (image.bits / 8);
    image.data = allocate(bytes);
    std::memset(image.data, 77, static_cast<size_t>(bytes));
    return image;
}

struct Heap final : Sink {
    std::vector<std::byte> memory;
    std::byte* place(int, DType dtype, std::span<const int64_t> shape) override {
        int64_t bytes = size_of(dtype);
        for (const int64_t extent : shape) bytes *= extent;
        memory = std::vector<std::byte>(static_cast<size_t>(bytes));  // its own allocation, so that overruns show
        return memory.data();
    }
};

struct Gate {
    std::vector<Variant> variants;
    ThreadState thread;
    Limits limits;
    Heap heap;

    Gate() {
        Choices choices{1};
        for (int i = 0; i < 64; i++) variants.push_back(make_variant(choices));
        limits.pixels = 1 << 20;
        limits.scan_pixels = 1 << 24;
        set_external_decoder(paint);
    }
};

template <class T>
Value vector_value(std::vector<T>& numbers, DType dtype) {
    const auto count = static_cast<int64_t>(numbers.size());
    return {reinterpret_cast<std::byte*>(numbers.data()), dtype, 1, {count}, {1}};
}

struct Decoded {
    std::vector<uint8_t> pixels;
    int64_t warnings = 0;
    std::string fault;
    friend bool operator==(const Decoded&, const Decoded&) = default;
};

Decoded decode_jpeg(JpegReader& reader, Bytes file, const Limits& limits, Choices choices, bool by_library) {
    Decoded decoded;
    try {
        reader.open(file, limits);
        JpegRequest request{static_cast<JpegColor>(choices.below(3)), 1 << choices.below(4), {}, by_library};
        const int64_t height = (reader.height() + request.denominator - 1) / request.denominator;
        const int64_t width = (reader.width() + request.denominator - 1) / request.denominator;
        const auto y = static_cast<int64_t>(choices.below(height)), x = static_cast<int64_t>(choices.below(width));
        request.window = {y, x, 1 + static_cast<int64_t>(choices.below(height - y)),
                          1 + static_cast<int64_t>(choices.below(width - x))};
        const int64_t bytes = request.color == JpegColor::gray ? 1 : 3 + static_cast<int64_t>(choices.below(2));
        const Window& window = request.window;
        decoded.pixels.resize(static_cast<size_t>(window.height * window.width * bytes));
        reader.decode(request, {decoded.pixels.data(), window.height, window.width, bytes == 1 ? 1 : 3,
                                window.width * bytes, bytes, 1});
    } catch (const Fault& fault) {
        decoded = {{}, 0, fault.what()};
    }
    decoded.warnings = reader.warnings();
    return decoded;
}

// Our decoder returns what libjpeg's returns: pixels, remarks and faults, also for meaningless data.
void compare_with_libjpeg(Bytes file, const Limits& limits, const Choices& choices) {
    static JpegReader ours, libjpegs;
    if (decode_jpeg(ours, file, limits, choices, false) != decode_jpeg(libjpegs, file, limits, choices, true))
        broken("JPEG as by libjpeg");
}

// Reads every element, so that a view that points outside of its memory is noticed.
std::vector<std::byte> copy_of(const Value& value) {
    std::vector<std::byte> copy(static_cast<size_t>(value.elements() * size_of(value.dtype)));
    Value packed = value;
    packed.data = copy.data();
    packed.stride = packed_strides(value.ndim, value.shape);
    copy_elements(packed, value);
    return copy;
}

// Corrects the checksums of a PNG's chunks, so that the code after the checks is reached.
void seal_chunks(std::vector<uint8_t>& file) {
    const auto number = [&](size_t at) { return be32(std::as_bytes(std::span(file)), at); };
    for (size_t at = 8; file.size() >= 12 && at <= file.size() - 12;) {
        const size_t length = number(at);
        if (length > file.size() - 12 - at) return;
        const auto checksum = static_cast<uint32_t>(crc32(0, file.data() + at + 4, static_cast<uInt>(length + 4)));
        for (size_t i = 0; i < 4; i++) file[at + 8 + length + i] = static_cast<uint8_t>(checksum >> (24 - 8 * i));
        at += 12 + length;
    }
}

struct Run {
    Gate& gate;
    const Variant& variant;
    Choices& choices;
    Value file;

    std::array<int64_t, 3> shape() {
        Context context(gate.thread, gate.limits);
        const std::array<int16_t, 1> leaving{-1};
        context.leaving = leaving;
        std::array<Value, 1> in{file}, out;
        variant.shape->run(context, in, out);
        const int64_t* extents = out[0].as<int64_t>();
        return {extents[0], extents[1], extents[2]};
    }

    std::vector<int64_t> window(int64_t height, int64_t width) {
        const auto y = static_cast<int64_t>(choices.below(height)), x = static_cast<int64_t>(choices.below(width));
        return {y, x, 1 + static_cast<int64_t>(choices.below(height - y)),
                1 + static_cast<int64_t>(choices.below(width - x))};
    }

    std::vector<double> geometry(int64_t height, int64_t width) {
        std::vector<double> axes;
        for (const int64_t extent : {height, width}) {
            const double low = static_cast<double>(choices.below(extent)) / 2,
                         high = static_cast<double>(extent) - low / 3;
            const auto out = static_cast<double>(64 + choices.below(8));
            axes.insert(axes.end(), {low, high, out, 0, out, static_cast<double>(choices.below(2)),
                                     static_cast<double>(extent), 0});
        }
        return axes;
    }

    uint32_t decode(const std::array<int64_t, 3>& whole) {
        Context context(gate.thread, gate.limits);
        const std::array<int16_t, 2> leaving{static_cast<int16_t>(choices.below(2) ? 0 : -1), -1};
        context.leaving = leaving;
        context.sink = &gate.heap;
        std::vector<int64_t> part{0, 0, whole[0], whole[1]};
        std::vector<double> axes;
        std::array<Value, 3> in{file};
        std::array<Value, 2> out;
        if (choices.below(2)) part = window(whole[0], whole[1]), in[1] = vector_value(part, DType::i64);
        if (choices.below(2)) {
            axes = geometry(part[2], part[3]);
            in[2] = vector_value(axes, DType::f64);
            in[2].ndim = 2;
            in[2].shape = {2, 8};
            in[2].stride = {8, 1};
        }
        variant.decode->run(context, in, out);
        if (out[0].ndim != 3 || out[0].shape[2] != whole[2]) broken("the channels of image_shape");
        if (!in[2].present() && (out[0].shape[0] != part[2] || out[0].shape[1] != part[3]))
            broken("the extents of the window");
        const std::vector<std::byte> pixels = copy_of(out[0]);
        note_output(pixels.data(), pixels.size());
        return context.notes;
    }

    // A window is the same bits as that part of the whole image, also where the data is nonsense, as long as libjpeg
    // has nothing to remark on it.
    uint32_t compare(const std::array<int64_t, 3>& whole) {
        Context context(gate.thread, gate.limits);
        const std::array<int16_t, 2> leaving{-1, -1};
        context.leaving = leaving;
        std::array<Value, 3> in{file};
        std::array<Value, 2> full, part;
        variant.decode->run(context, in, full);
        std::vector<int64_t> at = window(whole[0], whole[1]);
        in[1] = vector_value(at, DType::i64);
        variant.decode->run(context, in, part);
        if (context.notes & static_cast<uint32_t>(Note::decoder_warning)) return context.notes;
        full[0].data += (at[0] * full[0].stride[0] + at[1] * full[0].stride[1]) * size_of(full[0].dtype);
        full[0].shape = part[0].shape;
        if (copy_of(full[0]) != copy_of(part[0])) broken("a window is a part of the image");
        return context.notes;
    }

    // Pixels, notes and the fault of a decode, in one of the two ways to read a PNG.
    std::vector<std::byte> outcome(bool by_libpng, std::vector<int64_t> part) {
        force_libpng(by_libpng);
        Context context(gate.thread, gate.limits);
        const std::array<int16_t, 2> leaving{-1, -1};
        context.leaving = leaving;
        std::array<Value, 3> in{file, part.empty() ? Value{} : vector_value(part, DType::i64)};
        std::array<Value, 2> out;
        std::vector<std::byte> all;
        std::string text;
        try {
            variant.decode->run(context, in, out);
            all = copy_of(out[0]);
            text = std::to_string(context.notes) + context.note_text;
        } catch (const Fault& fault) {
            text = name_of(fault.kind) + std::string(fault.what());
        }
        force_libpng(false);
        const auto bytes = std::as_bytes(std::span(text));
        all.insert(all.end(), bytes.begin(), bytes.end());
        return all;
    }

    // Our own PNG decoder returns what libpng returns, also for meaningless data.
    void compare_with_libpng() {
        std::vector<int64_t> part;
        if (choices.below(2)) {
            const auto whole = shape();
            part = window(whole[0], whole[1]);
        }
        if (outcome(false, part) != outcome(true, part)) broken("a PNG is decoded as by libpng");
    }
};

}  // namespace

Verdict run_decode_gate(const uint8_t* data, size_t size) {
    static Gate gate;
    Choices choices{hash_of(data, size)};
    // A copy of exactly this size: the sanitizer reports a read past its end.
    std::vector<uint8_t> copy(data, data + size);
    std::vector<uint8_t> one(1);
    Value file = vector_value(size ? copy : one, DType::u8);
    file.shape[0] = static_cast<int64_t>(size);
    gate.thread.arena.reset();
    Run run{gate, gate.variants[choices.below(gate.variants.size())], choices, file};
    if (sniff({reinterpret_cast<const std::byte*>(copy.data()), size}) == ImageFormat::jpeg && choices.below(4) == 0)
        compare_with_libjpeg({reinterpret_cast<const std::byte*>(copy.data()), size}, gate.limits, choices);
    try {
        if (sniff({reinterpret_cast<const std::byte*>(copy.data()), size}) == ImageFormat::png) {
            if (choices.below(2)) seal_chunks(copy);
            if (choices.below(2)) run.compare_with_libpng();
        }
        const auto whole = run.shape();
        const uint32_t notes = choices.below(8) ? run.decode(whole) : run.compare(whole);
        return notes ? Verdict::noted : Verdict::decoded;
    } catch (const Fault& fault) {
        if (fault.kind == FaultKind::argument) broken("no argument is wrong");
        if (!*fault.what()) broken("a fault has a message");
        return static_cast<Verdict>(fault.kind);
    }
}

}  // namespace pixelmill

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    pixelmill::run_decode_gate(data, size);
    return 0;
}

// A step is one instruction of a program: it unwraps values, checks them, and calls kernels.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "arena.h"
#include "fault.h"
#include "limits.h"
#include "value.h"

namespace pixelmill {

class JpegReader;
class JpegWriter;
class PackDecoder;
class File;

// Where the outputs of a program go. `place` may be called again for an output; the last result counts.
class Sink {
   public:
    virtual ~Sink() = default;
    virtual std::byte* place(int output, DType dtype, std::span<const int64_t> shape) = 0;
    // Whether results of `bytes` bytes, together with those of other samples, are too many for the caches.
    virtual bool passes_caches(int64_t bytes) const { return bytes < 0; }
};

// Notes do not stop a sample; they are counted and listed.
enum class Note : uint32_t {
    decoder_warning = 1,     // libjpeg or libpng warned and continued
    extension_mismatch = 2,  // a PNG named .jpg
    depth_reduced = 4,       // 16-bit samples became 8-bit ones
    bad_orientation = 8,     // an EXIF orientation outside 1..8
    more_frames = 16,        // an animation or a multi-page file: the first frame was taken
    missing_pixels = 32,     // a decoder warning after which part of the pixels is filler
};

// What a worker thread keeps from sample to sample.
struct ThreadState {
    ThreadState();
    ~ThreadState();
    Arena arena;

    // Made when a sample first needs them: most programs need one of the three.
    JpegReader& jpeg_reader();
    JpegWriter& jpeg_writer();
    PackDecoder& pack_decoder();

    // The values of the program that is being run, and those of its current step.
    struct Slots {
        std::vector<Value> all, in, out;
    };
    Slots slots;

    // A file of many records, which stays open until another one is needed.
    const File& file_of_records(const std::string& path);

   private:
    std::unique_ptr<JpegReader> jpeg_reader_;
    std::unique_ptr<JpegWriter> jpeg_writer_;
    std::unique_ptr<PackDecoder> pack_decoder_;
    std::string path_;
    std::unique_ptr<File> file_;
};

// The identity of a sample: everything random is a function of this and of the operator.
struct SampleId {
    uint32_t epoch = 0;
    uint64_t sample = 0;
    uint16_t variant = 0;
};

// The bytes of an item that is not a file of this machine, or why they could not be fetched.
struct Fetched {
    const std::byte* data = nullptr;  // null where nothing was fetched
    size_t size = 0;
    bool failed = false;
    FaultKind kind = FaultKind::io;
    std::string message;
};

// A packed image of which only the beginning has been read: the step that decodes it reads what it needs.
struct SparseImage {
    std::byte* data = nullptr;  // where byte `offset` of the file goes
    int64_t have = 0;           // bytes that are there, from the beginning
    std::string path;
    int64_t offset = 0;
};

class Context {
   public:
    Context(ThreadState& thread, const Limits& limits) : thread(thread), limits(limits) {}

    ThreadState& thread;
    const Limits& limits;
    SampleId id;
    std::span<const int64_t> items;    // one per reader of the program
    std::span<const Value> inputs;     // fed from outside for this sample
    std::span<const Fetched> fetched;  // by ByteRanges::fetched
    bool fill = false;                 // a decode that fails yields a gray image instead
    uint32_t notes = 0;
    std::string note_text;  // of the first note

    void note(Note kind, const std::string& text);

    // Memory for output `index` of the running step. Where that output leaves the program this is the batch
    // buffer itself, so the step writes straight into the batch.
    Value allocate(int index, DType dtype, std::span<const int64_t> shape);

    // Whether it does.
    bool leaves(int index) const { return leaving[static_cast<size_t>(index)] >= 0; }
    // Whether it does, and is too large to stay in the caches.
    bool streams(int index, const Value& out) const {
        return leaves(index) && sink != nullptr && sink->passes_caches(out.elements() * size_of(out.dtype));
    }

    // Memory that lives until the end of the sample.
    Value scratch(DType dtype, std::span<const int64_t> shape);

    // Those of this sample. Nobody else looks at their bytes.
    std::array<SparseImage, 4> sparse{};

    // Set by the executor for each step: which outputs of the step leave the program, and what holds their memory.
    std::span<const int16_t> leaving;  // output number of the program, or -1
    Sink* sink = nullptr;
};

class Step {
   public:
    virtual ~Step() = default;
    // An omitted input is a Value with present() == false. An output may alias an input (a view).
    virtual void run(Context& context, std::span<const Value> in, std::span<Value> out) const = 0;
};

// Something large and read-only that steps of many programs may share: a list of files, a column of labels.
class Resource {
   public:
    virtual ~Resource() = default;
};

}  // namespace pixelmill

// Parameters, which are read once, and inputs, which each sample has, of the steps of steps/sources.py.
// Written by scripts/write_api.py from src/pixelmill/steps; `make api` writes it again.
// clang-format off
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "../../kernels/axis.h"
#include "../../step.h"

namespace pixelmill {

class ByteRanges;
class ExampleFeatures;
class Table;

// Read the bytes of an item.
struct ReadParams {
    size_t reader;
    std::shared_ptr<const ByteRanges> ranges;
    bool only_decoded;
};
std::unique_ptr<Step> make_read(const ReadParams& params);

// Read the file whose name is given as bytes.
struct ReadNamedParams {
};
struct ReadNamedInputs {
    const Value &path;
    explicit ReadNamedInputs(std::span<const Value> in)
        : path(in[0]) {}
};
std::unique_ptr<Step> make_read_named(const ReadNamedParams& params);

// Look up an item in a column of the index.
struct ColumnParams {
    size_t reader;
    std::shared_ptr<const Table> table;
};
std::unique_ptr<Step> make_column(const ColumnParams& params);

// Return where an item is stored.
struct SourceInfoParams {
    size_t reader;
    std::shared_ptr<const ByteRanges> ranges;
    std::string root;
};
std::unique_ptr<Step> make_source_info(const SourceInfoParams& params);

// Read and parse a tf.train.Example; there is an output for each feature.
struct ReadExampleParams {
    size_t reader;
    std::shared_ptr<const ByteRanges> ranges;
    std::shared_ptr<const ExampleFeatures> features;
};
std::unique_ptr<Step> make_read_example(const ReadExampleParams& params);

// Read a record of MXNet: the encoded image, and the label.
struct ReadRecordioParams {
    size_t reader;
    std::shared_ptr<const ByteRanges> ranges;
};
std::unique_ptr<Step> make_read_recordio(const ReadRecordioParams& params);

// Read the shape of an array from the header of its file.
struct NpyShapeParams {
    size_t reader;
    std::shared_ptr<const ByteRanges> ranges;
};
std::unique_ptr<Step> make_npy_shape(const NpyShapeParams& params);

// Read an array, or the part that a window needs; the second output is then the window's start in that part.
struct ReadNpyParams {
    size_t reader;
    std::shared_ptr<const ByteRanges> ranges;
    std::vector<int64_t> axes;
    bool strict;
};
struct ReadNpyInputs {
    const Value &start, &extent;
    explicit ReadNpyInputs(std::span<const Value> in)
        : start(in[0]), extent(in[1]) {}
};
std::unique_ptr<Step> make_read_npy(const ReadNpyParams& params);

// Decode the bytes of an npy file.
struct DecodeNpyParams {
};
struct DecodeNpyInputs {
    const Value &encoded;
    explicit DecodeNpyInputs(std::span<const Value> in)
        : encoded(in[0]) {}
};
std::unique_ptr<Step> make_decode_npy(const DecodeNpyParams& params);

// Reinterpret bytes as elements of another type.
struct ViewAsParams {
    DType dtype;
};
struct ViewAsInputs {
    const Value &encoded;
    explicit ViewAsInputs(std::span<const Value> in)
        : encoded(in[0]) {}
};
std::unique_ptr<Step> make_view_as(const ViewAsParams& params);

// Paint the objects of a COCO image into an image of labels.
struct LabelImageParams {
};
struct LabelImageInputs {
    const Value &size, &labels, &polygons, &vertices, &runs, &counts;
    explicit LabelImageInputs(std::span<const Value> in)
        : size(in[0]), labels(in[1]), polygons(in[2]), vertices(in[3]), runs(in[4]), counts(in[5]) {}
};
std::unique_ptr<Step> make_label_image(const LabelImageParams& params);

// Count coordinates where polygons (mask, first vertex, end vertex) count vertices.
struct CoordinatesOfVerticesParams {
};
struct CoordinatesOfVerticesInputs {
    const Value &polygons;
    explicit CoordinatesOfVerticesInputs(std::span<const Value> in)
        : polygons(in[0]) {}
};
std::unique_ptr<Step> make_coordinates_of_vertices(const CoordinatesOfVerticesParams& params);

}  // namespace pixelmill

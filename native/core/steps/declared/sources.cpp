// Written by scripts/write_api.py from src/pixelmill/steps; `make api` writes it again.
// clang-format off
#include "sources.h"

#include "../../declaration.h"
#include "../../records/example_features.h"
#include "../../resources.h"

namespace pixelmill {

void declare_sources(Declarations& all) {
    all["read"] = {
        {},
        {1, 1},
        [](Arguments& given) { return make_read({
            .reader = given.reader("reader"),
            .ranges = given.resource<ByteRanges>("ranges"),
            .only_decoded = given.flag("only_decoded"),
        }); }};
    all["read_named"] = {
        {{"path", one, required}},
        {1, 1},
        [](Arguments&) { return make_read_named({}); }};
    all["column"] = {
        {},
        {1, 1},
        [](Arguments& given) { return make_column({
            .reader = given.reader("reader"),
            .table = given.resource<Table>("table"),
        }); }};
    all["source_info"] = {
        {},
        {1, 1},
        [](Arguments& given) { return make_source_info({
            .reader = given.reader("reader"),
            .ranges = given.resource<ByteRanges>("ranges"),
            .root = given.text("root"),
        }); }};
    all["read_example"] = {
        {},
        {1, any_number},
        [](Arguments& given) { return make_read_example({
            .reader = given.reader("reader"),
            .ranges = given.resource<ByteRanges>("ranges"),
            .features = given.resource<ExampleFeatures>("features"),
        }); }};
    all["read_recordio"] = {
        {},
        {2, 2},
        [](Arguments& given) { return make_read_recordio({
            .reader = given.reader("reader"),
            .ranges = given.resource<ByteRanges>("ranges"),
        }); }};
    all["npy_shape"] = {
        {},
        {1, 1},
        [](Arguments& given) { return make_npy_shape({
            .reader = given.reader("reader"),
            .ranges = given.resource<ByteRanges>("ranges"),
        }); }};
    all["read_npy"] = {
        {{"start", one, optional}, {"extent", one, optional}},
        {1, 2},
        [](Arguments& given) { return make_read_npy({
            .reader = given.reader("reader"),
            .ranges = given.resource<ByteRanges>("ranges"),
            .axes = given.integers("axes"),
            .strict = given.flag("strict"),
        }); }};
    all["decode_npy"] = {
        {{"encoded", one, required}},
        {1, 1},
        [](Arguments&) { return make_decode_npy({}); }};
    all["view_as"] = {
        {{"encoded", one, required}},
        {1, 1},
        [](Arguments& given) { return make_view_as({
            .dtype = given.dtype("dtype"),
        }); }};
    all["label_image"] = {
        {{"size", one, required}, {"labels", one, required}, {"polygons", one, required}, {"vertices", one, required}, {"runs", one, required}, {"counts", one, required}},
        {1, 1},
        [](Arguments&) { return make_label_image({}); }};
    all["coordinates_of_vertices"] = {
        {{"polygons", one, required}},
        {1, 1},
        [](Arguments&) { return make_coordinates_of_vertices({}); }};
}

}  // namespace pixelmill

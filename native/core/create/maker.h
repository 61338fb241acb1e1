// Whole image files from a number: what is drawn, its size, its class, how it is encoded.
#pragma once

#include <string>
#include <vector>

#include "content.h"

namespace pixelmill {

enum class FileFormat : uint8_t { jpg, png, bmp };
std::optional<FileFormat> file_format_named(std::string_view name);

struct Recipe {
    Content content = Content::noise;
    FileFormat format = FileFormat::jpg;
    uint64_t seed = 0;
    int64_t height = 1, width = 1;  // means, where sizes vary
    double spread = 0;              // deviation of the logarithm of the sides
    int lowest_quality = 75, highest_quality = 75;
    double full_color = 0;  // fraction of JPEG files with chroma in full resolution
    ShapeClasses shapes;    // classes count for every content
    bool masks = false;
    bool alpha = false;         // whether images have a fourth channel
    int64_t bytes = 0;          // of each file, exactly; 0 leaves them as they come
    double bytes_spread = 0;    // deviation of the logarithm of `bytes`
    double dedup_ratio = 1;     // files for each different file
    double compress_ratio = 1;  // bytes for each byte that a compressor cannot save
};

struct Made {
    std::vector<std::byte> file, mask;
    std::vector<ObjectBox> boxes;
    int64_t label = 0, height = 0, width = 0;
};

// What is decided about image `index` before it is drawn.
struct Plan {
    uint64_t source = 0;  // the image it shows: its own number, or that of an earlier one
    int64_t label = 0, height = 0, width = 0, bytes = 0;
    int quality = 75;
    bool full_color = false;
};

class Maker {
   public:
    explicit Maker(const Recipe& recipe) : recipe(recipe) {}
    const Recipe recipe;

    Plan plan(uint64_t index) const;
    // `out` keeps its memory from image to image. Safe to call from several threads.
    void make(const Plan& plan, Made& out) const;
    int64_t channels() const { return recipe.alpha ? 4 : 3; }
    // Pixels of `channels` channels into `image`, packed, and where it has data, labels into `mask`.
    std::vector<ObjectBox> draw(const Plan& plan, View<uint8_t> image, View<uint8_t> mask) const;

   private:
    std::vector<ObjectBox> draw_colors(const Plan& plan, View<uint8_t> image, View<uint8_t> mask) const;
    void add_alpha(const Plan& plan, View<uint8_t> image, View<const uint8_t> colors) const;
};

}  // namespace pixelmill

// Which features of an Example a reader returns, and as what.
#pragma once

#include <string>
#include <vector>

#include "../step.h"
#include "example.h"

namespace pixelmill {

class ExampleFeatures : public Resource {
   public:
    struct Spec {
        std::string name;
        ListKind kind = ListKind::bytes;
        bool fixed = true;           // as many values as the shape has; else the first extent follows from them
        std::vector<int64_t> shape;  // of a fixed one, or the extents after the first
        bool has_default = false;
        std::vector<std::byte> initial;  // the default: bytes, or numbers of that shape
        int64_t elements = 1;            // the product of `shape`
    };
    std::vector<Spec> specs;
};

}  // namespace pixelmill

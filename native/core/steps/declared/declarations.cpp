// Written by scripts/write_api.py from src/pixelmill/steps; `make api` writes it again.
// clang-format off
#include "../../declaration.h"

namespace pixelmill {

void declare_boxes(Declarations& all);
void declare_codecs(Declarations& all);
void declare_effects(Declarations& all);
void declare_elements(Declarations& all);
void declare_pixels(Declarations& all);
void declare_placement(Declarations& all);
void declare_random(Declarations& all);
void declare_remapping(Declarations& all);
void declare_resampling(Declarations& all);
void declare_shapes(Declarations& all);
void declare_sources(Declarations& all);
void declare_warping(Declarations& all);

const Declarations& declarations() {
    static const Declarations all = [] {
        Declarations made;
        declare_boxes(made);
        declare_codecs(made);
        declare_effects(made);
        declare_elements(made);
        declare_pixels(made);
        declare_placement(made);
        declare_random(made);
        declare_remapping(made);
        declare_resampling(made);
        declare_shapes(made);
        declare_sources(made);
        declare_warping(made);
        return made;
    }();
    return all;
}

}  // namespace pixelmill

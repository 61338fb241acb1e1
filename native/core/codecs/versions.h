#pragma once

#include <string>
#include <utility>
#include <vector>

namespace pixelmill {

// The libraries that read and write images, with their versions.
std::vector<std::pair<std::string, std::string>> codec_versions();

}  // namespace pixelmill

// Runs a target on mutated seeds without libFuzzer, so that gcc alone is enough.
//
//     decode_fuzz --executions 1000000 --seed 1 --seconds 600 [--corpus FOLDER] [--crash FILE] [FILE...]
//
// Files named on the command line are run once, unmutated. The last line of output is JSON.
#if defined(__SANITIZE_ADDRESS__) || defined(__clang__)
#include <sanitizer/asan_interface.h>
#else
inline void __asan_set_death_callback(void (*)()) {}  // built without sanitizers: only crashes are seen
#endif
#if !defined(_WIN32)
#include <sys/resource.h>
#endif

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "target.h"

namespace {

using Input = std::vector<uint8_t>;
using Clock = std::chrono::steady_clock;

constexpr size_t longest = 1 << 16;  // inputs grow by splicing; small ones find more per second

Input current;
std::string crash_file = "crash.bin";

void save_current() {
    std::ofstream(crash_file, std::ios::binary)
        .write(reinterpret_cast<const char*>(current.data()), static_cast<std::streamsize>(current.size()));
    std::fprintf(stderr, "the input is in %s\n", crash_file.c_str());
}

Input load(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    return Input(std::istreambuf_iterator<char>(file), {});
}

class Mutator {
   public:
    explicit Mutator(uint64_t seed) : random_(seed) {}

    Input mutate(const std::vector<Input>& seeds) {
        Input input = seeds[below(seeds.size())];
        for (uint64_t i = 1 + below(6); i > 0 && !input.empty(); i--) change(input, seeds);
        if (input.size() > longest) input.resize(longest);
        return input;
    }

   private:
    uint64_t below(uint64_t bound) { return random_() % std::max<uint64_t>(bound, 1); }

    void change(Input& input, const std::vector<Input>& seeds) {
        static constexpr uint8_t notable[] = {0,    1,    2,    3,    4,    7,    8,    16,   0x7F,
                                              0x80, 0xC0, 0xC2, 0xC4, 0xD9, 0xDA, 0xDB, 0xFE, 0xFF};
        const size_t at = below(input.size()), length = 1 + below(std::min<size_t>(input.size() - at, 200));
        const auto begin = input.begin() + static_cast<std::ptrdiff_t>(at),
                   end = begin + static_cast<std::ptrdiff_t>(length);
        switch (below(9)) {
            case 0:
            case 1: input[at] ^= static_cast<uint8_t>(1u << below(8)); break;
            case 2: input[at] = static_cast<uint8_t>(random_()); break;
            case 3: input[at] = notable[below(std::size(notable))]; break;
            case 4:  // headers decide most, and they are a small part of the bytes
                input[below(std::min<size_t>(input.size(), 700))] = notable[below(std::size(notable))];
                break;
            case 5:
                if (below(4) == 0) input.resize(at);
                break;
            case 6: input.erase(begin, end); break;
            case 7: {
                const Input chunk(begin, end);
                input.insert(input.begin() + static_cast<std::ptrdiff_t>(below(input.size())), chunk.begin(),
                             chunk.end());
                break;
            }
            default: {
                const Input& other = seeds[below(seeds.size())];
                const size_t from = below(other.size());
                input.resize(at);
                input.insert(input.end(), other.begin() + static_cast<std::ptrdiff_t>(from), other.end());
            }
        }
    }

    std::mt19937_64 random_;
};

long peak_megabytes() {
#if defined(_WIN32)
    return 0;
#else
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss / 1024;
#endif
}

struct Tally {
    std::map<std::string, uint64_t> verdicts;
    FuzzTarget target = fuzz_target();
    uint64_t executions = 0;
    double seconds = 0, slowest = 0;

    void run(const Input& input) {
        current = input;
        const auto start = Clock::now();
        verdicts[target.run(input.data(), input.size())]++;
        slowest = std::max(slowest, std::chrono::duration<double>(Clock::now() - start).count());
        executions++;
    }

    void print(uint64_t seed) const {
        std::printf(
            "{\"executions\": %llu, \"seed\": %llu, \"seconds\": %.1f, \"per_second\": %.0f, \"slowest_ms\": %.1f, "
            "\"max_rss_mb\": %ld",
            static_cast<unsigned long long>(executions), static_cast<unsigned long long>(seed), seconds,
            static_cast<double>(executions) / std::max(seconds, 1e-9), slowest * 1000, peak_megabytes());
        for (const auto& [name, count] : verdicts) {
            std::printf(", \"%s\": %llu", name.c_str(), static_cast<unsigned long long>(count));
        }
        std::printf(", \"outputs\": \"%016llx\"}\n", static_cast<unsigned long long>(outputs_hash));
    }
};

struct Options {
    uint64_t executions = 100000, seed = 1;
    double seconds = 1e9;
    std::string corpus;
    std::vector<std::string> files;
};

Options parse(int count, char** arguments) {
    Options options;
    for (int i = 1; i < count; i++) {
        const std::string name = arguments[i];
        if (name.rfind("--", 0) != 0) {
            options.files.push_back(name);
            continue;
        }
        if (i + 1 == count) std::exit((std::fprintf(stderr, "%s needs a value\n", arguments[i]), 2));
        const char* value = arguments[++i];
        if (name == "--executions")
            options.executions = std::strtoull(value, nullptr, 10);
        else if (name == "--seed")
            options.seed = std::strtoull(value, nullptr, 10);
        else if (name == "--seconds")
            options.seconds = std::strtod(value, nullptr);
        else if (name == "--corpus")
            options.corpus = value;
        else if (name == "--crash")
            crash_file = value;
        else
            std::exit((std::fprintf(stderr, "no option is called %s\n", name.c_str()), 2));
    }
    return options;
}

std::vector<Input> load_seeds(const std::string& folder) {
    if (folder.empty()) return fuzz_target().seeds();
    std::vector<std::filesystem::path> paths;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) paths.push_back(entry.path());
    std::sort(paths.begin(), paths.end());  // a folder has no order, and a run must be reproducible
    std::vector<Input> seeds;
    for (const auto& path : paths) seeds.push_back(load(path));
    return seeds;
}

}  // namespace

int main(int count, char** arguments) {
    const Options options = parse(count, arguments);
    __asan_set_death_callback(save_current);
    std::signal(SIGABRT, [](int) { save_current(); });  // a broken promise, or an exception that is no fault
    Tally tally;
    const auto start = Clock::now();
    if (!options.files.empty()) {
        for (const std::string& file : options.files) tally.run(load(file));
    } else {
        const std::vector<Input> seeds = load_seeds(options.corpus);
        if (seeds.empty()) return std::fprintf(stderr, "no seeds in %s\n", options.corpus.c_str()), 2;
        for (const Input& seed : seeds) tally.run(seed);
        Mutator mutator(options.seed);
        while (tally.executions < options.executions) {
            tally.run(mutator.mutate(seeds));
            if (tally.executions % 256 == 0 &&
                std::chrono::duration<double>(Clock::now() - start).count() > options.seconds)
                break;
        }
    }
    tally.seconds = std::chrono::duration<double>(Clock::now() - start).count();
    tally.print(options.seed);
}

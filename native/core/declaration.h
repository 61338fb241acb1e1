// What a kind of step takes, and the check of a step that Python describes: every mistake is reported by name.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "kernels/axis.h"
#include "step.h"

namespace pixelmill {

// A parameter as Python passes it; std::monostate is None.
using Param = std::variant<std::monostate, bool, int64_t, double, std::string, std::vector<int64_t>,
                           std::vector<double>, std::shared_ptr<const Resource>>;
using Params = std::map<std::string, Param>;

// Thrown for a step that no compiled program contains: a bug in the compiler, never in the data.
class StepError : public std::invalid_argument {
   public:
    StepError(const std::string& kind, const std::string& message) : std::invalid_argument(kind + ": " + message) {}
};

// Reads the parameters of one step by name and type.
class Arguments {
   public:
    Arguments(std::string kind, const Params& values) : kind_(std::move(kind)), values_(values) {}

    bool flag(const char* name);
    int64_t integer(const char* name);
    double number(const char* name);
    std::string text(const char* name);
    std::string choice(const char* name, std::initializer_list<const char*> allowed);
    DType dtype(const char* name);
    Filter filter(const char* name);
    uint64_t key(const char* name);
    size_t reader(const char* name);
    std::vector<int64_t> integers(const char* name);
    std::vector<double> numbers(const char* name);

    template <class T>
    std::shared_ptr<const T> resource(const char* name) {
        auto found = std::dynamic_pointer_cast<const T>(typed<std::shared_ptr<const Resource>>(name, "a resource"));
        if (found == nullptr) refuse(name, "another resource");
        return found;
    }

    template <class T>
    std::optional<T> optional(const char* name, T (Arguments::*read)(const char*)) {
        if (std::holds_alternative<std::monostate>(given(name))) return std::nullopt;
        return (this->*read)(name);
    }

    // Call last: throws for parameters that were not read.
    void check_all_read() const;

   private:
    const Param& given(const char* name);
    [[noreturn]] void refuse(const char* name, const std::string& wanted);
    template <class T>
    const T& typed(const char* name, const char* wanted) {
        const Param& value = given(name);
        if (!std::holds_alternative<T>(value)) refuse(name, wanted);
        return std::get<T>(value);
    }

    std::string kind_;
    const Params& values_;
    std::set<std::string> read_;
};

enum InputCount { one, many };  // only the last input of a kind may be many
enum InputNeed { required, optional };

struct InputSpec {
    const char* name;
    InputCount count;
    InputNeed need;
};

inline constexpr int any_number = -1;

struct OutputCount {
    int least = 1, most = 1;
};

struct Declaration {
    std::vector<InputSpec> inputs;
    OutputCount outputs;
    std::unique_ptr<Step> (*make)(Arguments& given);

    // Sorts inputs, as names and slots, into the order of the declaration; -1 for omitted ones.
    std::vector<int> slots(const std::string& kind, const std::vector<std::pair<std::string, int>>& given) const;
    void check_outputs(const std::string& kind, size_t count) const;
};

using Declarations = std::map<std::string, Declaration>;

// Every kind of step by name. The tables in steps/declared/ are generated.
const Declarations& declarations();

const Declaration& declaration_of(const std::string& kind);
std::unique_ptr<Step> make_step(const std::string& kind, const Params& params);

}  // namespace pixelmill

#include "declaration.h"

#include <algorithm>

namespace pixelmill {

namespace {

std::string shown(const Param& value) {
    struct Words {
        std::string operator()(std::monostate) const { return "None"; }
        std::string operator()(bool flag) const { return flag ? "True" : "False"; }
        std::string operator()(int64_t number) const { return std::to_string(number); }
        std::string operator()(double number) const { return std::to_string(number); }
        std::string operator()(const std::string& text) const { return "'" + text + "'"; }
        std::string operator()(const std::vector<int64_t>& list) const { return listed(list.size(), "whole numbers"); }
        std::string operator()(const std::vector<double>& list) const { return listed(list.size(), "numbers"); }
        std::string operator()(const std::shared_ptr<const Resource>&) const { return "a resource"; }
        static std::string listed(size_t count, const char* what) { return std::to_string(count) + " " + what; }
    };
    return std::visit(Words{}, value);
}

}  // namespace

const Param& Arguments::given(const char* name) {
    read_.insert(name);
    const auto found = values_.find(name);
    if (found == values_.end()) throw StepError(kind_, std::string("the parameter ") + name + " is missing");
    return found->second;
}

void Arguments::refuse(const char* name, const std::string& wanted) {
    throw StepError(kind_, std::string("the parameter ") + name + " must be " + wanted + ", got " + shown(given(name)));
}

void Arguments::check_all_read() const {
    for (const auto& [name, value] : values_) {
        if (!read_.contains(name)) throw StepError(kind_, "there is no parameter '" + name + "'");
    }
}

bool Arguments::flag(const char* name) { return typed<bool>(name, "True or False"); }

int64_t Arguments::integer(const char* name) { return typed<int64_t>(name, "a whole number"); }

double Arguments::number(const char* name) {
    if (const auto* whole = std::get_if<int64_t>(&given(name))) return static_cast<double>(*whole);
    return typed<double>(name, "a number");
}

std::string Arguments::text(const char* name) { return typed<std::string>(name, "a text"); }

std::string Arguments::choice(const char* name, std::initializer_list<const char*> allowed) {
    std::string found = text(name);
    if (std::find(allowed.begin(), allowed.end(), found) != allowed.end()) return found;
    std::string all;
    for (const char* one : allowed) all += std::string(all.empty() ? "'" : ", '") + one + "'";
    refuse(name, "one of " + all);
}

DType Arguments::dtype(const char* name) {
    const int64_t number = integer(name);
    if (number < 0 || number > static_cast<int64_t>(DType::boolean)) refuse(name, "the number of an element type");
    return static_cast<DType>(number);
}

Filter Arguments::filter(const char* name) {
    const int64_t number = integer(name);
    if (number < 0 || number > static_cast<int64_t>(Filter::gaussian)) refuse(name, "the number of a filter");
    return static_cast<Filter>(number);
}

uint64_t Arguments::key(const char* name) { return static_cast<uint64_t>(integer(name)); }

size_t Arguments::reader(const char* name) {
    const int64_t number = integer(name);
    if (number < 0) refuse(name, "the number of a reader");
    return static_cast<size_t>(number);
}

std::vector<int64_t> Arguments::integers(const char* name) {
    return typed<std::vector<int64_t>>(name, "a list of whole numbers");
}

std::vector<double> Arguments::numbers(const char* name) {
    if (const auto* whole = std::get_if<std::vector<int64_t>>(&given(name))) return {whole->begin(), whole->end()};
    return typed<std::vector<double>>(name, "a list of numbers");
}

std::vector<int> Declaration::slots(const std::string& kind,
                                    const std::vector<std::pair<std::string, int>>& given) const {
    std::vector<int> found;
    for (const auto& [name, slot] : given) {
        const auto named = [&name = name](const InputSpec& input) { return name == input.name; };
        if (std::none_of(inputs.begin(), inputs.end(), named))
            throw StepError(kind, "there is no input '" + name + "'");
    }
    for (const InputSpec& input : inputs) {
        size_t count = 0;
        for (const auto& [name, slot] : given) {
            if (name != input.name) continue;
            if (slot < 0 && input.need == required) throw StepError(kind, "the input " + name + " cannot be left out");
            found.push_back(slot);
            ++count;
        }
        if (count > 1 && input.count == one) {
            throw StepError(kind, std::string("the input ") + input.name + " is given twice");
        }
        if (count > 0 || input.count == many) continue;
        if (input.need == required) throw StepError(kind, std::string("the input ") + input.name + " is missing");
        found.push_back(-1);
    }
    return found;
}

void Declaration::check_outputs(const std::string& kind, size_t count) const {
    const auto given = static_cast<int64_t>(count);
    const auto [least, most] = outputs;
    if (given >= least && (most == any_number || given <= most)) return;
    const std::string more = most == any_number ? " or more" : most > least ? " to " + std::to_string(most) : "";
    throw StepError(kind, std::to_string(count) + " outputs; it has " + std::to_string(least) + more);
}

const Declaration& declaration_of(const std::string& kind) {
    const auto found = declarations().find(kind);
    if (found == declarations().end()) throw std::invalid_argument("there is no step '" + kind + "'");
    return found->second;
}

std::unique_ptr<Step> make_step(const std::string& kind, const Params& params) {
    Arguments given(kind, params);
    std::unique_ptr<Step> step = declaration_of(kind).make(given);
    given.check_all_read();
    return step;
}

}  // namespace pixelmill

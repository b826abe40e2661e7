#include "eval/verify/admission.h"

#include "eval/verify/global_state.h"
#include "eval/verify/ptx_features.h"
#include "ptx/parse/module.h"

#include <fmt/format.h>

#include <algorithm>

namespace regraph::verify {

namespace {

// Reports a failed assertion and ends the launch, which is a verdict of its own.
constexpr std::string_view kAssertion = "__assertfail";

bool contains(const std::vector<std::string>& sorted, std::string_view name) {
  return std::binary_search(sorted.begin(), sorted.end(), name);
}

// Names that are declared and nowhere defined, sorted.
std::vector<std::string> undefined_functions(const ptx::Module& module) {
  std::vector<std::string> names;
  for (const ptx::Function& function : module.functions) {
    const bool defined = std::any_of(
        module.functions.begin(), module.functions.end(),
        [&](const auto& other) { return other.has_body && other.name == function.name; });
    if (!defined) names.emplace_back(function.name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::string at(int line) {
  return line > 0 ? fmt::format(" (line {})", line) : "";
}

}  // namespace

Admission::Admission(std::string_view original_ptx, const Assumptions& assume)
    : functions_{std::string(kAssertion)}, precision_(assume.precision) {
  for (const PtxFeature& feature : features_of(original_ptx))
    features_.emplace_back(feature.word);
  std::sort(features_.begin(), features_.end());
  const auto module = ptx::parse_module(original_ptx);
  if (!module.ok()) return;  // then there is nothing to compare with, and the verifier says so
  for (std::string& name : undefined_functions(**module))
    functions_.push_back(std::move(name));
  for (const ptx::Variable& variable : (*module)->variables)
    variables_.emplace_back(variable.name);
  std::sort(variables_.begin(), variables_.end());
  std::sort(functions_.begin(), functions_.end());
}

std::optional<std::string> Admission::objection(std::string_view candidate_ptx) const {
  const auto module = ptx::parse_module(candidate_ptx);
  for (const PtxFeature& feature : features_of(candidate_ptx)) {
    if (contains(features_, feature.word)) continue;
    // A multiprocessor may have a place of its own for tensor maps.
    const bool is_place =
        feature.word == "%smid" && module.ok() &&
        std::ranges::all_of((*module)->functions, [](const ptx::Function& function) {
          return chooses_places_of_maps(function, "%smid");
        });
    if (is_place) continue;
    const bool may_round =
        precision_ == Precision::any || (precision_ == Precision::tf32x3 && feature.word == "tf32");
    if (feature.of_precision && may_round) continue;
    return fmt::format("the kernel uses '{}'{}, which the original does not: it {}",
                       feature.statement.substr(0, 80), at(feature.source_line), feature.why);
  }
  if (!module.ok()) return std::nullopt;
  for (const std::string& name : undefined_functions(**module)) {
    if (contains(functions_, name)) continue;
    return fmt::format(
        "the kernel calls '{}', which is not its own and which the original does not call", name);
  }
  for (const StatefulVariable& variable : stateful_variables(**module, functions_)) {
    if (contains(variables_, variable.name)) continue;
    return fmt::format(
        "the variable '{}', which the original does not have, {}{}: it could carry results from "
        "one "
        "launch to the next",
        variable.name, variable.what, at(variable.source_line));
  }
  return std::nullopt;
}

}  // namespace regraph::verify

#include "triton/foreign_text.h"

#include "triton/cut_out.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

namespace regraph::triton {
namespace {

// The launcher's part of a version, where it has none, is the original's.
SaidText told_of(const std::optional<KernelText>& said, const KernelText& original) {
  SaidText result{said ? *said : original,
                  {"signature", "grid", "num_warps", "num_stages", "num_ctas"}};
  KernelText& told = result.text;
  if (told.parameters.empty()) told.parameters = original.parameters;
  told.arguments = original.arguments;
  told.divisible = original.divisible;
  told.contracts = original.contracts;
  told.choices.clear();
  return result;
}

bool takes(const CutOut& cut, const std::string& name) {
  return std::ranges::find(cut.parameters, name, &SeenParameter::name) != cut.parameters.end();
}

// What the version's own launch says goes before the original's.
void take_launch(const CutOut& cut, const GivenSizes& given, SaidText& told) {
  const SeenLaunch& launch = *cut.launch;
  if (!launch.problems.empty()) return;
  for (const auto& [name, value] : launch.constants) {
    const auto found = std::ranges::find(cut.parameters, name, &SeenParameter::name);
    if (found != cut.parameters.end() && found->is_constant) told.text.constants[name] = value;
  }
  told.text.warps = kDefaultWarps;
  told.text.stages = kDefaultStages;
  told.text.ctas = 1;
  for (const char* key : {"num_warps", "num_stages", "num_ctas"})
    told.keys.erase(key);
  const auto is_known = [&](const std::string& symbol) {
    return given.sizes.contains(symbol) || launch.constants.contains(symbol);
  };
  for (const std::string& extent : launch.grid) {
    const auto parsed = IntegerExpression::parse(extent);
    if (!parsed || !std::ranges::all_of(parsed->symbols(), is_known)) return;
  }
  told.text.grid.fill("1");
  told.keys.erase("grid");
}

// They are passed by their places.
bool has_parameters_of(const CutOut& cut, const KernelText& original) {
  std::vector<std::string> passed;
  for (const SeenParameter& parameter : cut.parameters) {
    const bool is_typed = std::ranges::find(original.parameters, parameter.name,
                                            &TypedParameter::name) != original.parameters.end();
    const bool is_value = parameter.is_constant || original.constants.contains(parameter.name);
    if (is_typed || !is_value) passed.push_back(parameter.name);
  }
  return std::ranges::equal(passed, original.parameters, {}, {}, &TypedParameter::name);
}

}  // namespace

Result<KernelText> read_foreign_text(const std::filesystem::path& python,
                                     const std::filesystem::path& script, const std::string& source,
                                     const KernelText& original, const GivenSizes& given,
                                     const Cancellation& cancellation) {
  std::optional<KernelText> said;
  if (has_header(source)) {
    auto read = parse_kernel_text(source);
    if (!read) return fail(ErrorCode::refused, read.error().message);
    said = *std::move(read);
    if (!said->arguments.empty() && said->arguments != original.arguments)
      return fail(ErrorCode::refused, "its arguments are not the original's");
  }
  // With the comment, so that lines are counted as whoever wrote it counts them.
  auto cut = cut_out(python, script, source, original.kernel, given, cancellation);
  if (!cut) return cut.error();
  SaidText told = told_of(said, original);
  if (!said && !given.sizes.empty() && cut->launch) take_launch(*cut, given, told);
  std::erase_if(told.text.constants, [&](const auto& constant) {
    return original.constants.contains(constant.first) && !takes(*cut, constant.first);
  });
  Draft draft = draft_text(*cut, &told);
  if (!has_parameters_of(*cut, original) || draft.text.parameters != original.parameters) {
    std::vector<std::string> wanted;
    for (const TypedParameter& parameter : original.parameters)
      wanted.push_back(parameter.name + ": " + type_name(parameter));
    return fail(ErrorCode::refused,
                fmt::format("its parameters are not the original's, which are {}, in this order",
                            fmt::join(wanted, ", ")));
  }
  if (!draft.missing.empty()) {
    return fail(ErrorCode::refused,
                fmt::format("its comment does not fit: {}", fmt::join(draft.missing, "; ")));
  }
  draft.text.choices.clear();
  return std::move(draft.text);
}

}  // namespace regraph::triton

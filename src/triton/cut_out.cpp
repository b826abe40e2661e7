#include "triton/cut_out.h"

#include "triton/python_run.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <utility>

namespace regraph::triton {
namespace {

using nlohmann::json;

std::map<std::string, std::string> literals_of(const json& values) {
  std::map<std::string, std::string> result;
  for (const auto& [name, value] : values.items()) {
    if (value.is_primitive()) result[name] = value.dump();
  }
  return result;
}

SeenLaunch read_launch(const json& one) {
  SeenLaunch launch;
  launch.line = one.at("line").get<int>();
  launch.grid = one.at("grid").get<std::vector<std::string>>();
  launch.constants = literals_of(one.at("constants"));
  launch.options = one.at("options").get<std::map<std::string, int>>();
  launch.types = one.at("types").get<std::map<std::string, std::string>>();
  launch.problems = one.at("problems").get<std::map<std::string, std::string>>();
  launch.notes = one.at("notes").get<std::vector<std::string>>();
  launch.manifest = one.at("manifest").dump();  // JSON is YAML
  return launch;
}

CutOut read_answer(const json& answer) {
  CutOut result;
  result.kernel = answer.at("kernel").get<std::string>();
  result.module = answer.at("module").get<std::string>();
  for (const json& one : answer.at("parameters")) {
    SeenParameter parameter;
    parameter.name = one.at("name").get<std::string>();
    parameter.is_constant = one.at("constant").get<bool>();
    parameter.is_pointer = one.at("pointer").get<bool>();
    parameter.is_loaded = one.at("loaded").get<bool>();
    parameter.is_stored = one.at("stored").get<bool>();
    parameter.annotation = one.at("annotation").get<std::string>();
    if (!one.at("default").is_null()) parameter.value = one.at("default").dump();
    result.parameters.push_back(std::move(parameter));
  }
  if (const json& launch = answer.at("launch"); !launch.is_null())
    result.launch = read_launch(launch);
  for (const json& one : answer.at("configs")) {
    const auto number = [&](const char* key) {
      return one.at(key).is_number_integer() ? one.at(key).get<int>() : 0;
    };
    result.configs.push_back({literals_of(one.at("constants")), number("num_warps"),
                              number("num_ctas"), number("num_stages")});
  }
  return result;
}

class DraftMaker {
 public:
  DraftMaker(const CutOut& cut, const SaidText* said) : cut_(cut), said_(said) {}

  Draft make() {
    KernelText& text = draft_.text;
    if (said_ != nullptr) text = said_->text;
    text.kernel = cut_.kernel;
    text.module = cut_.module;
    if (!is_said("signature")) guess_signature();
    take_constants();
    take_options();
    if (!is_said("grid")) take_grid();
    offer_configs();
    check_names();
    return std::move(draft_);
  }

 private:
  [[nodiscard]] bool is_said(const std::string& key) const {
    return said_ != nullptr && said_->keys.contains(key);
  }

  // Null: the launch says nothing of it.
  [[nodiscard]] const std::string* launched(const std::string& name) const {
    if (!cut_.launch) return nullptr;
    const auto found = cut_.launch->constants.find(name);
    return found == cut_.launch->constants.end() ? nullptr : &found->second;
  }

  // Why a value of the launch is not known, as an addition to a message.
  [[nodiscard]] std::string because(const std::string& what) const {
    if (!cut_.launch || !cut_.launch->problems.contains(what)) return "";
    return " (" + cut_.launch->problems.at(what) + ")";
  }

  void guess_signature() {
    std::string guessed;
    for (const SeenParameter& seen : cut_.parameters) {
      if (seen.is_constant || draft_.text.constants.contains(seen.name)) continue;
      if (const std::string* value = launched(seen.name)) {
        draft_.text.constants[seen.name] = *value;  // as Triton's launcher does
        continue;
      }
      TypedParameter parameter{seen.name, ScalarType::f32, seen.is_pointer};
      if (auto type = type_of(seen); type) {
        parameter = *std::move(type);
      } else {
        if (!seen.is_pointer) parameter.type = ScalarType::i32;
        guessed += (guessed.empty() ? "" : ", ") + seen.name + ": " + type_name(parameter);
      }
      draft_.text.parameters.push_back(std::move(parameter));
    }
    if (guessed.empty()) return;
    draft_.notes.push_back("types of parameters are assumed: " + guessed +
                           "; say otherwise by 'signature' in the comment '# regraph-triton:'");
  }

  [[nodiscard]] Result<TypedParameter> type_of(const SeenParameter& seen) const {
    auto annotated = parse_type(seen.name, seen.annotation);
    if (annotated || !cut_.launch || !cut_.launch->types.contains(seen.name)) return annotated;
    return parse_type(seen.name, cut_.launch->types.at(seen.name));
  }

  void take_constants() {
    for (const SeenParameter& seen : cut_.parameters) {
      auto& constants = draft_.text.constants;
      if (!seen.is_constant || constants.contains(seen.name)) continue;
      if (const std::string* value = launched(seen.name)) {
        constants[seen.name] = *value;
      } else if (!cut_.configs.empty() && cut_.configs.front().constants.contains(seen.name)) {
        constants[seen.name] = cut_.configs.front().constants.at(seen.name);
      } else if (!seen.value.empty()) {
        constants[seen.name] = seen.value;
      } else {
        draft_.missing.push_back("constants: a value for '" + seen.name + "'" + because(seen.name));
      }
    }
  }

  void take_options() {
    KernelText& text = draft_.text;
    const SeenConfig first = cut_.configs.empty() ? SeenConfig() : cut_.configs.front();
    const auto take = [&](const std::string& key, int of_config, int& target) {
      if (is_said(key)) return;
      if (of_config > 0) target = of_config;
      if (!cut_.launch) return;
      const auto found = cut_.launch->options.find(key);
      if (found != cut_.launch->options.end()) target = std::max(1, found->second);
      if (const std::string why = because(key); !why.empty())
        draft_.notes.push_back(fmt::format("{} is {}{}", key, target, why));
    };
    take("num_warps", first.warps, text.warps);
    take("num_ctas", first.ctas, text.ctas);
    take("num_stages", first.stages, text.stages);
  }

  void take_grid() {
    if (!cut_.launch || cut_.launch->grid.empty()) {
      draft_.missing.push_back("grid: the launch's number of programs, e.g. [\"cdiv(n, BLOCK)\"]" +
                               because("grid"));
      return;
    }
    const auto& seen = cut_.launch->grid;
    for (std::size_t axis = 0; axis < std::min<std::size_t>(3, seen.size()); ++axis) {
      auto extent = IntegerExpression::parse(seen[axis]);
      if (!extent) {
        draft_.missing.push_back("grid: '" + seen[axis] + "' as an expression of sizes");
        return;
      }
      draft_.text.grid.at(axis) = extent->text();
    }
  }

  void offer_configs() {
    auto& choices = draft_.text.choices;
    if (!choices.empty()) return;
    const auto offer = [&](const std::string& name, const std::string& value) {
      auto& values = choices[name];
      if (std::ranges::find(values, value) == values.end()) values.push_back(value);
    };
    for (const SeenConfig& config : cut_.configs) {
      for (const auto& [name, value] : config.constants)
        offer(name, value);
      if (config.warps > 0) offer("num_warps", std::to_string(config.warps));
      if (config.ctas > 1) offer("num_ctas", std::to_string(config.ctas));
      if (config.stages > 0) offer("num_stages", std::to_string(config.stages));
    }
  }

  // What the comment says must be of this kernel.
  void check_names() {
    const auto seen = [&](const std::string& name) {
      return std::ranges::find(cut_.parameters, name, &SeenParameter::name) !=
             cut_.parameters.end();
    };
    for (const TypedParameter& parameter : draft_.text.parameters) {
      if (!seen(parameter.name))
        draft_.missing.push_back("signature: '" + cut_.kernel + "' has no '" + parameter.name +
                                 "'");
    }
    for (const SeenParameter& parameter : cut_.parameters) {
      const auto& typed = draft_.text.parameters;
      const bool is_typed =
          std::ranges::find(typed, parameter.name, &TypedParameter::name) != typed.end();
      if (!parameter.is_constant && !is_typed && !draft_.text.constants.contains(parameter.name))
        draft_.missing.push_back("signature: a type for '" + parameter.name + "'");
    }
    for (const auto& [name, value] : draft_.text.arguments) {
      if (!seen(name))
        draft_.missing.push_back("arguments: '" + cut_.kernel + "' has no '" + name + "'");
    }
    for (const auto& [name, value] : draft_.text.constants) {
      if (!seen(name))
        draft_.missing.push_back("constants: '" + cut_.kernel + "' has no '" + name + "'");
    }
  }

  const CutOut& cut_;
  const SaidText* said_;
  Draft draft_;
};

}  // namespace

Result<CutOut> cut_out(const std::filesystem::path& python, const std::filesystem::path& script,
                       const std::string& text, const std::string& kernel, const GivenSizes& given,
                       const Cancellation& cancellation) {
  json said = {{"sizes", given.sizes}, {"shapes", given.shapes}, {"constants", json::object()}};
  if (!given.file.empty()) said["file"] = given.file.string();
  for (const auto& [name, value] : given.constants)
    said["constants"][name] = json::parse(value, nullptr, false);
  auto answer = run_python(python, script, {kernel, said.dump()}, text, cancellation);
  if (!answer) return answer.error();
  try {
    return read_answer(json::parse(*answer));
  } catch (const json::exception&) {
    return fail(ErrorCode::io, "cut_out.py gave no usable answer");
  }
}

Draft draft_text(const CutOut& cut, const SaidText* said) {
  return DraftMaker(cut, said).make();
}

}  // namespace regraph::triton

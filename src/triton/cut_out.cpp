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
    if (value.is_primitive() && !value.is_null()) result[name] = value.dump();
  }
  return result;
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
  for (const json& one : answer.at("launches")) {
    result.launches.push_back(
        {one.at("line").get<int>(), one.at("grid").get<std::vector<std::string>>(),
         one.at("arguments").get<std::vector<std::string>>(), literals_of(one.at("words"))});
  }
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
  DraftMaker(const CutOut& cut, const KernelText* said) : cut_(cut), said_(said) {}

  Draft make() {
    KernelText& text = draft_.text;
    if (said_ != nullptr) text = *said_;
    text.kernel = cut_.kernel;
    text.module = cut_.module;
    if (cut_.launches.size() == 1 || said_ == nullptr) launch_ = first_launch();
    if (text.parameters.empty()) guess_signature();
    take_constants();
    if (said_ == nullptr) take_launch();
    offer_configs();
    check_names();
    return std::move(draft_);
  }

 private:
  [[nodiscard]] const SeenLaunch* first_launch() const {
    return cut_.launches.empty() ? nullptr : &cut_.launches.front();
  }

  void guess_signature() {
    std::string guessed;
    for (const SeenParameter& seen : cut_.parameters) {
      if (seen.is_constant) continue;
      TypedParameter parameter{seen.name, ScalarType::f32, seen.is_pointer};
      if (auto type = parse_type(seen.name, seen.annotation); type) {
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

  void take_constants() {
    for (const SeenParameter& seen : cut_.parameters) {
      auto& constants = draft_.text.constants;
      if (!seen.is_constant || constants.contains(seen.name)) continue;
      if (launch_ != nullptr && launch_->literals.contains(seen.name)) {
        constants[seen.name] = launch_->literals.at(seen.name);
      } else if (!cut_.configs.empty() && cut_.configs.front().constants.contains(seen.name)) {
        constants[seen.name] = cut_.configs.front().constants.at(seen.name);
      } else if (!seen.value.empty()) {
        constants[seen.name] = seen.value;
      } else {
        draft_.missing.push_back("constants: a value for '" + seen.name + "'");
      }
    }
  }

  void take_launch() {
    KernelText& text = draft_.text;
    if (!cut_.configs.empty()) {
      const SeenConfig& first = cut_.configs.front();
      if (first.warps > 0) text.warps = first.warps;
      if (first.ctas > 0) text.ctas = first.ctas;
      if (first.stages > 0) text.stages = first.stages;
    }
    if (launch_ == nullptr || launch_->grid.empty()) {
      draft_.missing.emplace_back(
          "grid: the launch's number of programs, e.g. [\"cdiv(n, BLOCK)\"]");
      return;
    }
    const auto number = [&](const char* key, int& target) {
      if (const auto found = launch_->literals.find(key); found != launch_->literals.end())
        target = std::max(1, std::atoi(found->second.c_str()));
    };
    number("num_warps", text.warps);
    number("num_ctas", text.ctas);
    number("num_stages", text.stages);
    std::map<std::string, IntegerExpression, std::less<>> names = names_of_kernel();
    for (std::size_t axis = 0; axis < std::min<std::size_t>(3, launch_->grid.size()); ++axis) {
      auto extent = IntegerExpression::parse(launch_->grid[axis]);
      if (!extent) {
        draft_.missing.push_back("grid: '" + launch_->grid[axis] + "' as an expression of sizes");
        return;
      }
      text.grid.at(axis) = extent->substitute(names).text();
    }
  }

  // The host's names of what it passes as the kernel calls it.
  [[nodiscard]] std::map<std::string, IntegerExpression, std::less<>> names_of_kernel() const {
    std::map<std::string, IntegerExpression, std::less<>> names;
    for (std::size_t i = 0; i < std::min(launch_->arguments.size(), cut_.parameters.size()); ++i) {
      const SeenParameter& seen = cut_.parameters[i];
      if (!seen.is_pointer && !seen.is_constant && !launch_->arguments[i].empty())
        names.emplace(launch_->arguments[i], IntegerExpression::symbol(seen.name));
    }
    return names;
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
      if (!parameter.is_constant && !is_typed)
        draft_.missing.push_back("signature: a type for '" + parameter.name + "'");
    }
    for (const auto& [name, value] : draft_.text.constants) {
      if (!seen(name))
        draft_.missing.push_back("constants: '" + cut_.kernel + "' has no '" + name + "'");
    }
  }

  const CutOut& cut_;
  const KernelText* said_;
  const SeenLaunch* launch_ = nullptr;
  Draft draft_;
};

}  // namespace

Result<CutOut> cut_out(const std::filesystem::path& python, const std::filesystem::path& script,
                       const std::string& text, const std::string& kernel,
                       const Cancellation& cancellation) {
  auto answer = run_python(python, script, {kernel}, text, cancellation);
  if (!answer) return answer.error();
  try {
    return read_answer(json::parse(*answer));
  } catch (const json::exception&) {
    return fail(ErrorCode::io, "cut_out.py gave no usable answer");
  }
}

Draft draft_text(const CutOut& cut, const KernelText* said) {
  return DraftMaker(cut, said).make();
}

}  // namespace regraph::triton

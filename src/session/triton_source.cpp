#include "session/triton_source.h"

#include "base/child_process.h"
#include "triton/cut_out.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <sstream>
#include <utility>

namespace regraph {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

// Asks a Python for its Triton, importing nothing of it.
constexpr const char* kProbe =
    "import importlib.metadata as m, importlib.util as u, json, os, sys\n"
    "s = u.find_spec('triton')\n"
    "print(json.dumps({'version': m.version('triton'), 'folders': sorted({sys.prefix, "
    "*(sys.base_prefix + part for part in ('/lib', '/bin')), "
    "os.path.dirname(os.path.realpath(sys.executable)), "
    "os.path.dirname(os.path.dirname(s.origin))})}))\n";
constexpr double kProbeSeconds = 20.0;

std::optional<TritonToolkit> probe(const fs::path& python, const fs::path& scripts,
                                   const Cancellation& cancellation) {
  std::error_code ignored;
  if (!fs::exists(python, ignored)) return std::nullopt;
  ChildRequest child;
  child.program = python;
  child.arguments = {"-I", "-B", "-c", kProbe};
  child.environment = {"PATH=/usr/bin:/bin", "LC_ALL=C.UTF-8"};
  child.wall_seconds = kProbeSeconds;
  const auto outcome = run_child(child, cancellation);
  if (!outcome || !outcome->succeeded()) return std::nullopt;
  const json answer = json::parse(outcome->output, nullptr, false);
  if (!answer.is_object() || !answer.contains("version")) return std::nullopt;
  TritonToolkit toolkit;
  toolkit.python = python;
  toolkit.script = scripts / "compile_kernel.py";
  toolkit.version = answer.at("version").get<std::string>();
  for (const json& folder : answer.at("folders"))
    toolkit.folders.emplace_back(folder.get<std::string>());
  return toolkit;
}

std::vector<fs::path> pythons() {
  if (const char* own = std::getenv("REGRAPH_TRITON_PYTHON"); own != nullptr && *own != '\0')
    return {own};
  std::vector<fs::path> result = {fs::path(REGRAPH_SOURCE_DIRECTORY) / ".triton" / "bin" /
                                  "python"};
  if (const char* path = std::getenv("PATH"); path != nullptr) {
    std::istringstream folders(path);
    for (std::string folder; std::getline(folders, folder, ':');) {
      const fs::path python = fs::path(folder) / "python3";
      std::error_code ignored;
      if (folder.empty() || !fs::exists(python, ignored)) continue;
      result.push_back(python);
      break;
    }
  }
  return result;
}

SessionError unusable(std::string message) {
  return {FailureCause::unusable_kernel, std::move(message)};
}

// What is passed for an integer at these sizes; nothing where nothing says it.
std::optional<std::int64_t> passed_value(const triton::KernelText& text, const std::string& name,
                                         const Problem& problem, const Symbols& sizes) {
  std::string expression = name;
  if (const auto said = text.arguments.find(name); said != text.arguments.end())
    expression = said->second;
  if (const auto argument = std::ranges::find(problem.arguments, expression, &Argument::name);
      argument != problem.arguments.end() && argument->value) {
    const auto parsed = IntegerExpression::parse(argument->value->text());
    if (!parsed) return std::nullopt;
    const auto value = parsed->evaluate(sizes);
    return value ? std::optional(*value) : std::nullopt;
  }
  const auto parsed = IntegerExpression::parse(expression);
  if (!parsed) return std::nullopt;
  const auto value = parsed->evaluate(sizes);
  return value ? std::optional(*value) : std::nullopt;
}

std::int64_t rounded_up(std::int64_t value) {
  return (value + triton::kDivisor - 1) / triton::kDivisor * triton::kDivisor;
}

class DivisibleChooser {
 public:
  DivisibleChooser(triton::KernelText& text, Problem& problem) : text_(text), problem_(problem) {}

  std::vector<Symbols> run() {
    std::vector<Symbols> derived = problem_.tests;
    if (!text_.divisible.empty()) return {};
    for (const triton::TypedParameter& parameter : text_.parameters) {
      const bool aligned = problem_.assume.align % triton::kDivisor == 0;
      if (parameter.is_pointer && aligned) text_.divisible.push_back(parameter.name);
      if (!parameter.is_pointer && !is_floating(parameter.type)) consider(parameter.name);
    }
    std::ranges::sort(text_.divisible);
    if (rounded_.empty()) return {};
    problem_.notes.push_back(
        fmt::format("compiled for multiples of {} of {}, as Triton's launcher does at the bench "
                    "size: tests run "
                    "at such sizes; an answer is verified as it is compiled for others, too",
                    triton::kDivisor, fmt::join(rounded_, ", ")));
    return derived;
  }

 private:
  void consider(const std::string& name) {
    std::vector<Symbols> all = problem_.bench;
    if (all.empty()) all.push_back(problem_.sizes);
    if (!std::ranges::all_of(all, [&](const Symbols& sizes) { return divides(name, sizes); }))
      return;
    std::vector<Symbols> tests = problem_.tests;
    if (problem_.tests_are_derived) tests = rounded_tests(name, all);
    if (!std::ranges::all_of(tests, [&](const Symbols& sizes) { return divides(name, sizes); }))
      return;
    if (tests != problem_.tests) {
      problem_.tests = std::move(tests);
      rounded_.push_back("'" + name + "'");
    }
    text_.divisible.push_back(name);
  }

  [[nodiscard]] bool divides(const std::string& name, const Symbols& sizes) const {
    const auto value = passed_value(text_, name, problem_, sizes);
    return value && *value % triton::kDivisor == 0;
  }

  // The sizes that the integer is made of, rounded up where all bench sizes are multiples.
  [[nodiscard]] std::vector<Symbols> rounded_tests(const std::string& name,
                                                   const std::vector<Symbols>& bench) const {
    std::string expression = name;
    if (const auto said = text_.arguments.find(name); said != text_.arguments.end())
      expression = said->second;
    if (const auto argument = std::ranges::find(problem_.arguments, expression, &Argument::name);
        argument != problem_.arguments.end() && argument->value)
      expression = argument->value->text();
    const auto parsed = IntegerExpression::parse(expression);
    if (!parsed) return problem_.tests;
    std::vector<Symbols> result;
    for (Symbols test : problem_.tests) {
      for (const std::string& symbol : parsed->symbols()) {
        const bool multiple = std::ranges::all_of(bench, [&](const Symbols& sizes) {
          const auto found = sizes.find(symbol);
          return found != sizes.end() && found->second % triton::kDivisor == 0;
        });
        if (const auto found = test.find(symbol); multiple && found != test.end())
          found->second = rounded_up(found->second);
      }
      if (std::ranges::find(result, test) == result.end()) result.push_back(std::move(test));
    }
    return result;
  }

  triton::KernelText& text_;
  Problem& problem_;
  std::vector<std::string> rounded_;
};

// Names of sizes that the manifest says at least one value of.
std::set<std::string> said_sizes(const Manifest& manifest) {
  std::set<std::string> names;
  for (const auto& [name, value] : manifest.sizes)
    names.insert(name);
  for (const auto* list : {&manifest.bench, &manifest.tests}) {
    for (const Symbols& entry : *list) {
      for (const auto& [name, value] : entry)
        names.insert(name);
    }
  }
  return names;
}

triton::GivenSizes given_sizes(const Manifest& manifest) {
  triton::GivenSizes given;
  given.sizes = manifest.sizes;
  if (!manifest.bench.empty()) {
    for (const auto& [name, value] : manifest.bench.front())
      given.sizes[name] = value;
  }
  for (const auto& [name, said] : manifest.arguments) {
    if (!said.shape) continue;
    for (const IntegerExpression& extent : *said.shape)
      given.shapes[name].push_back(extent.text());
  }
  return given;
}

ManifestArgument& argument_of(Manifest& manifest, const std::string& name) {
  for (auto& [known, one] : manifest.arguments) {
    if (known == name) return one;
  }
  return manifest.arguments.emplace_back(name, ManifestArgument{}).second;
}

// Puts in what the launch in the file says of arguments and sizes, where the manifest and the
// comment say nothing. Returns what was put in, a sentence for each argument.
std::vector<std::string> add_launch(const triton::SeenLaunch& launch,
                                    const triton::KernelText& text, Manifest& manifest) {
  std::vector<std::string> notes;
  const auto seen = parse_manifest(launch.manifest, "");
  if (!seen) return notes;
  const std::set<std::string> said = said_sizes(manifest);
  std::set<std::string> used;
  const auto use = [&](const IntegerExpression& expression) { used.merge(expression.symbols()); };
  for (const auto& [name, one] : seen->arguments) {
    const bool is_parameter =
        std::ranges::find(text.parameters, name, &triton::TypedParameter::name) !=
        text.parameters.end();
    if (!is_parameter) continue;
    ManifestArgument& argument = argument_of(manifest, name);
    std::string found;
    if (one.shape && !argument.shape) {
      argument.shape = one.shape;
      std::ranges::for_each(*one.shape, use);
      for (const IntegerExpression& extent : *one.shape)
        found += (found.empty() ? "[" : ", ") + extent.text();
      found += "]";
    }
    if (one.init && !argument.init) argument.init = one.init;
    if (one.direction && !argument.direction) argument.direction = one.direction;
    if (one.value && !argument.value && !said.contains(name) && !text.arguments.contains(name)) {
      argument.value = one.value;
      if (one.value->expression() != nullptr) use(*one.value->expression());
      found = one.value->text();
    }
    if (!found.empty())
      notes.push_back(fmt::format("'{}' is {}, as in line {}", name, found, launch.line));
  }
  // Integers that the comment types although the launch's value of them is part of the code.
  for (const triton::TypedParameter& parameter : text.parameters) {
    const auto value = launch.constants.find(parameter.name);
    if (parameter.is_pointer || value == launch.constants.end() || said.contains(parameter.name) ||
        text.arguments.contains(parameter.name))
      continue;
    const auto number = IntegerExpression::parse(value->second);
    ManifestArgument& argument = argument_of(manifest, parameter.name);
    if (number && !argument.value) argument.value = *number;
  }
  for (const std::string& extent : text.grid) {
    if (const auto parsed = IntegerExpression::parse(extent)) use(*parsed);
  }
  for (const auto& [name, value] : seen->sizes) {
    if (used.contains(name) && !said.contains(name)) manifest.sizes[name] = value;
  }
  return notes;
}

}  // namespace

Result<TritonToolkit, SessionError> find_triton(const Toolchain& toolchain,
                                                const Cancellation& cancellation) {
  std::vector<std::string> tried;
  for (const fs::path& python : pythons()) {
    if (auto found = probe(python, toolchain.triton_scripts, cancellation))
      return *std::move(found);
    tried.push_back(python.string());
  }
  return unusable(
      fmt::format("a Triton kernel needs a Python with Triton, and none was found (tried: {}); "
                  "install one by: tools/setup --triton, or name one by REGRAPH_TRITON_PYTHON",
                  fmt::join(tried, ", ")));
}

Result<CutTriton, SessionError> cut_out_triton(ProblemSource& source, Toolchain& toolchain,
                                               bool fill_in, const Cancellation& cancellation) {
  auto toolkit = find_triton(toolchain, cancellation);
  if (!toolkit) return std::move(toolkit).error();
  std::optional<triton::SaidText> said;
  const std::string chosen = source.manifest.kernel.value_or("");
  if (triton::has_header(source.file_text)) {
    auto read = triton::parse_kernel_text(source.file_text, triton::KernelText());
    if (!read) return unusable(source.kernel_file + ": " + read.error().message);
    said = {*std::move(read), triton::header_keys(source.file_text)};
  }
  const std::string wanted = !chosen.empty() ? chosen : said ? said->text.kernel : "";
  triton::GivenSizes given = given_sizes(source.manifest);
  if (said) given.constants = said->text.constants;
  std::error_code ignored;
  given.file = fs::absolute(source.kernel_file, ignored);
  auto cut = triton::cut_out(toolkit->python, toolchain.triton_scripts / "cut_out.py",
                             source.file_text, wanted, given, cancellation);
  if (!cut) {
    if (cut.error().code == ErrorCode::cancelled)
      return SessionError{FailureCause::interrupted, "interrupted"};
    if (cut.error().code != ErrorCode::compile)
      return SessionError{FailureCause::internal, cut.error().message};
    return unusable(source.kernel_file + ": " + cut.error().message);
  }
  // A comment that names another kernel is about that one.
  if (said && !said->text.kernel.empty() && said->text.kernel != cut->kernel) said.reset();
  triton::Draft draft = triton::draft_text(*cut, said ? &*said : nullptr);
  CutTriton result{std::move(draft.text), {}, std::move(draft.missing)};
  for (const triton::SeenParameter& seen : cut->parameters) {
    if (seen.is_loaded && !seen.is_stored) result.read_only.push_back(seen.name);
  }
  if (!result.missing.empty() && !fill_in) {
    return unusable(fmt::format(
        "{}: what Triton's launcher would know is missing: {}; say it in a comment "
        "'# regraph-triton:' at the begin of the file, a draft is printed by: {} --init",
        source.kernel_file, fmt::join(result.missing, "; "), source.command));
  }
  for (std::string& note : draft.notes)
    source.notes.push_back(std::move(note));
  if (cut->launch) {
    for (std::string& note : add_launch(*cut->launch, result.text, source.manifest))
      source.notes.push_back(std::move(note));
    source.notes.insert(source.notes.end(), cut->launch->notes.begin(), cut->launch->notes.end());
  }
  auto plan = result.text.launch(0);
  if (!plan) return unusable(source.kernel_file + ": " + plan.error().message);
  Manifest& manifest = source.manifest;
  manifest.kernel = result.text.kernel;
  manifest.launch.reset();
  manifest.launches.clear();
  Launch launch = plan->launches.front();
  if (launch.arguments.empty()) {
    launch.kernel.clear();
    manifest.launch = std::move(launch);
  } else {
    manifest.launches.push_back({std::move(launch), 0});
  }
  source.kernel = result.text.kernel;
  source.source = result.text.text();
  toolchain.compiler = toolchain.compiler->with_triton(*toolkit);
  toolchain.triton = std::move(*toolkit);
  return result;
}

std::vector<Symbols> decide_divisible(triton::KernelText& text, Problem& problem) {
  return DivisibleChooser(text, problem).run();
}

}  // namespace regraph

#include "score/state_registry.h"

#include "base/files.h"
#include "base/hash.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <array>
#include <functional>
#include <optional>
#include <utility>

namespace regraph::score {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kLargestRegistryFile = std::size_t{4} << 30;
constexpr std::array kTasks = {Task::apply, Task::choose};

std::string dumped(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// An object of our own writing, taken apart field by field.
class RegistryLine {
 public:
  explicit RegistryLine(std::string_view line) {
    constexpr int kDeepest = 2;
    const auto shallow = [](int depth, Json::parse_event_t, Json&) { return depth <= kDeepest; };
    json_ = Json::parse(line.begin(), line.end(), shallow, false);
    if (!json_.is_object()) wrong_ = "no object of JSON";
  }

  void take(const char* name, std::string& value) {
    const Json* field = find(name);
    if (field == nullptr) return;
    if (!field->is_string()) return reject(name, "a text");
    value = field->get<std::string>();
  }
  void take(const char* name, std::vector<std::string>& values) {
    const Json* field = find(name);
    if (field == nullptr) return;
    if (!field->is_array()) return reject(name, "a list of texts");
    for (const Json& entry : *field) {
      if (!entry.is_string()) return reject(name, "a list of texts");
      values.push_back(entry.get<std::string>());
    }
  }
  void take(const char* name, StepParameters& values) {
    const Json* field = find(name);
    if (field == nullptr) return;
    if (!field->is_object()) return reject(name, "an object of texts");
    for (const auto& [key, entry] : field->items()) {
      if (!entry.is_string()) return reject(name, "an object of texts");
      values.emplace(key, entry.get<std::string>());
    }
  }
  // What is wrong with the line, or nothing.
  [[nodiscard]] std::string wrong() const {
    if (!wrong_.empty()) return wrong_;
    return taken_ == json_.size() ? "" : "a field that does not belong there";
  }

 private:
  const Json* find(const char* name) {
    if (!wrong_.empty()) return nullptr;
    const auto found = json_.find(name);
    if (found == json_.end()) {
      wrong_ = fmt::format("'{}' is missing", name);
      return nullptr;
    }
    ++taken_;
    return &*found;
  }
  void reject(const char* name, const char* wanted) {
    wrong_ = fmt::format("'{}' must be {}", name, wanted);
  }

  Json json_;
  std::size_t taken_ = 0;
  std::string wrong_;
};

Error not_its_content() {
  return fail(ErrorCode::parse, "the id is not its content's; it was changed after it was written");
}

// Calls `take` for each line of the file.
Status for_each_line(const std::filesystem::path& path,
                     const std::function<Status(std::string_view)>& take, Hasher& hasher) {
  const auto text = read_file(path, kLargestRegistryFile);
  if (!text) return text.error();
  hasher.add(*text);
  std::string_view rest = *text;
  for (std::size_t number = 1; !rest.empty(); ++number) {
    const std::size_t end = rest.find('\n');
    const auto line_error = [&](const std::string& message) {
      return fail(ErrorCode::parse, fmt::format("{}:{}: {}", path.string(), number, message));
    };
    if (end == std::string_view::npos) return line_error("the line is cut off");
    if (Status taken = take(rest.substr(0, end)); !taken) return line_error(taken.error().message);
    rest.remove_prefix(end + 1);
  }
  return {};
}

}  // namespace

const char* name(Task task) {
  return task == Task::apply ? "apply" : "choose";
}

std::string problem_id(const RegisteredProblem& problem) {
  return Hasher()
      .add(problem.kernel)
      .add(problem.family)
      .add(problem.source)
      .add(problem.manifest)
      .finish()
      .hex();
}

std::string state_id(const RegisteredState& state) {
  Hasher hasher;
  hasher.add(state.problem).add(name(state.task)).add(state.source).add(state.plan);
  const auto add_all = [&](const std::vector<std::string>& texts) {
    hasher.add(texts.size());
    for (const std::string& text : texts)
      hasher.add(text);
  };
  add_all(state.assumptions);
  hasher.add(state.step);
  for (const auto& [key, value] : state.parameters)
    hasher.add(key).add(value);
  add_all(state.history);
  return hasher.finish().hex();
}

std::string problem_text(const RegisteredProblem& problem) {
  return dumped(Json{{"id", problem.id},
                     {"kernel", problem.kernel},
                     {"family", problem.family},
                     {"source", problem.source},
                     {"manifest", problem.manifest}});
}

std::string state_text(const RegisteredState& state) {
  return dumped(Json{{"id", state.id},
                     {"problem", state.problem},
                     {"task", name(state.task)},
                     {"source", state.source},
                     {"plan", state.plan},
                     {"assumptions", state.assumptions},
                     {"step", state.step},
                     {"parameters", state.parameters},
                     {"history", state.history}});
}

Result<RegisteredProblem> read_problem(std::string_view line) {
  RegistryLine fields(line);
  RegisteredProblem problem;
  fields.take("id", problem.id);
  fields.take("kernel", problem.kernel);
  fields.take("family", problem.family);
  fields.take("source", problem.source);
  fields.take("manifest", problem.manifest);
  if (std::string wrong = fields.wrong(); !wrong.empty())
    return fail(ErrorCode::parse, std::move(wrong));
  if (problem.id != problem_id(problem)) return not_its_content();
  return problem;
}

Result<RegisteredState> read_state(std::string_view line) {
  RegistryLine fields(line);
  RegisteredState state;
  std::string task;
  fields.take("id", state.id);
  fields.take("problem", state.problem);
  fields.take("task", task);
  fields.take("source", state.source);
  fields.take("plan", state.plan);
  fields.take("assumptions", state.assumptions);
  fields.take("step", state.step);
  fields.take("parameters", state.parameters);
  fields.take("history", state.history);
  if (std::string wrong = fields.wrong(); !wrong.empty())
    return fail(ErrorCode::parse, std::move(wrong));
  bool known = false;
  for (const Task candidate : kTasks) {
    if (task != name(candidate)) continue;
    state.task = candidate;
    known = true;
  }
  if (!known) return fail(ErrorCode::parse, fmt::format("'{}' is no task", task));
  if (state.id != state_id(state)) return not_its_content();
  return state;
}

Result<StateRegistry> StateRegistry::load(const std::filesystem::path& folder) {
  StateRegistry registry;
  Hasher hasher;
  const auto take_problem = [&](std::string_view line) -> Status {
    auto problem = read_problem(line);
    if (!problem) return std::move(problem).error();
    std::string id = problem->id;
    registry.problems_.emplace(std::move(id), std::move(*problem));
    return {};
  };
  if (Status read = for_each_line(folder / kProblemsFile, take_problem, hasher); !read)
    return std::move(read).error();
  const auto take_state = [&](std::string_view line) -> Status {
    auto state = read_state(line);
    if (!state) return std::move(state).error();
    if (!registry.problems_.contains(state->problem)) {
      return fail(ErrorCode::parse,
                  fmt::format("its problem {} is not in {}", state->problem, kProblemsFile));
    }
    std::string id = state->id;
    registry.states_.emplace(std::move(id), std::move(*state));
    return {};
  };
  if (Status read = for_each_line(folder / kStatesFile, take_state, hasher); !read)
    return std::move(read).error();
  registry.hash_ = hasher.finish().hex();
  return registry;
}

const RegisteredState* StateRegistry::state(std::string_view id) const {
  const auto found = states_.find(id);
  return found == states_.end() ? nullptr : &found->second;
}

const RegisteredProblem* StateRegistry::problem(std::string_view id) const {
  const auto found = problems_.find(id);
  return found == problems_.end() ? nullptr : &found->second;
}

}  // namespace regraph::score

// The states that answers may be about: a folder with two files of one JSON object a line,
//
//   problems.jsonl  {"id", "kernel", "family", "source", "manifest"}
//   states.jsonl    {"id", "problem", "task", "source", "plan", "assumptions", "step",
//                    "parameters", "history"}
//
// as regraph-dataset writes them beside the prompts. Ids are hashes of the content.
#pragma once

#include "base/result.h"
#include "regraph/expander.h"

#include <cstddef>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace regraph::score {

// A kernel with everything that is to be known of it: a search could start from it.
struct RegisteredProblem {
  std::string id;
  std::string kernel;  // name for people, e.g. "row_sum/row_sum_12"
  std::string family;
  std::string source;    // CUDA C++
  std::string manifest;  // YAML
};

enum class Task : std::uint8_t {
  apply,   // answer with the rewritten kernel
  choose,  // answer with the name of a step and its values; the rewriter applies it
};
[[nodiscard]] const char* name(Task task);

struct RegisteredState {
  std::string id;
  std::string problem;  // id of it
  Task task = Task::apply;
  std::string source;  // of the kernel as it stands: the parent of an answer
  std::string plan;    // its launches, as journal::plan_text writes them
  std::vector<std::string> assumptions;
  std::string step;           // that is asked for; empty for `choose`
  StepParameters parameters;  // asked for; those that are left out are the answer's to choose
  std::vector<std::string> history;  // ids of the steps from the original
};

// Hashes of all fields but the id.
[[nodiscard]] std::string problem_id(const RegisteredProblem& problem);
[[nodiscard]] std::string state_id(const RegisteredState& state);

// One line of JSON each, without the newline. Errors: parse; an id that is not the content's too.
[[nodiscard]] std::string problem_text(const RegisteredProblem& problem);
[[nodiscard]] std::string state_text(const RegisteredState& state);
[[nodiscard]] Result<RegisteredProblem> read_problem(std::string_view line);
[[nodiscard]] Result<RegisteredState> read_state(std::string_view line);

// Immutable once loaded; safe to read from many threads.
class StateRegistry {
 public:
  static constexpr const char* kProblemsFile = "problems.jsonl";
  static constexpr const char* kStatesFile = "states.jsonl";

  // Errors: not_found, parse ("file:line: ..."; also a state of a problem that is not there), io,
  // resource.
  [[nodiscard]] static Result<StateRegistry> load(const std::filesystem::path& folder);

  // Null where there is none. Valid as long as the registry.
  [[nodiscard]] const RegisteredState* state(std::string_view id) const;
  [[nodiscard]] const RegisteredProblem* problem(std::string_view id) const;
  [[nodiscard]] std::size_t size() const { return states_.size(); }
  // Hash of all that it holds: answers to states of equal registries are the same.
  [[nodiscard]] const std::string& hash() const { return hash_; }

 private:
  std::map<std::string, RegisteredProblem, std::less<>> problems_;
  std::map<std::string, RegisteredState, std::less<>> states_;
  std::string hash_;
};

}  // namespace regraph::score

// What decides what a search of a study finds, as one text: a search whose text is that of a kept
// digest need not be done again.
#pragma once

#include "base/result.h"
#include "learn/kernel_study.h"
#include "regraph/step_graph.h"
#include "search/config.h"
#include "session/session_error.h"

#include <string>

namespace regraph::learn {

// `base` as `search` asks for it. `policy` describes the policy; empty: none.
[[nodiscard]] SearchConfig configured(const StudySearch& search, const std::string& policy,
                                      SearchConfig base);

class StudySettings {
 public:
  // Reads the kernel's file, the headers that it includes by name, and its manifest. Errors: as
  // read_problem_source.
  [[nodiscard]] static Result<StudySettings, SessionError> of(const StudyRequest& request);

  // Canonical JSON: the kernel, the device, the graph and the policy by hashes of their contents,
  // who evaluates, the build of the program (unless those of all builds count), and each constant
  // of the search by its name, so that changed defaults count. `policy`: the file's bytes.
  [[nodiscard]] std::string text(const StudySearch& search, const StepGraph& graph,
                                 const std::string& policy) const;

 private:
  StudySettings() = default;

  std::string kernel_;  // hashes
  std::string device_;
  std::string build_;
  SearchConfig base_;
};

// Whether the digest at `path` says that it was made with `settings`. One that does not say, or
// that cannot be read, was not.
[[nodiscard]] bool made_with(const std::filesystem::path& path, const std::string& settings);

}  // namespace regraph::learn

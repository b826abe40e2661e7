// A problem as workers get it: all that is needed to open it, and nothing that does not change what
// evaluations of it come to, so that equal problems are one, whoever searches them.
#pragma once

#include "base/hash.h"
#include "base/result.h"
#include "search/run_description.h"

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace regraph::fleet {

// A file of data that the problem's manifest names; it travels by its content.
struct ProblemFile {
  Hash128 id;                  // of its bytes
  std::string name;            // the last part of its path
  std::filesystem::path path;  // here; empty where it was read from a text
};

// The name of such a file in a manifest that travels: "regraph-fleet:ID/NAME".
[[nodiscard]] std::string travelling_name(const ProblemFile& file);

struct ProblemText {
  std::string text;
  Hash128 id;  // of the text
  std::vector<ProblemFile> files = {};
};

// Of the description the kernel, source, manifest, device, evaluator, seed and time limit count.
// The manifest has its files by their travelling names.
[[nodiscard]] ProblemText problem_text(const RunDescription& description,
                                       std::vector<ProblemFile> files = {});

// A description with the rest left empty or as by default. Errors: parse, resource.
[[nodiscard]] Result<RunDescription> read_problem_text(std::string_view text);

// The files of a text, at most kMostProblemFiles. Errors: parse, resource. Their names are those
// of files, not paths.
inline constexpr std::size_t kMostProblemFiles = 1000;
[[nodiscard]] Result<std::vector<ProblemFile>> problem_files(std::string_view text);

// The same problem with its files in `folder`, as ID/NAME. Errors: parse, resource.
[[nodiscard]] Result<std::string> with_files_in(std::string_view text,
                                                const std::filesystem::path& folder);

}  // namespace regraph::fleet

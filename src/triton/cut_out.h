// A kernel cut out of a user's Python file, and the comment that belongs in front of it.
#pragma once

#include "base/cancellation.h"
#include "base/result.h"
#include "triton/kernel_text.h"

#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace regraph::triton {

// One parameter as the kernel's body shows it.
struct SeenParameter {
  std::string name;
  bool is_constant = false;  // tl.constexpr
  bool is_pointer = false;
  bool is_loaded = false;
  bool is_stored = false;
  std::string annotation;
  std::string value;  // its default as JSON; empty: none
};

// What the host code of the file passes to the kernel, as far as it can be read.
struct SeenLaunch {
  int line = 0;
  std::vector<std::string> grid;  // of sizes and constants; empty: it cannot be read
  // As JSON; of parameters that are no tl.constexpr those whose value Triton's launcher makes part
  // of the code: 1 and None.
  std::map<std::string, std::string> constants;
  std::map<std::string, int> options;           // num_warps, num_stages, num_ctas
  std::map<std::string, std::string> types;     // in Triton's words, by parameter
  std::map<std::string, std::string> problems;  // what cannot be read, and why: "grid", parameters
  std::vector<std::string> notes;               // what was assumed
  std::string manifest;                         // sizes and arguments, as YAML; empty: none
};

// A choice of @triton.autotune.
struct SeenConfig {
  std::map<std::string, std::string> constants;  // as JSON
  int warps = 0;                                 // 0: not said
  int ctas = 0;
  int stages = 0;
};

struct CutOut {
  std::string kernel;
  std::string module;  // compiles alone
  std::vector<SeenParameter> parameters;
  std::optional<SeenLaunch> launch;
  std::vector<SeenConfig> configs;
};

// What is known beside the text, so that the host code is read as it is at these sizes.
struct GivenSizes {
  Symbols sizes;
  std::map<std::string, std::vector<std::string>> shapes;  // of pointers
  std::map<std::string, std::string> constants;            // of the kernel, as JSON
  // Where the text stands, for modules beside it that it imports; empty: none are looked for.
  std::filesystem::path file;
};

// Lets Python read `text` with `script` (cut_out.py), in a limited process that runs none of it; an
// empty `kernel` means the only one. Errors: compile (the file holds no such kernel, or one that
// cannot be cut out), cancelled, io.
[[nodiscard]] Result<CutOut> cut_out(const std::filesystem::path& python,
                                     const std::filesystem::path& script, const std::string& text,
                                     const std::string& kernel, const GivenSizes& given,
                                     const Cancellation& cancellation);

struct Draft {
  KernelText text;
  std::vector<std::string> notes;    // what was assumed
  std::vector<std::string> missing;  // without which nothing can be compiled
};

// What the user's comment says.
struct SaidText {
  KernelText text;
  std::set<std::string> keys;  // that it has; the rest of `text` is what nothing says
};

// What `cut` shows, completed by what `said` says, which goes first; null: there is no comment.
[[nodiscard]] Draft draft_text(const CutOut& cut, const SaidText* said);

}  // namespace regraph::triton

// A kernel cut out of a user's Python file, and the comment that belongs in front of it.
#pragma once

#include "base/cancellation.h"
#include "base/result.h"
#include "triton/kernel_text.h"

#include <filesystem>
#include <map>
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

// kernel[grid](arguments)
struct SeenLaunch {
  int line = 0;
  std::vector<std::string> grid;                // empty: it cannot be read
  std::vector<std::string> arguments;           // Python expressions
  std::map<std::string, std::string> literals;  // keywords with their values as JSON
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
  std::vector<SeenLaunch> launches;
  std::vector<SeenConfig> configs;
};

// Lets Python read `text` with `script` (cut_out.py), in a limited process that runs none of it; an
// empty `kernel` means the only one. Errors: compile (the file holds no such kernel, or one that
// cannot be cut out), cancelled, io.
[[nodiscard]] Result<CutOut> cut_out(const std::filesystem::path& python,
                                     const std::filesystem::path& script, const std::string& text,
                                     const std::string& kernel, const Cancellation& cancellation);

struct Draft {
  KernelText text;
  std::vector<std::string> notes;    // what was assumed
  std::vector<std::string> missing;  // without which nothing can be compiled
};

// What `cut` shows, completed by what the user's comment `said` says, which goes first; null:
// there is none.
[[nodiscard]] Draft draft_text(const CutOut& cut, const KernelText* said);

}  // namespace regraph::triton

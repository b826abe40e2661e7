// How the files of a program are compiled: what their build says, as compile_commands.json has it.
#pragma once

#include "base/result.h"

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace regraph {

struct CompileCommand {
  std::filesystem::path directory;     // that the compiler ran in
  std::filesystem::path file;          // that it compiled; absolute
  std::vector<std::string> arguments;  // the compiler first
};

// What of a command matters to who compiles the file elsewhere.
struct CompileFlags {
  std::vector<std::filesystem::path> include_directories;    // absolute, in order
  std::vector<std::pair<std::string, std::string>> defines;  // of macros: name, replacement
  bool operator==(const CompileFlags&) const = default;
};

inline constexpr const char* kCompileCommandsFile = "compile_commands.json";

// Reads the format of Clang's JSON compilation database. Errors name the file: not_found, io,
// invalid_argument (it is none).
[[nodiscard]] Result<std::vector<CompileCommand>> read_compile_commands(
    const std::filesystem::path& file);

// The same commands as such a file's text.
[[nodiscard]] std::string compile_commands_text(const std::vector<CompileCommand>& commands);

// A command of the compiler, as it was called in `directory`: one entry for each file among the
// arguments that has the suffix of a CUDA or C++ source.
[[nodiscard]] std::vector<CompileCommand> commands_of_call(
    const std::filesystem::path& directory, const std::vector<std::string>& arguments);

// -I, -isystem, -D and -U with nvcc's and GCC's spellings; others are passed over, and folders of
// the system's or a CUDA toolkit's headers, which every compiler knows.
[[nodiscard]] CompileFlags flags_of(const CompileCommand& command);

// How `file` was compiled. A header, or another file that no command names, has the flags that all
// CUDA sources of the nearest folder above it have in common, if any were compiled there.
[[nodiscard]] CompileFlags flags_for(const std::vector<CompileCommand>& commands,
                                     const std::filesystem::path& file);

// Macros as directives, each defined unless it is already.
[[nodiscard]] std::string defines_text(const CompileFlags& flags);

}  // namespace regraph

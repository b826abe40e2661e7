// One parse with Clang, which may open the headers of the toolkit and the system and nothing else.
//
// Sources are hostile: behind `#ifdef __clang__` stands what the sandboxed compiler never saw. A
// file that Clang could open would show in its diagnostics.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace clang {
class ASTUnit;
class DiagnosticConsumer;
}  // namespace clang

namespace regraph::source {

struct ClangParse {
  std::string source;
  std::string file_name;
  std::vector<std::string> arguments;          // of the compiler, without program and file
  std::vector<std::filesystem::path> folders;  // files below them may be opened
  // Absolute paths that are to exist, and what is in them.
  std::vector<std::pair<std::string, std::string>> texts;
};

// Returns the tree, or null when there is none. Diagnostics go to `diagnostics`. Thread-safe.
[[nodiscard]] std::unique_ptr<clang::ASTUnit> parse_with_clang(
    const ClangParse& parse, clang::DiagnosticConsumer& diagnostics);

}  // namespace regraph::source

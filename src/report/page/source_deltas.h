// Many sources that differ in little, as what changes from one to the next.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace regraph {

// Lines [at, at + removed) of the earlier text become `inserted`, indices of lines.
struct SourceHunk {
  std::size_t at = 0;
  std::size_t removed = 0;
  std::vector<std::size_t> inserted;
};

// Lines without their breaks, each kept once. The texts must outlive it. Not thread-safe.
class SourceLines {
 public:
  // What turns `before` into `after`, from the first line on.
  [[nodiscard]] std::vector<SourceHunk> change(std::string_view before, std::string_view after);
  // The lines of all changes; indices of hunks count here.
  [[nodiscard]] const std::vector<std::string_view>& lines() const { return lines_; }

 private:
  [[nodiscard]] std::size_t index_of(std::string_view line);

  std::vector<std::string_view> lines_;
  std::map<std::string_view, std::size_t> known_;
};

}  // namespace regraph

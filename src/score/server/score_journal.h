// The file of a ScoreStore.
#pragma once

#include "base/file_descriptor.h"
#include "base/result.h"
#include "score/score_item.h"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <mutex>
#include <string>

namespace regraph::score {

// Only the program that has it open may write it.
class ScoreJournal {
 public:
  // Given the item, without its id, and the score.
  using Line = std::function<void(ScoreItem item, const Score& score)>;

  // Makes the file where there is none, and calls `line` for each line of this context. Errors:
  // busy, io, not_found.
  [[nodiscard]] static Result<ScoreJournal> open(const std::filesystem::path& path,
                                                 std::string context, const Line& line);

  // Lines of the file that could not be read, or are not as they were written; they count for
  // nothing.
  [[nodiscard]] std::size_t damaged_lines() const { return damaged_lines_; }

  // Adds a line, whole or not at all. Errors: io. Not thread-safe.
  [[nodiscard]] Status append(const ScoreItem& item, const Score& score);

 private:
  ScoreJournal(FileDescriptor file, std::string context, std::string name);

  FileDescriptor file_;
  std::string context_;
  std::string name_;
  std::size_t damaged_lines_ = 0;
};

}  // namespace regraph::score

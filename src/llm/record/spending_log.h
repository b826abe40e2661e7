// What a run has spent on a language model, in a file beside its results, so that a run that is
// continued goes on with its budgets.
//
// A line of JSON for each answer that was paid for:
//   {"dollars": 0.01, "usage": {"prompt_tokens": 3100, "completion_tokens": 420, ...}}
#pragma once

#include "base/file_descriptor.h"
#include "base/result.h"
#include "llm/chat/chat.h"

#include <filesystem>
#include <memory>
#include <string>
#include <utility>

namespace regraph::llm {

struct Spending {
  int answers = 0;
  TokenUsage usage{.reported = true};
  double dollars = 0.0;
};

// Not thread-safe.
class SpendingLog {
 public:
  // Opens the file or makes it, and adds up what is in it. A last line that was cut is ignored, as
  // a run may end at any moment. Errors: io; parse, with file:line, for any other line that is not
  // one of these; resource for a file over 64 MiB.
  [[nodiscard]] static Result<std::unique_ptr<SpendingLog>> open(const std::filesystem::path& path);

  // What earlier sittings spent.
  [[nodiscard]] const Spending& earlier() const { return earlier_; }
  // Keeps what an answer took; on the disk when it returns. Error: io.
  [[nodiscard]] Status add(const TokenUsage& usage, double dollars);

 private:
  SpendingLog(FileDescriptor file, std::string path, Spending earlier)
      : file_(std::move(file)), path_(std::move(path)), earlier_(earlier) {}

  FileDescriptor file_;
  std::string path_;
  Spending earlier_;
};

}  // namespace regraph::llm

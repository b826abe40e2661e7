// What one source of a data set gave: a finished run, walks from a kernel, a kernel made slower.
#pragma once

#include "base/result.h"
#include "dataset/data_items.h"
#include "score/state_registry.h"

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace regraph::dataset {

struct Collected {
  std::vector<score::RegisteredProblem> problems;
  std::vector<PairRecord> pairs;  // executed again
  std::vector<StateItem> states;
  std::vector<AnswerItem> answers;
  std::map<std::string, int> dropped;  // reason -> pairs that are not among them
  int considered = 0;                  // pairs that were looked at
};

// Puts sources together. What is the same counts once; equal pairs count as dropped.
class CollectionMerger {
 public:
  void add(Collected other);
  [[nodiscard]] Collected finish() && { return std::move(merged_); }

 private:
  Collected merged_;
  std::set<std::string> problems_;
  std::set<std::string> pairs_;
  std::set<std::string> states_;
  std::set<std::string> answers_;
};

// The file of a folder that regraph-mcp collected pairs in; the folder is a source as it is.
inline constexpr const char* kCollectedFile = "collected.txt";

// As lines of JSON, "regraph-collected/1"; the reader gives back an equal one. Errors start with
// `name` and the line: parse.
[[nodiscard]] std::string collected_text(const Collected& collected);
[[nodiscard]] Result<Collected> read_collected(std::string_view text, std::string_view name);

}  // namespace regraph::dataset

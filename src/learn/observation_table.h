// The truth behind a trained ReGraph: a table with a row for each setting of a step that was tried
// at a state of a kernel. What the graph says is derived from it (graph_training.h), so tables can
// be put together in any order and as often as one likes: merging is the union of sets.
#pragma once

#include "base/result.h"
#include "learn/run_digest.h"
#include "search/state_graph_types.h"

#include <compare>
#include <cstddef>
#include <set>
#include <string>
#include <string_view>

namespace regraph::learn {

struct ObservationRow {
  std::string device;
  std::string method;  // "predicted", "measured"
  std::string family;  // kernels that vote together
  std::string kernel;  // hash of the original and what has to be computed
  std::string run;     // RunDigest::run
  std::string parent;  // identity of the state
  std::string from;    // the step before, "init" at the original
  std::string step;
  std::string setting;  // parameters, "axis=x, factor=4"
  int variant = 0;
  std::string who = "rewriter";  // or "model"
  bool verified = false;
  FixedScore gain = 0;  // log-gain in units of 2^-11; 0 unless verified
  std::string reason;   // why it failed
  // Of a step that a language model made up: its name in words, and what it takes.
  std::string title = {};
  std::string instruction = {};

  auto operator<=>(const ObservationRow&) const = default;  // NOLINT(modernize-use-nullptr)
};

class ObservationTable {
 public:
  void add(ObservationRow row) { rows_.insert(std::move(row)); }
  // The tries of a run; not those that led where another try of the state had led, or back on the
  // way, for they say nothing new; nor what was declined, or stands for several steps.
  void add(const RunDigest& digest);
  void merge(const ObservationTable& other);

  [[nodiscard]] const std::set<ObservationRow>& rows() const { return rows_; }
  [[nodiscard]] std::size_t size() const { return rows_.size(); }
  // Name of the content: hash and number of rows.
  [[nodiscard]] std::string name() const;

  // As text, a line a row, sorted: equal tables have equal bytes.
  [[nodiscard]] std::string text() const;
  // Errors are "name:line: what is wrong" (parse). Any bytes are safe to pass.
  [[nodiscard]] static Result<ObservationTable> parse(std::string_view text, std::string_view name);

 private:
  std::set<ObservationRow> rows_;
};

}  // namespace regraph::learn

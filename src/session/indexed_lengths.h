// Buffers whose places are chosen by what an array of integers holds: table[index[i]], the rows of
// a sparse matrix.
#pragma once

#include "session/observed_lengths.h"
#include "session/trial_launch.h"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace regraph {

// The expression of sizes that has these values; nothing where there is no simple one.
[[nodiscard]] std::optional<IntegerExpression> length_of(const std::vector<Symbols>& symbols,
                                                         const std::vector<std::int64_t>& values);

[[nodiscard]] Direction direction_of(const CompiledKernel& compiled, const Parameter& parameter,
                                     std::size_t place, const std::vector<Trial>& trials);

// Finds out which arrays of integers choose places, one at a time, and what they have to hold for
// that: offsets of rows ascend, everything else is a number below a bound, which becomes a size.
class IndexedLengths {
 public:
  // All must outlive this.
  IndexedLengths(TrialLaunch& launch, const CompiledKernel& compiled,
                 const KernelSignature& signature, const Manifest& draft,
                 const std::vector<Symbols>& symbols, const Cancellation& cancellation)
      : launch_(launch),
        compiled_(compiled),
        signature_(signature),
        draft_(draft),
        symbols_(symbols),
        cancellation_(cancellation) {}

  // Which array is what, at the first sizes. `zeros` is what is touched where all integers are 0.
  // Returns the contents with which everything of `wanted` is touched that can be. Errors as
  // TrialLaunch::run.
  [[nodiscard]] Result<TrialContents> run(const std::vector<std::size_t>& wanted,
                                          const Trial& zeros);

  // Adds lengths of buffers that go by the entries of a sparse matrix, and where its rows begin.
  // `trials` are those with the contents that `run` gave.
  [[nodiscard]] Status explain_entries(const std::vector<Trial>& trials, ObservedLengths& result);
  // Adds lengths of buffers whose places an array chooses, and what that array holds; after lengths
  // that do not depend on contents.
  [[nodiscard]] Status explain_chosen(const std::vector<Trial>& trials, ObservedLengths& result);
  [[nodiscard]] bool is_chosen(std::size_t place) const { return choosers_.contains(place); }

 private:
  // A buffer's length is at_zero + slope * number, at each of the sizes.
  struct Line {
    std::vector<std::int64_t> at_zero;
    std::vector<std::int64_t> slope;
  };

  Result<Trial> trial(std::size_t sizes, const TrialContents& contents) {
    return launch_.run(symbols_[sizes], contents, cancellation_);
  }
  [[nodiscard]] bool is_index(std::size_t place) const;
  [[nodiscard]] const std::string& name_of(std::size_t place) const {
    return signature_.parameters[place].name;
  }
  Status find_offsets(Trial& base);
  Status find_counts(Trial& base);
  Status find_indices(const Trial& base);
  Result<std::optional<Line>> line_of(std::size_t buffer, std::size_t index);
  Status explain_indexed(std::size_t buffer, const std::vector<Trial>& trials,
                         ObservedLengths& result);
  // The first number that the array never holds, as an expression of sizes.
  IntegerExpression range_of(std::size_t index, std::size_t buffer, const Line& line,
                             const std::vector<Trial>& trials, ObservedLengths& result);
  [[nodiscard]] std::optional<IntegerExpression> known_range(std::size_t index) const;
  [[nodiscard]] std::optional<IntegerExpression> range_of_parameter(const Line& line) const;
  // Integer parameters that the compiled kernel does not read: they say how long something is.
  [[nodiscard]] std::vector<std::string> unread_sizes() const;
  [[nodiscard]] std::optional<IntegerExpression> length_known(std::size_t place,
                                                              const ObservedLengths& result) const;
  std::string own_size(const std::string& wish, std::int64_t value, ObservedLengths& result);
  [[nodiscard]] std::string unused_name(std::string wish) const;
  [[nodiscard]] bool has_atomics() const;
  void add_content(std::size_t index, const IntegerExpression& range, ObservedLengths& result);

  TrialLaunch& launch_;
  const CompiledKernel& compiled_;
  const KernelSignature& signature_;
  const Manifest& draft_;
  const std::vector<Symbols>& symbols_;
  const Cancellation& cancellation_;
  std::vector<std::size_t> wanted_;
  TrialContents base_;
  std::optional<std::size_t> offsets_;                     // where rows begin
  std::map<std::size_t, std::set<std::size_t>> choosers_;  // buffer -> arrays that choose in it
  std::map<std::size_t, IntegerExpression> ranges_;        // by array, decided
  std::set<std::string> taken_;                            // sizes that were given a meaning
  std::optional<IntegerExpression> entries_;               // of the sparse matrix
  std::int64_t rows_ = 0;
};

}  // namespace regraph

// Accesses as parts of rows whose elements loops of constant length count, and what is known of
// when they happen. Used by element_rows.
#pragma once

#include "rewrite/analysis/placed_accesses.h"
#include "source/analysis.h"

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace regraph::rewrite {

// More elements than this in one row are no longer written out by the compiler.
inline constexpr std::int64_t kLongestRow = 128;

// An access as a part of a row: base + offset, where the offset follows loops of constant length.
struct RowAccess {
  const PlacedAccess* placed = nullptr;
  std::size_t position = 0;  // of the statement in the block
  source::Polynomial base;   // without its constant
  source::Polynomial offset;
  std::set<std::int64_t> offsets;                 // the values that it takes
  std::vector<const source::CountedLoop*> loops;  // that it follows
  bool is_again = false;                          // a loop around it that it does not follow
};

// Nothing where the index is no such sum, or takes more values than a row may have. `position`: of
// the statement in its block; the result refers to `placed`.
[[nodiscard]] std::optional<RowAccess> row_access_of(const PlacedAccess& placed,
                                                     std::size_t position,
                                                     const source::Analysis& analysis);

// Conditions that hold wherever an access is, and whether it happens whenever they do.
struct Reach {
  std::vector<source::ExprPtr> terms;
  bool is_certain = true;

  [[nodiscard]] std::set<std::string> texts() const;
};

// The conditions can be asked in front of statements that declare the names `inside`.
[[nodiscard]] Reach reach_of(const PlacedAccess& placed, const std::set<std::string>& inside,
                             const source::Kernel& kernel, const source::Analysis& analysis);

// Whether the expression has one value wherever its names are known, and they are known outside of
// what declares those `inside`.
[[nodiscard]] bool is_fixed_outside(const source::ExprPtr& expr,
                                    const std::set<std::string>& inside,
                                    const source::Kernel& kernel, const source::Analysis& analysis);

}  // namespace regraph::rewrite

// Loops that count up to a limit.
#pragma once

#include "source/ir.h"

#include <cstdint>
#include <optional>
#include <string>

namespace regraph::source {

// for (int name = first; name < limit; name += stride), nothing else assigning name.
struct CountedLoop {
  std::string name;
  ExprPtr first;
  ExprPtr limit;  // exclusive
  std::int64_t stride = 1;
  // Number of iterations when first and limit are made of integer literals.
  [[nodiscard]] std::optional<std::int64_t> trip_count() const;
  [[nodiscard]] bool starts_at_zero() const;
  // Number of iterations of a loop over 0, 1, 2, ...; nothing for others.
  [[nodiscard]] std::optional<std::int64_t> trips_from_zero() const;
};

// Whether the variable is assigned in the block, or given to somebody else who may change it.
[[nodiscard]] bool is_changed(const std::string& name, const Block& block);

// for (counter = first; counter < limit; counter += step), whatever the body does.
struct StridedLoop {
  Variable counter;
  ExprPtr first;
  ExprPtr limit;  // exclusive
  ExprPtr step;
};

// Returns the header of a loop in that form, with the sum written out as well; nothing for others.
[[nodiscard]] std::optional<StridedLoop> strided_loop_of(const ForLoop& loop);

// Returns the counted form of a loop statement, or nothing for any other shape.
[[nodiscard]] std::optional<CountedLoop> counted_loop_of(const Stmt& stmt);

}  // namespace regraph::source

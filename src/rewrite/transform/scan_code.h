// Code of loops over a row that use what they have accumulated so far. Used by share_rows.
//
//   for (round = first; round < limit; round += threads * items) {
//     the thread's items: elements of neighbouring iterations, into registers
//     s_part: what they add to s
//     s_here: what s is when they begin; s: what it is when the round is over
//     the loop's body for the items, with s_here
//   }
#pragma once

#include "rewrite/analysis/row_sharing.h"
#include "rewrite/forms/ir.h"
#include "rewrite/forms/names.h"
#include "rewrite/transform/row_vector_code.h"
#include "rewrite/transform/scan_exchange.h"

#include <cstddef>
#include <string>
#include <vector>

namespace regraph::rewrite {

// Writes one loop. The arguments must outlive it.
class ScanCode {
 public:
  // With `vectors`, items are moved as vectors of the plan, as many as fit in one: for rows that
  // suit it. Null: by elements.
  ScanCode(const ForLoop& loop, const SharedLoop& shared, const ScanTeam& team,
           const RowVectors* plan, RowVectorCode* vectors, Names& names);

  // What stands in the loop's place, as exchange_parts wants it.
  [[nodiscard]] Block run(Block& declarations);

 private:
  [[nodiscard]] ExprPtr held(std::size_t load) const;
  [[nodiscard]] Block for_items(Block body) const;
  [[nodiscard]] Block on_registers(const Block& body) const;
  [[nodiscard]] StmtPtr counter(const std::string& name, ExprPtr value, bool is_const) const;
  void read(Block& out);
  void store(Block& out) const;
  [[nodiscard]] StmtPtr round(Block body) const;

  const ForLoop& loop_;
  const SharedLoop& shared_;
  const ScanTeam& team_;
  const RowVectors* plan_;
  RowVectorCode* vectors_;
  Names& names_;
  std::string round_;  // counts the elements of the rounds before
  std::string first_;  // the thread's first item
  std::string place_;  // counts items
  std::vector<std::string> held_;
  std::vector<RunningValue> values_;
};

}  // namespace regraph::rewrite

// Code of loops over a row that move vectors. Used by share_rows.
#pragma once

#include "rewrite/analysis/kept_values.h"
#include "rewrite/analysis/row_vectors.h"
#include "rewrite/forms/ir.h"
#include "rewrite/forms/names.h"
#include "rewrite/transform/vector_code.h"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace regraph::rewrite {

// Writes the loops one after another: it remembers what is in registers, values that later loops
// compute again (kept_values.h) among it. The arguments must outlive it.
class RowVectorCode {
 public:
  RowVectorCode(const Kernel& kernel, const RowVectors& plan, const RowPlan& rows, int threads,
                std::string lane, Names& names);

  // Whether the row is one that the code is for: the same for all threads of the grid.
  [[nodiscard]] ExprPtr condition() const;

  // The loop, dealt out to the lanes, and what it loads first, appended to `out`. `written_later`:
  // arrays that a later one of the loops writes as a whole. `growth`: where the loop scales sums,
  // which is done once a vector then; null where it does not.
  void add_loop(const ForLoop& loop, const std::set<std::string>& written_later,
                const SharedLoop::Growth* growth, Block& out);

  // The arrays that the loop writes.
  [[nodiscard]] std::set<std::string> written_by(const ForLoop& loop) const;

  // Pieces of such loops, for those that are written otherwise. They count on names: `first`, the
  // place in the row of the vector, and `place`, an element's in the vector.
  [[nodiscard]] const std::string& first() const { return first_; }
  [[nodiscard]] const std::string& place() const { return place_; }
  // The array that is accessed, and its element `place` in registers.
  [[nodiscard]] const RowArray* array_of(const Expr& access) const {
    return plan_.array_of(access);
  }
  [[nodiscard]] ExprPtr held_at(const RowArray& array, const ExprPtr& place) const;
  // Whether an iteration reads the array's element before it writes it.
  [[nodiscard]] bool needs_old(const ForLoop& loop, const RowArray& array) const;
  // Declares the registers, fills them, stores them.
  [[nodiscard]] StmtPtr hold(const RowArray& array);
  [[nodiscard]] Block load(const RowArray& array) const;
  [[nodiscard]] Block store(const RowArray& array) const;

 private:
  [[nodiscard]] ExprPtr first_element(const RowArray& array) const;
  [[nodiscard]] VectorShape shape_of(const RowArray& array) const;
  [[nodiscard]] StmtPtr over_vectors(Block body) const;
  [[nodiscard]] StmtPtr over_places(const ForLoop& loop, const Block& body) const;
  // The place in registers of the value, for the element at hand.
  [[nodiscard]] ExprPtr kept_at(const KeptValue& kept) const;
  [[nodiscard]] Block with_kept_values(const ForLoop& loop, const Block& body) const;
  void scale_once(const ForLoop& loop, const SharedLoop::Growth& growth, Block& out);

  const Kernel& kernel_;
  const RowVectors& plan_;
  Names& names_;
  int threads_;
  std::string lane_;
  std::string step_;                                  // counts the lane's vectors
  std::string first_;                                 // the vector's first element
  std::string place_;                                 // counts a vector's elements
  std::map<const RowArray*, std::string> registers_;  // by array
  std::map<const RowArray*, std::string> vectors_;    // on their way in, by array
  std::map<const RowArray*, std::string> stored_;     // on their way out
  const RowValues values_;
  std::vector<KeptValue> kept_;
  std::vector<std::string> kept_names_;
  std::set<const RowArray*> held_;    // arrays that are declared
  std::set<const RowArray*> loaded_;  // arrays whose registers hold the row
};

}  // namespace regraph::rewrite

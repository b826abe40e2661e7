// Threads that have several rows of a tile each: loops through the rows, and arrays with an element
// for each of them. Used by rows_apart.
//
//   float acc[4][8] = {};
//   for (k ..) for (r = 0; r < 4; ++r) for (c = 0; c < 8; ++c) acc[r][c] += a[4 * ty + r] * ..;
//
// Along y the first of the array's indices is a row's number, along x the second.
#pragma once

#include "kernel/launch_plan.h"
#include "kernel/problem.h"
#include "rewrite/forms/ir.h"
#include "source/analysis.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace regraph::rewrite {

// How rows are numbered along an axis of the block.
class RowNumbering {
 public:
  // `is_contiguous`: a thread's rows follow each other; else those of neighbouring threads do.
  RowNumbering(const Dim3& block, char axis, std::int64_t rows, bool is_contiguous);

  // The index with the numbers of row and thread as one, which has the old thread's name and goes
  // from 0 to threads * rows. Nothing where they make no such number. `counted` is the loop through
  // the rows.
  [[nodiscard]] std::optional<Polynomial> by_thread(const Polynomial& index,
                                                    const CountedLoop& counted) const;

  [[nodiscard]] const std::string& thread() const { return thread_; }  // "threadIdx.y"
  [[nodiscard]] std::int64_t threads() const { return threads_; }
  [[nodiscard]] std::int64_t rows() const { return rows_; }
  [[nodiscard]] bool is_contiguous() const { return is_contiguous_; }

 private:
  Dim3 block_;
  std::string thread_;
  std::int64_t threads_;
  std::int64_t rows_;
  bool is_contiguous_;
};

struct RowTile {
  std::map<std::string, std::size_t> arrays;  // of the thread's own: which index is a row's number
  std::set<const Stmt*> loops;                // through the rows
};

// The loops of as many iterations as there are rows in which some place follows from the new
// thread's number, the arrays that they count the elements of, and loops that count those. The
// arrays begin with zeros or no values. Nothing where there is no such loop, or an array has two
// such indices. `analysis` is of the kernel.
[[nodiscard]] std::optional<RowTile> row_tile(const Kernel& kernel, const Analysis& analysis,
                                              const RowNumbering& numbering);

// How often arrays of the thread's own repeat along one of their indices, or loops of constant
// length run: what may be the number of rows.
[[nodiscard]] std::set<std::int64_t> possible_rows(const Kernel& kernel);

// Whether a thread's stores to the element in different iterations of the loop through its rows
// are to different elements, whatever loops are inside of it and around. `guards` hold where it is
// stored.
[[nodiscard]] bool rows_stay_apart(const Polynomial& index, const CountedLoop& rows,
                                   const std::vector<ExprPtr>& guards, const Analysis& analysis,
                                   const Dim3& block, const Problem& problem);

}  // namespace regraph::rewrite

#include "rewrite/analysis/row_tile.h"

#include "affine/block_geometry.h"
#include "affine/constraints.h"
#include "affine/size_expression.h"
#include "source/match.h"
#include "source/walk.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace regraph::rewrite {

namespace {

// A symbol that no kernel has: the number of a thread's row.
constexpr const char* kRow = "row.of.thread";

// Index `dimension` of an array of the thread's own.
using ArrayIndex = std::pair<std::string, std::size_t>;

struct LoopOfRows {
  const Stmt* loop = nullptr;
  CountedLoop counted;
  std::set<ArrayIndex> counts;  // elements of arrays that its counter is an index of
  bool has_place = false;       // some place follows from the new thread's number
};

// Arrays of the thread's own that begin with zeros or no values, by name.
std::map<std::string, std::vector<std::int64_t>> cleared_arrays(const Kernel& kernel) {
  std::map<std::string, std::vector<std::int64_t>> arrays;
  walk(kernel.body, [&](const Stmt& stmt) {
    const auto* declared = as<Declaration>(stmt);
    if (declared == nullptr) return;
    const Variable& variable = declared->variable;
    const auto* list = as<InitializerList>(declared->value);
    const bool is_cleared =
        !declared->value || (list != nullptr && std::ranges::all_of(list->values, source::is_zero));
    if (variable.storage == Storage::automatic && variable.scalar && !variable.is_pointer &&
        is_cleared && !variable.extents.empty())
      arrays[variable.name] = variable.extents;
  });
  return arrays;
}

class TileFinder {
 public:
  TileFinder(const Kernel& kernel, const Analysis& analysis, const RowNumbering& numbering)
      : analysis_(analysis), numbering_(numbering), arrays_(cleared_arrays(kernel)) {
    walk(kernel.body, [&](const Stmt& stmt) { note_loop(stmt); });
  }

  std::optional<RowTile> find() const {
    RowTile tile;
    std::set<ArrayIndex> of_rows;
    for (bool changed = true; changed;) {
      changed = false;
      for (const LoopOfRows& loop : loops_) {
        const bool belongs =
            loop.has_place || std::ranges::any_of(loop.counts, [&](const ArrayIndex& index) {
              return of_rows.contains(index);
            });
        if (!belongs || !tile.loops.insert(loop.loop).second) continue;
        of_rows.insert(loop.counts.begin(), loop.counts.end());
        changed = true;
      }
    }
    for (const auto& [array, index] : of_rows) {
      if (!tile.arrays.emplace(array, index).second) return std::nullopt;
    }
    return tile.loops.empty() ? std::nullopt : std::optional(std::move(tile));
  }

 private:
  void note_loop(const Stmt& stmt) {
    const auto counted = counted_loop_of(stmt);
    const bool has_rows = counted && counted->trip_count() == numbering_.rows() &&
                          as<IntegerLiteral>(counted->first) != nullptr;
    if (!has_rows) return;
    LoopOfRows found{&stmt, *counted, {}, false};
    walk_expressions(body_of(stmt), [&](const Expr& expr) {
      const auto* element = as<Subscript>(expr);
      if (element == nullptr) return;
      note_array(expr, found);
      const auto index = analysis_.polynomial(element->index);
      const bool is_of_both =
          index && index->mentions(counted->name) && index->mentions(numbering_.thread());
      found.has_place = found.has_place || (is_of_both && numbering_.by_thread(*index, *counted));
    });
    loops_.push_back(std::move(found));
  }

  void note_array(const Expr& expr, LoopOfRows& loop) const {
    const auto* base = base_variable(expr);
    const auto array = base != nullptr ? arrays_.find(base->name) : arrays_.end();
    const std::vector<ExprPtr> indices = indices_of(expr);
    if (array == arrays_.end() || indices.size() != array->second.size()) return;
    for (std::size_t i = 0; i < indices.size(); ++i) {
      if (array->second[i] == numbering_.rows() && is_named(indices[i], loop.counted.name))
        loop.counts.emplace(base->name, i);
    }
  }

  const Analysis& analysis_;
  const RowNumbering& numbering_;
  const std::map<std::string, std::vector<std::int64_t>> arrays_;
  std::vector<LoopOfRows> loops_;
};

// The terms that mention counters of loops.
Polynomial moved_by_loops(const Polynomial& index, const Analysis& analysis) {
  std::set<std::string> counters;
  for (const std::string& symbol : index.symbols()) {
    if (analysis.loop(symbol) != nullptr) counters.insert(symbol);
  }
  return index - index.without(counters);
}

// Whether all terms are products of what is never negative: builtins, and counters from zero on.
bool is_never_negative(const Polynomial& value, const Analysis& analysis) {
  return std::ranges::all_of(value.terms(), [&](const auto& term) {
    return term.second >= 0 && std::ranges::all_of(term.first, [&](const std::string& symbol) {
             const CountedLoop* loop = analysis.loop(symbol);
             const auto* first = loop != nullptr ? as<IntegerLiteral>(loop->first) : nullptr;
             return symbol.find('.') != std::string::npos ||
                    (first != nullptr && first->value >= 0);
           });
  });
}

// The terms that mention builtins or counters of loops.
Polynomial moved_by_any(const Polynomial& value, const Analysis& analysis) {
  std::set<std::string> moving;
  for (const std::string& symbol : value.symbols()) {
    if (analysis.loop(symbol) != nullptr || symbol.find('.') != std::string::npos)
      moving.insert(symbol);
  }
  return value - value.without(moving);
}

// Whether the value is the other one, which is above zero, once or several times.
bool is_multiple(const Polynomial& value, const Polynomial& of) {
  if (of.is_zero() || value.terms().size() != of.terms().size()) return false;
  const std::int64_t factor = value.terms().begin()->second / of.terms().begin()->second;
  return factor > 0 && value == of * Polynomial(factor);
}

// Whether guards keep what loops add to the place between 0 and `reach`, what is the same for all
// of them aside:   c < n   where   place = n * row + c
bool is_guarded(const Polynomial& moved, const Polynomial& reach, const std::string& row,
                const std::vector<ExprPtr>& guards, const Analysis& analysis, const Dim3& block) {
  return std::ranges::any_of(guards, [&](const ExprPtr& guard) {
    const auto slack = slack_of(guard, analysis);
    if (!slack) return false;
    const Polynomial room = with_block_extents(*slack, block);
    const Polynomial column = Polynomial() - moved_by_any(room, analysis);
    const Polynomial end = room + column + Polynomial(1);
    return !column.mentions(row) && moved_by_loops(column, analysis) == moved &&
           is_never_negative(column, analysis) && is_multiple(reach, end);
  });
}

// The most that loops of constant length add to the place, in either direction.
std::optional<std::int64_t> width_of(const Polynomial& moved, const Analysis& analysis) {
  std::int64_t width = 0;
  for (const auto& [monomial, factor] : moved.terms()) {
    const CountedLoop* loop = monomial.size() == 1 ? analysis.loop(monomial.front()) : nullptr;
    const auto trips = loop != nullptr ? loop->trip_count() : std::nullopt;
    if (!trips) return std::nullopt;
    width += std::abs(factor) * (*trips - 1) * loop->stride;
  }
  return width;
}

}  // namespace

RowNumbering::RowNumbering(const Dim3& block, char axis, std::int64_t rows, bool is_contiguous)
    : block_(block),
      thread_(std::string("threadIdx.") + axis),
      threads_(extent(block, axis - 'x')),
      rows_(rows),
      is_contiguous_(is_contiguous) {}

std::optional<Polynomial> RowNumbering::by_thread(const Polynomial& index,
                                                  const CountedLoop& counted) const {
  const auto* first = as<IntegerLiteral>(counted.first);
  if (first == nullptr) return std::nullopt;
  const Polynomial row = Polynomial::symbol(kRow);
  const Polynomial thread = Polynomial::symbol(thread_);
  const Polynomial whole =
      with_block_extents(index, block_)
          .substitute(counted.name, Polynomial(first->value) + Polynomial(counted.stride) * row);
  const auto by_row = whole.coefficient(kRow);
  const auto by_place = whole.coefficient(thread_);
  if (!by_row || !by_place || by_row->is_zero()) return std::nullopt;
  std::optional<Polynomial> placed;
  if (is_contiguous_ && *by_place == *by_row * Polynomial(rows_))
    placed = whole - *by_place * thread - *by_row * row + *by_row * thread;
  if (!is_contiguous_ && *by_row == *by_place * Polynomial(threads_))
    placed = whole - *by_row * row;
  return placed && !placed->mentions(kRow) ? placed : std::nullopt;
}

std::optional<RowTile> row_tile(const Kernel& kernel, const Analysis& analysis,
                                const RowNumbering& numbering) {
  return TileFinder(kernel, analysis, numbering).find();
}

std::set<std::int64_t> possible_rows(const Kernel& kernel) {
  std::set<std::int64_t> found;
  for (const auto& [array, extents] : cleared_arrays(kernel))
    found.insert(extents.begin(), extents.end());
  walk(kernel.body, [&](const Stmt& stmt) {
    const auto counted = counted_loop_of(stmt);
    const auto trips = counted ? counted->trip_count() : std::nullopt;
    if (trips) found.insert(*trips);
  });
  std::erase_if(found, [](std::int64_t rows) { return rows < 2; });
  return found;
}

bool rows_stay_apart(const Polynomial& index, const CountedLoop& rows,
                     const std::vector<ExprPtr>& guards, const Analysis& analysis,
                     const Dim3& block, const Problem& problem) {
  const Polynomial place = with_block_extents(index, block);
  const auto pitch = place.coefficient(rows.name);
  if (!pitch || pitch->is_zero() || !moved_by_loops(*pitch, analysis).is_zero()) return false;
  const Polynomial rest = place - *pitch * Polynomial::symbol(rows.name);
  const Polynomial moved = moved_by_loops(rest, analysis);
  if (moved.is_zero()) return true;
  const Polynomial reach = *pitch * Polynomial(rows.stride);
  if (is_guarded(moved, reach, rows.name, guards, analysis, block)) return true;
  const auto width = width_of(moved, analysis);
  const auto size = size_of(reach, problem);
  return width && size && std::ranges::all_of(all_sizes(problem), [&](const Symbols& sizes) {
           const auto at_size = size->evaluate(sizes);
           return at_size && std::abs(*at_size) > *width;
         });
}

}  // namespace regraph::rewrite

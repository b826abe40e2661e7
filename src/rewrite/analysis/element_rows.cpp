#include "rewrite/analysis/element_rows.h"

#include "affine/placed_accesses.h"
#include "rewrite/forms/element_accesses.h"
#include "rewrite/forms/kernel_state.h"
#include "source/analysis.h"
#include "source/build.h"
#include "source/match.h"
#include "source/printer.h"
#include "source/walk.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace regraph::rewrite {

std::int64_t ElementRow::words(const Kernel& kernel) const {
  const auto bytes = static_cast<std::int64_t>(size_in_bytes(*kernel.parameter(buffer)->scalar));
  constexpr std::int64_t kWord = 4;
  return extent * ((bytes + kWord - 1) / kWord);
}

namespace {

// Accesses as parts of rows whose elements loops of constant length count, and what is known of
// when they happen.

// More elements than this in one row are no longer written out by the compiler.
inline constexpr std::int64_t kLongestRow = 128;

// An access as a part of a row: base + offset, where the offset follows loops of constant length.
struct RowAccess {
  const PlacedAccess* placed = nullptr;
  std::size_t position = 0;  // of the statement in the block
  Polynomial base;           // without its constant
  Polynomial offset;
  std::set<std::int64_t> offsets;         // the values that it takes
  std::vector<const CountedLoop*> loops;  // that it follows
  bool is_again = false;                  // a loop around it that it does not follow
};

// Conditions that hold wherever an access is, and whether it happens whenever they do.
struct Reach {
  std::vector<ExprPtr> terms;
  bool is_certain = true;

  [[nodiscard]] std::set<std::string> texts() const;
};

// The innermost loop around the access that counts by that name.
const CountedLoop* loop_counting(const PlacedAccess& placed, const std::string& name) {
  for (auto at = placed.around.rbegin(); at != placed.around.rend(); ++at) {
    if (at->counted && at->counted->name == name) return &*at->counted;
  }
  return nullptr;
}

// Fills in the offsets; false where there are too many.
bool enumerate(RowAccess& access, const Analysis& analysis) {
  std::set<std::int64_t> values = {access.offset.terms().contains({}) ? access.offset.terms().at({})
                                                                      : 0};
  for (const CountedLoop* loop : access.loops) {
    const std::int64_t factor = *access.offset.coefficient(loop->name)->constant();
    const auto first = analysis.polynomial(loop->first);
    const std::int64_t trips = *loop->trip_count();
    const auto start = first ? first->constant() : std::nullopt;
    if (!start || trips > kLongestRow) return false;
    std::set<std::int64_t> next;
    for (const std::int64_t value : values) {
      for (std::int64_t trip = 0; trip < trips; ++trip)
        next.insert(value + factor * (*start + trip * loop->stride));
    }
    values = std::move(next);
    if (static_cast<std::int64_t>(values.size()) > kLongestRow) return false;
  }
  access.offsets = std::move(values);
  return true;
}

// In the counter's type, as the loop compares it.
ExprPtr first_in_type(const CountedLoop& counted, const Analysis& analysis) {
  const Variable* counter = analysis.local(counted.name);
  return counter == nullptr || counted.first->type == counter->scalar
             ? counted.first
             : cast(counter->type, counted.first);
}

std::set<std::string> Reach::texts() const {
  std::set<std::string> result;
  for (const ExprPtr& term : terms)
    result.insert(print(term));
  return result;
}

// Nothing where the index is no such sum, or takes more values than a row may have. `position`: of
// the statement in its block; the result refers to `placed`.
std::optional<RowAccess> row_access_of(const PlacedAccess& placed, std::size_t position,
                                       const Analysis& analysis) {
  if (!placed.index) return std::nullopt;
  RowAccess result;
  result.placed = &placed;
  result.position = position;
  std::set<std::string> counters;
  for (const std::string& symbol : placed.index->symbols()) {
    const CountedLoop* loop = loop_counting(placed, symbol);
    if (loop == nullptr) continue;
    const auto coefficient = placed.index->coefficient(symbol);
    const auto trips = loop->trip_count();
    if (!trips || *trips < 1 || !coefficient || !coefficient->constant()) return std::nullopt;
    counters.insert(symbol);
    result.loops.push_back(loop);
  }
  const Polynomial fixed = placed.index->without(counters);
  const Polynomial constant(fixed.terms().contains({}) ? fixed.terms().at({}) : 0);
  result.base = fixed - constant;
  result.offset = *placed.index - result.base;
  if (!enumerate(result, analysis)) return std::nullopt;
  for (const Surrounding& surrounding : placed.around) {
    if (!surrounding.loop) continue;
    const bool follows = surrounding.counted && counters.contains(surrounding.counted->name);
    const auto trips =
        surrounding.counted ? surrounding.counted->trip_count() : std::optional<std::int64_t>();
    result.is_again = result.is_again || (!follows && (!trips || *trips > 1));
  }
  return result;
}

// Whether the expression has one value wherever its names are known, and they are known outside of
// what declares those `inside`.
bool is_fixed_outside(const ExprPtr& expr, const std::set<std::string>& inside,
                      const Kernel& kernel, const Analysis& analysis) {
  if (analysis.reads_memory(expr)) return false;
  const std::set<std::string> names = variables_of(expr);
  return std::all_of(names.begin(), names.end(), [&](const std::string& name) {
    if (inside.contains(name)) return false;
    if (const auto* parameter = kernel.parameter(name))
      return !parameter->is_pointer && !analysis.is_written(name);
    return analysis.is_single_definition(name);
  });
}

// The conditions can be asked in front of statements that declare the names `inside`.
Reach reach_of(const PlacedAccess& placed, const std::set<std::string>& inside,
               const Kernel& kernel, const Analysis& analysis) {
  Reach reach;
  for (const Surrounding& surrounding : placed.around) {
    if (surrounding.condition) {
      if (is_fixed_outside(surrounding.condition, inside, kernel, analysis)) {
        reach.terms.push_back(surrounding.condition);
      } else {
        reach.is_certain = false;
      }
      continue;
    }
    if (!surrounding.counted) {
      reach.is_certain = false;
      continue;
    }
    reach.is_certain = reach.is_certain && !surrounding.may_be_left;
    const CountedLoop& counted = *surrounding.counted;
    if (const auto trips = counted.trip_count()) {
      reach.is_certain = reach.is_certain && *trips > 0;
    } else if (is_fixed_outside(counted.first, inside, kernel, analysis) &&
               is_fixed_outside(counted.limit, inside, kernel, analysis)) {
      reach.terms.push_back(less(first_in_type(counted, analysis), counted.limit));
    } else {
      reach.is_certain = false;
    }
  }
  return reach;
}

// Copies of a body that nested loops over a row may give when they are written out.
constexpr std::int64_t kMostRowCopies = 256;

bool may_leave(const StmtPtr& stmt) {
  if (is<Jump>(stmt) || is<Return>(stmt)) return true;
  if (is<ForLoop>(stmt) || is<WhileLoop>(stmt)) {
    return any_statement(body_of(*stmt), [&](const Stmt& inner) { return is<Return>(inner); });
  }
  for (const Block* block : {&body_of(*stmt), &otherwise_of(*stmt)}) {
    if (std::any_of(block->begin(), block->end(), may_leave)) return true;
  }
  return false;
}

class RowFinder {
 public:
  RowFinder(const Kernel& kernel, const Analysis& analysis, const std::vector<std::string>& raced,
            std::string element)
      : kernel_(kernel), analysis_(analysis), raced_(raced), element_(std::move(element)) {}

  Result<std::vector<ElementRow>> run() {
    search(kernel_.body);
    if (!rows_.empty()) return std::move(rows_);
    return obstacle_ ? *obstacle_
                     : refuse(
                           "no loop of constant length goes through the elements of an array "
                           "that an outer loop uses again");
  }

 private:
  // What a block does with a buffer.
  struct Use {
    std::vector<RowAccess> accesses;
    std::set<std::size_t> strays;  // statements with accesses that belong to no row here
  };

  void search(const Block& block) {
    std::vector<PlacedAccesses> placed;
    for (const StmtPtr& stmt : block)
      placed.push_back(placed_accesses(stmt, analysis_));
    std::vector<std::string> buffers;
    std::map<std::string, Use> uses;
    for (std::size_t position = 0; position < block.size(); ++position) {
      for (const PlacedAccess& access : placed[position].accesses) {
        if (!is_suitable(access.buffer)) continue;
        if (uses.find(access.buffer) == uses.end()) buffers.push_back(access.buffer);
        note(access, position, uses[access.buffer]);
      }
    }
    for (const PlacedAccesses& of : placed) {
      for (const std::string& name : of.strange)
        uses.erase(name);
    }
    for (const std::string& buffer : buffers) {
      const auto use = uses.find(buffer);
      if (use == uses.end()) continue;
      if (analysis_.is_written(buffer)) {
        find_updated(block, buffer, use->second);
      } else {
        find_read(block, buffer, use->second);
      }
    }
    for (const StmtPtr& stmt : block) {
      for (const Block* below : {&body_of(*stmt), &otherwise_of(*stmt)}) {
        if (!below->empty()) search(*below);
      }
    }
  }

  bool is_suitable(const std::string& buffer) const {
    const KernelParameter* parameter = kernel_.parameter(buffer);
    return parameter->scalar && parameter->type.find("volatile") == std::string::npos &&
           !analysis_.is_viewed(buffer) &&
           std::find(raced_.begin(), raced_.end(), buffer) == raced_.end();
  }

  void note(const PlacedAccess& placed, std::size_t position, Use& use) const {
    const bool is_taken = taken_.contains(placed.access);
    if (is_taken && !analysis_.is_written(placed.buffer)) return;
    auto access = is_taken ? std::nullopt : row_access_of(placed, position, analysis_);
    if (access) {
      use.accesses.push_back(std::move(*access));
    } else {
      use.strays.insert(position);
    }
  }

  void find_read(const Block& block, const std::string& buffer, const Use& use) {
    std::vector<std::vector<const RowAccess*>> groups;
    for (const RowAccess& access : use.accesses) {
      const auto same = std::find_if(groups.begin(), groups.end(), [&](const auto& group) {
        return group.front()->base == access.base;
      });
      if (same != groups.end()) {
        same->push_back(&access);
      } else {
        groups.push_back({&access});
      }
    }
    for (const auto& group : groups)
      make_row(block, buffer, group, false);
  }

  // Runs of statements in which the buffer is accessed in one row alone, and other threads take no
  // part.
  void find_updated(const Block& block, const std::string& buffer, const Use& use) {
    std::vector<const RowAccess*> run;
    const auto close = [&] {
      if (!run.empty()) make_row(block, buffer, run, true);
      run.clear();
    };
    for (std::size_t position = 0; position < block.size(); ++position) {
      std::vector<const RowAccess*> here;
      for (const RowAccess& access : use.accesses) {
        if (access.position == position) here.push_back(&access);
      }
      if (use.strays.contains(position) || has_hazard(block[position], analysis_)) {
        if (!here.empty() && here.front()->is_again && !use.strays.contains(position))
          note_obstacle(buffer, "other threads may see it in between");
        close();
        continue;
      }
      for (const RowAccess* access : here) {
        if (!run.empty() && !(run.front()->base == access->base)) close();
      }
      const bool is_one = std::all_of(here.begin(), here.end(), [&](const RowAccess* access) {
        return access->base == here.front()->base;
      });
      if (is_one) {
        run.insert(run.end(), here.begin(), here.end());
      } else {
        close();
      }
    }
    close();
  }

  void note_obstacle(const std::string& buffer, const std::string& reason) {
    if (!obstacle_) obstacle_ = refuse("'" + buffer + "': " + reason);
  }

  void make_row(const Block& block, const std::string& buffer,
                const std::vector<const RowAccess*>& accesses, bool is_updated) {
    if (!is_worth_keeping(accesses, is_updated)) return;
    const auto [first, last] = std::minmax_element(
        accesses.begin(), accesses.end(),
        [](const RowAccess* a, const RowAccess* b) { return a->position < b->position; });
    // Found again where the branch's condition needs not be asked.
    const StmtPtr& only = block[(*first)->position];
    const bool is_in_branch = is<Branch>(only) || is<Scope>(only);
    if (is_in_branch && (*first)->position == (*last)->position) return;
    ElementRow row;
    row.buffer = buffer;
    row.is_updated = is_updated;
    row.first = block[(*first)->position];
    row.last = block[(*last)->position];
    std::set<std::int64_t> elements;
    for (const RowAccess* access : accesses)
      elements.insert(access->offsets.begin(), access->offsets.end());
    const std::int64_t low = *elements.begin();
    row.extent = *elements.rbegin() - low + 1;
    if (row.extent < 2) return;
    if (row.extent > kLongestRow) {
      note_obstacle(buffer, "a row of it has " + std::to_string(row.extent) +
                                " elements, too many for registers");
      return;
    }
    if (static_cast<std::int64_t>(elements.size()) != row.extent) {
      note_obstacle(buffer, "its elements do not follow each other");
      return;
    }
    if (Status status = require_written_out(accesses); !status) {
      note_obstacle(buffer, status.error().message);
      return;
    }
    const Block range(block.begin() + static_cast<std::ptrdiff_t>((*first)->position),
                      block.begin() + static_cast<std::ptrdiff_t>((*last)->position) + 1);
    const std::set<std::string> inside = declared_names(range);
    const auto condition = condition_of(block, accesses, row, inside);
    if (!condition) {
      note_obstacle(buffer, std::string("some of its elements may not be ") +
                                (is_updated ? "stored" : "read") +
                                ", which cannot be told in front of the loop");
      return;
    }
    row.condition = conjunction(*condition);
    row.is_loaded = !is_updated || !starts_with_stores(accesses, row, inside);
    set_index(accesses, low, inside, row);
    for (const RowAccess* access : accesses) {
      row.accesses.emplace(access->placed->access, access->offset - Polynomial(low));
      taken_.insert(access->placed->access);
    }
    rows_.push_back(std::move(row));
  }

  // Elements are used more than once, in loops around them or in several places.
  static bool is_worth_keeping(const std::vector<const RowAccess*>& accesses, bool is_updated) {
    // `x[d] = x[d] + 1` uses an element once.
    std::set<std::pair<const Stmt*, std::int64_t>> uses;
    std::set<std::int64_t> elements;
    bool is_again = false;
    bool stores = false;
    for (const RowAccess* access : accesses) {
      for (const std::int64_t offset : access->offsets)
        uses.emplace(access->placed->stmt, offset);
      elements.insert(access->offsets.begin(), access->offsets.end());
      is_again = is_again || access->is_again;
      stores = stores || access->placed->stores;
    }
    return (is_again || uses.size() > elements.size()) && stores == is_updated;
  }

  // Loops that count elements of the row have to be written out, with all that is in them.
  static Status require_written_out(const std::vector<const RowAccess*>& accesses) {
    for (const RowAccess* access : accesses) {
      for (const Surrounding& surrounding : access->placed->around) {
        const bool follows =
            surrounding.counted &&
            std::any_of(access->loops.begin(), access->loops.end(), [&](const CountedLoop* loop) {
              return loop->name == surrounding.counted->name;
            });
        if (!follows) continue;
        const auto copies = copies_of(surrounding.loop);
        if (!copies || *copies > kMostRowCopies) {
          return refuse("the loop over '" + surrounding.counted->name +
                        "' goes around too much to be written out");
        }
      }
    }
    return {};
  }

  // Copies of the innermost body; nothing where a loop has no constant length.
  static std::optional<std::int64_t> copies_of(const StmtPtr& stmt) {
    std::int64_t most = 1;
    for (const Block* block : {&body_of(*stmt), &otherwise_of(*stmt)}) {
      for (const StmtPtr& inner : *block) {
        const auto copies = copies_of(inner);
        if (!copies) return std::nullopt;
        most = std::max(most, *copies);
      }
    }
    if (!is<ForLoop>(stmt) && !is<WhileLoop>(stmt)) return most;
    const auto counted = counted_loop_of(*stmt);
    const auto trips = counted ? counted->trip_count() : std::optional<std::int64_t>();
    return trips ? std::optional(most * std::max<std::int64_t>(1, *trips)) : std::nullopt;
  }

  // The condition under which all elements are accessed (stored, where the row is updated), and
  // without which none is. Nothing where that is not known.
  std::optional<std::vector<ExprPtr>> condition_of(const Block& block,
                                                   const std::vector<const RowAccess*>& accesses,
                                                   const ElementRow& row,
                                                   const std::set<std::string>& inside) const {
    struct Group {
      std::vector<ExprPtr> terms;
      std::set<std::string> texts;
      std::set<std::int64_t> elements;
    };
    std::vector<Group> groups;
    std::vector<std::set<std::string>> all;
    const std::size_t end = certain_end(block, accesses);
    for (const RowAccess* access : accesses) {
      Reach reach = reach_of(*access->placed, inside, kernel_, analysis_);
      all.push_back(reach.texts());
      const bool counts = row.is_updated ? access->placed->stores : access->placed->loads;
      if (!reach.is_certain || !counts || access->position >= end) continue;
      auto same = std::find_if(groups.begin(), groups.end(),
                               [&](const Group& group) { return group.texts == all.back(); });
      if (same == groups.end())
        same = groups.insert(groups.end(), Group{std::move(reach.terms), all.back(), {}});
      same->elements.insert(access->offsets.begin(), access->offsets.end());
    }
    for (const Group& group : groups) {
      const bool is_complete = static_cast<std::int64_t>(group.elements.size()) == row.extent;
      const bool holds_everywhere = std::all_of(all.begin(), all.end(), [&](const auto& texts) {
        return std::includes(texts.begin(), texts.end(), group.texts.begin(), group.texts.end());
      });
      if (is_complete && holds_everywhere) return group.terms;
    }
    return std::nullopt;
  }

  // The first statement of the row's that may be left: what follows need not be reached.
  static std::size_t certain_end(const Block& block,
                                 const std::vector<const RowAccess*>& accesses) {
    std::size_t position = block.size();
    for (const RowAccess* access : accesses)
      position = std::min(position, access->position);
    while (position < block.size() && !may_leave(block[position]))
      ++position;
    return position;
  }

  // Whether the first statement replaces all elements, whatever they were.
  bool starts_with_stores(const std::vector<const RowAccess*>& accesses, const ElementRow& row,
                          const std::set<std::string>& inside) const {
    std::size_t first = accesses.front()->position;
    for (const RowAccess* access : accesses)
      first = std::min(first, access->position);
    std::set<std::int64_t> stored;
    const auto condition = row.condition ? conjuncts(row.condition) : std::vector<ExprPtr>();
    Reach known;
    known.terms = condition;
    const std::set<std::string> given = known.texts();
    for (const RowAccess* access : accesses) {
      if (access->position != first) continue;
      if (access->placed->loads) return false;
      const Reach reach = reach_of(*access->placed, inside, kernel_, analysis_);
      const std::set<std::string> asked = reach.texts();
      if (reach.is_certain && std::includes(given.begin(), given.end(), asked.begin(), asked.end()))
        stored.insert(access->offsets.begin(), access->offsets.end());
    }
    return static_cast<std::int64_t>(stored.size()) == row.extent;
  }

  // As the source says it where its names are known in front of the row.
  void set_index(const std::vector<const RowAccess*>& accesses, std::int64_t low,
                 const std::set<std::string>& inside, ElementRow& row) const {
    row.element = element_;
    for (const RowAccess* access : accesses) {
      const ExprPtr& said = access->placed->access->index;
      if (access->loops.size() != 1) continue;
      const std::string& counter = access->loops.front()->name;
      // The counter stands for an element of the same number.
      if (!(access->offset - Polynomial::symbol(counter)).is_zero()) continue;
      const ExprPtr place = add(variable(element_), integer(low));
      const ExprPtr index = rewrite_expr(said, replace_variable(counter, place));
      if (!is_fixed_outside(rewrite_expr(index, replace_variable(element_, integer(0))), inside,
                            kernel_, analysis_)) {
        continue;
      }
      row.index = index;
      return;
    }
    const bool is_wide = std::any_of(accesses.begin(), accesses.end(), [](const RowAccess* access) {
      return access->placed->is_wide;
    });
    row.index = to_expression(
        accesses.front()->base + Polynomial(low) + Polynomial::symbol(element_), is_wide);
  }

  const Kernel& kernel_;
  const Analysis& analysis_;
  const std::vector<std::string>& raced_;
  const std::string element_;
  std::set<const Subscript*> taken_;
  std::vector<ElementRow> rows_;
  std::optional<Error> obstacle_;
};

}  // namespace

Result<std::vector<ElementRow>> element_rows(const Kernel& kernel, const Analysis& analysis,
                                             const std::vector<std::string>& raced,
                                             const std::string& element) {
  return RowFinder(kernel, analysis, raced, element).run();
}

}  // namespace regraph::rewrite

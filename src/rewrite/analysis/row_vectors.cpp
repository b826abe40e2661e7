#include "rewrite/analysis/row_vectors.h"

#include "affine/guarded_access.h"
#include "affine/size_expression.h"
#include "rewrite/analysis/vector_copy.h"
#include "rewrite/analysis/vector_type.h"
#include "rewrite/forms/kernel_state.h"
#include "source/walk.h"

#include <algorithm>
#include <functional>
#include <list>
#include <optional>
#include <utility>

namespace regraph::rewrite {

namespace {

// Registers for one array's part of the row, at most: eight wide accesses in flight.
constexpr std::int64_t kMostVectors = 8;
// Elements of all arrays that a lane keeps, at most; registers, where it keeps those alone that
// several loops need.
constexpr std::int64_t kMostKept = 64;

class RowVectorPlanner {
 public:
  RowVectorPlanner(const Kernel& kernel, const Analysis& analysis, const RowPlan& rows, int threads,
                   int width, const Problem& problem)
      : kernel_(kernel),
        analysis_(analysis),
        rows_(rows),
        threads_(threads),
        width_(width),
        problem_(problem) {}

  Result<RowVectors> plan() {
    result_.width = width_;
    result_.analysis = &analysis_;
    find_block(kernel_.body);
    if (result_.block == nullptr)
      return refuse("the loops over the row do not follow each other in one block");
    if (Status status = require_one_range(); !status) return status.error();
    for (const auto& [stmt, shared] : rows_) {
      const auto& loop = to<ForLoop>(*stmt);
      const auto counter = loop.declaration()->variable.scalar;
      result_.is_wide =
          result_.is_wide || (counter && size_in_bytes(*counter) == sizeof(std::int64_t));
      note_accesses(loop, shared);
    }
    for (auto& [name, places] : uses_) {
      if (analysis_.is_written(name) && (places.size() != 1 || !places.front().is_possible))
        continue;
      for (Use& use : places) {
        use.array.is_only_place = places.size() == 1;
        if (!use.is_possible) continue;
        result_.arrays.push_back(use.array);
        is_of_several_loops_.push_back(use.loops.size() > 1);
      }
    }
    if (result_.arrays.empty()) {
      return refuse("no array is accessed at neighbouring places, from a multiple of " +
                    std::to_string(width_) + ", in every iteration of the loops over the row");
    }
    // Wider ones are for narrower types: other arrays' vectors are several accesses then.
    const bool is_one_access =
        std::any_of(result_.arrays.begin(), result_.arrays.end(), [&](const RowArray& array) {
          return VectorShape{array.scalar, width_}.bytes() <= kWidestAccess;
        });
    if (!is_one_access) {
      return refuse("no array has elements of which one access moves " + std::to_string(width_));
    }
    keep_in_registers();
    return result_;
  }

 private:
  struct Use {
    RowArray array;
    bool has_place = true;
    bool is_possible = true;
    std::set<const Stmt*> loops;  // that access it there
  };

  // All arrays where there is room for them, else those that several loops access: what one loop
  // alone needs passes by.
  void keep_in_registers() {
    if (vectors_ > kMostVectors) return;
    const auto elements = static_cast<std::int64_t>(result_.arrays.size()) * width_ * vectors_;
    const bool keeps_all = elements <= kMostKept;
    if (!keeps_all && has_scan(rows_)) return;
    std::int64_t bytes = 0;
    for (std::size_t i = 0; i < result_.arrays.size(); ++i) {
      RowArray& array = result_.arrays[i];
      array.is_kept = keeps_all || is_of_several_loops_[i];
      if (array.is_kept) bytes += VectorShape{array.scalar, width_}.bytes() * vectors_;
    }
    const auto registers = bytes / static_cast<std::int64_t>(sizeof(float));
    const bool fits = keeps_all || (registers > 0 && registers <= kMostKept);
    if (fits) {
      result_.vectors = static_cast<int>(vectors_);
      return;
    }
    result_.keep_nothing();
  }

  // The block that holds all the loops as statements of its own.
  void find_block(const Block& block) {
    std::size_t found = 0;
    std::size_t first = block.size();
    for (std::size_t i = 0; i < block.size(); ++i) {
      if (rows_.contains(block[i].get())) {
        ++found;
        first = std::min(first, i);
      }
    }
    if (found == rows_.size()) {
      result_.block = &block;
      result_.first = first;
      return;
    }
    for (const StmtPtr& stmt : block) {
      find_block(body_of(*stmt));
      find_block(otherwise_of(*stmt));
    }
  }

  // Whether all loops go over 0, 1, ... up to the same limit, which the sizes alone decide.
  Status require_one_range() {
    std::optional<Polynomial> length;
    for (const auto& [stmt, shared] : rows_) {
      const auto limit = analysis_.polynomial(shared.counted.limit);
      const auto first = analysis_.polynomial(shared.counted.first);
      const auto start = first ? first->constant() : std::nullopt;
      // What comes before the first element is part of its vector.
      const bool starts_in_vector = start && *start >= 0 && *start < width_;
      if (shared.repeats || !starts_in_vector || shared.counted.stride != 1 || !limit ||
          (length && !(*length == *limit))) {
        return refuse("the loops over the row do not all go over the same elements");
      }
      length = limit;
      result_.limit = shared.counted.limit;
    }
    if (!is_of_parameters(*length, kernel_))
      return refuse("the row's length is not the same for all rows");
    const auto longest = largest_at_bench_sizes(*length, problem_);
    if (!longest) return refuse("how long a row is at the bench sizes is not known");
    const std::int64_t once = static_cast<std::int64_t>(threads_) * width_;
    if (*longest < once) {
      return refuse("a row has only " + std::to_string(*longest) + " elements for " +
                    std::to_string(threads_) + " threads and vectors of " + std::to_string(width_));
    }
    vectors_ = (*longest + once - 1) / once;
    // The row's end is the end of a vector.
    return require_divisible(*length, width_, facts(), result_.divisible)
               ? Status()
               : Status(refuse("a row's length is no multiple of " + std::to_string(width_)));
  }

  SymbolFacts facts() const {
    return {[this](const std::string& symbol) { return kernel_.parameter(symbol) != nullptr; }, {}};
  }

  void note_accesses(const ForLoop& loop, const SharedLoop& shared) {
    const std::set<std::string> inner = declared_names(loop.body);
    std::set<const Use*> always;  // places that every iteration accesses
    std::set<Use*> sometimes;
    for_each_guarded_access(loop.body, [&](const GuardedAccess& access) {
      const auto* base = base_variable(*access.access);
      if (base == nullptr || !analysis_.is_global_pointer(base->name)) return;
      const auto place = place_of(access, shared, inner);
      Use& use = use_of(base->name, place);
      use.loops.insert(&loop);
      if (access.guards.empty()) {
        always.insert(&use);
      } else {
        sometimes.insert(&use);
      }
      // A vector is stored as a whole; scans store the first one by elements.
      const bool is_whole =
          access.guards.empty() && (shared.counted.starts_at_zero() || shared.scan);
      if (access.is_store && !is_whole) use.is_possible = false;
      if (place) note_place(*base, access, *place, use);
    });
    for (Use* use : sometimes) {
      if (!always.contains(use)) use->is_possible = false;
    }
  }

  // What is known of the array's accesses at the place; those that are at none are together.
  Use& use_of(const std::string& name, const std::optional<Polynomial>& place) {
    std::list<Use>& places = uses_[name];
    const auto known = std::find_if(places.begin(), places.end(), [&](const Use& use) {
      return use.has_place == place.has_value() && (!place || use.array.rest == *place);
    });
    if (known != places.end()) return *known;
    Use use;
    use.has_place = place.has_value();
    use.is_possible = use.has_place;
    if (place) use.array.rest = *place;
    return places.emplace_back(std::move(use));
  }

  void note_place(const VariableReference& base, const GuardedAccess& access,
                  const Polynomial& place, Use& use) {
    const KernelParameter* parameter = kernel_.parameter(base.name);
    const bool has_type = parameter != nullptr && parameter->scalar;
    const VectorShape shape{has_type ? *parameter->scalar : ScalarType::boolean, width_};
    if (!can_be_moved(shape) || analysis_.is_viewed(base.name) ||
        shape.alignment() > problem_.assume.align) {
      use.is_possible = false;
      return;
    }
    const bool is_new = use.array.name.empty();
    if (!is_new || !use.is_possible) return;
    use.array = {base.name,
                 true,
                 parameter->type,
                 *parameter->scalar,
                 place,
                 access.access->index->type &&
                     size_in_bytes(*access.access->index->type) == sizeof(std::int64_t)};
    std::set<std::string> divisible = result_.divisible;
    use.is_possible = require_divisible(place, width_, facts(), divisible);
    if (use.is_possible) result_.divisible = std::move(divisible);
  }

  // What the loop's counter is added to; nothing for accesses elsewhere.
  std::optional<Polynomial> place_of(const GuardedAccess& access, const SharedLoop& shared,
                                     const std::set<std::string>& inner) const {
    if (!is<VariableReference>(access.access->base)) return std::nullopt;
    const auto index = analysis_.polynomial(access.access->index);
    const auto pitch = index ? index->coefficient(shared.counted.name) : std::nullopt;
    if (!pitch || !(*pitch == Polynomial(1))) return std::nullopt;
    const Polynomial rest = index->without({shared.counted.name});
    for (const std::string& symbol : rest.symbols()) {
      if (inner.contains(symbol)) return std::nullopt;
    }
    return rest;
  }

  const Kernel& kernel_;
  const Analysis& analysis_;
  const RowPlan& rows_;
  int threads_;
  int width_;
  const Problem& problem_;
  std::int64_t vectors_ = 0;
  std::map<std::string, std::list<Use>> uses_;  // by array
  std::vector<bool> is_of_several_loops_;       // of the result's arrays
  RowVectors result_;
};

}  // namespace

const RowArray* RowVectors::array_of(const Expr& access) const {
  const auto* element = as<Subscript>(access);
  const auto* base = element != nullptr ? base_variable(access) : nullptr;
  if (base == nullptr) return nullptr;
  for (const RowArray& array : arrays) {
    if (array.name != base->name) continue;
    if (array.is_only_place) return &array;
    const auto index = analysis->polynomial(element->index);
    if (!index) return nullptr;
    // What is left is the loop's counter, by whatever name.
    const Polynomial counter = *index - array.rest;
    const std::set<std::string> symbols = counter.symbols();
    if (symbols.size() == 1 && counter == Polynomial::symbol(*symbols.begin())) return &array;
  }
  return nullptr;
}

Result<RowVectors> plan_row_vectors(const Kernel& kernel, const Analysis& analysis,
                                    const RowPlan& rows, int threads, int width,
                                    const Problem& problem) {
  return RowVectorPlanner(kernel, analysis, rows, threads, width, problem).plan();
}

}  // namespace regraph::rewrite

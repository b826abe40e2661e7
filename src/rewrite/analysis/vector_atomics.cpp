#include "rewrite/analysis/vector_atomics.h"

#include "rewrite/analysis/atomic_updates.h"
#include "rewrite/analysis/neighbour_values.h"
#include "rewrite/analysis/vector_type.h"
#include "source/build.h"
#include "source/match.h"
#include "source/printer.h"
#include "source/walk.h"

#include <algorithm>
#include <map>
#include <optional>

namespace regraph::rewrite {

namespace {

class Finder {
 public:
  explicit Finder(const VectorAtomicsQuestion& question)
      : question_(question),
        values_(question.kernel, question.analysis, question.element, question.width) {}

  VectorAtomics find() {
    collect(question_.branch.body);
    result_.divisible = values_.divisible();
    return std::move(result_);
  }

 private:
  void collect(const Block& block) {
    for (const StmtPtr& stmt : block) {
      if (const auto* branch = as<Branch>(stmt)) {
        const std::size_t depth = guards_.size();
        guards_.push_back(branch->condition);
        collect(branch->body);
        guards_.back() = negate(branch->condition);
        collect(branch->otherwise);
        guards_.resize(depth);
      } else if (const auto update = atomic_update_of(*stmt);
                 update && question_.analysis.is_global_pointer(update->table)) {
        note(*stmt, *update);
      }
    }
  }

  void note(const Stmt& stmt, const AtomicUpdate& update) {
    const std::string obstacle = obstacle_of(stmt, update);
    if (!obstacle.empty())
      result_.obstacles += (result_.obstacles.empty() ? "" : "; ") + update.table + ": " + obstacle;
  }

  // Adds the update where nothing is in the way, else says what is.
  std::string obstacle_of(const Stmt& stmt, const AtomicUpdate& update) {
    const auto* parameter = question_.kernel.parameter(update.table);
    if (parameter == nullptr || !parameter->scalar || update.function != "atomicAdd" ||
        question_.analysis.is_viewed(update.table)) {
      return "'" + update.function + "' has no vectors there";
    }
    const int each = atomic_width(*parameter->scalar, question_.width, question_.has_float_vectors);
    if (each == 1) return "the device has no vectors of its type for 'atomicAdd'";
    const VectorShape one{*parameter->scalar, each};
    if (!can_be_moved({*parameter->scalar, question_.width}))
      return "its type has no vector of " + std::to_string(question_.width);
    if (one.alignment() > question_.alignment) {
      return "'assume: {align}' grants only " + std::to_string(question_.alignment) + " bytes";
    }
    if (!is_added_to_alone(update.table)) return "it is used besides";
    for (const ExprPtr& guard : guards_) {
      if (!values_.is_common(guard))
        return "'" + print(guard) + "' is not the same for neighbouring elements";
    }
    const std::set<std::string> before = values_.divisible();
    const auto place = values_.place(update.index);
    const auto factor = place ? place->coefficient(question_.element) : std::nullopt;
    const bool fits = factor && factor->constant() == 1 &&
                      values_.is_divisible(place->without({question_.element}));
    if (!fits) {
      values_.set_divisible(before);
      return "elements that meet in it do not fill whole vectors";
    }
    result_.updates.push_back(
        {&stmt, update.table, *parameter->scalar, each, update.index, guards_});
    return "";
  }

  // Whether the kernel does nothing else with the array than to add to it.
  [[nodiscard]] bool is_added_to_alone(const std::string& array) const {
    std::size_t mentioned = 0;
    walk_expressions(question_.kernel.body, [&](const Expr& expr) {
      if (is_named(expr, array)) ++mentioned;
    });
    std::size_t added = 0;
    walk(question_.kernel.body, [&](const Stmt& stmt) {
      const auto update = atomic_update_of(stmt);
      if (update && update->table == array && update->function == "atomicAdd") ++added;
    });
    return mentioned == added;
  }

  const VectorAtomicsQuestion& question_;
  NeighbourValues values_;
  VectorAtomics result_;
  std::vector<ExprPtr> guards_;
};

}  // namespace

int atomic_width(ScalarType scalar, int width, bool has_float_vectors) {
  constexpr int kMostFloats = 4;
  if (scalar == ScalarType::f32) return has_float_vectors ? std::min(width, kMostFloats) : 1;
  return scalar == ScalarType::f16 || scalar == ScalarType::bf16 ? std::min(width, 2) : 1;
}

VectorAtomics find_vector_atomics(const VectorAtomicsQuestion& question) {
  return Finder(question).find();
}

}  // namespace regraph::rewrite

#include "rewrite/analysis/held_loads.h"

#include "rewrite/analysis/guarded_access.h"
#include "source/build.h"
#include "source/walk.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

namespace regraph::rewrite {

using source::Analysis;
using source::as;
using source::Block;
using source::ExprPtr;
using source::ForLoop;
using source::Kernel;
using source::Stmt;
using source::Subscript;

namespace {

// Registers are few: elements of an iteration that are kept, at most.
constexpr std::size_t kMostLoads = 4;

bool holds(const std::vector<ExprPtr>& terms, const ExprPtr& term) {
  return std::any_of(terms.begin(), terms.end(),
                     [&](const ExprPtr& other) { return source::equal(term, other); });
}

class LoadFinder {
 public:
  LoadFinder(const ForLoop& loop, const Kernel& kernel, const Analysis& analysis)
      : loop_(loop), kernel_(kernel), analysis_(analysis) {
    changing_ = source::declared_names(loop.body);
    counter_ = loop.declaration()->variable.name;
    changing_.insert(counter_);
    source::walk(loop.body, [&](const Stmt& stmt) {
      const auto* base =
          target_of(stmt) != nullptr ? source::place_variable(*target_of(stmt)) : nullptr;
      if (base != nullptr) changing_.insert(base->name);
    });
  }

  std::vector<HeldLoad> find(const Block& part) {
    for_each_guarded_access(part, [&](const GuardedAccess& access) {
      if (access.is_store) return;
      const ExprPtr node = std::make_shared<Subscript>(*access.access);
      const auto known = std::find_if(loads_.begin(), loads_.end(), [&](const HeldLoad& load) {
        return source::equal(load.access, node);
      });
      if (!is_steady(access.guards)) return;
      if (known == loads_.end()) {
        if (auto load = load_of(node, *access.access)) {
          load->guards = access.guards;
          loads_.push_back(std::move(*load));
        }
      } else if (access.guards.size() < known->guards.size()) {
        known->guards = access.guards;
      }
    });
    // Elsewhere an element may be used under more conditions, not under others.
    for_each_guarded_access(loop_.body, [&](const GuardedAccess& access) {
      const ExprPtr node = std::make_shared<Subscript>(*access.access);
      std::erase_if(loads_, [&](const HeldLoad& load) {
        return source::equal(load.access, node) &&
               !std::all_of(load.guards.begin(), load.guards.end(),
                            [&](const ExprPtr& guard) { return holds(access.guards, guard); });
      });
    });
    if (loads_.size() > kMostLoads) loads_.resize(kMostLoads);
    return loads_;
  }

 private:
  std::optional<HeldLoad> load_of(const ExprPtr& node, const Subscript& access) const {
    const auto* base = as<source::VariableReference>(access.base);
    const auto* parameter = base != nullptr ? kernel_.parameter(base->name) : nullptr;
    if (parameter == nullptr || !parameter->is_pointer || !parameter->scalar ||
        analysis_.is_viewed(base->name)) {
      return std::nullopt;
    }
    const ExprPtr index = steady_index(access.index);
    if (!index) return std::nullopt;
    const ExprPtr load =
        source::with_type(source::element(source::variable(base->name, parameter->scalar), {index}),
                          parameter->scalar);
    return HeldLoad{node, load, {}, parameter->type, *parameter->scalar};
  }

  // The index in the counter and names that the loop leaves alone; null where there is none.
  ExprPtr steady_index(const ExprPtr& index) const {
    if (is_known(index)) return index;
    const auto polynomial = analysis_.polynomial(index);
    if (!polynomial) return nullptr;
    const bool is_wide = index->type && size_in_bytes(*index->type) == sizeof(std::int64_t);
    ExprPtr written_out = source::to_expression(*polynomial, is_wide);
    return is_known(written_out) ? written_out : nullptr;
  }

  bool is_known(const ExprPtr& expr) const {
    if (analysis_.reads_memory(expr)) return false;
    const std::set<std::string> names = source::variables_of(expr);
    return std::all_of(names.begin(), names.end(), [&](const std::string& name) {
      return name == counter_ || !changing_.contains(name);
    });
  }

  bool is_steady(const std::vector<ExprPtr>& guards) const {
    return std::all_of(guards.begin(), guards.end(), [&](const ExprPtr& guard) {
      return is_known(guard) && !source::variables_of(guard).contains(counter_);
    });
  }

  const ForLoop& loop_;
  const Kernel& kernel_;
  const Analysis& analysis_;
  std::string counter_;
  std::set<std::string> changing_;  // names whose values iterations change
  std::vector<HeldLoad> loads_;
};

}  // namespace

std::vector<HeldLoad> held_loads(const Block& part, const ForLoop& loop, const Kernel& kernel,
                                 const Analysis& analysis) {
  return LoadFinder(loop, kernel, analysis).find(part);
}

}  // namespace regraph::rewrite

#include "rewrite/transform/block_copies.h"

#include "rewrite/analysis/varying.h"
#include "source/build.h"
#include "source/match.h"
#include "source/walk.h"

#include <algorithm>
#include <utility>

namespace regraph::rewrite {

using source::as;
using source::Barrier;
using source::Block;
using source::Declaration;
using source::Evaluation;
using source::ExprPtr;
using source::ForLoop;
using source::is;
using source::Kernel;
using source::Stmt;
using source::StmtPtr;
using source::VariableReference;

namespace {

// Outermost first.
std::vector<CopyLoop> loops_of(const BlockMerge& merge) {
  const Kernel& kernel = merge.form.kernel;
  const std::string stem = "c" + merge.axis;
  if (merge.group == 1) return {{source::fresh_name(kernel, stem), merge.factor}};
  std::vector<CopyLoop> loops;
  const int groups = merge.factor / merge.group;
  if (groups > 1) loops.push_back({source::fresh_name(kernel, "g" + merge.axis), groups});
  loops.push_back({source::fresh_name(kernel, stem), merge.group});
  return loops;
}

}  // namespace

BlockCopies::BlockCopies(const BlockMerge& merge)
    : kernel_(merge.form.kernel),
      analysis_(merge.form.analysis),
      builtin_("blockIdx." + merge.axis),
      loops_(loops_of(merge)),
      varying_(varying_names(kernel_, builtin_, of_thread(merge))) {
  while (collect_restarted(kernel_.body))
    varying_ = varying_names(kernel_, builtin_, varying_);
  collect_recomputed(kernel_.body);
}

std::set<std::string> BlockCopies::of_thread(const BlockMerge& merge) const {
  return merge.group > 1 ? varying_names(kernel_, "threadIdx." + merge.axis)
                         : std::set<std::string>();
}

bool BlockCopies::collect_restarted(const Block& block) {
  bool found = false;
  for (const StmtPtr& stmt : block) {
    if (is<Declaration>(stmt) || is<Barrier>(stmt) || !varies(stmt)) continue;
    if (is_opened(*stmt)) {
      found = collect_restarted(body_of(*stmt)) || found;
      continue;
    }
    const Block repeated = {stmt};
    const std::set<std::string> own = source::declared_names(repeated);
    for_each_changed(repeated, [&](const std::string& name) {
      if (!own.contains(name) && analysis_.local(name) != nullptr)
        found = varying_.insert(name).second || found;
    });
  }
  return found;
}

void BlockCopies::collect_recomputed(const Block& block) {
  for (const StmtPtr& stmt : block) {
    if (is_opened(*stmt)) collect_recomputed(body_of(*stmt));
    const auto* declaration = as<Declaration>(stmt);
    if (declaration == nullptr || !declaration->value) continue;
    const std::string& declared = declaration->variable.name;
    if (!varying_.contains(declared) || !analysis_.definition(declared) ||
        analysis_.reads_memory(declaration->value)) {
      continue;
    }
    const std::set<std::string> used = source::variables_of(declaration->value);
    const bool stable = std::all_of(used.begin(), used.end(), [&](const std::string& name) {
      return recomputed_.contains(name) || kernel_.parameter(name) != nullptr ||
             (analysis_.is_single_definition(name) && !varying_.contains(name));
    });
    if (stable) recomputed_.emplace(declared, stmt);
  }
}

bool BlockCopies::varies(const ExprPtr& expr) const {
  return rewrite::is_varying(expr, builtin_, varying_);
}

bool BlockCopies::varies(const StmtPtr& stmt) const {
  bool found = false;
  source::walk(Block{stmt}, [&](const Stmt& inner) {
    if (is<Evaluation>(inner)) found = true;
    if (const ExprPtr& target = target_of(inner)) {
      const auto* base = source::base_variable(*target);
      found = found || !is_local(base) || varying_.contains(base->name);
    }
    const auto* declaration = as<Declaration>(inner);
    if (declaration != nullptr && varying_.contains(declaration->variable.name)) found = true;
    if (varies(target_of(inner)) || varies(value_of(inner))) found = true;
  });
  return found;
}

bool BlockCopies::is_opened(const Stmt& stmt) const {
  const auto* loop = as<ForLoop>(stmt);
  return is<source::Scope>(stmt) || (loop != nullptr && has_uniform_header(*loop));
}

bool BlockCopies::has_uniform_header(const ForLoop& loop) const {
  bool uniform = !varies(loop.condition);
  source::for_each_header(loop, [&](const StmtPtr& part) {
    uniform = uniform && !varies(value_of(*part)) && !varies(target_of(*part));
  });
  const Declaration* counter = loop.declaration();
  if (!uniform || (counter != nullptr && varying_.contains(counter->variable.name))) return false;
  bool jumps = false;
  source::walk(loop.body, [&](const Stmt& inner) {
    jumps = jumps || is<source::Jump>(inner) || is<source::Return>(inner);
  });
  return !jumps;
}

bool BlockCopies::is_local(const VariableReference* variable) const {
  const source::Variable* local = variable != nullptr ? analysis_.local(variable->name) : nullptr;
  return local != nullptr && !local->is_pointer;
}

source::Variable BlockCopies::copies_of(source::Variable variable) const {
  for (auto copies = loops_.rbegin(); copies != loops_.rend(); ++copies)
    variable.extents.insert(variable.extents.begin(), copies->count);
  variable.is_const = false;
  return variable;
}

void BlockCopies::for_each_changed(const Block& block,
                                   const std::function<void(const std::string&)>& visit) const {
  const auto note = [&](const source::Expr& place) {
    const auto* base = source::place_variable(place);
    if (base == nullptr) return;
    const source::Variable* local = analysis_.local(base->name);
    const source::KernelParameter* parameter = kernel_.parameter(base->name);
    const bool is_pointer =
        local != nullptr ? local->is_pointer : parameter != nullptr && parameter->is_pointer;
    if (!is_pointer || is<VariableReference>(place)) visit(base->name);
  };
  source::walk(block, [&](const Stmt& stmt) {
    if (target_of(stmt)) note(*target_of(stmt));
    source::walk_own_expressions(
        stmt, [&](const source::Expr& expr) { source::for_each_passed_place(expr, note); });
  });
}

std::optional<Block> assignments_of(const source::Variable& variable, const ExprPtr& value) {
  constexpr std::int64_t kMostAssignments = 64;
  const auto* list = as<source::InitializerList>(value);
  if (list == nullptr || variable.extents.size() != 1 || !variable.scalar ||
      variable.extents[0] > kMostAssignments) {
    return std::nullopt;
  }
  Block result;
  for (std::int64_t at = 0; at < variable.extents[0]; ++at) {
    const auto position = static_cast<std::size_t>(at);
    const bool is_given = position < list->values.size();
    if (is_given && is<source::InitializerList>(list->values[position])) return std::nullopt;
    result.push_back(source::assign(
        source::element(source::variable(variable.name, variable.scalar), {source::integer(at)}),
        is_given ? list->values[position] : source::zero_of(*variable.scalar)));
  }
  return result;
}

}  // namespace regraph::rewrite

#include "rewrite/transform/block_copies.h"

#include "affine/varying.h"
#include "source/build.h"
#include "source/match.h"
#include "source/walk.h"

#include <algorithm>
#include <utility>

namespace regraph::rewrite {

namespace {

// Outermost first.
std::vector<CopyLoop> loops_of(const BlockMerge& merge) {
  const Kernel& kernel = merge.form.kernel;
  const std::string stem = "c" + merge.axis;
  if (merge.group == 1) return {{fresh_name(kernel, stem), merge.factor}};
  std::vector<CopyLoop> loops;
  const int groups = merge.factor / merge.group;
  if (groups > 1) loops.push_back({fresh_name(kernel, "g" + merge.axis), groups});
  loops.push_back({fresh_name(kernel, stem), merge.group});
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
    const std::set<std::string> own = declared_names(repeated);
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
    const std::set<std::string> used = variables_of(declaration->value);
    const bool stable = std::all_of(used.begin(), used.end(), [&](const std::string& name) {
      return recomputed_.contains(name) || kernel_.parameter(name) != nullptr ||
             (analysis_.is_single_definition(name) && !varying_.contains(name));
    });
    if (stable) recomputed_.emplace(declared, stmt);
  }
}

bool BlockCopies::varies(const ExprPtr& expr) const {
  return affine::is_varying(expr, builtin_, varying_);
}

bool BlockCopies::varies(const StmtPtr& stmt) const {
  bool found = false;
  walk(Block{stmt}, [&](const Stmt& inner) {
    if (is<Evaluation>(inner)) found = true;
    if (const ExprPtr& target = target_of(inner)) {
      const auto* base = base_variable(*target);
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
  return is<Scope>(stmt) || (loop != nullptr && has_uniform_header(*loop));
}

bool BlockCopies::has_uniform_header(const ForLoop& loop) const {
  bool uniform = !varies(loop.condition);
  for_each_header(loop, [&](const StmtPtr& part) {
    uniform = uniform && !varies(value_of(*part)) && !varies(target_of(*part));
  });
  const Declaration* counter = loop.declaration();
  if (!uniform || (counter != nullptr && varying_.contains(counter->variable.name))) return false;
  return !any_statement(loop.body,
                        [&](const Stmt& inner) { return is<Jump>(inner) || is<Return>(inner); });
}

bool BlockCopies::is_local(const VariableReference* variable) const {
  const Variable* local = variable != nullptr ? analysis_.local(variable->name) : nullptr;
  return local != nullptr && !local->is_pointer;
}

Variable BlockCopies::copies_of(Variable variable) const {
  for (auto copies = loops_.rbegin(); copies != loops_.rend(); ++copies)
    variable.extents.insert(variable.extents.begin(), copies->count);
  variable.is_const = false;
  return variable;
}

void BlockCopies::for_each_changed(const Block& block,
                                   const std::function<void(const std::string&)>& visit) const {
  const auto note = [&](const Expr& place) {
    const auto* base = place_variable(place);
    if (base == nullptr) return;
    const Variable* local = analysis_.local(base->name);
    const KernelParameter* parameter = kernel_.parameter(base->name);
    const bool is_pointer =
        local != nullptr ? local->is_pointer : parameter != nullptr && parameter->is_pointer;
    if (!is_pointer || is<VariableReference>(place)) visit(base->name);
  };
  walk(block, [&](const Stmt& stmt) {
    if (target_of(stmt)) note(*target_of(stmt));
    walk_own_expressions(stmt, [&](const Expr& expr) { for_each_passed_place(expr, note); });
  });
}

std::optional<Block> assignments_of(const Variable& variable, const ExprPtr& value) {
  constexpr std::int64_t kMostAssignments = 64;
  const auto* list = as<InitializerList>(value);
  if (list == nullptr || variable.extents.size() != 1 || !variable.scalar ||
      variable.extents[0] > kMostAssignments) {
    return std::nullopt;
  }
  Block result;
  for (std::int64_t at = 0; at < variable.extents[0]; ++at) {
    const auto position = static_cast<std::size_t>(at);
    const bool is_given = position < list->values.size();
    if (is_given && is<InitializerList>(list->values[position])) return std::nullopt;
    result.push_back(
        assign(element(source::variable(variable.name, variable.scalar), {integer(at)}),
               is_given ? list->values[position] : zero_of(*variable.scalar)));
  }
  return result;
}

}  // namespace regraph::rewrite

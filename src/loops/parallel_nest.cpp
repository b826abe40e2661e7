#include "loops/parallel_nest.h"

#include "affine/placed_accesses.h"
#include "loops/meeting_iterations.h"
#include "rewrite/analysis/independent_iterations.h"
#include "source/walk.h"

#include <fmt/format.h>

#include <map>
#include <optional>
#include <utility>

namespace regraph::loops {
namespace {

using affine::IterationOverlap;
using affine::PlacedAccess;
using rewrite::KernelForm;
using source::as;
using source::Block;
using source::ForLoop;
using source::StmtPtr;

// The only statement of the block, scopes opened; null where there are several.
StmtPtr only_statement(const Block& block) {
  if (block.size() != 1) return nullptr;
  if (source::is<source::Scope>(block.front())) return only_statement(body_of(*block.front()));
  return block.front();
}

bool has_plain_bounds(const source::CountedLoop& loop, const KernelForm& form) {
  return !form.analysis.reads_memory(loop.first) && !form.analysis.reads_memory(loop.limit) &&
         form.analysis.polynomial(loop.first) && form.analysis.polynomial(loop.limit);
}

// Accesses that may be the same element in different iterations of the loop; one of them stores.
std::optional<std::pair<PlacedAccess, PlacedAccess>> meeting_accesses(
    const std::vector<PlacedAccess>& accesses, const source::CountedLoop& counted,
    const IterationOverlap& overlap) {
  for (const PlacedAccess& one : accesses) {
    if (!one.stores) continue;
    for (const PlacedAccess& other : accesses) {
      const auto a = overlap.polynomial(one.access->index);
      const auto b = overlap.polynomial(other.access->index);
      if (!a || !b || !overlap.are_apart(*a, *b, counted)) return std::pair(one, other);
    }
  }
  return std::nullopt;
}

// A scalar from outside of the loop that its body assigns: its name and the line.
std::optional<std::pair<std::string, int>> carried_scalar(const ForLoop& loop) {
  const std::set<std::string> own = source::declared_names(loop.body);
  std::optional<std::pair<std::string, int>> result;
  source::walk(loop.body, [&](const source::Stmt& stmt) {
    const auto* target = as<source::VariableReference>(target_of(stmt));
    if (result || target == nullptr || own.contains(target->name)) return;
    result = std::pair(target->name, stmt.line);
  });
  return result;
}

}  // namespace

ParallelNest parallel_nest(const StmtPtr& stmt, const KernelForm& form,
                           const IterationOverlap& overlap) {
  ParallelNest nest;
  StmtPtr current = stmt;
  while (current != nullptr) {
    const auto counted = source::counted_loop_of(*current);
    if (!counted || (!nest.chain.empty() && !has_plain_bounds(*counted, form))) break;
    nest.chain.push_back({current, *counted, false});
    nest.innermost = body_of(*current);
    current = only_statement(nest.innermost);
  }
  for (NestLoop& loop : nest.chain) {
    if (!has_plain_bounds(loop.counted, form)) continue;
    const auto effects = rewrite::independent_iterations(source::to<ForLoop>(*loop.stmt),
                                                         loop.counted, form.analysis, overlap);
    loop.is_free = effects.ok();
    if (effects) nest.rounds = nest.rounds || effects->rounds;
  }
  return nest;
}

LoopObstacle obstacle_of(const ParallelNest& nest, std::size_t at, const KernelForm& form,
                         const IterationOverlap& overlap) {
  const NestLoop& loop = nest.chain[at];
  const auto& stmt = source::to<ForLoop>(*loop.stmt);
  const std::string name =
      fmt::format("line {}: loop '{}' is not parallel", stmt.line, loop.counted.name);
  LoopObstacle result;
  if (!has_plain_bounds(loop.counted, form)) {
    result.is_memory_alone = false;
    result.reason =
        name + ": how often it runs does not follow from parameters that keep their values";
    return result;
  }
  // From the outermost loop on, so that meetings know all counters.
  const affine::PlacedAccesses placed =
      affine::placed_accesses(nest.chain.front().stmt, form.analysis);
  std::map<std::string, std::vector<PlacedAccess>> by_buffer;
  std::set<std::string> written;
  for (const PlacedAccess& access : placed.accesses) {
    by_buffer[access.buffer].push_back(access);
    if (access.stores) written.insert(access.buffer);
  }
  for (const std::string& buffer : written) {
    const auto meeting = meeting_accesses(by_buffer[buffer], loop.counted, overlap);
    if (!meeting) continue;
    result.buffers.insert(buffer);
    if (!result.reason.empty()) continue;
    result.reason = name + ": " +
                    meeting_iterations(form.kernel, form.analysis, loop.counted, meeting->first,
                                       meeting->second);
  }
  if (const auto carried = carried_scalar(stmt)) {
    result.is_memory_alone = false;
    const auto first = form.analysis.polynomial(loop.counted.first);
    const auto begin = first ? first->constant() : std::nullopt;
    const std::string earlier =
        begin ? std::to_string(*begin) : fmt::format("({} of one)", loop.counted.name);
    const std::string later = begin ? std::to_string(*begin + loop.counted.stride) : "the next one";
    result.reason = fmt::format(
        "{}: iteration {} = {} leaves a value in '{}' (line {}) that iteration {} = {} goes on "
        "with",
        name, loop.counted.name, earlier, carried->first, carried->second, loop.counted.name,
        later);
  }
  if (!result.reason.empty()) return result;
  result.is_memory_alone = false;
  const auto effects = rewrite::independent_iterations(stmt, loop.counted, form.analysis, overlap);
  result.reason = name + ": " + (effects ? "it is not proved" : effects.error().message);
  return result;
}

}  // namespace regraph::loops

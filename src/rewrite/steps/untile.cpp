// untile: tiles that somebody laid out by hand go, and the loop over their strips becomes the plain
// loop that they were made of.
//
//   for (t = 0; t < (K + 15) / 16; ++t) {
//     As[y][x] = row < M && t * 16 + x < K ? A[row * K + t * 16 + x] : 0;  Bs[y][x] = ...;
//     barrier;  for (k = 0; k < 16; ++k) sum += As[y][k] * Bs[k][x];  barrier;
//   }
//   if (row < M && col < N) C[row * N + col] = sum;
// becomes
//   if (row < M && col < N) {
//     for (k = 0; k < K; ++k) sum += A[row * K + k] * B[k * N + col];
//     C[row * N + col] = sum;
//   }
//
// Tiles that threads fill by their number taken apart are taken for filled by each of them
// (common_fills.h). A thread that has a tile of the result in registers (float acc[8][8]) becomes a
// thread for each element of it, with shared memory or without; so does one that takes elements in
// turn (element_rounds.h, thread_per_element).
//
// That is slower by itself, and what steps that lay out tiles by themselves begin with: contraction
// and slice_reduction do it on the way. Legal where each piece is: copies in shared memory are read
// where they came from (transform/staged_copies.h), strips become one loop with the same iterations
// (loop_coalescing.h), which ends where these add zeros (trip_count_trimming.h), under the
// condition of the store; elements of a thread come apart (rows_apart.h).
#include "rewrite/forms/dead_guards.h"
#include "rewrite/forms/ir.h"
#include "rewrite/forms/local_pointers.h"
#include "rewrite/forms/names.h"
#include "rewrite/forms/simplify.h"
#include "rewrite/forms/uses.h"
#include "rewrite/steps/step_rewriter.h"
#include "rewrite/transform/array_axes.h"
#include "rewrite/transform/common_fills.h"
#include "rewrite/transform/element_rounds.h"
#include "rewrite/transform/flat_block.h"
#include "rewrite/transform/global_indices.h"
#include "rewrite/transform/grid_axes.h"
#include "rewrite/transform/grid_by_block.h"
#include "rewrite/transform/loop_coalescing.h"
#include "rewrite/transform/possible_block.h"
#include "rewrite/transform/quotient_nests.h"
#include "rewrite/transform/rows_apart.h"
#include "rewrite/transform/staged_copies.h"
#include "rewrite/transform/strip_headers.h"
#include "rewrite/transform/trip_count_trimming.h"
#include "source/analysis.h"
#include "source/build.h"
#include "source/known_functions.h"
#include "source/mutator.h"
#include "source/walk.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

namespace regraph::rewrite {
namespace {

// Local variables that nobody reads.

// The variable that the statement gives a value, empty for others.
std::string given(const Stmt& stmt) {
  if (const auto* declaration = as<Declaration>(stmt)) {
    const Variable& variable = declaration->variable;
    const bool is_scalar = variable.extents.empty() && variable.storage == Storage::automatic;
    return is_scalar ? variable.name : "";
  }
  const auto* target = as<VariableReference>(target_of(stmt));
  return target != nullptr ? target->name : "";
}

class Dropper final : public Mutator {
 public:
  explicit Dropper(std::set<std::string> unused) : unused_(std::move(unused)) {}

 private:
  void append(const StmtPtr& stmt, Block& out) override {
    if (unused_.contains(given(*stmt))) return;
    const bool had_work = !body_of(*stmt).empty() || !otherwise_of(*stmt).empty();
    const StmtPtr kept = run(stmt);
    const bool is_container = is<Branch>(stmt) || is<Scope>(stmt);
    const bool is_empty = body_of(*kept).empty() && otherwise_of(*kept).empty();
    if (!(is_container && had_work && is_empty)) out.push_back(kept);
  }

  const std::set<std::string> unused_;
};

std::set<std::string> unused_in(const Block& body) {
  std::set<std::string> found;
  std::set<std::string> used;
  const auto note = [&](const ExprPtr& expr) { used.merge(variables_of(expr)); };
  walk(body, [&](const Stmt& stmt) {
    const std::string name = given(stmt);
    if (name.empty()) {
      note(target_of(stmt));
    } else if (is<Declaration>(stmt)) {
      found.insert(name);
    }
    note(value_of(stmt));
    if (!name.empty() && !is_computation(value_of(stmt))) used.insert(name);
    // Counters are used by their loops.
    for_each_header(stmt, [&](const StmtPtr& part) { used.insert(given(*part)); });
  });
  for (const std::string& name : used)
    found.erase(name);
  return found;
}

// The body without scalars that are given values, from memory as well, and used in no other way;
// where that needs a call that might do more, they stay.
Block without_unused_values(Block body) {
  while (true) {
    std::set<std::string> unused = unused_in(body);
    if (unused.empty()) return body;
    body = Dropper(std::move(unused)).run(body);
  }
}

// Loops whose results are only used under a condition, under it.

// Whether all that the statement does is to give values to local variables.
bool is_local_work(const StmtPtr& stmt, const Analysis& analysis) {
  bool result = true;
  walk({stmt}, [&](const Stmt& part) {
    if (const auto* declaration = as<Declaration>(part)) {
      result = result && declaration->variable.storage == Storage::automatic;
    } else if (const auto& target = target_of(part)) {
      const auto* base = place_variable(*target);
      result = result && base != nullptr && !analysis.is_global_pointer(base->name) &&
               !analysis.is_shared(base->name) && analysis.local(base->name) != nullptr &&
               !analysis.local(base->name)->is_pointer;
    } else {
      result = result && (is<Branch>(part) || is<ForLoop>(part) || is<Scope>(part));
    }
  });
  walk_expressions({stmt}, [&](const Expr& expr) {
    const auto* call = as<Call>(expr);
    result = result && (call == nullptr || source::is_pure(*call));
    for_each_passed_place(expr, [&](const Expr&) { result = false; });
  });
  return result;
}

std::set<std::string> names_in(const Block& block) {
  std::set<std::string> names = declared_names(block);
  names.merge(variables_of(block));
  return names;
}

bool meet(const std::set<std::string>& some, const std::set<std::string>& others) {
  return std::ranges::any_of(some, [&](const std::string& name) { return others.contains(name); });
}

// Returns a block of the kernel with
//   float sum = 0;  for (..) sum += ..;  if (row < m) c[row] = sum;
// as
//   if (row < m) { float sum = 0; for (..) sum += ..; c[row] = sum; }
// where what stands in front of the last statement, a branch without an else that asks for nothing
// in memory, gives values to local variables alone, and these are used in it alone. What the
// condition needs stays in front. Nothing that threads do together is moved.
Block with_guarded_loops(const Block& block, const Analysis& analysis) {
  const auto* guard = block.empty() ? nullptr : as<Branch>(block.back());
  if (guard == nullptr || !guard->otherwise.empty() || analysis.reads_memory(guard->condition))
    return block;
  // From the guard up: what moves is changed by nothing that stays behind it, and the other way
  // round.
  Block moved;
  Block kept;
  std::set<std::string> needed = variables_of(guard->condition);
  bool moves_loop = false;
  std::size_t at = block.size() - 1;
  for (; at > 0; --at) {
    const StmtPtr& stmt = block[at - 1];
    if (!is_local_work(stmt, analysis)) break;
    if (meet(given_values_in({stmt}), needed) || meet(names_in({stmt}), given_values_in(kept))) {
      const std::set<std::string> names = names_in({stmt});
      needed.insert(names.begin(), names.end());
      kept.insert(kept.begin(), stmt);
    } else {
      moved.insert(moved.begin(), stmt);
      moves_loop = moves_loop || is<ForLoop>(stmt);
    }
  }
  // Names that are only computed stay where everybody sees them.
  while (!moved.empty() && !is<ForLoop>(moved.front())) {
    const auto* declaration = as<Declaration>(moved.front());
    const bool is_index = declaration != nullptr && declaration->value &&
                          analysis.definition(declaration->variable.name) &&
                          !analysis.reads_memory(declaration->value);
    if (!is_index || meet(names_in({moved.front()}), given_values_in(kept))) break;
    kept.push_back(moved.front());
    moved.erase(moved.begin());
  }
  if (!moves_loop) return block;
  Block result(block.begin(), block.begin() + static_cast<std::ptrdiff_t>(at));
  result.insert(result.end(), kept.begin(), kept.end());
  moved.insert(moved.end(), guard->body.begin(), guard->body.end());
  // Under one guard there may stand the next.
  Block inside = with_guarded_loops(moved, analysis);
  const auto* next = inside.size() == 1 ? as<Branch>(inside.front()) : nullptr;
  ExprPtr condition = guard->condition;
  if (next != nullptr && next->otherwise.empty()) {
    condition = both(condition, next->condition);
    inside = Block(next->body);
  }
  result.push_back(branch(std::move(condition), std::move(inside), {}, guard->line));
  return result;
}

// Blocks that declare nothing.
class ScopeOpener final : public Mutator {
 public:
  using Mutator::run;

 private:
  void append(const StmtPtr& stmt, Block& out) override {
    const StmtPtr inner = run(stmt);
    const auto* scope = source::as<Scope>(inner);
    const bool opens =
        scope != nullptr && std::ranges::none_of(scope->body, [](const StmtPtr& part) {
          return source::is<Declaration>(part);
        });
    if (opens) {
      out.insert(out.end(), scope->body.begin(), scope->body.end());
    } else {
      out.push_back(inner);
    }
  }
};

class Untile final : public TriedStep {
 public:
  std::string_view id() const override { return "untile"; }
  std::vector<StepParameters> settings() const override { return {{}}; }

  Result<KernelState> apply(const KernelAnalysis& kernel,
                            const StepParameters& /*parameters*/) const override {
    const Requirements needed = {.distinct_buffers = "", .fixed_block = true};
    if (Status status = require(needed, kernel); !status) return status.error();
    if (kernel.analysis().uses_warp_intrinsics())
      return refuse("warp intrinsics tie the result to which threads share a warp");
    auto form = kernel.single_exit();
    if (!form) return form.error();
    const Launch& launch = **kernel.launch();
    Kernel direct = without_local_pointers((*form)->kernel);
    // What templates are given as 32 / 4 are numbers.
    direct.body = simplified(direct.body);
    direct.body = ScopeOpener().run(without_dead_guards(direct, launch.block));
    if (!kernel.analysis().has_shared()) {
      if (auto dealt = with_elements_dealt_out(kernel)) return dealt;
      direct.body = with_element_rounds(direct, launch.block);
      return with_registers_apart(kernel, direct, launch);
    }
    auto plain = without_shared(kernel, direct, launch);
    if (plain) return plain;
    const auto filled = with_fills_by_all(direct, launch.block, kernel.problem());
    if (!filled) return plain;
    auto common = without_shared(kernel, *filled, launch);
    return common ? common : plain;
  }

 private:
  // Loops in which the threads of the grid take elements in turn, around others: a thread for each.
  Result<KernelState> with_elements_dealt_out(const KernelAnalysis& kernel) const {
    if (loops_in(kernel.state().unit.kernel.body) < 2) return refuse("no loop is around another");
    auto dealt = find_built_in_step("thread_per_element")->apply(kernel, {});
    if (!dealt) return dealt;
    auto plain = apply(KernelAnalysis(*dealt, kernel.problem(), kernel.limits()), {});
    return plain ? plain : dealt;
  }

  // Where threads fill by their number taken apart, as if each filled all of it.
  static std::optional<Kernel> with_fills_by_all(Kernel kernel, const Dim3& block,
                                                 const Problem& problem) {
    kernel.body = simplified(with_plain_strips(kernel, block));
    const Block strips = kernel.body;
    kernel.body = with_common_fills(kernel, block);
    if (kernel.body == strips) return std::nullopt;
    kernel.body = without_unused_values(std::move(kernel.body));
    kernel.body = with_quotient_nests(kernel);
    kernel.body = with_plain_strips(kernel, block);
    // Digits next to each other that are only used as one number, and rounds. Each round takes a
    // loop of a nest away; nobody writes nests as deep as that.
    constexpr int kMostRounds = 8;
    Block before;
    for (int round = 0; round < kMostRounds && before != kernel.body; ++round) {
      before = kernel.body;
      kernel.body = with_coalesced_loops(kernel, block, problem).body;
    }
    return kernel;
  }

  static Result<KernelState> without_shared(const KernelAnalysis& kernel, const Kernel& direct,
                                            const Launch& launch) {
    // A thread for each row, where a thread has several.
    if (auto apart = rows_apart(kernel, direct, launch)) {
      auto plain = untiled(kernel, std::move(apart->kernel), std::move(apart->launch));
      if (plain) return plain;
    }
    if (auto plain = with_registers_apart(kernel, direct, launch)) return plain;
    return untiled(kernel, direct, launch);
  }

  static std::optional<RowsApart> rows_apart(const KernelAnalysis& kernel, const Kernel& direct,
                                             const Launch& launch) {
    RowsApart result{direct, launch};
    bool are_apart = false;
    for (const char axis : {'y', 'x'}) {
      auto apart = with_rows_apart(result.kernel, result.launch, kernel.problem(), axis);
      if (!apart) continue;
      result = std::move(*apart);
      result.kernel.body = ScopeOpener().run(result.kernel.body);
      are_apart = true;
    }
    return are_apart ? std::optional(std::move(result)) : std::nullopt;
  }

  static Result<KernelState> untiled(const KernelAnalysis& kernel, Kernel direct, Launch changed) {
    changed.dynamic_shared_bytes = 0;
    take_axes(direct, changed);
    if (Status status = require_possible(changed, kernel); !status) return status.error();
    auto plain = without_tiles(direct, changed.block);
    if (!plain) return plain.error();
    return finished(kernel, std::move(*plain), changed);
  }

  // Tiles that threads have in registers, besides those in shared memory: a thread for each element
  // of them. Error: refused, where threads have none.
  static Result<KernelState> with_registers_apart(const KernelAnalysis& kernel, Kernel direct,
                                                  Launch changed) {
    changed.dynamic_shared_bytes = 0;
    take_axes(direct, changed);
    auto plain = without_tiles(direct, changed.block);
    if (!plain) return plain.error();
    if (plain->body.empty() || Analysis(*plain).has_barrier())
      return refuse("threads meet at barriers");
    plain->body = without_private_copies(*plain, changed.block);
    plain->body = with_array_axes(*plain);
    auto apart = rows_apart(kernel, *plain, changed);
    if (!apart && kernel.analysis().has_shared()) return refuse("threads have one element each");
    if (apart) return finished(kernel, std::move(apart->kernel), apart->launch);
    // Strips alone, of loops that somebody has taken apart.
    auto result = finished(kernel, std::move(*plain), changed);
    if (!result) return result;
    const Block& body = result->unit.kernel.body;
    if (loops_in(body) < loops_in(direct.body) && !has_array(body)) return result;
    return refuse("the kernel uses no shared memory, and its threads have no tiles");
  }

  static std::size_t loops_in(const Block& body) {
    std::size_t loops = 0;
    walk(body, [&](const Stmt& stmt) { loops += is<ForLoop>(stmt) ? 1 : 0; });
    return loops;
  }

  static bool has_array(const Block& body) {
    return any_statement(body, [](const Stmt& stmt) {
      const auto* declared = as<Declaration>(stmt);
      return declared != nullptr && !declared->variable.extents.empty();
    });
  }

  static Result<KernelState> finished(const KernelAnalysis& kernel, Kernel plain,
                                      const Launch& changed) {
    KernelState result = kernel.state();
    result.unit.kernel = one_loop(std::move(plain), changed.block, kernel.problem());
    GridByBlock follows = with_grid_by_block(result.unit.kernel, changed);
    result.unit.kernel.body = std::move(follows.body);
    auto fitting = with_possible_block(result.unit.kernel, std::move(follows.launch));
    if (!fitting) return fitting.error();
    if (Status status = require_possible(fitting->launch, kernel); !status) return status.error();
    result.unit.kernel.body = std::move(fitting->body);
    result.plan.launches.front() = std::move(fitting->launch);
    rely_on(result, kNeedsDistinctBuffers);
    return result;
  }

  static Result<Kernel> without_tiles(const Kernel& kernel, const Dim3& block) {
    Kernel strips = kernel;
    strips.body = with_plain_strips(kernel, block);
    if (!Analysis(strips).has_shared()) return strips;
    auto plain = without_staged_copies(strips, block);
    if (!plain) return plain;
    const Analysis analysis(*plain);
    if (!analysis.has_shared()) return plain;
    // What is left says why it has to stay.
    return without_staged_copy(*plain, analysis, block).error();
  }

  // Threads and blocks along the same axis as one place, where that can be had.
  static void take_axes(Kernel& kernel, Launch& launch) {
    if (auto rows = with_block_of_rows(kernel, launch)) {
      kernel.body = std::move(rows->body);
      launch = std::move(rows->launch);
    }
    if (auto exchanged = with_grid_exchanged(kernel, launch)) {
      kernel.body = std::move(exchanged->body);
      launch = std::move(exchanged->launch);
    }
  }

  // Where loops end by a name, where that is a number of sizes that is no polynomial of them:
  //   const int k_end = (K + 15) / 16 * 16;  ...  for (k = 0; k < k_end; ++k)
  static Block with_ends_named(const Kernel& kernel) {
    const Analysis analysis(kernel);
    Names names(kernel);
    Block ends;
    Block body = rewrite_statements(kernel.body, [&](const StmtPtr& stmt) -> std::optional<Block> {
      const auto counted = counted_loop_of(*stmt);
      const bool needs_name = counted && !analysis.polynomial(counted->limit) &&
                              analysis.polynomial_with_sizes(counted->limit) &&
                              counted->limit->type == ScalarType::i32;
      if (!needs_name) return std::nullopt;
      const std::string end = names.fresh(counted->name + "_end");
      ends.push_back(declare_integer(end, counted->limit));
      auto loop = std::make_shared<ForLoop>(to<ForLoop>(stmt));
      loop->condition = less(to<Binary>(loop->condition).left, variable(end));
      return Block{std::move(loop)};
    });
    ends.insert(ends.end(), body.begin(), body.end());
    return ends;
  }

  static Kernel one_loop(Kernel kernel, const Dim3& block, const Problem& problem) {
    kernel.body = without_unused_values(std::move(kernel.body));
    CoalescedLoops merged = with_coalesced_loops(kernel, block, problem);
    kernel.body = without_unused_values(std::move(merged.body));
    kernel.body = with_trimmed_trip_counts(kernel, merged.depths);
    kernel.body = with_guarded_loops(kernel.body, Analysis(kernel));
    kernel.body = without_dead_guards(kernel);
    kernel.body = without_unused_values(std::move(kernel.body));
    kernel.body = with_global_indices(kernel, block);
    kernel.body = without_dead_guards(kernel);
    kernel.body = ScopeOpener().run(without_unused_values(std::move(kernel.body)));
    kernel.body = with_ends_named(kernel);
    return kernel;
  }
};

}  // namespace

std::unique_ptr<StepRewriter> make_untile() {
  return std::make_unique<Untile>();
}

}  // namespace regraph::rewrite

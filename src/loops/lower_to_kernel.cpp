#include "loops/lower_to_kernel.h"

#include "loops/function_pieces.h"
#include "loops/orderless_updates.h"
#include "loops/parallel_nest.h"
#include "loops/thread_loops.h"
#include "source/build.h"
#include "source/printer.h"
#include "source/walk.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>

namespace regraph::loops {
namespace {

using affine::IterationOverlap;
using rewrite::KernelForm;
using source::Block;
using source::ExprPtr;
using source::StmtPtr;

// A size that nothing says: only the order of magnitude of indices is judged by it.
constexpr std::int64_t kSomeSize = 4096;

// Behind the name of a scalar in a buffer, while one thread has it in a register.
constexpr const char* kHere = "_here";

// What is known of the function's numbers: integers that the manifest gives no value are sizes, at
// least 1.
Problem known_of(const source::Kernel& kernel, const Manifest& manifest) {
  Problem problem;
  problem.assume = manifest.assume;
  problem.sizes = manifest.sizes;
  for (const source::KernelParameter& parameter : kernel.parameters) {
    if (parameter.is_pointer || !parameter.scalar || is_floating(*parameter.scalar)) continue;
    const bool has_value = std::ranges::any_of(manifest.arguments, [&](const auto& argument) {
      return argument.first == parameter.name && argument.second.value;
    });
    if (!has_value) problem.sizes.try_emplace(parameter.name, kSomeSize);
  }
  return problem;
}

struct PieceKernel {
  Block body;
  std::optional<Launch> launch;  // none: one thread
  int depth = 0;                 // of loops
};

class FunctionLowering {
 public:
  FunctionLowering(const SequentialFunction& function, const Manifest& manifest)
      : function_(function), manifest_(manifest) {}

  Result<LoweredFunction> run() {
    auto pieces = pieces_of(function_.unit.kernel);
    if (!pieces) return std::move(pieces).error();
    pieces_ = std::move(*pieces);
    if (Status status = check_aliasing(); !status) return status.error();
    problem_ = known_of(pieces_.kernel, manifest_);
    std::vector<PieceKernel> kernels;
    for (const Block& piece : pieces_.pieces) {
      auto kernel = kernel_of(piece);
      if (!kernel) return std::move(kernel).error();
      kernels.push_back(std::move(*kernel));
    }
    const bool has_threads =
        std::ranges::any_of(kernels, [](const PieceKernel& one) { return one.launch.has_value(); });
    if (!has_threads && !has_loops_in_one_thread_) {
      return fail(ErrorCode::unsupported,
                  fmt::format("line {}: '{}' has no loop that could be done by threads",
                              function_.unit.kernel.line, function_.unit.kernel.name));
    }
    if (!has_threads) {
      write_whole();
      return std::move(result_);
    }
    write(kernels);
    return std::move(result_);
  }

 private:
  // Buffers that overlap make other iterations meet.
  Status check_aliasing() const {
    if (manifest_.assume.noalias) return {};
    int pointers = 0;
    bool all_restrict = true;
    for (const source::KernelParameter& parameter : function_.unit.kernel.parameters) {
      if (!parameter.is_pointer) continue;
      ++pointers;
      all_restrict = all_restrict && parameter.is_restrict;
    }
    if (pointers < 2 || all_restrict) return {};
    return fail(ErrorCode::unsupported,
                "the manifest says that buffers may overlap (assume.noalias: false), and then no "
                "loop that writes one of them is known to be parallel");
  }

  Result<PieceKernel> kernel_of(const Block& piece) {
    PieceKernel kernel;
    if (!holds_loop(*piece.front())) {
      kernel.body = piece;
      return kernel;
    }
    const StmtPtr& stmt = piece.front();
    auto form = std::make_unique<KernelForm>(pieces_.kernel);
    ParallelNest nest = nest_in(stmt, *form);
    if (nest.chain.empty()) {
      return fail(
          ErrorCode::unsupported,
          fmt::format("line {}: the loop is not one that counts up to a limit by a constant "
                      "step",
                      stmt->line));
    }
    const std::vector<std::string> names = [&] {
      std::vector<std::string> result;
      for (const NestLoop& loop : nest.chain)
        result.push_back(loop.counted.name);
      return result;
    }();
    if (!nest.has_free_loop()) {
      auto atomic = with_atomics(stmt, nest, *form);
      if (!atomic) return atomic.error();
      if (!*atomic) {
        kernel.body = in_one_thread(piece);
        return kernel;
      }
      form = std::move((*atomic)->form);
      nest = std::move((*atomic)->nest);
    }
    auto threads = as_threads(nest, form->analysis, form->kernel, problem_);
    if (!threads) return std::move(threads).error();
    kernel.body = std::move(threads->body);
    kernel.launch = std::move(threads->launch);
    kernel.depth = threads->depth;
    std::string note = fmt::format("line {}: the loops over {} became threads", stmt->line,
                                   fmt::join(threads->counters, ", "));
    if (!threads->sequential.empty())
      note += fmt::format(", {} stays in each thread", fmt::join(threads->sequential, ", "));
    result_.notes.push_back(std::move(note));
    return kernel;
  }

  ParallelNest nest_in(const StmtPtr& stmt, const KernelForm& form) const {
    Launch launch;
    launch.block = {1, 1, 1};
    return parallel_nest(stmt, form,
                         IterationOverlap(form.kernel, form.analysis, launch, problem_));
  }

  struct AtomicNest {
    std::unique_ptr<KernelForm> form;
    ParallelNest nest;
  };

  // The nest with atomics where they let a loop be parallel; nothing where a reduction into a local
  // has to stay in one thread. Error: what stands in the way.
  Result<std::optional<AtomicNest>> with_atomics(const StmtPtr& stmt, const ParallelNest& nest,
                                                 const KernelForm& form) {
    Launch launch;
    launch.block = {1, 1, 1};
    const IterationOverlap overlap(form.kernel, form.analysis, launch, problem_);
    std::optional<LoopObstacle> first;
    std::string why_no_atomic;
    for (std::size_t i = 0; i < nest.chain.size(); ++i) {
      const LoopObstacle obstacle = obstacle_of(nest, i, form, overlap);
      if (!first) first = obstacle;
      if (obstacle.buffers.empty() || !obstacle.is_memory_alone) continue;
      auto changed = with_atomic_updates({stmt}, obstacle.buffers, form.kernel);
      if (!changed) {
        if (why_no_atomic.empty()) why_no_atomic = changed.error().message;
        continue;
      }
      source::Kernel kernel = form.kernel;
      std::ranges::replace(kernel.body, stmt, changed->front());
      AtomicNest result{std::make_unique<KernelForm>(std::move(kernel)), {}};
      result.nest = nest_in(changed->front(), *result.form);
      if (!result.nest.has_free_loop()) continue;
      if (result.nest.rounds && !manifest_.assume.reassociate) {
        return unproved(obstacle.reason +
                        "; an atomic would do, but the manifest does not permit sums in another "
                        "order (assume.reassociate)");
      }
      note_atomics(obstacle.buffers, result.nest.rounds, stmt->line);
      return std::optional(std::move(result));
    }
    const bool only_reductions =
        first->is_memory_alone && !first->buffers.empty() &&
        std::ranges::all_of(first->buffers, [&](const std::string& buffer) {
          return pieces_.scalars.contains(buffer) && is_reduction(stmt, buffer);
        });
    if (only_reductions) {
      has_loops_in_one_thread_ = true;
      result_.notes.push_back(fmt::format(
          "line {}: what the loop brings into '{}' has no atomic, so one thread does it all",
          stmt->line, fmt::join(first->buffers, "', '")));
      return std::optional<AtomicNest>();
    }
    return unproved(first->reason);
  }

  // As the function has it: the local itself.
  [[nodiscard]] bool is_reduction(const StmtPtr& stmt, const std::string& scalar) const {
    const Block local = with_locals({stmt}, {scalar});
    return is_reduction_of(body_of(*local.front()), scalar + kHere);
  }

  // s[0] as s, for those scalars.
  static Block with_locals(const Block& block, const std::set<std::string>& scalars) {
    return source::rewrite_expressions(block, [&](const ExprPtr& expr) -> std::optional<ExprPtr> {
      const auto* element = source::as<source::Subscript>(expr);
      const auto* base =
          element != nullptr ? source::as<source::VariableReference>(element->base) : nullptr;
      if (base == nullptr || !scalars.contains(base->name)) return std::nullopt;
      return source::variable(base->name + kHere, expr->type);
    });
  }

  // The piece with its scalars in registers meanwhile.
  Block in_one_thread(const Block& piece) const {
    Block result;
    Block after;
    std::set<std::string> used;
    source::walk_expressions(piece, [&](const source::Expr& expr) {
      const auto* variable = source::as<source::VariableReference>(expr);
      if (variable != nullptr && pieces_.scalars.contains(variable->name))
        used.insert(variable->name);
    });
    for (const std::string& name : used) {
      const source::KernelParameter& buffer = *pieces_.kernel.parameter(name);
      const ExprPtr element = std::make_shared<source::Subscript>(
          source::variable(name, std::nullopt), source::integer(0), buffer.scalar);
      source::Variable local = source::local_variable(name + kHere, buffer.type, buffer.scalar);
      result.push_back(source::declare(local, element));
      after.push_back(source::assign(element, source::variable(local.name, buffer.scalar)));
    }
    const Block body = with_locals(piece, used);
    result.insert(result.end(), body.begin(), body.end());
    result.insert(result.end(), after.begin(), after.end());
    return result;
  }

  void note_atomics(const std::set<std::string>& buffers, bool rounds, int line) {
    result_.notes.push_back(fmt::format(
        "line {}: iterations bring their values into '{}' by atomics{}", line,
        fmt::join(buffers, "', '"),
        rounds ? ", in whatever order they come: floating-point sums are rounded differently"
               : ""));
  }

  // A scalar in a buffer of its own is one to the user.
  [[nodiscard]] Error unproved(std::string reason) const {
    for (const std::string& scalar : pieces_.scalars) {
      const std::string element = scalar + "[0]";
      for (std::size_t at = 0; (at = reason.find(element, at)) != std::string::npos;) {
        const bool is_word =
            at == 0 || (std::isalnum(static_cast<unsigned char>(reason[at - 1])) == 0 &&
                        reason[at - 1] != '_');
        if (is_word) reason.erase(at + scalar.size(), 3);
        at += scalar.size();
      }
    }
    return Error{ErrorCode::unsupported, std::move(reason)};
  }

  // The function as it is, in one thread.
  void write_whole() {
    const source::Unit& unit = function_.unit;
    Launch launch;
    launch.kernel = unit.kernel.name;
    result_.kernel = unit.kernel.name;
    result_.text = unit.before + source::print(unit.kernel) + unit.after;
    result_.launches.push_back(std::move(launch));
    note_reliance();
  }

  void write(std::vector<PieceKernel>& kernels) {
    const source::Unit& unit = function_.unit;
    result_.text = unit.before;
    result_.scratch = pieces_.scratch;
    int deepest = -1;
    for (std::size_t i = 0; i < kernels.size(); ++i) {
      PieceKernel& one = kernels[i];
      source::Kernel kernel = pieces_.kernel;
      kernel.extern_c = false;
      const bool is_alone = kernels.size() == 1;
      kernel.name = is_alone ? unit.kernel.name : fmt::format("{}_{}", unit.kernel.name, i + 1);
      kernel.body = complete(std::move(one.body));
      if (!is_alone) drop_unused_parameters(kernel);
      Launch launch = one.launch.value_or(Launch());
      launch.kernel = kernel.name;
      if (one.launch && one.depth > deepest) {
        deepest = one.depth;
        result_.kernel = kernel.name;
      }
      if (i > 0) result_.text += "\n";
      result_.text += source::print(kernel);
      result_.launches.push_back(std::move(launch));
    }
    result_.text += unit.after;
    note_reliance();
  }

  void note_reliance() {
    std::set<std::string> sizes;
    for (const auto& [name, ignored] : problem_.sizes)
      sizes.insert(name);
    std::string note = "it is relied on that buffers do not overlap";
    if (!sizes.empty())
      note += fmt::format(" and that {} {} at least 1", fmt::join(sizes, ", "),
                          sizes.size() > 1 ? "are" : "is");
    result_.notes.push_back(std::move(note));
  }

  // With what every kernel works out for itself, under the function's own conditions.
  Block complete(Block body) const {
    Block result;
    Block own = std::move(body);
    if (!pieces_.guards.empty())
      own = {source::branch(source::conjunction(pieces_.guards), std::move(own))};
    std::set<std::string> used = names_in(own);
    std::vector<StmtPtr> kept;
    for (auto stmt = pieces_.shared.rbegin(); stmt != pieces_.shared.rend(); ++stmt) {
      const auto& declared = source::to<source::Declaration>(**stmt);
      if (!used.contains(declared.variable.name)) continue;
      used.merge(source::variables_of(declared.value));
      kept.push_back(*stmt);
    }
    result.assign(kept.rbegin(), kept.rend());
    result.insert(result.end(), own.begin(), own.end());
    return result;
  }

  static std::set<std::string> names_in(const Block& block) {
    std::set<std::string> names;
    source::walk_expressions(block, [&](const source::Expr& expr) {
      if (const auto* variable = source::as<source::VariableReference>(expr))
        names.insert(variable->name);
    });
    return names;
  }

  static void drop_unused_parameters(source::Kernel& kernel) {
    const std::set<std::string> used = names_in(kernel.body);
    std::erase_if(kernel.parameters, [&](const source::KernelParameter& parameter) {
      return !used.contains(parameter.name);
    });
  }

  const SequentialFunction& function_;
  const Manifest& manifest_;
  FunctionPieces pieces_;
  Problem problem_;
  LoweredFunction result_;
  bool has_loops_in_one_thread_ = false;
};

}  // namespace

Result<LoweredFunction> lower_to_kernels(const SequentialFunction& function,
                                         const Manifest& manifest) {
  return FunctionLowering(function, manifest).run();
}

}  // namespace regraph::loops

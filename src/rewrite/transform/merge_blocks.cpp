#include "rewrite/transform/merge_blocks.h"

#include "rewrite/analysis/shared_memory.h"
#include "rewrite/analysis/varying.h"
#include "source/build.h"
#include "source/match.h"
#include "source/walk.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <utility>

namespace regraph::rewrite {

using source::Analysis;
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
using source::to;
using source::VariableReference;

namespace {

// A loop over copies.
struct CopyLoop {
  std::string counter;
  int count;
};

// Rewrites one kernel. Statements that depend on the merged block index are collected into groups,
// and each group becomes one unrolled loop over the copies (two, where they lie in groups).
class Coarsener {
 public:
  explicit Coarsener(const BlockMerge& merge)
      : kernel_(merge.form.kernel),
        analysis_(merge.form.analysis),
        builtin_("blockIdx." + merge.axis),
        thread_("threadIdx." + merge.axis),
        extent_("blockDim." + merge.axis),
        factor_(merge.factor),
        group_size_(merge.group),
        loops_(loops_of(merge)),
        varying_(varying_names(kernel_, builtin_, of_thread())),
        grid_limit_(merge.grid_limit) {
    while (collect_restarted(kernel_.body))
      varying_ = varying_names(kernel_, builtin_, varying_);
    collect_recomputed(kernel_.body);
  }

  // Whether `run` may be called. Error: refused.
  Status check(int most_copies) const {
    if (Status status = check_parameters(); !status) return status;
    return check(kernel_.body, most_copies);
  }

  // Bytes of static shared memory that the result declares.
  std::int64_t shared_bytes_after() const {
    std::int64_t bytes = shared_bytes(kernel_);
    source::walk(kernel_.body, [&](const Stmt& stmt) {
      const auto* declaration = as<Declaration>(stmt);
      if (declaration == nullptr || declaration->variable.storage != source::Storage::shared ||
          !varying_.contains(declaration->variable.name)) {
        return;
      }
      bytes += bytes_of(declaration->variable) * (factor_ - 1);
    });
    return bytes;
  }

  Block run() {
    Block result;
    convert(kernel_.body, result);
    return result;
  }

 private:
  // In groups, the copies of a thread do the work of several threads of the original block.
  std::set<std::string> of_thread() const {
    return group_size_ > 1 ? varying_names(kernel_, thread_) : std::set<std::string>();
  }

  // Adds to the varying names what statements change that every copy repeats as a whole: the next
  // copy has to start from what was there before, even where all of them go through the same
  // values. Returns whether there was any.
  bool collect_restarted(const Block& block) {
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

  // A parameter cannot be kept once per copy.
  Status check_parameters() const {
    std::optional<std::string> changed;
    for_each_changed(kernel_.body, [&](const std::string& name) {
      if (kernel_.parameter(name) != nullptr) changed = name;
    });
    if (!changed) return {};
    return refuse("the parameter '" + *changed +
                  "' is changed, and every block has to begin with "
                  "what was passed");
  }

  // The variables and arrays that the block changes, or lets others change; not what lies behind
  // pointers.
  template <typename Visit>
  void for_each_changed(const Block& block, const Visit& visit) const {
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

  // Locals that are cheaper to compute again for every c than to keep: index arithmetic.
  // Those inside a branch stay where they are: the branch as a whole is repeated.
  void collect_recomputed(const Block& block) {
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

  bool varies(const ExprPtr& expr) const { return is_varying(expr, builtin_, varying_); }

  // The statement, or anything below it, is different for different c. What other blocks can see
  // happens once per merged block.
  bool varies(const StmtPtr& stmt) const {
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

  // A register or shared memory.
  bool is_local(const VariableReference* variable) const {
    const source::Variable* local = variable != nullptr ? analysis_.local(variable->name) : nullptr;
    return local != nullptr && !local->is_pointer;
  }

  // Outermost first.
  static std::vector<CopyLoop> loops_of(const BlockMerge& merge) {
    const Kernel& kernel = merge.form.kernel;
    const std::string stem = "c" + merge.axis;
    if (merge.group == 1) return {{source::fresh_name(kernel, stem), merge.factor}};
    std::vector<CopyLoop> loops;
    const int groups = merge.factor / merge.group;
    if (groups > 1) loops.push_back({source::fresh_name(kernel, "g" + merge.axis), groups});
    loops.push_back({source::fresh_name(kernel, stem), merge.group});
    return loops;
  }

  // Replaces the block and thread index and the names that are kept once per copy.
  ExprPtr renamed(const ExprPtr& expr) const {
    return source::rewrite_expr(expr, [&](const ExprPtr& node) -> std::optional<ExprPtr> {
      if (source::is_builtin(*node, builtin_)) return block_number(node);
      if (group_size_ > 1 && source::is_builtin(*node, thread_)) return item_number(node);
      const auto* variable = as<VariableReference>(node);
      if (variable == nullptr || !copied_.contains(variable->name)) return std::nullopt;
      std::vector<ExprPtr> copy;
      for (const CopyLoop& loop : loops_)
        copy.push_back(source::variable(loop.counter));
      return source::element(node, copy);
    });
  }

  // Of the original grid; with groups, of the first block that was merged.
  ExprPtr block_number(const ExprPtr& merged) const {
    ExprPtr first = source::multiply(merged, source::integer(factor_));
    if (group_size_ > 1) return first;
    return source::add(std::move(first), source::variable(loops_.back().counter));
  }

  // Of the thread's item within the merged block.
  ExprPtr item_number(const ExprPtr& thread) const {
    ExprPtr item = source::multiply(thread, source::integer(group_size_));
    if (loops_.size() > 1) {
      const ExprPtr pitch =
          source::multiply(source::builtin(extent_), source::integer(group_size_));
      item = source::add(source::multiply(pitch, source::variable(loops_.front().counter)), item);
    }
    return source::add(std::move(item), source::variable(loops_.back().counter));
  }

  Block renamed(const Block& block) const {
    return source::rewrite_expressions(
        block, [&](const ExprPtr& expr) -> std::optional<ExprPtr> { return renamed(expr); });
  }

  // Blocks past the end of the grid may work on their own registers and shared memory.
  bool touches_global(const Block& block) const {
    bool found = false;
    source::walk(block, [&](const Stmt& stmt) {
      const auto* evaluation = as<Evaluation>(stmt);
      if (evaluation != nullptr && !source::is_warp_intrinsic(evaluation->call().function))
        found = true;
      if (value_of(stmt) && analysis_.reads_global(value_of(stmt))) found = true;
      const ExprPtr& target = target_of(stmt);
      if (target && !is_local(source::base_variable(*target))) found = true;
    });
    return found;
  }

  void flush(Block& out) {
    if (group_.empty()) return;
    std::set<std::string> needed = needed_by(group_);
    Block body;
    source::walk(kernel_.body, [&](const Stmt& stmt) {
      const auto* declaration = as<Declaration>(stmt);
      if (declaration == nullptr || needed.erase(declaration->variable.name) == 0) return;
      body.push_back(renamed(Block{recomputed_.at(declaration->variable.name)}).front());
    });
    Block work = renamed(group_);
    if (grid_limit_ && touches_global(group_)) {
      const ExprPtr number = source::cast("int", block_number(source::builtin(builtin_)));
      work = {source::branch(source::less(number, grid_limit_), std::move(work))};
    }
    body.insert(body.end(), work.begin(), work.end());
    for (auto copies = loops_.rbegin(); copies != loops_.rend(); ++copies) {
      body = {source::counted_loop(copies->counter, source::integer(0),
                                   source::integer(copies->count), 1, std::move(body),
                                   source::kUnrollFully)};
    }
    out.push_back(std::move(body.front()));
    group_.clear();
  }

  // Names that have to be computed again for the block, with those that they need in turn.
  std::set<std::string> needed_by(const Block& block) const {
    std::set<std::string> needed;
    // A loop that stays whole declares its own.
    const std::set<std::string> own = source::declared_names(block);
    std::function<void(const ExprPtr&)> need = [&](const ExprPtr& expr) {
      for (const std::string& name : source::variables_of(expr)) {
        if (own.contains(name)) continue;
        const auto found = recomputed_.find(name);
        if (found != recomputed_.end() && needed.insert(name).second)
          need(value_of(*found->second));
      }
    };
    source::walk(block, [&](const Stmt& stmt) {
      need(target_of(stmt));
      need(value_of(stmt));
    });
    return needed;
  }

  source::Variable copies_of(source::Variable variable) const {
    for (auto copies = loops_.rbegin(); copies != loops_.rend(); ++copies)
      variable.extents.insert(variable.extents.begin(), copies->count);
    variable.is_const = false;
    return variable;
  }

  // What gives a flat array the values of its list; nothing for any other.
  static std::optional<Block> assignments_of(const source::Variable& variable,
                                             const ExprPtr& value) {
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

  Status check_declaration(const source::Variable& variable, const ExprPtr& value,
                           int most_copies) const {
    if (recomputed_.contains(variable.name) || !varying_.contains(variable.name)) return {};
    if (variable.storage == source::Storage::dynamic_shared) {
      return refuse("the dynamic shared array '" + variable.name +
                    "' cannot be kept once per block");
    }
    if (!variable.is_pointer && !source::zero_value(variable.type, variable.scalar)) {
      return refuse("'" + variable.name + "' has a type the rewriter cannot make an array of");
    }
    if (!variable.extents.empty() && value && !assignments_of(variable, value)) {
      return refuse("'" + variable.name + "' has a list of values that is long or not flat");
    }
    // A copy begins where vectors may begin.
    constexpr std::int64_t kVectorBytes = 16;
    if (!variable.extents.empty() && analysis_.is_viewed(variable.name) &&
        bytes_of(variable) % kVectorBytes != 0)
      return refuse("'" + variable.name + "' is accessed as another type too");
    std::int64_t count = 1;
    for (const std::int64_t extent_value : copies_of(variable).extents)
      count *= extent_value;
    if (variable.storage == source::Storage::automatic && count > most_copies) {
      return refuse("'" + variable.name + "' would need " + std::to_string(count) + " registers");
    }
    return {};
  }

  // What `convert` goes through, without converting it.
  Status check(const Block& block, int most_copies) const {
    for (const StmtPtr& stmt : block) {
      if (const auto* declaration = as<Declaration>(stmt)) {
        if (Status status =
                check_declaration(declaration->variable, declaration->value, most_copies);
            !status)
          return status;
        continue;
      }
      if (is<Barrier>(stmt) || !varies(stmt)) continue;
      if (is_opened(*stmt)) {
        if (Status status = check(body_of(*stmt), most_copies); !status) return status;
        continue;
      }
      bool is_whole = true;
      source::walk(Block{stmt}, [&](const Stmt& inner) {
        const auto* declaration = as<Declaration>(inner);
        const bool declares_shared =
            declaration != nullptr && declaration->variable.storage != source::Storage::automatic;
        is_whole = is_whole && !is<Barrier>(inner) && !declares_shared;
      });
      if (!is_whole) {
        return refuse("line " + std::to_string(stmt->line) +
                      ": a barrier whose reach depends on the block");
      }
    }
    return {};
  }

  // Whether the loop over c goes inside the statement.
  bool is_opened(const Stmt& stmt) const {
    const auto* loop = as<ForLoop>(stmt);
    return is<source::Scope>(stmt) || (loop != nullptr && has_uniform_header(*loop));
  }

  void convert_declaration(const StmtPtr& stmt, Block& out) {
    const source::Variable& variable = to<Declaration>(stmt).variable;
    const ExprPtr& value = to<Declaration>(stmt).value;
    if (recomputed_.contains(variable.name)) return;
    if (!varying_.contains(variable.name)) {
      flush(out);
      out.push_back(stmt);
      return;
    }
    copied_.insert(variable.name);
    // The declaration must precede the loop over c that fills it, not the group collected so far.
    out.push_back(source::declare(copies_of(variable), nullptr));
    if (value && !variable.extents.empty()) {
      const Block values = *assignments_of(variable, value);
      group_.insert(group_.end(), values.begin(), values.end());
    } else if (value) {
      group_.push_back(source::assign(source::variable(variable.name, variable.scalar), value));
    }
  }

  void convert(const Block& block, Block& out) {
    for (const StmtPtr& stmt : block) {
      if (is<Declaration>(stmt)) {
        convert_declaration(stmt, out);
      } else if (is<Barrier>(stmt) || !varies(stmt)) {
        flush(out);
        out.push_back(stmt);
      } else if (const auto* scope = as<source::Scope>(stmt)) {
        convert(scope->body, out);
      } else if (is_opened(*stmt)) {
        flush(out);
        Block body;
        convert(body_of(*stmt), body);
        out.push_back(source::with_blocks(stmt, std::move(body), {}));
      } else {
        group_.push_back(stmt);
      }
    }
    flush(out);
  }

  bool has_uniform_header(const ForLoop& loop) const {
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

  const Kernel& kernel_;
  const Analysis& analysis_;
  std::string builtin_;
  std::string thread_;
  std::string extent_;
  int factor_;
  int group_size_;
  std::vector<CopyLoop> loops_;
  std::set<std::string> varying_;
  ExprPtr grid_limit_;
  std::map<std::string, StmtPtr> recomputed_;
  std::set<std::string> copied_;
  Block group_;
};

}  // namespace

Status check_merge(const BlockMerge& merge, int most_copies) {
  return Coarsener(merge).check(most_copies);
}

std::int64_t merged_shared_bytes(const BlockMerge& merge) {
  return Coarsener(merge).shared_bytes_after();
}

Block merge_blocks(const BlockMerge& merge) {
  return Coarsener(merge).run();
}

}  // namespace regraph::rewrite

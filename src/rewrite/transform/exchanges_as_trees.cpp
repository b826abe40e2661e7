#include "rewrite/transform/exchanges_as_trees.h"

#include "rewrite/analysis/lockstep.h"
#include "rewrite/forms/names.h"
#include "rewrite/forms/uses.h"
#include "source/build.h"
#include "source/match.h"
#include "source/walk.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace regraph::rewrite {

namespace {

ExprPtr thread_index() {
  return builtin("threadIdx.x");
}

bool holds_shuffle(const StmtPtr& stmt) {
  return any_expression(Block{stmt}, [](const Expr& expr) {
    const auto* call = as<Call>(expr);
    return call != nullptr && call->function.starts_with("__shfl_");
  });
}

// Whether one of the statements declares the variable.
bool declares(const Block& block, const std::string& name) {
  return std::ranges::any_of(block, [&](const StmtPtr& stmt) {
    const auto* declared = as<Declaration>(stmt);
    return declared != nullptr && declared->variable.name == name;
  });
}

// A total, and the threads that have it.
struct Total {
  std::string root;  // the variable that it puts together
  Combination by;
  ThreadSet threads;
  std::optional<double> bound;  // as in LockstepValue

  bool same_value(const std::string& variable, const Combination& operation,
                  std::optional<double> number) const {
    return root == variable && by == operation && bound == number;
  }
};

// The number, of the type; null where it is none of it.
ExprPtr number_of_type(double value, ScalarType type) {
  if (!is_floating(type)) {
    const bool is_int = std::trunc(value) == value && std::abs(value) < 0x1p31;
    return is_int ? integer(static_cast<std::int64_t>(value)) : nullptr;
  }
  if (!std::isfinite(value)) return nullptr;
  const bool is_single = type == ScalarType::f32;
  std::array<char, 32> digits{};
  char* const last = digits.data() + digits.size();
  const auto end = is_single ? std::to_chars(digits.data(), last, static_cast<float>(value))
                             : std::to_chars(digits.data(), last, value);
  std::string text(digits.data(), end.ptr);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  if (is_single) text += "f";
  return with_type(floating(text), type);
}

class ExchangeReplacer {
 public:
  ExchangeReplacer(const KernelForm& form, std::uint32_t threads)
      : kernel_(form.kernel), analysis_(form.analysis), threads_(threads), names_(form.kernel) {}

  std::optional<Kernel> run() {
    Kernel result = kernel_;
    result.body = visit(kernel_.body);
    if (trees_ == 0 || reads_lost_) return std::nullopt;
    result.body = with_first_threads(result.body);
    result.body.insert(result.body.begin(), slots_.begin(), slots_.end());
    if (!drop_arrays(result.body)) return std::nullopt;
    return result;
  }

 private:
  // What all threads come by.
  Block visit(const Block& block) {
    Block result;
    for (std::size_t at = 0; at < block.size(); ++at) {
      if (const std::size_t end = replace_from(block, at, result); end > at) {
        passed_.insert(passed_.end(), block.begin() + static_cast<std::ptrdiff_t>(at),
                       block.begin() + static_cast<std::ptrdiff_t>(end));
        at = end - 1;
        continue;
      }
      const StmtPtr& stmt = block[at];
      const bool is_loop = is<ForLoop>(stmt);
      if (!is_loop && !is<Branch>(stmt) && !is<Scope>(stmt)) {
        result.push_back(with_known_elements(stmt));
        passed_.push_back(stmt);
        continue;
      }
      for (const std::string& array : touched_) {
        const int inside =
            mentions_of(array, body_of(*stmt)) + mentions_of(array, otherwise_of(*stmt));
        reads_lost_ = reads_lost_ || mentions_of(array, Block{stmt}) > inside;
      }
      if (is_loop) loops_.emplace_back(passed_.size(), declared_names(body_of(*stmt)));
      Block body = visit(body_of(*stmt));
      Block otherwise = visit(otherwise_of(*stmt));
      if (is_loop) loops_.pop_back();
      result.push_back(with_blocks(stmt, std::move(body), std::move(otherwise)));
    }
    return result;
  }

  // Statements that are done with when the one at hand is reached, as far as the variable goes: of
  // loops around it another round may follow.
  Block passed(const std::string& name) const {
    std::size_t count = passed_.size();
    for (const auto& [entered, declared] : loops_)
      if (!declared.contains(name)) count = std::min(count, entered);
    return {passed_.begin(), passed_.begin() + static_cast<std::ptrdiff_t>(count)};
  }

  bool is_used_later(const std::string& name, const Block& gone) const {
    return mentions_of(name, kernel_.body) >
           mentions_of(name, gone) + mentions_of(name, passed(name));
  }

  // Replaces the exchange that begins at a statement; where it ends, `first` where there is none.
  std::size_t replace_from(const Block& block, std::size_t first, Block& out) {
    // What a step wrote, which has no line of the user's, is laid out well already.
    if (!holds_shuffle(block[first]) || block[first]->line == 0) return first;
    Lockstep machine(analysis_, threads_);
    std::optional<Lockstep> behind;
    std::size_t end = first;
    for (std::size_t at = first; at < block.size(); ++at) {
      const int before = machine.exchanges();
      if (!machine.run(block[at])) break;
      if (machine.exchanges() == before) continue;
      end = at + 1;
      behind = machine;
    }
    if (end == first) return first;
    const Block gone(block.begin() + static_cast<std::ptrdiff_t>(first),
                     block.begin() + static_cast<std::ptrdiff_t>(end));
    std::map<std::string, Total> totals;
    Block kept;
    for (const auto& [name, values] : behind->variables()) {
      if (!is_used_later(name, gone)) continue;
      if (const auto total = total_of(values); total && is_read_by(name, *total, gone, *behind)) {
        totals.emplace(name, *total);
      } else if (!is_number_alone(values, name, gone)) {
        return first;
      }
    }
    // What the block shares outside of arrays is set as before, if to a total.
    std::map<std::string, std::map<std::int64_t, Total>> elements;
    for (const auto& [array, values] : behind->arrays()) {
      if (analysis_.local(array)->extents.empty()) {
        if (!is_used_later(array, gone)) continue;
        const auto total = total_of({values.at(0)});
        if (!total) return first;
        totals.emplace(array, *total);
        continue;
      }
      touched_.insert(array);
      for (const auto& [at, value] : values) {
        const auto total = total_of({value});
        if (total) elements[array].emplace(at, *total);
        if (!total) lost_[array].insert(at);
      }
    }
    if (totals.empty() && elements.empty()) return first;
    for (const StmtPtr& stmt : gone) {
      const auto* declared = as<Declaration>(stmt);
      const bool stays = declared != nullptr && !totals.contains(declared->variable.name) &&
                         declared->value && is_used_later(declared->variable.name, gone);
      if (stays) out.push_back(stmt);
    }
    write(totals, elements, gone, out);
    return end;
  }

  // The total of all threads, if some of them have it.
  std::optional<Total> total_of(const std::vector<LockstepValue>& values) const {
    const ThreadSet all = Lockstep(analysis_, threads_).all();
    std::optional<Total> total;
    for (std::size_t thread = 0; thread < values.size(); ++thread) {
      const LockstepValue& value = values[thread];
      if (value.kind != LockstepValue::Kind::threads || value.threads != all || value.by.is_none())
        continue;
      const auto type = analysis_.local(value.variable)->scalar;
      if (value.bound && !number_of_type(*value.bound, *type)) return std::nullopt;
      if (!total) total = Total{value.variable, value.by, {}, value.bound};
      if (!total->same_value(value.variable, value.by, value.bound)) return std::nullopt;
      total->threads.set(thread);
    }
    return total;
  }

  // Whether threads read the variable, and what it is copied to, only where they have the total.
  bool is_read_by(const std::string& name, const Total& total, const Block& gone,
                  const Lockstep& machine) const {
    std::set<const Stmt*> skipped;
    for (const StmtPtr& stmt : gone)
      skipped.insert(stmt.get());
    for (const StmtPtr& stmt : passed(name))
      skipped.insert(stmt.get());
    std::vector<std::string> names = {name};
    for (std::size_t at = 0; at < names.size(); ++at) {
      const std::string one = names[at];  // copies of it are added while it is looked for
      if (!is_read_by(kernel_.body, one, total.threads, machine.all(), skipped, machine, names))
        return false;
    }
    return true;
  }

  bool is_read_by(const Block& block, const std::string& name, const ThreadSet& allowed,
                  const ThreadSet& active, const std::set<const Stmt*>& skipped,
                  const Lockstep& machine, std::vector<std::string>& names) const {
    for (const StmtPtr& stmt : block) {
      if (skipped.contains(stmt.get()) || !is_mentioned(Block{stmt}, name)) continue;
      const auto* declared = as<Declaration>(stmt);
      const bool is_copy = declared != nullptr && is_named(declared->value, name) &&
                           analysis_.is_single_definition(declared->variable.name);
      if (is_copy) {
        names.push_back(declared->variable.name);
        continue;
      }
      const auto* choice = as<Branch>(stmt);
      if (choice != nullptr) {
        const auto yes = machine.where(choice->condition, active);
        const ThreadSet no = yes ? active & ~*yes : active;
        const bool asks = variables_of(choice->condition).contains(name);
        if ((asks && (active & ~allowed).any()) ||
            !is_read_by(choice->body, name, allowed, yes.value_or(active), skipped, machine,
                        names) ||
            !is_read_by(choice->otherwise, name, allowed, no, skipped, machine, names)) {
          return false;
        }
        continue;
      }
      const bool is_compound = is<ForLoop>(stmt) || is<Scope>(stmt);
      if (!is_compound) {
        // What the variable is set to, nobody reads.
        const auto* set = as<Assignment>(stmt);
        const bool is_set = set != nullptr && set->op == AssignmentOperator::assign &&
                            is_named(set->target, name) && !variables_of(set->value).contains(name);
        if (!is_set && (active & ~allowed).any()) return false;
        continue;
      }
      const int inside = mentions_of(name, body_of(*stmt));
      if (mentions_of(name, Block{stmt}) > inside && (active & ~allowed).any()) return false;
      if (!is_read_by(body_of(*stmt), name, allowed, active, skipped, machine, names)) return false;
    }
    return true;
  }

  // Whether the exchange only declares the variable, as a number: `int lane = threadIdx.x % 32`.
  static bool is_number_alone(const std::vector<LockstepValue>& values, const std::string& name,
                              const Block& gone) {
    const bool are_numbers = std::ranges::all_of(values, [](const LockstepValue& value) {
      return value.kind == LockstepValue::Kind::number;
    });
    return are_numbers && declares(gone, name) && !changed_names(gone).contains(name);
  }

  void write(const std::map<std::string, Total>& totals,
             const std::map<std::string, std::map<std::int64_t, Total>>& elements,
             const Block& gone, Block& out) {
    std::vector<std::pair<Total, std::string>> made;
    const auto result_of = [&](const Total& total) {
      for (const auto& [other, name] : made)
        if (other.same_value(total.root, total.by, total.bound)) return name;
      made.emplace_back(total, write_tree(total, out));
      return made.back().second;
    };
    // All roots go into their trees before any of them is set.
    for (const auto& [name, total] : totals)
      (void)result_of(total);
    for (const auto& [array, values] : elements) {
      for (const auto& [at, total] : values)
        known_[array][at] = result_of(total);
    }
    for (const auto& [name, total] : totals) {
      const Variable& variable = *analysis_.local(name);
      const ExprPtr value = source::variable(result_of(total), variable.scalar);
      const bool is_declared = declares(gone, name);
      if (is_declared && variable.storage == Storage::automatic) {
        out.push_back(declare(variable, value));
        continue;
      }
      if (is_declared) out.push_back(declare(variable, nullptr));
      out.push_back(source::assign(source::variable(name, variable.scalar), value));
    }
  }

  // The variable that holds what the tree comes to.
  std::string write_tree(const Total& total, Block& out) {
    ++trees_;
    const Variable& root = *analysis_.local(total.root);
    Variable slots = local_variable(names_.fresh(total.root + "_slots"), root.type, root.scalar,
                                    {std::int64_t{threads_}});
    slots.storage = Storage::shared;
    slots_.push_back(declare(slots, nullptr));
    const auto slot = [&](ExprPtr at) {
      return with_type(source::element(source::variable(slots.name, std::nullopt), {std::move(at)}),
                       root.scalar);
    };
    const std::string stride = names_.fresh("stride");
    const ExprPtr own = slot(thread_index());
    const ExprPtr other = slot(add(thread_index(), source::variable(stride)));
    const StmtPtr round =
        total.by.op ? source::assign(own, *total.by.op, other)
                    : source::assign(own, with_type(source::call(total.by.function, {own, other}),
                                                    root.scalar));
    out.push_back(source::assign(own, source::variable(total.root, root.scalar)));
    out.push_back(barrier());
    out.push_back(
        loop(declare_integer(stride, integer(std::int64_t{threads_} / 2), false),
             binary(BinaryOperator::greater, source::variable(stride), integer(0)),
             source::assign(source::variable(stride), AssignmentOperator::divide, integer(2)),
             {branch(less(thread_index(), source::variable(stride)), {round}), barrier()}));
    std::string result = names_.fresh(total.root + "_total");
    ExprPtr value = slot(integer(0));
    if (total.bound) {
      value = with_type(
          source::call(total.by.function, {value, number_of_type(*total.bound, *root.scalar)}),
          root.scalar);
    }
    out.push_back(declare(local_variable(result, root.type, root.scalar), std::move(value)));
    return result;
  }

  // Elements that exchanges left totals in, as the totals, until something else is put into the
  // array. Notes where something else that they left is read.
  StmtPtr with_known_elements(const StmtPtr& stmt) {
    const auto* target = as<Subscript>(target_of(*stmt));
    const auto* written = target != nullptr ? as<VariableReference>(target->base) : nullptr;
    if (known_.empty() && lost_.empty()) return stmt;
    Block result = rewrite_expressions({stmt}, [&](const ExprPtr& expr) -> std::optional<ExprPtr> {
      const auto* element = as<Subscript>(expr);
      const auto* array = element != nullptr ? as<VariableReference>(element->base) : nullptr;
      const auto* at = element != nullptr ? as<IntegerLiteral>(element->index) : nullptr;
      if (array == nullptr || at == nullptr || expr == target_of(*stmt)) return std::nullopt;
      const auto lost = lost_.find(array->name);
      reads_lost_ = reads_lost_ || (lost != lost_.end() && lost->second.contains(at->value));
      const auto known = known_.find(array->name);
      if (known == known_.end() || !known->second.contains(at->value)) return std::nullopt;
      return source::variable(known->second.at(at->value), expr->type);
    });
    if (written == nullptr) return result.front();
    known_.erase(written->name);
    const auto* at = as<IntegerLiteral>(target->index);
    const auto lost = lost_.find(written->name);
    if (at != nullptr && lost != lost_.end()) lost->second.erase(at->value);
    return result.front();
  }

  // if (warp == 0) if (lane == 0 && wanted) ...   ->   if (threadIdx.x == 0) if (wanted) ...
  Block with_first_threads(const Block& block) const {
    Block result;
    for (const StmtPtr& stmt : block) {
      const auto* choice = as<Branch>(stmt);
      if (choice == nullptr || !choice->otherwise.empty()) {
        const bool is_compound = !body_of(*stmt).empty() || !otherwise_of(*stmt).empty();
        result.push_back(is_compound ? with_blocks(stmt, with_first_threads(body_of(*stmt)),
                                                   with_first_threads(otherwise_of(*stmt)))
                                     : stmt);
        continue;
      }
      ExprPtr condition = choice->condition;
      const Block* body = &choice->body;
      while (body->size() == 1) {
        const auto* inner = as<Branch>(body->front());
        if (inner == nullptr || !inner->otherwise.empty()) break;
        condition = both(condition, inner->condition);
        body = &inner->body;
      }
      const ExprPtr others = beside_first_thread(condition);
      if (!others && !is_first_thread(condition)) {
        result.push_back(with_blocks(stmt, with_first_threads(choice->body), {}));
        continue;
      }
      Block alone = with_first_threads(*body);
      if (others) alone = {branch(others, std::move(alone), {}, choice->line)};
      result.push_back(
          branch(equals(thread_index(), integer(0)), std::move(alone), {}, choice->line));
    }
    return result;
  }

  bool is_first_thread(const ExprPtr& condition) const {
    const Lockstep machine(analysis_, threads_);
    const auto threads = condition ? machine.where(condition, machine.all()) : std::nullopt;
    return threads && threads->count() == 1 && threads->test(0);
  }

  // What else is asked of the first thread, which alone passes; null where nothing is, or others
  // pass, too.
  ExprPtr beside_first_thread(const ExprPtr& condition) const {
    const Lockstep machine(analysis_, threads_);
    std::vector<ExprPtr> of_thread;
    std::vector<ExprPtr> others;
    for (const ExprPtr& term : conjuncts(condition))
      (machine.where(term, machine.all()) ? of_thread : others).push_back(term);
    return is_first_thread(conjunction(of_thread)) ? conjunction(others) : nullptr;
  }

  // Arrays that only exchanges used go; of others each element that is used is a variable of the
  // block. False where an element is not known.
  bool drop_arrays(Block& body) const {
    for (const std::string& array : touched_) {
      if (mentions_of(array, body) == 0) {
        body = rewrite_statements(body, [&](const StmtPtr& stmt) -> std::optional<Block> {
          const auto* declared = as<Declaration>(stmt);
          const bool goes = declared != nullptr && declared->variable.name == array;
          return goes ? std::optional(Block()) : std::nullopt;
        });
      } else if (!split_array(body, array)) {
        return false;
      }
    }
    return true;
  }

  bool split_array(Block& body, const std::string& array) const {
    const Variable& whole = *analysis_.local(array);
    std::map<std::int64_t, std::string> names;
    int known = 0;
    Names fresh = names_;
    Block result = rewrite_expressions(body, [&](const ExprPtr& expr) -> std::optional<ExprPtr> {
      const auto* element = as<Subscript>(expr);
      const auto* at = element != nullptr ? as<IntegerLiteral>(element->index) : nullptr;
      if (at == nullptr || !is_named(element->base, array)) return std::nullopt;
      ++known;
      auto& name = names[at->value];
      if (name.empty()) name = fresh.fresh(array + "_" + std::to_string(at->value));
      return source::variable(name, expr->type);
    });
    if (known != mentions_of(array, body)) return false;
    body = rewrite_statements(result, [&](const StmtPtr& stmt) -> std::optional<Block> {
      const auto* declared = as<Declaration>(stmt);
      if (declared == nullptr || declared->variable.name != array) return std::nullopt;
      Block elements;
      for (const auto& [at, name] : names) {
        Variable one = local_variable(name, whole.type, whole.scalar);
        one.storage = Storage::shared;
        elements.push_back(declare(std::move(one), nullptr));
      }
      return elements;
    });
    return true;
  }

  const Kernel& kernel_;
  const Analysis& analysis_;
  const std::uint32_t threads_;
  Names names_;
  Block slots_;   // declarations
  Block passed_;  // single statements in front of the one at hand
  // Loops around it: how many statements were passed before, and what the loop declares.
  std::vector<std::pair<std::size_t, std::set<std::string>>> loops_;
  std::set<std::string> touched_;  // arrays that exchanges went through
  std::map<std::string, std::map<std::int64_t, std::string>> known_;  // totals in arrays
  // What exchanges left in arrays besides totals, which goes with them.
  std::map<std::string, std::set<std::int64_t>> lost_;
  bool reads_lost_ = false;
  int trees_ = 0;
};

}  // namespace

namespace {

// if (warp == 0) { an exchange; what follows }   ->   the same branch twice
// Its condition is asked again: it follows the thread alone, and nothing in it changes.
Block with_exchanges_split_off(const Block& block, const Analysis& analysis,
                               std::uint32_t threads) {
  Block result;
  // What is an exchange as it stands, from the first shuffle on, stays whole.
  std::optional<Lockstep> whole;
  for (const StmtPtr& stmt : block) {
    const auto* choice = as<Branch>(stmt);
    if (!whole && holds_shuffle(stmt)) whole.emplace(analysis, threads);
    if (whole && whole->run(stmt)) {
      result.push_back(stmt);
      continue;
    }
    whole.reset();
    std::size_t end = 0;
    if (choice != nullptr && choice->otherwise.empty()) {
      for (std::size_t at = 0; at < choice->body.size(); ++at)
        if (holds_shuffle(choice->body[at])) end = at + 1;
    }
    const std::set<std::string> asked =
        choice != nullptr ? variables_of(choice->condition) : std::set<std::string>();
    const Lockstep machine(analysis, threads);
    const bool is_fixed =
        choice != nullptr && machine.where(choice->condition, machine.all()) &&
        !analysis.reads_memory(choice->condition) &&
        std::ranges::all_of(asked, [&](const std::string& name) {
          return analysis.local(name) == nullptr || analysis.is_single_definition(name);
        });
    if (end > 0 && end < choice->body.size() && is_fixed) {
      const auto middle = choice->body.begin() + static_cast<std::ptrdiff_t>(end);
      // What the first part declares is the second's, too.
      Block declared;
      Block first;
      for (auto part = choice->body.begin(); part != middle; ++part) {
        const auto* declaration = as<Declaration>(*part);
        if (declaration == nullptr || !declaration->value || declaration->variable.is_pointer ||
            !declaration->variable.extents.empty()) {
          first.push_back(*part);
          continue;
        }
        Variable variable = declaration->variable;
        variable.is_const = false;
        declared.push_back(declare(variable, nullptr));
        first.push_back(
            source::assign(source::variable(variable.name, variable.scalar), declaration->value));
      }
      result.insert(result.end(), declared.begin(), declared.end());
      result.push_back(branch(choice->condition, std::move(first), {}, choice->line));
      result.push_back(
          branch(choice->condition, Block(middle, choice->body.end()), {}, choice->line));
      continue;
    }
    const bool is_compound =
        is<ForLoop>(stmt) || is<Scope>(stmt) || (choice != nullptr && choice->otherwise.empty());
    result.push_back(
        is_compound
            ? with_blocks(stmt, with_exchanges_split_off(body_of(*stmt), analysis, threads), {})
            : stmt);
  }
  return result;
}

}  // namespace

std::optional<Kernel> with_exchanges_as_trees(const KernelForm& form, const Dim3& block) {
  const bool is_row = block.y == 1 && block.z == 1 && block.x > 1 &&
                      block.x <= kMostLockstepThreads && (block.x & (block.x - 1)) == 0;
  if (!is_row || !form.analysis.uses_warp_intrinsics()) return std::nullopt;
  Kernel split = form.kernel;
  split.body = with_exchanges_split_off(split.body, form.analysis, block.x);
  const KernelForm parts(std::move(split));
  return ExchangeReplacer(parts, block.x).run();
}

}  // namespace regraph::rewrite

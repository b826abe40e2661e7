#include "rewrite/forms/element_registers.h"

#include "rewrite/forms/element_accesses.h"
#include "source/analysis.h"
#include "source/build.h"
#include "source/match.h"
#include "source/mutator.h"
#include "source/walk.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace regraph::rewrite {

namespace {

// The element in the range of statements that is kept.
struct Range {
  std::string buffer;
  ExprPtr index;
  std::size_t first = 0;
  std::size_t last = 0;
};

// Puts a register in the place of all elements of a buffer.
class Replacer final : public Mutator {
 public:
  Replacer(const std::string& buffer, const ExprPtr& value) : buffer_(buffer), value_(value) {}

 private:
  using Mutator::mutate;
  ExprPtr mutate(const ExprPtr& expr, const Subscript& access) override {
    return is_named(access.base, buffer_) ? value_ : Mutator::mutate(expr, access);
  }

  const std::string& buffer_;
  const ExprPtr& value_;
};

class Promoter {
 public:
  Promoter(const Kernel& kernel, const std::vector<std::string>& raced)
      : kernel_(kernel), analysis_(kernel), raced_(raced), taken_(used_names(kernel)) {}

  Block run(const Block& block) {
    Block result = block;
    // Buffers one after the other: each may be kept across several loops.
    for (const std::string& buffer : buffers_in_loops(block)) {
      while (const auto range = range_of(result, buffer)) {
        if (!keep(result, *range)) break;
      }
    }
    for (StmtPtr& stmt : result) {
      if (!body_of(*stmt).empty() || !otherwise_of(*stmt).empty())
        stmt = with_blocks(stmt, run(body_of(*stmt)), run(otherwise_of(*stmt)));
    }
    return result;
  }

 private:
  // Buffers with elements that fit a register, written in loops of the block.
  std::set<std::string> buffers_in_loops(const Block& block) const {
    std::set<std::string> found;
    for (const StmtPtr& stmt : block) {
      if (!is<ForLoop>(stmt) && !is<WhileLoop>(stmt)) continue;
      walk(body_of(*stmt), [&](const Stmt& inner) {
        const auto* target = as<Subscript>(target_of(inner));
        const auto* base = target != nullptr ? as<VariableReference>(target->base) : nullptr;
        const auto* parameter = base != nullptr ? kernel_.parameter(base->name) : nullptr;
        if (parameter != nullptr && parameter->is_pointer && parameter->scalar &&
            parameter->type.find("volatile") == std::string::npos &&
            std::find(raced_.begin(), raced_.end(), base->name) == raced_.end()) {
          found.insert(base->name);
        }
      });
    }
    return found;
  }

  // The first loop that updates one element, with the statements around it that access the same.
  std::optional<Range> range_of(const Block& block, const std::string& buffer) const {
    for (std::size_t position = 0; position < block.size(); ++position) {
      const StmtPtr& loop = block[position];
      if ((!is<ForLoop>(loop) && !is<WhileLoop>(loop)) || !accesses_of(loop, buffer).stores)
        continue;
      const ExprPtr index = common_index(loop, buffer);
      if (!index) continue;
      Range range{buffer, index, position, position};
      for (std::size_t at = position; at-- > 0 && may_join(block[at], range);) {
        if (!accesses_of(block[at], buffer).indices.empty()) range.first = at;
      }
      for (std::size_t at = position + 1; at < block.size() && may_join(block[at], range); ++at) {
        if (!accesses_of(block[at], buffer).indices.empty()) range.last = at;
      }
      return range;
    }
    return std::nullopt;
  }

  // The index of the one element of the buffer that the loop accesses, as it can be computed in
  // front of it; null where there is none.
  ExprPtr common_index(const StmtPtr& loop, const std::string& buffer) const {
    if (has_hazard(loop, analysis_)) return nullptr;
    const std::vector<ExprPtr> indices = accesses_of(loop, buffer).indices;
    const std::set<std::string> inside = declared_names({loop});
    const auto is_outside = [&](const ExprPtr& index) { return is_fixed(index, inside); };
    const auto outside = std::find_if(indices.begin(), indices.end(), is_outside);
    ExprPtr common;
    if (outside != indices.end()) {
      common = *outside;
    } else if (const auto polynomial = analysis_.polynomial(indices.front())) {
      common = to_expression(*polynomial);
      if (!is_fixed(common, inside)) return nullptr;
    } else {
      return nullptr;
    }
    const bool same = std::all_of(indices.begin(), indices.end(),
                                  [&](const ExprPtr& index) { return is_same(index, common); });
    return same ? common : nullptr;
  }

  bool is_same(const ExprPtr& index, const ExprPtr& other) const {
    if (equal(index, other)) return true;
    const auto left = analysis_.polynomial(index);
    const auto right = left ? analysis_.polynomial(other) : std::nullopt;
    return left && right && *left == *right;
  }

  // Whether the expression has one value wherever its names are known, and they are known outside
  // of what declares those `inside`.
  bool is_fixed(const ExprPtr& expr, const std::set<std::string>& inside) const {
    if (analysis_.reads_memory(expr)) return false;
    const std::set<std::string> names = variables_of(expr);
    return std::all_of(names.begin(), names.end(), [&](const std::string& name) {
      if (inside.contains(name)) return false;
      if (const auto* parameter = kernel_.parameter(name))
        return !parameter->is_pointer && !analysis_.is_written(name);
      return analysis_.is_single_definition(name);
    });
  }

  bool may_join(const StmtPtr& stmt, const Range& range) const {
    if (has_hazard(stmt, analysis_)) return false;
    const std::set<std::string> declared = declared_names({stmt});
    for (const std::string& name : variables_of(range.index)) {
      if (declared.contains(name)) return false;
    }
    const std::vector<ExprPtr> indices = accesses_of(stmt, range.buffer).indices;
    return std::all_of(indices.begin(), indices.end(),
                       [&](const ExprPtr& index) { return is_same(index, range.index); });
  }

  // The store to the range's element that the statement is; null for all others.
  const Assignment* store_of(const StmtPtr& stmt, const Range& range) const {
    const auto* assignment = as<Assignment>(stmt);
    const auto* target = assignment != nullptr ? as<Subscript>(assignment->target) : nullptr;
    return target != nullptr && is_named(target->base, range.buffer) ? assignment : nullptr;
  }

  // Conditions under which a store of the block is certainly executed, as they can be asked in
  // front of the range; nothing where there are none.
  std::optional<std::vector<ExprPtr>> conditions_of_store(
      const Block& block, const Range& range, const std::set<std::string>& inside) const {
    for (const StmtPtr& stmt : block) {
      if (store_of(stmt, range) != nullptr) return std::vector<ExprPtr>{};
      const bool jumps =
          any_statement(Block{stmt}, [&](const Stmt& inner) { return is<Jump>(inner); });
      const bool is_loop = is<ForLoop>(stmt) || is<WhileLoop>(stmt);
      if (jumps && !is_loop) return std::nullopt;
      if (jumps) continue;
      const auto counted = counted_loop_of(*stmt);
      if (!counted) continue;
      auto inner = conditions_of_store(body_of(*stmt), range, inside);
      if (!inner) continue;
      if (const auto trips = counted->trip_count()) {
        if (*trips < 1) continue;
        return inner;
      }
      if (!is_fixed(counted->first, inside) || !is_fixed(counted->limit, inside)) continue;
      inner->push_back(less(first_of(*counted), counted->limit));
      return inner;
    }
    return std::nullopt;
  }

  // In the counter's type, as the loop compares it.
  ExprPtr first_of(const CountedLoop& counted) const {
    const Variable* counter = analysis_.local(counted.name);
    return counter == nullptr || counted.first->type == counter->scalar
               ? counted.first
               : cast(counter->type, counted.first);
  }

  // Replaces the statements of the range; false where the element cannot be kept.
  bool keep(Block& block, const Range& range) {
    const Block inside(block.begin() + static_cast<std::ptrdiff_t>(range.first),
                       block.begin() + static_cast<std::ptrdiff_t>(range.last) + 1);
    auto conditions = conditions_of_store(inside, range, declared_names(inside));
    if (!conditions) return keep_under_guard(block, range);
    const ExprPtr condition = conjunction(*conditions);
    const ExprPtr element = element_of(range);
    const ExprPtr value = next_register(range);
    const Assignment* first = store_of(inside.front(), range);
    const bool starts =
        first != nullptr && first->op == AssignmentOperator::assign && !reads(first->value, range);
    const bool loads = std::any_of(inside.begin(), inside.end(), [&](const StmtPtr& stmt) {
      return accesses_of(stmt, range.buffer).loads;
    });
    ExprPtr initial = loads ? element : zero(range);
    if (starts) initial = first->value;
    if (!starts && loads && condition) initial = conditional(condition, element, zero(range));
    Block replaced = {declaration(range, value, initial, inside.front()->line)};
    for (std::size_t position = starts ? 1 : 0; position < inside.size(); ++position)
      replaced.push_back(Replacer(range.buffer, value).run(inside[position]));
    StmtPtr back = source::assign(element, value);
    if (condition) back = source::branch(condition, {std::move(back)});
    replaced.push_back(std::move(back));
    put(block, range, replaced);
    return true;
  }

  // if (g) y[i] = 0; for (k) { if (g) y[i] += a[k]; }
  bool keep_under_guard(Block& block, const Range& range) {
    const auto* start = as<Branch>(block[range.first]);
    if (start == nullptr || !start->otherwise.empty() || start->body.empty()) return false;
    const Assignment* store = store_of(start->body.back(), range);
    const bool is_start =
        store != nullptr && store->op == AssignmentOperator::assign && !reads(store->value, range);
    const Block before(start->body.begin(), start->body.end() - 1);
    const bool is_alone = std::all_of(before.begin(), before.end(), [&](const StmtPtr& stmt) {
      return accesses_of(stmt, range.buffer).indices.empty();
    });
    if (!is_start || !is_alone) return false;
    const Block inside(block.begin() + static_cast<std::ptrdiff_t>(range.first),
                       block.begin() + static_cast<std::ptrdiff_t>(range.last) + 1);
    const std::vector<ExprPtr> guards = conjuncts(start->condition);
    if (!is_fixed(start->condition, declared_names(inside))) return false;
    if (!is_guarded(Block(inside.begin() + 1, inside.end()), range, guards)) return false;
    const ExprPtr value = next_register(range);
    Block replaced = {declaration(range, value, zero(range), start->line)};
    for (const StmtPtr& stmt : inside)
      replaced.push_back(Replacer(range.buffer, value).run(stmt));
    replaced.push_back(
        source::branch(start->condition, {source::assign(element_of(range), value)}));
    put(block, range, replaced);
    return true;
  }

  // Whether all accesses to the buffer are in branches that ask for all of the guards.
  bool is_guarded(const Block& block, const Range& range, std::vector<ExprPtr> guards) const {
    return std::all_of(block.begin(), block.end(), [&](const StmtPtr& stmt) {
      if (accesses_of(stmt, range.buffer).indices.empty()) return true;
      if (const auto* loop = as<ForLoop>(stmt)) {
        const StmtPtr header = source::loop(loop->init, loop->condition, loop->step, {});
        return accesses_of(header, range.buffer).indices.empty() &&
               is_guarded(loop->body, range, guards);
      }
      const auto* branch = as<Branch>(stmt);
      if (branch == nullptr || !branch->otherwise.empty() || reads(branch->condition, range))
        return false;
      std::vector<ExprPtr> open = guards;
      for (const ExprPtr& term : conjuncts(branch->condition)) {
        std::erase_if(open, [&](const ExprPtr& guard) { return equal(guard, term); });
      }
      return open.empty() || is_guarded(branch->body, range, open);
    });
  }

  static bool reads(const ExprPtr& expr, const Range& range) {
    return variables_of(expr).contains(range.buffer);
  }

  static void put(Block& block, const Range& range, const Block& replaced) {
    const auto first = block.begin() + static_cast<std::ptrdiff_t>(range.first);
    const auto after = block.begin() + static_cast<std::ptrdiff_t>(range.last) + 1;
    block.insert(block.erase(first, after), replaced.begin(), replaced.end());
  }

  ExprPtr element_of(const Range& range) const {
    const auto& scalar = kernel_.parameter(range.buffer)->scalar;
    return with_type(source::element(variable(range.buffer, scalar), {range.index}), scalar);
  }

  ExprPtr zero(const Range& range) const {
    return zero_of(*kernel_.parameter(range.buffer)->scalar);
  }

  ExprPtr next_register(const Range& range) {
    const std::string stem = range.buffer + "_value";
    std::string name = stem;
    for (int number = 2; !taken_.insert(name).second; ++number)
      name = stem + "_" + std::to_string(number);
    return variable(name, kernel_.parameter(range.buffer)->scalar);
  }

  StmtPtr declaration(const Range& range, const ExprPtr& value, const ExprPtr& initial,
                      int line) const {
    const KernelParameter& parameter = *kernel_.parameter(range.buffer);
    auto result = std::make_shared<Declaration>(
        local_variable(to<VariableReference>(value).name, parameter.type, parameter.scalar),
        initial);
    result->line = line;
    return result;
  }

  const Kernel& kernel_;
  const Analysis analysis_;
  const std::vector<std::string>& raced_;
  std::set<std::string> taken_;
};

}  // namespace

Kernel with_elements_in_registers(const Kernel& kernel, const std::vector<std::string>& raced) {
  Kernel result = kernel;
  result.body = Promoter(kernel, raced).run(kernel.body);
  return result;
}

}  // namespace regraph::rewrite

#include "rewrite/forms/previous_elements.h"

#include "rewrite/forms/element_accesses.h"
#include "rewrite/forms/uses.h"
#include "source/analysis.h"
#include "source/build.h"
#include "source/match.h"
#include "source/walk.h"

#include <memory>
#include <optional>
#include <set>
#include <utility>

namespace regraph::rewrite {

namespace {

// A loop whose iterations hand on an element of a buffer.
struct Chain {
  std::string buffer;
  const ForLoop* loop = nullptr;
  CountedLoop counted;
  std::size_t store = 0;  // the statement of the loop's body that stores
  Polynomial here;        // where it does
  Polynomial before;      // where the iteration before did
  bool wide_index = false;
};

class Chainer {
 public:
  Chainer(const Kernel& kernel, const std::vector<std::string>& raced)
      : analysis_(kernel), registers_(kernel, raced) {}

  Block run(const Block& block) {
    Block result;
    for (const StmtPtr& stmt : block) {
      StmtPtr inner = stmt;
      if (!body_of(*stmt).empty() || !otherwise_of(*stmt).empty())
        inner = with_blocks(stmt, run(body_of(*stmt)), run(otherwise_of(*stmt)));
      const auto chain = chain_of(*stmt);
      if (!chain || inner != stmt || !hand_on(*chain, stmt, result)) result.push_back(inner);
    }
    return result;
  }

 private:
  std::optional<Chain> chain_of(const Stmt& stmt) const {
    const auto* loop = as<ForLoop>(stmt);
    const auto counted = counted_loop_of(stmt);
    if (loop == nullptr || !counted) return std::nullopt;
    for (std::size_t at = 0; at < loop->body.size(); ++at) {
      auto chain = chain_at(*loop, *counted, at);
      if (chain) return chain;
    }
    return std::nullopt;
  }

  // With the loop's statement `at` as the store.
  std::optional<Chain> chain_at(const ForLoop& loop, const CountedLoop& counted,
                                std::size_t at) const {
    const auto* store = as<Assignment>(loop.body[at]);
    const auto* target = store != nullptr ? as<Subscript>(store->target) : nullptr;
    const auto* base = target != nullptr ? as<VariableReference>(target->base) : nullptr;
    if (base == nullptr || !registers_.can_hold(base->name) || analysis_.is_viewed(base->name))
      return std::nullopt;
    const auto here = analysis_.polynomial(target->index);
    if (!here || !here->mentions(counted.name)) return std::nullopt;
    const std::set<std::string> inside = declared_names(loop.body);
    for (const std::string& symbol : here->symbols())
      if (inside.contains(symbol)) return std::nullopt;
    const Polynomial earlier = Polynomial::symbol(counted.name) - Polynomial(counted.stride);
    const bool is_wide =
        target->index->type && size_in_bytes(*target->index->type) == sizeof(std::int64_t);
    Chain chain{base->name, &loop, counted, at, *here, here->substitute(counted.name, earlier),
                is_wide};
    return is_chain(chain) ? std::optional(std::move(chain)) : std::nullopt;
  }

  bool is_at(const ExprPtr& index, const Polynomial& place) const {
    const auto polynomial = analysis_.polynomial(index);
    return polynomial && *polynomial == place;
  }

  // Whether all of the loop's accesses to the buffer are as they must be.
  bool is_chain(const Chain& chain) const {
    const StmtPtr loop = std::make_shared<ForLoop>(*chain.loop);
    if (holds_any(chain.loop->body, {StmtKind::jump}) || has_hazard(loop, analysis_)) return false;
    const ForLoop header(chain.loop->init, chain.loop->condition, chain.loop->step, {});
    if (!accesses_of(std::make_shared<ForLoop>(header), chain.buffer).indices.empty()) return false;
    bool hands_on = false;
    for (std::size_t at = 0; at < chain.loop->body.size(); ++at) {
      const StmtPtr& stmt = chain.loop->body[at];
      const ElementAccesses accesses = accesses_of(stmt, chain.buffer);
      if (accesses.stores && at != chain.store) return false;
      for (const ExprPtr& index : accesses.indices) {
        const bool is_previous = is_at(index, chain.before);
        // Behind the store the register holds the new element.
        if (is_previous ? at > chain.store : !is_at(index, chain.here)) return false;
        hands_on = hands_on || is_previous;
      }
    }
    return hands_on;
  }

  // Appends what stands in the loop's place; `out` has what stands before it.
  bool hand_on(const Chain& chain, const StmtPtr& stmt, Block& out) {
    const ExprPtr value = registers_.next(chain.buffer);
    if (!take_over(chain, value, out)) {
      const ExprPtr initial = first_read(chain);
      if (!initial) return false;
      out.push_back(registers_.declaration(chain.buffer, value, initial, stmt->line));
    }
    auto loop = std::make_shared<ForLoop>(*chain.loop);
    loop->body.clear();
    const ExprRewrite previous = with_register(
        chain.buffer, value, [&](const ExprPtr& index) { return is_at(index, chain.before); });
    const ExprRewrite all = with_register(chain.buffer, value, [](const ExprPtr&) { return true; });
    for (std::size_t at = 0; at < chain.loop->body.size(); ++at) {
      const StmtPtr& inner = chain.loop->body[at];
      if (at != chain.store) {
        const Block one = rewrite_expressions({inner}, at < chain.store ? previous : all);
        loop->body.push_back(one.front());
      } else {
        const auto& store = to<Assignment>(*inner);
        ExprPtr stored = rewrite_expr(store.value, previous);
        if (const auto operation = operation_of(store.op))
          stored = source::binary(*operation, store.target, std::move(stored));
        auto update = std::make_shared<Assignment>(value, AssignmentOperator::assign, stored);
        update->line = inner->line;
        loop->body.push_back(update);
        loop->body.push_back(source::assign(store.target, value));
      }
    }
    out.push_back(std::move(loop));
    return true;
  }

  // Takes the first value over from the store to the element before the first iteration's, where
  // there is one in front of the loop.
  bool take_over(const Chain& chain, const ExprPtr& value, Block& out) {
    const Polynomial place = place_before(chain);
    for (std::size_t at = out.size(); at-- > 0;) {
      const StmtPtr& stmt = out[at];
      const auto* store = as<Assignment>(stmt);
      const auto* target = store != nullptr ? as<Subscript>(store->target) : nullptr;
      if (target != nullptr && is_named(target->base, chain.buffer) &&
          store->op == AssignmentOperator::assign && is_at(target->index, place)) {
        const StmtPtr declared =
            registers_.declaration(chain.buffer, value, store->value, stmt->line);
        const StmtPtr stored = source::assign(store->target, value);
        out[at] = stored;
        out.insert(out.begin() + static_cast<std::ptrdiff_t>(at), declared);
        return true;
      }
      if (has_hazard(stmt, analysis_) || accesses_of(stmt, chain.buffer).stores) return false;
    }
    return false;
  }

  Polynomial place_before(const Chain& chain) const {
    const auto first = analysis_.polynomial(chain.counted.first);
    if (!first) return Polynomial::symbol("#unknown");
    return chain.before.substitute(chain.counted.name, *first);
  }

  // The element before the first iteration's, read where that iteration would; null where it might
  // not.
  ExprPtr first_read(const Chain& chain) const {
    const auto first = analysis_.polynomial(chain.counted.first);
    if (!first || !reads_always(chain)) return nullptr;
    ExprPtr element =
        registers_.element(chain.buffer, to_expression(place_before(chain), chain.wide_index));
    if (const auto trips = chain.counted.trip_count(); trips && *trips > 0) return element;
    return conditional(is_entered(chain.counted, chain.loop->declaration()->variable), element,
                       registers_.zero(chain.buffer));
  }

  // Whether an iteration reads the element before its own under no condition.
  bool reads_always(const Chain& chain) const {
    for (std::size_t at = 0; at <= chain.store; ++at) {
      if (reads(value_of(*chain.loop->body[at]), chain) && body_of(*chain.loop->body[at]).empty()) {
        return true;
      }
    }
    return false;
  }

  bool reads(const ExprPtr& expr, const Chain& chain) const {
    if (!expr) return false;
    if (const auto* choice = as<Conditional>(expr)) return reads(choice->condition, chain);
    if (const auto* binary = as<Binary>(expr);
        binary != nullptr &&
        (binary->op == BinaryOperator::logical_and || binary->op == BinaryOperator::logical_or)) {
      return reads(binary->left, chain);
    }
    if (const auto* access = as<Subscript>(expr); access != nullptr &&
                                                  is_named(access->base, chain.buffer) &&
                                                  is_at(access->index, chain.before)) {
      return true;
    }
    bool found = false;
    for_each_operand(*expr,
                     [&](const ExprPtr& operand) { found = found || reads(operand, chain); });
    return found;
  }

  const Analysis analysis_;
  BufferRegisters registers_;
};

}  // namespace

Kernel with_previous_in_registers(const Kernel& kernel, const std::vector<std::string>& raced) {
  Kernel result = kernel;
  result.body = Chainer(kernel, raced).run(kernel.body);
  return result;
}

}  // namespace regraph::rewrite

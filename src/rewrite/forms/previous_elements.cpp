#include "rewrite/forms/previous_elements.h"

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

// Puts a register in the place of a buffer's elements with certain indices.
template <typename IsMeant>
class ElementReplacer final : public Mutator {
 public:
  ElementReplacer(const std::string& buffer, const ExprPtr& value, const IsMeant& is_meant)
      : buffer_(buffer), value_(value), is_meant_(is_meant) {}

 private:
  using Mutator::mutate;
  ExprPtr mutate(const ExprPtr& expr, const Subscript& access) override {
    if (is_named(access.base, buffer_) && is_meant_(access.index)) return value_;
    return Mutator::mutate(expr, access);
  }

  const std::string& buffer_;
  const ExprPtr& value_;
  const IsMeant& is_meant_;
};

class Chainer {
 public:
  Chainer(const Kernel& kernel, const std::vector<std::string>& raced)
      : kernel_(kernel), analysis_(kernel), raced_(raced), taken_(used_names(kernel)) {}

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
    if (base == nullptr || !fits_register(base->name)) return std::nullopt;
    const auto here = analysis_.polynomial(target->index);
    if (!here || !here->mentions(counted.name)) return std::nullopt;
    const std::set<std::string> inside = declared_names(loop.body);
    for (const std::string& symbol : here->symbols()) {
      if (inside.contains(symbol)) return std::nullopt;
    }
    const Polynomial earlier = Polynomial::symbol(counted.name) - Polynomial(counted.stride);
    const bool is_wide =
        target->index->type && size_in_bytes(*target->index->type) == sizeof(std::int64_t);
    Chain chain{base->name, &loop, counted, at, *here, here->substitute(counted.name, earlier),
                is_wide};
    return is_chain(chain) ? std::optional(std::move(chain)) : std::nullopt;
  }

  bool fits_register(const std::string& buffer) const {
    const auto* parameter = kernel_.parameter(buffer);
    return parameter != nullptr && parameter->is_pointer && parameter->scalar &&
           !analysis_.is_viewed(buffer) && parameter->type.find("volatile") == std::string::npos &&
           std::find(raced_.begin(), raced_.end(), buffer) == raced_.end();
  }

  bool is_at(const ExprPtr& index, const Polynomial& place) const {
    const auto polynomial = analysis_.polynomial(index);
    return polynomial && *polynomial == place;
  }

  // Whether all of the loop's accesses to the buffer are as they must be.
  bool is_chain(const Chain& chain) const {
    const StmtPtr loop = std::make_shared<ForLoop>(*chain.loop);
    const bool jumps =
        any_statement(chain.loop->body, [&](const Stmt& stmt) { return is<Jump>(stmt); });
    if (jumps || has_hazard(loop, analysis_)) return false;
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
    const ExprPtr value = next_register(chain.buffer);
    const auto& name = to<VariableReference>(value).name;
    if (!take_over(chain, value, out)) {
      const ExprPtr initial = first_read(chain);
      if (!initial) return false;
      out.push_back(declaration(chain, name, initial, stmt->line));
    }
    auto loop = std::make_shared<ForLoop>(*chain.loop);
    loop->body.clear();
    const auto is_previous = [&](const ExprPtr& index) { return is_at(index, chain.before); };
    const auto is_any = [](const ExprPtr&) { return true; };
    for (std::size_t at = 0; at < chain.loop->body.size(); ++at) {
      const StmtPtr& inner = chain.loop->body[at];
      if (at < chain.store) {
        loop->body.push_back(ElementReplacer(chain.buffer, value, is_previous).run(inner));
      } else if (at > chain.store) {
        loop->body.push_back(ElementReplacer(chain.buffer, value, is_any).run(inner));
      } else {
        const auto& store = to<Assignment>(*inner);
        ExprPtr stored = ElementReplacer(chain.buffer, value, is_previous).run(store.value);
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
            declaration(chain, to<VariableReference>(value).name, store->value, stmt->line);
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
    const auto& scalar = kernel_.parameter(chain.buffer)->scalar;
    ExprPtr element =
        with_type(source::element(variable(chain.buffer, scalar),
                                  {to_expression(place_before(chain), chain.wide_index)}),
                  scalar);
    if (const auto trips = chain.counted.trip_count(); trips && *trips > 0) return element;
    const Variable& counter = chain.loop->declaration()->variable;
    const ExprPtr start = chain.counted.first->type == counter.scalar
                              ? chain.counted.first
                              : cast(counter.type, chain.counted.first);
    return conditional(less(start, chain.counted.limit), element, zero_of(*scalar));
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

  StmtPtr declaration(const Chain& chain, const std::string& name, const ExprPtr& initial,
                      int line) const {
    const KernelParameter& parameter = *kernel_.parameter(chain.buffer);
    auto result = std::make_shared<Declaration>(
        local_variable(name, parameter.type, parameter.scalar), initial);
    result->line = line;
    return result;
  }

  ExprPtr next_register(const std::string& buffer) {
    const std::string stem = buffer + "_value";
    std::string name = stem;
    for (int number = 2; !taken_.insert(name).second; ++number)
      name = stem + "_" + std::to_string(number);
    return variable(name, kernel_.parameter(buffer)->scalar);
  }

  const Kernel& kernel_;
  const Analysis analysis_;
  const std::vector<std::string>& raced_;
  std::set<std::string> taken_;
};

}  // namespace

Kernel with_previous_in_registers(const Kernel& kernel, const std::vector<std::string>& raced) {
  Kernel result = kernel;
  result.body = Chainer(kernel, raced).run(kernel.body);
  return result;
}

}  // namespace regraph::rewrite

// online_fusion: a loop that finds the largest value and one that adds up what is weighted by
// exp(value - largest) become one, which scales its sums down when the largest value grows.
//
//   for (t) m = fmaxf(m, x[t]);  for (t) { w = expf(x[t] - m); s += w; }
// becomes
//   for (t) {
//     if (x[t] > m) s *= expf(m - x[t]);
//     m = fmaxf(m, x[t]); w = expf(x[t] - m); s += w;
//   }
//
// Legal where both loops compute the same values in the same order, the sums start from zero and
// are linear in the weights, and nothing else of the second loop follows the largest value
// (online_loops.h, weighted_sums.h). While all values are minus infinity, weights are zero; if they
// still are at the end, the sums are no numbers, as in the original. The largest value is the
// original's, bit for bit; sums are rounded differently.
#include "rewrite/analysis/online_loops.h"
#include "rewrite/forms/ir.h"
#include "rewrite/forms/names.h"
#include "rewrite/steps/step_rewriter.h"
#include "source/analysis.h"
#include "source/build.h"
#include "source/match.h"
#include "source/walk.h"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

namespace regraph::rewrite {
namespace {

// Names for what another variable holds, as that variable: inlined functions leave such.
//
//   const float value = peak; const float result = value; ... expf(x - result)  ->  expf(x - peak)

class CopyForwarder {
 public:
  explicit CopyForwarder(const Kernel& kernel) : kernel_(kernel), analysis_(kernel) {
    note_changes();
    find_copies();
  }

  Kernel run() const {
    Kernel result = kernel_;
    if (originals_.empty()) return result;
    result.body =
        rewrite_statements(kernel_.body, [&](const StmtPtr& stmt) -> std::optional<Block> {
          const auto* declaration = as<Declaration>(stmt);
          const bool drops =
              declaration != nullptr && originals_.contains(declaration->variable.name);
          return drops ? std::optional(Block{}) : std::nullopt;
        });
    result.body =
        rewrite_expressions(result.body, [&](const ExprPtr& expr) -> std::optional<ExprPtr> {
          const auto* variable = as<VariableReference>(expr);
          if (variable == nullptr || !originals_.contains(variable->name)) return std::nullopt;
          return original_of(expr);
        });
    return result;
  }

 private:
  void note_changes() {
    int position = 0;
    walk(kernel_.body, [&](const Stmt& stmt) {
      ++position;
      if (const auto* declaration = as<Declaration>(stmt))
        ++declarations_[declaration->variable.name];
      const ExprPtr& target = target_of(stmt);
      const auto* changed = target ? place_variable(*target) : nullptr;
      if (changed != nullptr) last_change_[changed->name] = position;
      // What a loop's header changes, it changes behind its body as well.
      for_each_header(stmt, [&](const StmtPtr& part) {
        const ExprPtr& counter = target_of(*part);
        const auto* counted = counter ? place_variable(*counter) : nullptr;
        if (counted != nullptr) keeps_changing_.insert(counted->name);
      });
    });
    walk_expressions(kernel_.body, [&](const Expr& node) {
      for_each_passed_place(node, [&](const Expr& place) {
        const auto* passed = place_variable(place);
        if (passed != nullptr) keeps_changing_.insert(passed->name);
      });
    });
  }

  // Inside of a loop, too, it is the order of the text that counts: a copy that is declared there
  // is made anew in each iteration.
  void find_copies() {
    int position = 0;
    walk(kernel_.body, [&](const Stmt& stmt) {
      ++position;
      const auto* declaration = as<Declaration>(stmt);
      const auto* original =
          declaration != nullptr ? as<VariableReference>(declaration->value) : nullptr;
      if (original == nullptr || !analysis_.is_single_definition(declaration->variable.name) ||
          analysis_.loop(declaration->variable.name) != nullptr)
        return;
      const Variable* variable = analysis_.local(original->name);
      const bool is_alike = variable != nullptr && variable->scalar && !variable->is_pointer &&
                            variable->extents.empty() && variable->storage == Storage::automatic &&
                            variable->scalar == declaration->variable.scalar &&
                            declaration->variable.storage == Storage::automatic &&
                            analysis_.loop(original->name) == nullptr;
      const auto last = last_change_.find(original->name);
      const bool changes = keeps_changing_.contains(original->name) ||
                           (last != last_change_.end() && last->second > position);
      if (is_alike && !changes && declarations_.at(original->name) == 1)
        originals_.emplace(declaration->variable.name, declaration->value);
    });
  }

  ExprPtr original_of(ExprPtr copy) const {
    for (const auto* variable = as<VariableReference>(copy); variable != nullptr;
         variable = as<VariableReference>(copy)) {
      const auto found = originals_.find(variable->name);
      if (found == originals_.end()) break;
      copy = found->second;
    }
    return copy;
  }

  const Kernel& kernel_;
  const Analysis analysis_;
  std::map<std::string, int> declarations_;   // how many
  std::map<std::string, int> last_change_;    // in the order of the text
  std::set<std::string> keeps_changing_;      // headers of loops, and what is given away
  std::map<std::string, ExprPtr> originals_;  // by copy
};

// The kernel without variables that are given another one's value and nothing else, where that does
// not change any more.
Kernel with_forwarded_copies(const Kernel& kernel) {
  return CopyForwarder(kernel).run();
}

// Two loops in one that carries the largest value so far.

class OnlineWriter {
 public:
  OnlineWriter(const KernelForm& form, const OnlineLoops& loops)
      : kernel_(form.kernel),
        analysis_(form.analysis),
        loops_(loops),
        names_(form.kernel),
        maximum_(source::variable(loops.maximum.variable, loops.maximum.scalar)) {}

  Block run() {
    return rewrite_statements(kernel_.body, [&](const StmtPtr& stmt) -> std::optional<Block> {
      if (stmt == loops_.maximum_loop) return Block{};
      if (stmt != loops_.sum_loop) return std::nullopt;
      Block result = {with_blocks(stmt, body(), {})};
      if (loops_.may_be_infinite) result.push_back(spoil());
      return result;
    });
  }

 private:
  Block body() {
    const auto position = static_cast<std::ptrdiff_t>(loops_.position);
    Block result(loops_.body.begin(), loops_.body.begin() + position);
    ExprPtr value = loops_.value;
    // A name that changes before would not say what the sums are scaled to (online_updates.h).
    const auto* name = as<VariableReference>(value);
    if (name == nullptr || !analysis_.is_single_definition(name->name)) {
      value = declared(loops_.maximum.variable + "_candidate", value, result);
    }
    Block grow;
    const ExprPtr scale = declared(loops_.maximum.variable + "_scale",
                                   call(loops_.exponential, {subtract(maximum_, value)}), grow);
    for_each_element(
        [&](const ExprPtr& element) {
          return assign(element, AssignmentOperator::multiply, scale);
        },
        grow);
    result.push_back(branch(binary(BinaryOperator::greater, value, maximum_), grow));
    result.push_back(loops_.maximum.combine(maximum_, value));
    ExprPtr reference = maximum_;
    if (loops_.may_be_infinite) {
      // exp(-inf - -inf) is no number; while there are no other values, weights are exp(-inf) = 0.
      const ExprPtr zero = zero_of(loops_.maximum.scalar);
      reference = declared(loops_.maximum.variable + "_finite",
                           conditional(is_infinite(), zero, maximum_), result);
    }
    const Block rest(loops_.body.begin() + position, loops_.body.end());
    const Block weighted =
        rewrite_expressions(rest, [&](const ExprPtr& expr) -> std::optional<ExprPtr> {
          if (!is_weight(expr, loops_.maximum.variable)) return std::nullopt;
          return with_type(call(loops_.exponential, {subtract(value, reference)}), expr->type);
        });
    result.insert(result.end(), weighted.begin(), weighted.end());
    return result;
  }

  ExprPtr is_infinite() const {
    return equals(maximum_, unary(UnaryOperator::minus, std::make_shared<FloatingLiteral>(
                                                            "INFINITY", loops_.maximum.scalar)));
  }

  ExprPtr declared(const std::string& stem, const ExprPtr& value, Block& out) {
    const std::string name = names_.fresh(stem);
    Variable variable = local_variable(name, loops_.maximum.type, loops_.maximum.scalar);
    variable.is_const = true;
    out.push_back(declare(variable, value));
    return source::variable(name, loops_.maximum.scalar);
  }

  // Sums of exp(-inf - -inf) are no numbers, if there was anything to add up.
  StmtPtr spoil() {
    Block spoilt;
    for_each_element(
        [&](const ExprPtr& element) { return assign(element, subtract(maximum_, maximum_)); },
        spoilt);
    ExprPtr condition = is_infinite();
    if (loops_.runs) condition = both(loops_.runs, condition);
    return branch(condition, spoilt);
  }

  void for_each_element(const std::function<StmtPtr(const ExprPtr&)>& act, Block& out) {
    for (const Variable& sum : loops_.accumulators) {
      std::vector<std::string> counters;
      std::vector<ExprPtr> indices;
      for (std::size_t axis = 0; axis < sum.extents.size(); ++axis) {
        counters.push_back(counter(axis));
        indices.push_back(source::variable(counters.back()));
      }
      const ExprPtr whole = source::variable(sum.name, sum.scalar);
      StmtPtr stmt =
          act(indices.empty() ? whole : with_type(source::element(whole, indices), sum.scalar));
      for (std::size_t axis = sum.extents.size(); axis-- > 0;) {
        stmt = counted_loop(counters[axis], integer(0), integer(sum.extents[axis]), 1, {stmt},
                            kUnrollFully);
      }
      out.push_back(stmt);
    }
  }

  // One name an axis: loops apart may share it.
  const std::string& counter(std::size_t axis) {
    while (counters_.size() <= axis)
      counters_.push_back(names_.fresh("element"));
    return counters_[axis];
  }

  const Kernel& kernel_;
  const Analysis& analysis_;
  const OnlineLoops& loops_;
  Names names_;
  std::vector<std::string> counters_;
  ExprPtr maximum_;
};

// The kernel's body with the loops as one, in the place of the second. Sums are scaled down when
// the maximum grows.
Block with_online_loop(const KernelForm& form, const OnlineLoops& loops) {
  return OnlineWriter(form, loops).run();
}

struct OnlinePlace {
  std::shared_ptr<const KernelForm> form;  // that the loops are of
  OnlineLoops loops;
};

class OnlineFusion final : public PlacedStep<OnlinePlace> {
 public:
  std::string_view id() const override { return "online_fusion"; }
  std::vector<StepParameters> settings() const override { return {{{"form", "online"}}}; }

 protected:
  Requirements requirements() const override { return {.one_launch = false}; }
  Result<OnlinePlace> find(const KernelAnalysis& kernel,
                           const StepParameters& parameters) const override {
    auto form = text_parameter(parameters, "form");
    if (!form) return form.error();
    if (*form != "online") return fail(ErrorCode::invalid_argument, "'form' must be online");
    // The largest value may have passed through functions.
    auto plain = std::make_shared<const KernelForm>(with_forwarded_copies(kernel.direct()->kernel));
    auto loops = online_loops(plain->kernel, plain->analysis);
    if (!loops) return loops.error();
    if (!kernel.problem().assume.reassociate) {
      return refuse(
          "the problem does not grant 'assume: {reassociate: true}', and sums would be rounded "
          "differently");
    }
    return OnlinePlace{std::move(plain), std::move(*loops)};
  }

  KernelState rewrite(const KernelAnalysis& kernel, const OnlinePlace& place) const override {
    KernelState result = kernel.state();
    result.unit.kernel = place.form->kernel;
    result.unit.kernel.body = with_online_loop(*place.form, place.loops);
    rely_on(result, kReordersSums);
    return result;
  }
};

}  // namespace

std::unique_ptr<StepRewriter> make_online_fusion() {
  return std::make_unique<OnlineFusion>();
}

}  // namespace regraph::rewrite

#include "rewrite/transform/loop_to_threads.h"

#include "affine/constraints.h"
#include "affine/global_index.h"
#include "affine/index_range.h"
#include "affine/size_expression.h"
#include "rewrite/forms/names.h"
#include "rewrite/transform/unused_integers.h"
#include "source/build.h"
#include "source/mutator.h"
#include "source/walk.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace regraph::rewrite {

namespace {

ExprPtr index_in_code(const std::string& axis) {
  return source::cast("int", global_index_code(axis));
}

int declarations_of(const std::string& name, const Block& block) {
  int count = 0;
  walk(block, [&](const Stmt& stmt) {
    const auto* declaration = as<Declaration>(stmt);
    count += declaration != nullptr && declaration->variable.name == name ? 1 : 0;
  });
  return count;
}

// One iteration: what the loop's body is once its counter is declared to be a value.
struct Iteration {
  StmtPtr counter;
  ExprPtr condition;
  Block body;
};

// The iteration with this number.
Iteration iteration_of(const Kernel& kernel, const ParallelLoop& loop, const ExprPtr& number,
                       Names& names) {
  Variable variable = loop.loop->declaration()->variable;
  Iteration result{nullptr, loop.loop->condition, loop.loop->body};
  // A name has one meaning in a kernel.
  if (declarations_of(variable.name, kernel.body) > 1) {
    const std::string old = variable.name;
    variable.name = names.fresh(old);
    const auto renamed = replace_variable(old, source::variable(variable.name, variable.scalar));
    result.condition = rewrite_expr(result.condition, renamed);
    result.body = rewrite_expressions(result.body, renamed);
  }
  variable.is_const = true;
  result.counter =
      declare(variable, add(loop.counted.first, multiply(number, integer(loop.counted.stride))));
  return result;
}

Block with_loop_replaced(const Block& body, const ParallelLoop& loop, const Block& by) {
  return rewrite_statements(body, [&](const StmtPtr& stmt) -> std::optional<Block> {
    return stmt.get() == loop.loop ? std::optional(by) : std::nullopt;
  });
}

// Exchanges letters of axes, all at once.
class AxisRenamer final : public Mutator {
 public:
  explicit AxisRenamer(std::map<char, char> letters) : letters_(std::move(letters)) {}

 private:
  ExprPtr mutate(const ExprPtr& expr, const Builtin& builtin) override {
    const auto found = letters_.find(builtin.name.back());
    if (found == letters_.end()) return expr;
    return source::builtin(builtin.name.substr(0, builtin.name.size() - 1) + found->second);
  }

  const std::map<char, char> letters_;
};

// No axis: stands for one until what has its name has another.
constexpr const char* kNewAxis = "w";

// Puts the new index in place of the old one.
class IndexFolder {
 public:
  IndexFolder(const KernelForm& form, const ParallelLoop& loop, const Problem& problem)
      : form_(form),
        loop_(loop),
        problem_(problem),
        names_(form.kernel),
        iterations_(*iterations_in_kernel(loop)) {
    thread_ = names_.fresh("thread");
  }

  Block run() {
    const ExprPtr count = to_expression(iterations_);
    old_index_ = source::divide(thread(), count);
    Iteration iteration =
        iteration_of(form_.kernel, loop_, source::remainder(thread(), count), names_);
    Block one = {iteration.counter};
    if (is_alone(iteration.body)) {
      one.insert(one.end(), iteration.body.begin(), iteration.body.end());
    } else {
      one.push_back(scope(std::move(iteration.body)));
    }
    Block body = with_loop_replaced(form_.kernel.body, loop_, one);
    body = rewrite_expressions(body, [&](const ExprPtr& expr) { return with_new_index(expr); });
    Kernel folded = form_.kernel;
    folded.body = {declare_integer(thread_, index_in_code("x"))};
    for (const StmtPtr& stmt : body)
      folded.body.push_back(stmt);
    folded.body = with_signed_values(folded.body);
    folded.body = with_plain_indices(folded);
    // Nobody may ask for the old index any more, or for the counter.
    return without_unused_integers(folded.body);
  }

 private:
  ExprPtr thread() const { return source::variable(thread_); }

  // Whether nothing outside of the loop has the name of something in it.
  bool is_alone(const Block& body) const {
    const std::set<std::string> names = declared_names(body);
    return std::all_of(names.begin(), names.end(), [&](const std::string& name) {
      return declarations_of(name, form_.kernel.body) == declarations_of(name, loop_.loop->body);
    });
  }

  std::optional<ExprPtr> with_new_index(const ExprPtr& expr) const {
    const auto limit = limit_of_index(expr, form_);
    if (limit && fits_32_bits(*limit * iterations_, problem_))
      return less(thread(), to_expression(*limit * iterations_));
    return with_index(expr, "x", global_index("x"), old_index_, form_.analysis);
  }

  // `int m = (unsigned int)(thread / n)` without the cast.
  static Block with_signed_values(const Block& body) {
    return rewrite_statements(body, [](const StmtPtr& stmt) -> std::optional<Block> {
      const auto* declaration = as<Declaration>(stmt);
      if (declaration == nullptr || declaration->variable.scalar != ScalarType::i32)
        return std::nullopt;
      ExprPtr value = declaration->value;
      while (const auto* cast = as<Cast>(value)) {
        const bool keeps_bits = cast->type && !is_floating(*cast->type) &&
                                size_in_bytes(*cast->type) >= size_in_bytes(ScalarType::i32);
        if (!keeps_bits) return std::nullopt;
        value = cast->operand;
      }
      if (value == declaration->value || value->type != ScalarType::i32) return std::nullopt;
      return Block{declare(declaration->variable, value)};
    });
  }

  // What the parts of the new index make together is the new index:
  // (thread / n) * n + thread % n is thread.
  Block with_plain_indices(const Kernel& kernel) const {
    const Analysis analysis(kernel);
    return rewrite_expressions(kernel.body, [&](const ExprPtr& expr) -> std::optional<ExprPtr> {
      // As an index, a number is the same in every type.
      if (const auto* access = as<Subscript>(expr)) {
        const ExprPtr index = plain_value(access->index, analysis);
        if (!index || !is<VariableReference>(access->base)) return std::nullopt;
        return with_type(element(access->base, {index}), expr->type);
      }
      const ExprPtr plain = plain_value(expr, analysis);
      const ScalarType type = expr->type.value_or(ScalarType::i32);
      if (!plain || type == ScalarType::i32) return plain ? std::optional(plain) : std::nullopt;
      return with_type(source::cast(std::string(cuda_name(type)), plain), type);
    });
  }

  // Null for other values than sums and products that follow the new index as a polynomial, and
  // for those that say so already.
  ExprPtr plain_value(const ExprPtr& value, const Analysis& analysis) const {
    if (!is<Binary>(value)) return nullptr;
    const auto polynomial = analysis.polynomial(value);
    if (!polynomial || !holds_division(value, analysis)) return nullptr;
    const auto pitch = polynomial ? polynomial->coefficient("threadIdx.x") : std::nullopt;
    if (!pitch) return nullptr;
    const Polynomial rest = *polynomial - *pitch * global_index("x");
    for (const char* builtin : {"threadIdx.x", "blockIdx.x", "blockDim.x"}) {
      if (rest.mentions(builtin)) return nullptr;
    }
    const Polynomial plain = *pitch * Polynomial::symbol(thread_) + rest;
    const bool wide = value->type && size_in_bytes(*value->type) > size_in_bytes(ScalarType::i32);
    return to_expression(plain, wide && !(plain == Polynomial::symbol(thread_)));
  }

  const KernelForm& form_;
  const ParallelLoop& loop_;
  const Problem& problem_;
  Names names_;
  const Polynomial iterations_;
  std::string thread_;
  ExprPtr old_index_;
};

}  // namespace

std::optional<Polynomial> iterations_in_kernel(const ParallelLoop& loop) {
  if (const auto trips = loop.counted.trip_count()) return Polynomial(*trips);
  if (loop.counted.stride != 1 || loop.span.terms().size() != 1) return std::nullopt;
  return loop.span.terms().begin()->second > 0 ? std::optional(loop.span) : std::nullopt;
}

std::optional<Polynomial> limit_of_index(const ExprPtr& guard, const KernelForm& form) {
  const auto slack = slack_of(guard, form.analysis);
  if (!slack) return std::nullopt;
  const Polynomial limit = *slack + global_index("x") + Polynomial(1);
  for (const std::string& name : limit.symbols()) {
    const KernelParameter* parameter = form.kernel.parameter(name);
    if (parameter == nullptr || parameter->is_pointer) return std::nullopt;
  }
  // As an unsigned number, a negative limit lets all indices pass; a number of things is none.
  const bool is_size = limit.terms().size() == 1 && limit.terms().begin()->second > 0;
  return is_size || !compares_unsigned(guard) ? std::optional(limit) : std::nullopt;
}

Block loop_on_axis(const KernelForm& form, const ParallelLoop& loop, const std::string& axis,
                   const std::string& moved) {
  Names names(form.kernel);
  Iteration iteration =
      iteration_of(form.kernel, loop, index_in_code(moved.empty() ? axis : kNewAxis), names);
  const Block by = {iteration.counter, branch(iteration.condition, std::move(iteration.body))};
  Block body = with_loop_replaced(form.kernel.body, loop, by);
  if (moved.empty()) return body;
  return AxisRenamer({{axis[0], moved[0]}, {kNewAxis[0], axis[0]}}).run(body);
}

Block loop_in_index(const KernelForm& form, const ParallelLoop& loop, const Problem& problem) {
  return IndexFolder(form, loop, problem).run();
}

}  // namespace regraph::rewrite

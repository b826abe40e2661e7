// vectorize_window: a thread takes W neighbouring elements along x and moves them, and what it
// reads around them, with wide accesses.
//
//   out[x] = in[x - 1] + in[x + 1]      guarded at the ends of rows
// becomes
//   if (width % 4 == 0) {
//     if (the thread's neighbourhoods lie inside) {
//       here = wide load of in[4 * x];
//       result.x = in[4 * x - 1] + here.y;  result.y = here.x + here.z;  ...
//       wide store of result to out[4 * x];
//     } else { the thread's elements one by one, guarded }
//   } else { as many elements a thread, a block extent apart, one by one }
//
// It is made of thread_coarsen with order=contiguous, loops of constant length written out, guards
// dropped where a condition of the thread implies them, and of vectors in each block of the code:
// what is accessed whenever the block is run is put together, where distances are known and a
// vector's first element is at a multiple of its size. Sizes that have to be divisible for that are
// asked when the kernel runs. Where they are not, the code is that of thread_coarsen with its usual
// order, which keeps neighbouring threads at neighbouring elements.
//
// Legal where these steps are and buffers do not overlap: an array that is not written is loaded
// earlier; one that is written only where nothing else in the block sees when
// (neighbour_vectors.h). Vectors lie inside their buffers, because all of their elements are
// accessed anyway or because the buffer is made of whole vectors. Alignment is what
// 'assume: {align}' grants.
#include "rewrite/analysis/interior.h"
#include "rewrite/analysis/loop_choice.h"
#include "rewrite/forms/ir.h"
#include "rewrite/forms/names.h"
#include "rewrite/steps/macro_step.h"
#include "rewrite/transform/guard_removal.h"
#include "rewrite/transform/inside_first.h"
#include "rewrite/transform/neighbour_vectors.h"
#include "rewrite/transform/vector_code.h"
#include "source/build.h"
#include "source/counted_loop.h"
#include "source/match.h"
#include "source/walk.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

namespace regraph::rewrite {
namespace {

// Full unrolling: loops of constant length as copies of their bodies, one after the other.

constexpr std::int64_t kLongestWrittenOut = 64;

std::int64_t statements_in(const Block& block) {
  std::int64_t count = 0;
  walk(block, [&](const Stmt&) { ++count; });
  return count;
}

bool leaves_early(const Block& block) {
  return any_statement(block, [&](const Stmt& stmt) { return is<Jump>(stmt) || is<Return>(stmt); });
}

bool is_wide_integer(const ExprPtr& expr) {
  return expr->type && !is_floating(*expr->type) &&
         size_in_bytes(*expr->type) >= sizeof(std::int32_t);
}

// Puts a number in the place of a counter, and folds what that makes of integers.
ExprPtr with_number(const ExprPtr& expr, const std::string& counter, const ExprPtr& number) {
  return rewrite_expr(expr, [&](const ExprPtr& node) -> std::optional<ExprPtr> {
    if (is_named(*node, counter)) return number;
    const auto* binary = as<Binary>(node);
    if (binary == nullptr || !variables_of(node).contains(counter)) return std::nullopt;
    const ExprPtr left = with_number(binary->left, counter, number);
    const ExprPtr right = with_number(binary->right, counter, number);
    const bool folds = is_wide_integer(node) && is_wide_integer(left) && is_wide_integer(right);
    if (folds) {
      ExprPtr result = source::binary(binary->op, left, right);
      if (result->type == node->type) return result;
    }
    return std::make_shared<Binary>(binary->op, left, right, node->type);
  });
}

class LoopWriter {
 public:
  LoopWriter(Names& names, int most_statements) : names_(names), most_(most_statements) {}

  // Returns the block with counted loops of constant length written out, inner ones first, as long
  // as none of them makes more than `most_statements`; scopes are dissolved. What copies declare
  // gets new names. Loops that ask not to be unrolled, or that hold jumps, stay.
  Block run(const Block& block) {
    Block result;
    for (const StmtPtr& stmt : block) {
      Block body = run(body_of(*stmt));
      if (is<Scope>(stmt)) {
        append(names_.renamed(body), result);
        continue;
      }
      const auto* loop = as<ForLoop>(stmt);
      if (loop != nullptr) {
        if (auto copies = copies_of(*loop, body)) {
          append(*copies, result);
          continue;
        }
      }
      result.push_back(with_blocks(stmt, std::move(body), run(otherwise_of(*stmt))));
    }
    return result;
  }

 private:
  std::optional<Block> copies_of(const ForLoop& loop, const Block& body) {
    const auto counted = counted_loop_of(loop);
    const auto* declaration = loop.declaration();
    if (!counted || declaration == nullptr || loop.unroll == kNeverUnroll) return std::nullopt;
    const auto trips = counted->trip_count();
    const auto first =
        to_polynomial(counted->first,
                      [](const std::string&) -> std::optional<Polynomial> { return std::nullopt; });
    if (!trips || !first || !first->constant()) return std::nullopt;
    if (*trips > kLongestWrittenOut || *trips * statements_in(body) > most_) return std::nullopt;
    if (leaves_early(body)) return std::nullopt;
    Block result;
    for (std::int64_t trip = 0; trip < *trips; ++trip) {
      ExprPtr number = integer(*first->constant() + trip * counted->stride);
      if (declaration->variable.scalar != ScalarType::i32) {
        number = with_type(cast(declaration->variable.type, number), declaration->variable.scalar);
      }
      const Block copy =
          rewrite_expressions(body, [&](const ExprPtr& expr) -> std::optional<ExprPtr> {
            if (!variables_of(expr).contains(counted->name)) return expr;
            return with_number(expr, counted->name, number);
          });
      append(names_.renamed(copy), result);
    }
    return result;
  }

  Names& names_;
  std::int64_t most_;
};

// Beyond, instructions no longer stay in the cache near the multiprocessor.
constexpr int kMostStatementsWrittenOut = 1000;

// Code with vectors.
struct WideCode {
  Block body;
  ExprPtr divisible;  // sizes for which it may be run; null: all
};

bool has_elements_for(const Kernel& kernel, int width) {
  return std::any_of(kernel.parameters.begin(), kernel.parameters.end(),
                     [&](const KernelParameter& parameter) {
                       return parameter.is_pointer && parameter.scalar &&
                              VectorShape{*parameter.scalar, width}.bytes() <= kWidestAccess;
                     });
}

class VectorizeWindow final : public TriedStep {
 public:
  std::string_view id() const override { return "vectorize_window"; }
  std::vector<StepParameters> settings() const override {
    return {{{"width", "2"}}, {{"width", "4"}}, {{"width", "8"}}};
  }

  Result<KernelState> apply(const KernelAnalysis& kernel,
                            const StepParameters& parameters) const override {
    auto width = integer_parameter(parameters, "width");
    if (!width) return width.error();
    if (*width != 2 && *width != 4 && *width != 8)
      return fail(ErrorCode::invalid_argument, "'width' must be 2, 4 or 8");
    const Requirements needed = {.distinct_buffers = "", .lone_threads = true, .known_calls = true};
    if (Status status = require(needed, kernel); !status) return status.error();
    const StepParameters neighbours = {
        {"axis", "x"}, {"factor", std::to_string(*width)}, {"order", "contiguous"}};
    auto result = apply_members(kernel, {{"thread_coarsen", {neighbours}}});
    if (!result) return result.error();
    const KernelAnalysis coarsened(*result, kernel.problem(), kernel.limits());
    if (*width > 4 && !has_elements_for(kernel.kernel(), *width))
      return refuse("no array has elements of which one access moves " + std::to_string(*width));
    auto form = coarsened.single_exit();
    if (!form) return form.error();
    Kernel code = (*form)->kernel;
    Names names(code);
    auto wide = widened(coarsened, code, names, *width);
    if (!wide) return wide.error();
    code.body = std::move(wide->body);
    if (wide->divisible) {
      auto others = apart(kernel, *width);
      if (!others) return others.error();
      code.body = {branch(wide->divisible, code.body, names.renamed(*others))};
    }
    result->unit.kernel = std::move(code);
    rely_on(*result, kNeedsDistinctBuffers);
    rely_on_alignment(*result, kernel.problem().assume.align);
    return result;
  }

 private:
  // The code for threads whose elements lie a block extent apart.
  static Result<Block> apart(const KernelAnalysis& kernel, int width) {
    const StepParameters coarsen = {{"axis", "x"}, {"factor", std::to_string(width)}};
    const auto state = apply_members(
        kernel, {{"thread_coarsen", {coarsen}}, {"branch_hoist", {{{"form", "split"}}}, true}});
    if (!state) return state.error();
    const KernelAnalysis analysis(*state, kernel.problem(), kernel.limits());
    auto form = analysis.single_exit();
    if (!form) return form.error();
    return (*form)->kernel.body;
  }

  // Of code whose threads have neighbouring elements.
  static Result<WideCode> widened(const KernelAnalysis& coarsened, const Kernel& kernel,
                                  Names& names, int width) {
    Kernel code = kernel;
    code.body = LoopWriter(names, kMostStatementsWrittenOut).run(with_inside_first(kernel.body));
    const Analysis analysis(code);
    const auto interior = interior_of_threads(code, analysis, (*coarsened.launch())->block);
    if (!interior) return interior.error();
    NeighbourVectors vectors(code, analysis, coarsened.problem(), names, width);
    WideCode result;
    result.body = vectors.run(without_guards(code.body, *interior));
    if (vectors.vectors() == 0) {
      return refuse(
          "no neighbouring elements are accessed whenever the same code is run, or none of them "
          "is known to start a vector");
    }
    result.divisible = conjunction(vectors.conditions());
    if (!interior->conditions.empty()) {
      result.body = {branch(conjunction(interior->conditions), std::move(result.body),
                            seldom_run(names.renamed(kernel.body)))};
    }
    return result;
  }
};

}  // namespace

std::unique_ptr<StepRewriter> make_vectorize_window() {
  return std::make_unique<VectorizeWindow>();
}

}  // namespace regraph::rewrite

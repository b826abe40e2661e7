// The largest value of an index expression, from guards, loops and the launch.
#pragma once

#include "kernel/launch_plan.h"
#include "source/analysis.h"
#include "source/ir.h"
#include "source/polynomial.h"

#include <array>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace regraph::infer {

// An inequality: the polynomial is at least 0. Its symbols are sizes (integer parameters),
// builtins and loop variables.
using Inequality = source::Polynomial;

class IndexBounds {
 public:
  // `block` gives blockDim its value. `kernel` must outlive this.
  IndexBounds(const source::Kernel& kernel, const source::Analysis& analysis, const Dim3& block);

  // Extents of the grid, e.g. "cdiv(n, 256)", as upper bounds of blockIdx.
  void set_grid(std::array<std::string, 3> extents) { grid_ = std::move(extents); }

  // Inequalities that hold where `guards` and all loop conditions do.
  [[nodiscard]] std::vector<Inequality> inequalities(
      const std::vector<source::ExprPtr>& guards) const;

  // The loop conditions as they stand before the first iteration: they hold if it runs at all.
  [[nodiscard]] std::vector<Inequality> first_iterations() const;

  // Returns an upper bound over size symbols, or nothing when the guards do not give one. Symbols
  // of the result may also be the text of an expression of sizes, such as "(n / 4)".
  [[nodiscard]] std::optional<source::Polynomial> upper(
      const source::ExprPtr& index, const std::vector<source::ExprPtr>& guards) const;

  // The same of an index into a row-major array of several dimensions:
  //
  //   ((n * C + c) * H + h) * W + w
  //
  // What is added is taken to stay below what the rest is multiplied with, as it does in an array
  // that is read within its dimensions: only n needs a bound. Nothing for other indices, and where
  // memory says what is added: which values it may hold is seen when the kernel runs.
  [[nodiscard]] std::optional<source::Polynomial> row_major_upper(
      const source::ExprPtr& index, const std::vector<source::ExprPtr>& guards) const;

  // Polynomial with loop variables of any stride as symbols and blockDim as numbers.
  [[nodiscard]] std::optional<source::Polynomial> polynomial(const source::ExprPtr& expr) const;

  // Whether the symbol is the same for all threads: a parameter, or the text of an expression.
  [[nodiscard]] bool is_size(const std::string& symbol) const;

 private:
  struct Loop {
    source::ExprPtr first;
    source::ExprPtr condition;
  };
  [[nodiscard]] std::optional<source::Polynomial> to_polynomial(
      const source::ExprPtr& expr, const source::SymbolMeaning& meaning) const;
  [[nodiscard]] std::optional<source::Polynomial> without_locals(source::Polynomial value) const;
  [[nodiscard]] source::ExprPtr with_named_quotients(const source::ExprPtr& expr) const;
  void multiply_out(const source::ExprPtr& quotient, source::BinaryOperator op,
                    std::optional<source::Polynomial>& of_quotient,
                    std::optional<source::Polynomial>& other) const;
  [[nodiscard]] std::optional<source::Polynomial> upper_of_polynomial(
      source::Polynomial value, const std::vector<Inequality>& known) const;
  [[nodiscard]] std::optional<source::Polynomial> upper_of_operation(
      const source::Expr& expr, const std::vector<source::ExprPtr>& guards) const;
  [[nodiscard]] bool follows_memory(const source::ExprPtr& expr, int depth = 0) const;
  // A term of an index: a product of sizes, and what it is multiplied with.
  struct Scaled {
    source::Polynomial factor;
    source::ExprPtr rest;
  };
  [[nodiscard]] Scaled scaled(source::ExprPtr term) const;
  [[nodiscard]] std::optional<source::Polynomial> size_product(const source::ExprPtr& expr) const;
  [[nodiscard]] std::optional<source::Polynomial> upper_of_name(
      const std::string& name, const std::vector<source::ExprPtr>& guards) const;
  [[nodiscard]] std::optional<source::Polynomial> upper_of_binary(
      const source::Binary& expr, const std::vector<source::ExprPtr>& guards) const;
  // Bounds of one symbol, as polynomials of others: upper ones or lower ones.
  [[nodiscard]] std::vector<source::Polynomial> bounds_of(
      const std::string& symbol, bool upper, const std::vector<Inequality>& known) const;
  [[nodiscard]] std::optional<source::Polynomial> natural_bound(const std::string& symbol,
                                                                bool upper) const;

  const source::Kernel& kernel_;
  const source::Analysis& analysis_;
  std::map<std::string, std::int64_t> block_;  // "blockDim.x" -> extent
  std::array<std::string, 3> grid_;            // empty: not known
  std::map<std::string, Loop> loops_;          // by variable
};

// "2*K*M + N - 1": text that IntegerExpression reads.
[[nodiscard]] std::string expression_text(const source::Polynomial& polynomial);

}  // namespace regraph::infer

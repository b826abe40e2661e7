// Integer expressions of host code, in the language of manifests.
#pragma once

#include "kernel/expression.h"
#include "kernel/problem.h"
#include "source/host_functions.h"
#include "source/host_names.h"
#include "source/lexer.h"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace regraph::source {

class HostExpressions {
 public:
  // The signature must outlive this.
  HostExpressions(const KernelSignature& kernel, HostFunctions functions)
      : kernel_(kernel), functions_(std::move(functions)) {}

  // What names mean from now on, and that texts mean no parameters yet.
  void see(HostNames::Definitions definitions) { definitions_ = std::move(definitions); }
  void forget_parameters() { parameter_of_.clear(); }
  // The text, as HostNames::join makes it, is the manifest's symbol, and so it is without casts;
  // the first meaning counts.
  void name_parameter(const std::string& text, std::string_view symbol) {
    parameter_of_.emplace(text, symbol);
    parameter_of_.emplace(without_casts(text), symbol);
  }
  // Variables whose value is not known become sizes, and are added to `names`; null: they have no
  // meaning. A name that a parameter of the kernel has gets "host_" in front.
  void allow_host_sizes(std::set<std::string>* names) { host_sizes_ = names; }

  // "dim3 ( a , b )", a name of one, or a plain integer expression: its one to three parts.
  [[nodiscard]] std::vector<std::string> axes_of(const std::string& text, int depth = 0) const;
  // Nothing when something in it has no meaning.
  [[nodiscard]] std::optional<IntegerExpression> expression_of(const std::string& text,
                                                               int depth = 0) const;

 private:
  // What names of a function's parameters are passed, translated.
  using Bound = std::map<std::string, std::string, std::less<>>;

  [[nodiscard]] std::optional<std::string> translate(const std::string& text, int depth,
                                                     const Bound* bound = nullptr) const;
  [[nodiscard]] std::optional<std::string> value_of(const std::string& name, int depth) const;
  [[nodiscard]] std::size_t named_product(const std::string& text, const std::vector<Token>& words,
                                          std::size_t at, std::string& result) const;
  [[nodiscard]] std::size_t call(const std::string& text, const std::vector<Token>& words,
                                 std::size_t at, int depth, const Bound* bound,
                                 std::string& result) const;
  [[nodiscard]] std::optional<std::string> as_host_size(const std::string& text,
                                                        const std::vector<Token>& words,
                                                        std::size_t at, std::string name) const;
  [[nodiscard]] std::size_t rounded_up_quotient(const std::string& text,
                                                const std::vector<Token>& words, std::size_t at,
                                                int depth, std::string& result) const;

  const KernelSignature& kernel_;
  const HostFunctions functions_;
  HostNames::Definitions definitions_;
  std::map<std::string, std::string, std::less<>> parameter_of_;  // host text -> manifest symbol
  std::set<std::string>* host_sizes_ = nullptr;
};

// (n + d - 1) / d -> cdiv(n, d), which steps can reason about; a d that is the block's own extent
// becomes its symbol, so that the grid follows the block. `extent`: null where it is not known.
[[nodiscard]] IntegerExpression as_ceil_divide(const IntegerExpression& expression,
                                               const std::string& symbol,
                                               const std::uint32_t* extent);

}  // namespace regraph::source

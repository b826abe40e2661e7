// What a step needs to know about a kernel: definitions, index polynomials, memory accesses, loops.
#pragma once

#include "source/counted_loop.h"
#include "source/ir.h"
#include "source/known_functions.h"
#include "source/polynomial.h"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace regraph::source {

// Not thread-safe: what was worked out once is kept.
class Analysis {
 public:
  explicit Analysis(const Kernel& kernel);

  // Index polynomial with single-definition locals inlined. Symbols: builtins, integer parameters
  // that are never assigned, variables of counted loops, and names for values of sizes that are no
  // polynomials themselves: `half` of `const int half = (n + 1) / 2` in the kernel's own block.
  // Such a name is known behind its declaration only.
  [[nodiscard]] std::optional<Polynomial> polynomial(const ExprPtr& expr) const;
  [[nodiscard]] SymbolMeaning meaning() const;
  // The same, where quotients of integer parameters and numbers are symbols, whatever their sign
  // and whether they have names: (n - 7) / 4 + 1 is one and a number. For comparing alone:
  // to_expression cannot spell them.
  [[nodiscard]] std::optional<Polynomial> polynomial_with_sizes(const ExprPtr& expr) const;

  // Local or loop variable with exactly one meaning and no assignment besides it.
  [[nodiscard]] bool is_single_definition(const std::string& name) const;
  // Initial value of a single-definition local, null otherwise.
  [[nodiscard]] ExprPtr definition(const std::string& name) const;
  [[nodiscard]] const CountedLoop* loop(const std::string& name) const;  // by loop variable
  [[nodiscard]] const Variable* local(const std::string& name) const;    // declared in the body

  // Global pointer parameters: written through (stores, atomics) anywhere?
  [[nodiscard]] bool is_written(const std::string& parameter) const;
  // Accessed through pointers of another type (view.h), or with an index that such a pointer has:
  // what a step moves or lays out anew has to stay as it is.
  [[nodiscard]] bool is_viewed(const std::string& array) const;
  // The expression loads from global or shared memory (or may: unknown pointers, calls).
  [[nodiscard]] bool reads_memory(const ExprPtr& expr) const;
  [[nodiscard]] bool reads_global(const ExprPtr& expr) const;
  [[nodiscard]] bool is_global_pointer(const std::string& name) const;
  [[nodiscard]] bool is_shared(const std::string& name) const;

  // First opaque node's line and text, for a refusal; nothing when all is understood.
  [[nodiscard]] std::optional<std::string> opaque() const { return opaque_; }
  [[nodiscard]] bool uses_warp_intrinsics() const { return uses_warp_intrinsics_; }
  [[nodiscard]] bool has_barrier() const { return has_barrier_; }
  [[nodiscard]] bool has_shared() const { return has_shared_; }
  // Calls of functions other than known pure ones, intrinsics and atomics.
  [[nodiscard]] const std::set<std::string>& unknown_calls() const { return unknown_calls_; }
  // Those among them that may do more than use memory: nothing is known of them.
  [[nodiscard]] const std::set<std::string>& boundless_calls() const { return boundless_calls_; }
  // Those of which it is known: their bodies ask for their thread, work with others or keep state.
  [[nodiscard]] const std::set<std::string>& calls_with_threads() const {
    return calls_with_threads_;
  }
  [[nodiscard]] bool uses_builtin(const std::string& name) const {
    return builtins_.contains(name);
  }

 private:
  friend class AnalysisScan;

  // What a name stands for, quotients included.
  [[nodiscard]] std::optional<Polynomial> symbol(const std::string& name) const;
  [[nodiscard]] std::optional<Polynomial> symbol_or_size(const std::string& name) const;
  [[nodiscard]] bool is_made_of_sizes(const ExprPtr& value) const;
  [[nodiscard]] bool is_made_of_sizes(const std::string& name) const;
  // Adds to what is written what pointers that are written through were made of.
  void follow_pointers();
  // Whether the element is of an array in registers, or in shared memory too.
  [[nodiscard]] bool is_local_array(const Expr& element, bool or_shared) const;

  std::map<std::string, const KernelParameter*> parameters_;
  std::map<std::string, Variable> locals_;
  std::map<std::string, ExprPtr> definitions_;
  std::set<std::string> own_names_;  // declared by the kernel's own block, under no condition
  std::map<std::string, CountedLoop> loops_;
  std::set<std::string> assigned_;  // by a statement other than the declaration or loop header
  std::set<std::string> address_taken_;
  std::set<std::string> written_;
  std::set<std::string> viewed_;
  std::set<std::string> builtins_;
  std::set<std::string> unknown_calls_;
  std::set<std::string> boundless_calls_;
  std::set<std::string> calls_with_threads_;
  std::map<std::string, std::set<std::string>> leads_to_;  // local pointer -> what it was made of
  // What was worked out of definitions so far.
  mutable std::map<std::string, std::optional<Polynomial>> known_symbols_;
  mutable std::map<std::string, bool> known_sizes_;
  mutable int depth_ = 0;  // of definitions that are being followed
  std::optional<std::string> opaque_;
  bool uses_warp_intrinsics_ = false;
  bool has_barrier_ = false;
  bool has_shared_ = false;
};

// Calls `visit` for every polynomial that occurs as a maximal sub-expression of the body (uses of
// single-definition locals are inlined, their declarations not visited).
void for_each_polynomial(const Kernel& kernel, const Analysis& analysis,
                         const std::function<void(const Polynomial&)>& visit);

}  // namespace regraph::source

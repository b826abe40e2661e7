// What statements do with the elements of a buffer, and registers that hold some of these. Used by
// element_registers and previous_elements.
#pragma once

#include "rewrite/forms/ir.h"
#include "rewrite/forms/names.h"
#include "source/analysis.h"
#include "source/counted_loop.h"
#include "source/walk.h"

#include <functional>
#include <string>
#include <vector>

namespace regraph::rewrite {

// Accesses to one buffer by its own name.
struct ElementAccesses {
  std::vector<ExprPtr> indices;
  bool loads = false;
  bool stores = false;
};
[[nodiscard]] ElementAccesses accesses_of(const StmtPtr& stmt, const std::string& buffer);

// Whether other threads may take part in what the statement does (barriers, atomics, calls), memory
// is reached otherwise than by a buffer's name, or the statement is left by a jump or a return:
// then nothing can be kept in a register across it.
[[nodiscard]] bool has_hazard(const StmtPtr& stmt, const Analysis& analysis);

// Registers for elements of a kernel's buffers, and the code around them. What it is made of must
// outlive it.
class BufferRegisters {
 public:
  // Others may change elements of the `raced` buffers at any time.
  BufferRegisters(const Kernel& kernel, const std::vector<std::string>& raced);

  // Whether elements of the buffer, a parameter, fit a register and change by the thread alone.
  [[nodiscard]] bool can_hold(const std::string& buffer) const;
  // One that has no name yet.
  [[nodiscard]] ExprPtr next(const std::string& buffer);
  [[nodiscard]] StmtPtr declaration(const std::string& buffer, const ExprPtr& reg,
                                    const ExprPtr& initial, int line) const;
  [[nodiscard]] ExprPtr element(const std::string& buffer, const ExprPtr& index) const;
  [[nodiscard]] ExprPtr zero(const std::string& buffer) const;

 private:
  const Kernel& kernel_;
  const std::vector<std::string>& raced_;
  Names names_;
};

// Puts the register in the place of the buffer's elements whose index `is_meant`.
[[nodiscard]] ExprRewrite with_register(const std::string& buffer, const ExprPtr& reg,
                                        std::function<bool(const ExprPtr&)> is_meant);

// Whether the loop has an iteration, asked in front of it; in the counter's type, as the loop asks.
[[nodiscard]] ExprPtr is_entered(const CountedLoop& counted, const Variable& counter);

}  // namespace regraph::rewrite

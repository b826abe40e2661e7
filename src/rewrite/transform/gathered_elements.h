// The elements that the block of an implicit matrix product gathers: where they are, and when the
// original loads them. Used by the codes of implicit_gemm.
#pragma once

#include "rewrite/analysis/implicit_gemm.h"
#include "rewrite/forms/ir.h"
#include "rewrite/forms/names.h"
#include "rewrite/transform/code_lines.h"

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace regraph::rewrite {

// When a factor's conditions are asked: of a line, of a chunk of one, or of each of its elements.
enum class Asked : std::uint8_t { of_line, of_chunk, of_element };

// Keeps references to all it is made with. Not thread-safe.
class GatheredElements {
 public:
  GatheredElements(CodeLines& lines, const KernelForm& form, const Launch& launch,
                   const ImplicitGemm& gemm, Names& names)
      : lines_(lines), form_(form), launch_(launch), gemm_(gemm), names_(names) {}

  [[nodiscard]] const ProductFactor& factor(std::size_t i) const {
    return gemm_.product.factors[i];
  }
  [[nodiscard]] const GatheredFactor& gathered(std::size_t i) const { return gemm_.factors[i]; }
  // Null where k counts iterations in order.
  [[nodiscard]] const SummedLoop* chunked() const {
    return gemm_.chunked ? &gemm_.loops[*gemm_.chunked] : nullptr;
  }
  // Whether its chunks go to shared memory by copies; others go through registers.
  [[nodiscard]] bool is_copied(std::size_t i) const {
    return gathered(i).along_k && gathered(i).divisible.has_value();
  }

  // Has a variable of the kernel declared with this value instead of its own.
  void set_value(const std::string& name, const std::string& value) { values_[name] = value; }

  // The kernel's expression at the coordinates of the product's axes.
  [[nodiscard]] std::string text_of(const ExprPtr& expr) const;
  // Those of the factor's conditions, "a & b"; empty where there are none. None of them reads
  // memory, and to ask all takes less than branches would.
  [[nodiscard]] std::string conditions(std::size_t i, Asked when) const;

  // Declares the names of the kernel's body that the values are made of, once each.
  void declare_names(const std::vector<ExprPtr>& values, std::set<std::string>& done);
  // Those that the factor's elements and conditions are made of.
  void declare_names_of(std::size_t i);
  // How often each loop runs: expressions over declared names, for which it declares some.
  [[nodiscard]] std::vector<std::string> declare_trips();

  // Declares `element(from, is_wanted)`: the bits of an element, which nobody writes, and zeros
  // where it is not wanted. Under a predicate: a branch would come between the loads. It stays in
  // front of the products, which do not wait for it.
  void define_element(const std::string& element, const std::string& type);

 private:
  [[nodiscard]] bool is_counter(const std::string& name) const;
  [[nodiscard]] Asked asked(const ExprPtr& condition) const;

  CodeLines& lines_;
  const KernelForm& form_;
  const Launch& launch_;
  const ImplicitGemm& gemm_;
  Names& names_;
  std::map<std::string, std::string> values_;  // by variable
};

}  // namespace regraph::rewrite

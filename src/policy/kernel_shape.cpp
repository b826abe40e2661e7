#include "policy/kernel_shape.h"

#include "source/analysis.h"
#include "source/counted_loop.h"
#include "source/known_functions.h"
#include "source/visitor.h"
#include "source/walk.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace regraph::policy {

namespace {

constexpr std::size_t place_of(std::string_view name) {
  for (std::size_t at = 0; at < kShapeSize; ++at) {
    if (kShapeNames[at] == name) return at;
  }
  return kShapeSize;  // not reached: `place` asserts it
}

template <std::size_t Length>
struct ShapeName {
  char text[Length];
  constexpr ShapeName(const char (&from)[Length]) { std::copy_n(from, Length, text); }  // NOLINT
};
template <ShapeName Name>
constexpr std::size_t place = [] {
  constexpr std::size_t found = place_of(Name.text);
  static_assert(found < kShapeSize, "a name of kShapeNames");
  return found;
}();

float logarithm(double count) {
  return static_cast<float>(std::log2(1.0 + std::max(count, 0.0)));
}

int deepest_nesting(const source::Block& block) {
  int deepest = 0;
  for (const source::StmtPtr& stmt : block) {
    const bool loop = source::is<source::ForLoop>(stmt) || source::is<source::WhileLoop>(stmt);
    const int below = std::max(deepest_nesting(source::body_of(*stmt)),
                               deepest_nesting(source::otherwise_of(*stmt)));
    deepest = std::max(deepest, below + (loop ? 1 : 0));
  }
  return deepest;
}

class ShapeCounter final : public source::Visitor {
 public:
  explicit ShapeCounter(const source::Kernel& kernel)
      : kernel_(kernel), analysis_(kernel), deepest_(deepest_nesting(kernel.body)) {
    go(kernel.body);
  }

  [[nodiscard]] KernelShape finish(const Dim3& block) {
    KernelShape shape;
    std::ranges::transform(counts_, shape.values.begin(), logarithm);
    double pointers = 0.0;
    double restricted = 0.0;
    for (const source::KernelParameter& parameter : kernel_.parameters) {
      pointers += parameter.is_pointer ? 1 : 0;
      restricted += parameter.is_pointer && parameter.is_restrict ? 1 : 0;
    }
    const auto set = [&](std::size_t at, double value) {
      shape.values[at] = static_cast<float>(value);
    };
    set(place<"restrict_parameters">, pointers > 0.0 ? restricted / pointers : 0.0);
    set(place<"launch_bounds">, kernel_.launch_bounds_threads ? 1.0 : 0.0);
    set(place<"loop_depth">, deepest_);
    set(place<"constant_trips">, most_trips_);
    set(place<"block_x">, std::log2(block.x));
    set(place<"block_y">, std::log2(block.y));
    set(place<"block_threads">, std::log2(static_cast<double>(block.count())));
    return shape;
  }

 private:
  using Visitor::visit;

  template <ShapeName Name>
  void count(double amount = 1.0) {
    counts_[place<Name>] += amount;
  }
  [[nodiscard]] bool innermost() const { return depth_ == deepest_ && deepest_ > 0; }

  void visit(const source::ForLoop& stmt) override {
    count<"loops">();
    if (stmt.unroll != source::kNoUnrollPragma) count<"unrolled_loops">();
    const auto counted = source::counted_loop_of(stmt);
    const auto trips = counted ? counted->trip_count() : std::nullopt;
    const double factor = trips && *trips > 0 ? std::log2(static_cast<double>(*trips)) : 0.0;
    trips_ += factor;
    ++depth_;
    most_trips_ = std::max(most_trips_, trips_);
    Visitor::visit(stmt);
    --depth_;
    trips_ -= factor;
  }
  void visit(const source::WhileLoop& stmt) override {
    count<"loops">();
    ++depth_;
    Visitor::visit(stmt);
    --depth_;
  }
  void visit(const source::Branch& stmt) override {
    count<"branches">();
    Visitor::visit(stmt);
  }
  void visit(const source::Conditional& expr) override {
    count<"conditionals">();
    Visitor::visit(expr);
  }
  void visit(const source::Barrier&) override { count<"barriers">(); }
  void visit(const source::Declaration& stmt) override {
    statement();
    const source::Variable& variable = stmt.variable;
    if (variable.storage != source::Storage::automatic) {
      count<"shared_arrays">();
    } else if (!variable.extents.empty()) {
      double elements = 1.0;
      for (const std::int64_t extent : variable.extents)
        elements *= static_cast<double>(std::max<std::int64_t>(extent, 1));
      count<"local_array_elements">(elements);
    }
    Visitor::visit(stmt);
  }
  void visit(const source::Assignment& stmt) override {
    statement();
    const bool accumulates = stmt.op != source::AssignmentOperator::assign;
    if (accumulates && depth_ > 0 && !memory_of(*stmt.target)) {
      count<"accumulations">();
      if (innermost()) count<"inner_accumulations">();
    }
    writes_ = true;
    go(stmt.target);
    writes_ = false;
    if (accumulates) reads_too(*stmt.target);
    go(stmt.value);
  }
  void visit(const source::Evaluation& stmt) override {
    statement();
    Visitor::visit(stmt);
  }
  void visit(const source::Binary& expr) override {
    const bool division =
        expr.op == source::BinaryOperator::divide || expr.op == source::BinaryOperator::remainder;
    if (division && expr.type && !is_floating(*expr.type)) count<"divisions">();
    Visitor::visit(expr);
  }
  void visit(const source::Call& expr) override {
    if (source::is_atomic(expr.function)) count<"atomics">();
    if (source::is_warp_intrinsic(expr.function)) count<"warp_intrinsics">();
    if (source::is_pure_function(expr.function)) count<"functions">();
    Visitor::visit(expr);
  }
  void visit(const source::Subscript& expr) override {
    const bool writes = std::exchange(writes_, false);
    access(expr, writes);
    // Of an index chain only the whole is an access; its indices may hold others.
    for (const source::ExprPtr& index : source::indices_of(expr))
      go(index);
  }

  void statement() {
    count<"statements">();
    if (innermost()) count<"inner_statements">();
  }

  enum class Memory : std::uint8_t { global, shared };
  [[nodiscard]] std::optional<Memory> memory_of(const source::Expr& expr) const {
    const source::VariableReference* base = source::base_variable(expr);
    if (base == nullptr || !source::is<source::Subscript>(expr)) return std::nullopt;
    if (analysis_.is_global_pointer(base->name)) return Memory::global;
    if (analysis_.is_shared(base->name)) return Memory::shared;
    return std::nullopt;
  }

  void reads_too(const source::Expr& target) {
    if (const auto* element = source::as<source::Subscript>(target)) access(*element, false);
  }

  void access(const source::Subscript& expr, bool writes) {
    const auto memory = memory_of(expr);
    if (memory == Memory::shared) count<"shared_accesses">();
    if (memory != Memory::global) return;
    const source::VariableReference* base = source::base_variable(expr);
    const source::KernelParameter* parameter = kernel_.parameter(base->name);
    const double bytes = parameter != nullptr && parameter->scalar
                             ? static_cast<double>(size_in_bytes(*parameter->scalar))
                             : 16.0;
    counts_[place<"widest_element">] = std::max(counts_[place<"widest_element">], bytes);
    if (bytes > 8.0) count<"vector_accesses">();
    const Stride stride = stride_of(expr);
    if (writes) {
      count<"global_stores">();
      if (stride.kind == Stride::unit) {
        count<"unit_stride_stores">();
      } else {
        count<"other_stride_stores">();
      }
      return;
    }
    count<"global_loads">();
    if (innermost()) count<"inner_global_loads">();
    if (stride.reused) count<"reused_loads">();
    switch (stride.kind) {
      case Stride::same:
        return count<"same_address_loads">();
      case Stride::unit:
        return count<"unit_stride_loads">();
      case Stride::literal:
        return count<"constant_stride_loads">();
      case Stride::symbolic:
        return count<"symbolic_stride_loads">();
      case Stride::unknown:
        return count<"unknown_stride_loads">();
    }
  }

  // How far apart neighbours in x access.
  struct Stride {
    enum Kind : std::uint8_t { same, unit, literal, symbolic, unknown } kind = unknown;
    bool reused = false;  // not all threads of a block access elements of their own
  };
  [[nodiscard]] Stride stride_of(const source::Subscript& expr) const {
    const auto indices = source::indices_of(expr);
    const auto polynomial =
        indices.size() == 1 ? analysis_.polynomial(indices.front()) : std::nullopt;
    if (!polynomial) return {};
    Stride stride;
    stride.reused = !polynomial->mentions("threadIdx.x") || !polynomial->mentions("threadIdx.y");
    const auto along = polynomial->coefficient("threadIdx.x");
    if (!along) return stride;
    const auto constant = along->is_zero() ? std::optional<std::int64_t>(0) : along->constant();
    stride.kind = !constant                           ? Stride::symbolic
                  : *constant == 0                    ? Stride::same
                  : *constant == 1 || *constant == -1 ? Stride::unit
                                                      : Stride::literal;
    return stride;
  }

  const source::Kernel& kernel_;
  const source::Analysis analysis_;
  const int deepest_;
  int depth_ = 0;
  double trips_ = 0.0;  // log2, of the loops around
  double most_trips_ = 0.0;
  bool writes_ = false;  // the next access is an assignment's target
  std::array<double, kShapeSize> counts_{};
};

}  // namespace

KernelShape shape_of(const source::Kernel& kernel, const Dim3& block) {
  return ShapeCounter(kernel).finish(block);
}

}  // namespace regraph::policy

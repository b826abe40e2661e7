#include "policy/kernel_shape.h"

#include "source/analysis.h"
#include "source/counted_loop.h"
#include "source/known_functions.h"
#include "source/polynomial.h"
#include "source/visitor.h"
#include "source/walk.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace regraph::policy {

namespace {

constexpr std::size_t place_of(std::string_view name) {
  for (std::size_t at = 0; at < kShapeSize; ++at) {
    if (kShapeNames[at] == name) return at;
  }
  return kShapeSize;  // not reached: kPlace asserts it
}

template <std::size_t Length>
struct ShapeName {
  char text[Length];
  constexpr ShapeName(const char (&from)[Length]) { std::copy_n(from, Length, text); }  // NOLINT
};
template <ShapeName Name>
constexpr std::size_t kPlace = [] {
  constexpr std::size_t kFound = place_of(Name.text);
  static_assert(kFound < kShapeSize, "a name of kShapeNames");
  return kFound;
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

constexpr double kWidestAccess = 16.0;  // bytes

// Of an element, by the spelling of its type or of a pointer to it: "const float4*". Types nobody
// knows are taken for wide ones.
double bytes_of(std::string_view type) {
  constexpr std::string_view kConst = "const ";
  if (type.starts_with(kConst)) type.remove_prefix(kConst.size());
  while (type.ends_with('*') || type.ends_with(' '))
    type.remove_suffix(1);
  double lanes = 1.0;
  if (!type.empty() && type.back() >= '1' && type.back() <= '4') {
    lanes = type.back() - '0';
    type.remove_suffix(1);
  }
  const auto scalar = scalar_type_from_cuda_name(type);
  return scalar ? lanes * static_cast<double>(size_in_bytes(*scalar)) : kWidestAccess;
}

class ShapeCounter final : public source::Visitor {
 public:
  ShapeCounter(const source::Kernel& kernel, const Dim3& block)
      : kernel_(kernel), block_(block), analysis_(kernel), deepest_(deepest_nesting(kernel.body)) {
    go(kernel.body);
  }

  [[nodiscard]] KernelShape finish() {
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
    set(kPlace<"restrict_parameters">, pointers > 0.0 ? restricted / pointers : 0.0);
    set(kPlace<"launch_bounds">, kernel_.launch_bounds_threads ? 1.0 : 0.0);
    set(kPlace<"loop_depth">, deepest_);
    set(kPlace<"constant_trips">, most_trips_);
    set(kPlace<"block_x">, std::log2(block_.x));
    set(kPlace<"block_y">, std::log2(block_.y));
    set(kPlace<"block_threads">, std::log2(static_cast<double>(block_.count())));
    return shape;
  }

 private:
  using Visitor::visit;

  template <ShapeName Name>
  void count(double amount = 1.0) {
    counts_[kPlace<Name>] += amount;
  }
  [[nodiscard]] bool innermost() const { return depth_ == deepest_ && deepest_ > 0; }

  void visit(const source::ForLoop& stmt) override {
    count<"loops">();
    if (stmt.unroll != source::kNoUnrollPragma) count<"unrolled_loops">();
    const auto counted = source::counted_loop_of(stmt);
    const auto trips = counted ? counted->trip_count() : std::nullopt;
    const double factor = trips && *trips > 0 ? std::log2(static_cast<double>(*trips)) : 0.0;
    trips_ += factor;
    most_trips_ = std::max(most_trips_, trips_);
    // Counting up is not what the loop is for.
    in_header_ = true;
    go(stmt.init);
    ++depth_;
    go(stmt.condition);
    go(stmt.step);
    in_header_ = false;
    go(stmt.body);
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
    if (accumulates && depth_ > 0 && !in_header_ && !is_in_memory(*stmt.target)) {
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
    if (source::is_pure(expr)) count<"functions">();
    Visitor::visit(expr);
  }
  void visit(const source::Subscript& expr) override {
    const bool writes = std::exchange(writes_, false);
    const Element element = element_of(expr);
    access(element, writes);
    // Of an index chain only the whole is an access; its indices may hold others.
    for (const source::ExprPtr& index : element.indices)
      go(index);
    for (const source::ExprPtr& index : element.first)
      go(index);
    if (element.array == nullptr) go(element.root);
  }

  void statement() {
    if (in_header_) return;
    count<"statements">();
    if (innermost()) count<"inner_statements">();
  }

  // What a subscript is an element of: array[index], or of an array seen as one of wider elements,
  // ((float4*)array)[index], ((float4*)&array[first])[index].
  struct Element {
    source::ExprPtr root;  // below all indices
    const source::VariableReference* array = nullptr;
    std::vector<source::ExprPtr> indices;
    std::vector<source::ExprPtr> first;
    std::string seen_as;  // the cast's type
  };
  [[nodiscard]] static Element element_of(const source::Subscript& expr) {
    Element element;
    element.indices = source::indices_of(expr);
    element.root = expr.base;
    while (const auto* outer = source::as<source::Subscript>(element.root))
      element.root = outer->base;
    const auto* cast = source::as<source::Cast>(element.root);
    const source::Expr* array = cast != nullptr ? cast->operand.get() : element.root.get();
    if (cast != nullptr) {
      element.seen_as = cast->target;
      const auto* address = source::as<source::Unary>(array);
      if (address != nullptr && address->op == source::UnaryOperator::address_of) {
        array = address->operand.get();
        element.first = source::indices_of(*array);
      }
    }
    element.array = source::base_variable(*array);
    return element;
  }

  enum class Memory : std::uint8_t { global, shared };
  [[nodiscard]] std::optional<Memory> memory_of(const Element& element) const {
    if (element.array == nullptr) return std::nullopt;
    if (analysis_.is_global_pointer(element.array->name)) return Memory::global;
    if (analysis_.is_shared(element.array->name)) return Memory::shared;
    return std::nullopt;
  }

  // The element that an assignment's target is, or is a member of; null for a variable.
  [[nodiscard]] static const source::Subscript* target_element(const source::Expr& target) {
    const source::Expr* node = &target;
    while (const auto* member = source::as<source::Member>(node))
      node = member->object.get();
    return source::as<source::Subscript>(node);
  }
  [[nodiscard]] bool is_in_memory(const source::Expr& target) const {
    const source::Subscript* element = target_element(target);
    return element != nullptr && memory_of(element_of(*element));
  }
  void reads_too(const source::Expr& target) {
    if (const auto* element = target_element(target)) access(element_of(*element), false);
  }

  void access(const Element& element, bool writes) {
    const auto memory = memory_of(element);
    if (memory == Memory::shared) count<"shared_accesses">();
    if (memory != Memory::global) return;
    const source::KernelParameter* parameter = kernel_.parameter(element.array->name);
    const double own = parameter->scalar ? static_cast<double>(size_in_bytes(*parameter->scalar))
                                         : bytes_of(parameter->type);
    const double bytes = element.seen_as.empty() ? own : bytes_of(element.seen_as);
    counts_[kPlace<"widest_element">] = std::max(counts_[kPlace<"widest_element">], bytes);
    if (bytes > 8.0) count<"vector_accesses">();
    const auto width = static_cast<std::int64_t>(std::max(bytes / own, 1.0));
    const Stride stride = stride_of(element, width);
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
  // `width`: elements of the array that an access takes.
  [[nodiscard]] Stride stride_of(const Element& element, std::int64_t width) const {
    if (element.indices.size() != 1 || element.first.size() > 1) return {};
    auto index = analysis_.polynomial(element.indices.front());
    const auto first =
        element.first.empty() ? source::Polynomial() : analysis_.polynomial(element.first.front());
    if (!index || !first) return {};
    index = *index * source::Polynomial(width) + *first;
    Stride stride;
    stride.reused = (block_.x > 1 && !index->mentions("threadIdx.x")) ||
                    (block_.y > 1 && !index->mentions("threadIdx.y"));
    const auto along = index->coefficient("threadIdx.x");
    if (!along) return stride;
    const auto constant = along->is_zero() ? std::optional<std::int64_t>(0) : along->constant();
    stride.kind = !constant                                   ? Stride::symbolic
                  : *constant == 0                            ? Stride::same
                  : *constant == width || *constant == -width ? Stride::unit
                                                              : Stride::literal;
    return stride;
  }

  const source::Kernel& kernel_;
  const Dim3 block_;
  const source::Analysis analysis_;
  const int deepest_;
  int depth_ = 0;
  bool in_header_ = false;  // of a for loop
  double trips_ = 0.0;      // log2, of the loops around
  double most_trips_ = 0.0;
  bool writes_ = false;  // the next access is an assignment's target
  std::array<double, kShapeSize> counts_{};
};

}  // namespace

KernelShape shape_of(const source::Kernel& kernel, const Dim3& block) {
  return ShapeCounter(kernel, block).finish();
}

}  // namespace regraph::policy

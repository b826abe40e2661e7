#include "source/analysis.h"

#include "source/build.h"
#include "source/printer.h"
#include "source/walk.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace regraph::source {
namespace {

template <std::size_t N>
bool contains(const std::array<std::string_view, N>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

constexpr std::array<std::string_view, 61> kPureFunctions = {"min",
                                                             "max",
                                                             "abs",
                                                             "fminf",
                                                             "fmaxf",
                                                             "fabsf",
                                                             "fmin",
                                                             "fmax",
                                                             "fabs",
                                                             "sqrtf",
                                                             "sqrt",
                                                             "rsqrtf",
                                                             "rsqrt",
                                                             "expf",
                                                             "exp",
                                                             "exp2f",
                                                             "logf",
                                                             "log",
                                                             "log2f",
                                                             "powf",
                                                             "pow",
                                                             "sinf",
                                                             "cosf",
                                                             "sin",
                                                             "cos",
                                                             "tanhf",
                                                             "tanh",
                                                             "fmaf",
                                                             "fma",
                                                             "floorf",
                                                             "ceilf",
                                                             "roundf",
                                                             "truncf",
                                                             "floor",
                                                             "ceil",
                                                             "erff",
                                                             "erf",
                                                             "__expf",
                                                             "__logf",
                                                             "__sinf",
                                                             "__cosf",
                                                             "__powf",
                                                             "__log2f",
                                                             "__log10f",
                                                             "log10f",
                                                             "__fdividef",
                                                             "__frcp_rn",
                                                             "__fsqrt_rn",
                                                             "__mul24",
                                                             "__popc",
                                                             "__clz",
                                                             "__brev",
                                                             "__ffs",
                                                             "__float2int_rn",
                                                             "__int2float_rn",
                                                             "__float_as_int",
                                                             "__int_as_float",
                                                             "__ldg",
                                                             "isnan",
                                                             "isinf",
                                                             "copysignf"};

// Functions that read memory through their argument.
bool reads_through_argument(const std::string& function) {
  return function == "__ldg";
}

}  // namespace

bool is_atomic(const std::string& function) {
  return function.starts_with("atomic");
}

bool is_warp_intrinsic(const std::string& function) {
  for (const std::string_view prefix : {"__shfl", "__ballot", "__any", "__all", "__activemask",
                                        "__match", "__reduce", "__syncwarp"}) {
    if (function.starts_with(prefix)) return true;
  }
  return false;
}

bool is_pure_function(const std::string& function) {
  const bool makes_vector =
      function.starts_with("make_") && function.back() >= '1' && function.back() <= '4';
  return makes_vector || contains(kPureFunctions, function);
}

namespace {

// The value of an expression of literals, -3 among them.
std::optional<std::int64_t> literal_value(const ExprPtr& expr) {
  const auto polynomial =
      to_polynomial(expr, [](const std::string&) { return std::optional<Polynomial>(); });
  return polynomial ? polynomial->constant() : std::nullopt;
}

}  // namespace

std::optional<std::int64_t> CountedLoop::trip_count() const {
  const auto low = literal_value(first);
  const auto high = literal_value(limit);
  if (!low || !high) return std::nullopt;
  if (*high <= *low) return 0;
  return (*high - *low + stride - 1) / stride;
}

bool CountedLoop::starts_at_zero() const {
  return literal_value(first) == 0;
}

std::optional<CountedLoop> counted_loop_of(const Stmt& loop) {
  if (loop.kind != StmtKind::loop || !loop.init || !loop.step || !loop.value) return std::nullopt;
  if (loop.init->kind != StmtKind::declare || !loop.init->value) return std::nullopt;
  const std::string& name = loop.init->variable.name;
  const Expr& condition = *loop.value;
  auto is_variable = [&](const ExprPtr& expr) {
    return expr && expr->kind == ExprKind::variable && expr->text == name;
  };
  if (condition.kind != ExprKind::binary || !is_variable(condition.operands[0]))
    return std::nullopt;
  CountedLoop result;
  result.name = name;
  result.first = loop.init->value;
  if (condition.text == "<") {
    result.limit = condition.operands[1];
  } else if (condition.text == "<=") {
    result.limit = binary("+", condition.operands[1], integer(1));
  } else {
    return std::nullopt;
  }
  const Stmt& step = *loop.step;
  if (!is_variable(step.target) || step.text != "+=" || step.value->kind != ExprKind::integer ||
      step.value->number < 1) {
    return std::nullopt;
  }
  result.stride = step.value->number;
  if (variables_of(result.limit).contains(name)) return std::nullopt;
  bool assigned = false;
  walk(loop.body, [&](const Stmt& stmt) {
    if (stmt.target && is_variable(stmt.target)) assigned = true;
    walk_own_expressions(stmt, [&](const Expr& expr) {
      if (expr.kind == ExprKind::unary && expr.text == "&" && is_variable(expr.operands[0])) {
        assigned = true;
      }
    });
  });
  if (assigned) return std::nullopt;
  return result;
}

Analysis::Analysis(const Kernel& kernel) {
  scan(kernel);
}

void Analysis::scan(const Kernel& kernel) {
  for (const KernelParameter& parameter : kernel.parameters) {
    parameters_[parameter.name] = &parameter;
  }
  std::set<const Stmt*> loop_headers;
  walk(kernel.body, [&](const Stmt& stmt) {
    if (stmt.kind == StmtKind::opaque && !opaque_) {
      opaque_ = "line " + std::to_string(stmt.line) + ": '" + stmt.text.substr(0, 60) + "'";
    }
    if (stmt.kind == StmtKind::barrier) has_barrier_ = true;
    if (stmt.kind == StmtKind::declare) {
      locals_.emplace(stmt.variable.name, stmt.variable);
      has_shared_ = has_shared_ || stmt.variable.storage != Storage::automatic;
      if (!loop_headers.contains(&stmt)) definitions_.emplace(stmt.variable.name, stmt.value);
    }
    if (stmt.kind == StmtKind::loop) {
      if (const auto counted = counted_loop_of(stmt)) {
        loops_.emplace(counted->name, *counted);
        loop_headers.insert(stmt.init.get());
        loop_headers.insert(stmt.step.get());
      }
    }
    if (stmt.kind == StmtKind::assign && !loop_headers.contains(&stmt)) {
      if (const Expr* base = base_variable(*stmt.target)) {
        if (stmt.target->kind == ExprKind::variable) assigned_.insert(base->text);
        written_.insert(base->text);
      } else {
        scan_target(*stmt.target);
      }
    }
    walk_own_expressions(stmt, [&](const Expr& expr) {
      if (expr.kind == ExprKind::opaque && !opaque_) {
        opaque_ = "line " + std::to_string(stmt.line) + ": '" + expr.text.substr(0, 60) + "'";
      }
      if (expr.kind == ExprKind::builtin) builtins_.insert(expr.text);
      if (expr.kind == ExprKind::unary && expr.text == "&") {
        if (const Expr* base = base_variable(*expr.operands[0])) address_taken_.insert(base->text);
      }
      if (expr.kind != ExprKind::call) return;
      if (is_warp_intrinsic(expr.text)) {
        uses_warp_intrinsics_ = true;
      } else if (is_atomic(expr.text)) {
        if (!expr.operands.empty()) {
          walk(expr.operands[0], [&](const Expr& inner) {
            if (inner.kind == ExprKind::variable) written_.insert(inner.text);
          });
        }
      } else if (!is_pure_function(expr.text)) {
        unknown_calls_.insert(expr.text);
        // A pointer handed to an unknown function may be written through.
        for (const ExprPtr& argument : expr.operands) {
          walk(argument, [&](const Expr& inner) {
            if (inner.kind == ExprKind::variable) written_.insert(inner.text);
          });
        }
      }
    });
  });
}

// A target that is neither a variable nor an element: a member, or memory seen as another type.
void Analysis::scan_target(const Expr& target) {
  const Expr* node = &target;
  for (;;) {
    const bool descends = node->kind == ExprKind::index || node->kind == ExprKind::member ||
                          node->kind == ExprKind::cast ||
                          (node->kind == ExprKind::unary && node->text == "&");
    if (!descends) break;
    node = node->operands[0].get();
  }
  if (node->kind == ExprKind::variable) {
    written_.insert(node->text);
    if (!is_global_pointer(node->text)) assigned_.insert(node->text);
    return;
  }
  // Something stranger: whatever it mentions.
  for (const std::string& name : variables_of(std::make_shared<Expr>(target))) {
    assigned_.insert(name);
    written_.insert(name);
  }
}

SymbolMeaning Analysis::meaning() const {
  return [this](const std::string& name) -> std::optional<Polynomial> {
    if (name.find('.') != std::string::npos) return Polynomial::symbol(name);
    const auto parameter = parameters_.find(name);
    if (parameter != parameters_.end()) {
      const KernelParameter& found = *parameter->second;
      const bool usable = !found.is_pointer && found.scalar && !is_floating(*found.scalar) &&
                          !assigned_.contains(name) && !address_taken_.contains(name);
      return usable ? std::optional(Polynomial::symbol(name)) : std::nullopt;
    }
    if (loops_.contains(name)) {
      return assigned_.contains(name) ? std::nullopt : std::optional(Polynomial::symbol(name));
    }
    const ExprPtr value = definition(name);
    return value ? to_polynomial(value, meaning()) : std::nullopt;
  };
}

std::optional<Polynomial> Analysis::polynomial(const ExprPtr& expr) const {
  return to_polynomial(expr, meaning());
}

bool Analysis::is_single_definition(const std::string& name) const {
  return locals_.contains(name) && !assigned_.contains(name) && !address_taken_.contains(name) &&
         (loops_.contains(name) || definition(name) != nullptr);
}

ExprPtr Analysis::definition(const std::string& name) const {
  const auto found = definitions_.find(name);
  if (found == definitions_.end() || assigned_.contains(name) || address_taken_.contains(name)) {
    return nullptr;
  }
  const Variable& declared = locals_.at(name);
  if (!declared.extents.empty() || declared.storage != Storage::automatic) return nullptr;
  return found->second;
}

const CountedLoop* Analysis::loop(const std::string& name) const {
  const auto found = loops_.find(name);
  return found == loops_.end() ? nullptr : &found->second;
}

const Variable* Analysis::local(const std::string& name) const {
  const auto found = locals_.find(name);
  return found == locals_.end() ? nullptr : &found->second;
}

bool Analysis::is_written(const std::string& parameter) const {
  return written_.contains(parameter);
}

bool Analysis::is_shared(const std::string& name) const {
  const Variable* variable = local(name);
  return variable != nullptr && variable->storage != Storage::automatic;
}

bool Analysis::is_global_pointer(const std::string& name) const {
  const auto parameter = parameters_.find(name);
  return parameter != parameters_.end() && parameter->second->is_pointer;
}

bool Analysis::reads_memory(const ExprPtr& expr) const {
  bool reads = false;
  walk(expr, [&](const Expr& node) {
    if (node.kind == ExprKind::opaque) reads = true;
    if (node.kind == ExprKind::call &&
        (!is_pure_function(node.text) || reads_through_argument(node.text))) {
      reads = true;
    }
    if (node.kind != ExprKind::index) return;
    const Expr* base = base_variable(node);
    const Variable* variable = base != nullptr ? local(base->text) : nullptr;
    // Arrays in registers are no memory; everything else is.
    if (variable == nullptr || variable->is_pointer || variable->storage != Storage::automatic) {
      reads = true;
    }
  });
  return reads;
}

bool Analysis::reads_global(const ExprPtr& expr) const {
  bool reads = false;
  walk(expr, [&](const Expr& node) {
    if (node.kind == ExprKind::opaque) reads = true;
    if (node.kind == ExprKind::call &&
        (!is_pure_function(node.text) || reads_through_argument(node.text))) {
      if (!is_warp_intrinsic(node.text)) reads = true;
    }
    if (node.kind != ExprKind::index) return;
    const Expr* base = base_variable(node);
    const Variable* variable = base != nullptr ? local(base->text) : nullptr;
    if (variable == nullptr || variable->is_pointer) reads = true;
  });
  return reads;
}

void for_each_polynomial(const Kernel& kernel, const Analysis& analysis,
                         const std::function<void(const Polynomial&)>& visit) {
  std::function<void(const ExprPtr&)> descend = [&](const ExprPtr& expr) {
    if (!expr) return;
    if (const auto polynomial = analysis.polynomial(expr)) {
      visit(*polynomial);
      return;
    }
    for (const ExprPtr& operand : expr->operands)
      descend(operand);
  };
  walk(kernel.body, [&](const Stmt& stmt) {
    const bool is_inlined = stmt.kind == StmtKind::declare &&
                            analysis.definition(stmt.variable.name) != nullptr &&
                            analysis.polynomial(stmt.value).has_value();
    if (is_inlined) return;
    descend(stmt.target);
    descend(stmt.value);
  });
}

std::vector<ExprPtr> conjuncts(const ExprPtr& condition) {
  if (!condition) return {};
  if (condition->kind == ExprKind::binary && condition->text == "&&") {
    std::vector<ExprPtr> terms = conjuncts(condition->operands[0]);
    const std::vector<ExprPtr> more = conjuncts(condition->operands[1]);
    terms.insert(terms.end(), more.begin(), more.end());
    return terms;
  }
  return {condition};
}

ExprPtr negate(const ExprPtr& condition) {
  static const std::map<std::string, std::string> kOpposite = {
      {"<", ">="}, {">=", "<"}, {">", "<="}, {"<=", ">"}, {"==", "!="}, {"!=", "=="}};
  if (condition->kind == ExprKind::unary && condition->text == "!") return condition->operands[0];
  if (condition->kind == ExprKind::binary) {
    const ExprPtr& left = condition->operands[0];
    const ExprPtr& right = condition->operands[1];
    if (condition->text == "&&") return binary("||", negate(left), negate(right));
    if (condition->text == "||") return binary("&&", negate(left), negate(right));
    const auto opposite = kOpposite.find(condition->text);
    // NaN makes !(a < b) differ from a >= b, so only integers are turned round.
    const bool integers =
        left->type && right->type && !is_floating(*left->type) && !is_floating(*right->type);
    if (opposite != kOpposite.end() && integers) return binary(opposite->second, left, right);
  }
  return unary("!", condition);
}

}  // namespace regraph::source

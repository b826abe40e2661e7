#include "rewrite/analysis/lockstep.h"

#include "rewrite/analysis/reduction.h"
#include "source/match.h"
#include "source/walk.h"

#include <array>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <string_view>
#include <utility>

namespace regraph::rewrite {

namespace {

using Kind = LockstepValue::Kind;

constexpr std::size_t kWarp = 32;
// Rounds of all loops together: more is no exchange.
constexpr int kMostSteps = 4096;

LockstepValue unknown() {
  return {};
}

LockstepValue mixed() {
  LockstepValue result;
  result.kind = Kind::mixed;
  return result;
}

LockstepValue number(double value, bool is_integer) {
  LockstepValue result;
  result.kind = Kind::number;
  result.number = value;
  result.is_integer = is_integer;
  return result;
}

bool is_number(const LockstepValue& value) {
  return value.kind == Kind::number;
}

bool is_idempotent(const Combination& by) {
  return !by.function.empty() || by.op == AssignmentOperator::bit_and ||
         by.op == AssignmentOperator::bit_or;
}

// Whether putting the number to anything changes nothing.
bool is_neutral(double value, const Combination& by) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (by.op == AssignmentOperator::add || by.op == AssignmentOperator::bit_or ||
      by.op == AssignmentOperator::bit_xor) {
    return value == 0.0;
  }
  if (by.op == AssignmentOperator::multiply) return value == 1.0;
  if (by.function == "fmaxf" || by.function == "fmax") return value == -kInfinity;
  if (by.function == "fminf" || by.function == "fmin") return value == kInfinity;
  return false;
}

// What an extremum of values of the type is called: max(x, y) of two floats is fmaxf(x, y).
std::string function_of(BinaryOperator kept, std::optional<ScalarType> type) {
  const bool is_largest = kept == BinaryOperator::greater;
  if (type == ScalarType::f32) return is_largest ? "fmaxf" : "fminf";
  if (type == ScalarType::f64) return is_largest ? "fmax" : "fmin";
  const bool is_number = type == ScalarType::i32 || type == ScalarType::u32 ||
                         type == ScalarType::i64 || type == ScalarType::u64;
  if (!is_number) return "";
  return is_largest ? "max" : "min";
}

// The one of two numbers that an extremum keeps.
double kept_of(double a, double b, const Combination& by) {
  return extremum_of(by.function) == BinaryOperator::greater ? std::fmax(a, b) : std::fmin(a, b);
}

LockstepValue combined(const LockstepValue& a, const LockstepValue& b, const Combination& by) {
  if (a.kind == Kind::unknown || b.kind == Kind::unknown) return unknown();
  if (a.kind == Kind::mixed || b.kind == Kind::mixed) return mixed();
  if (is_number(a) && b.kind == Kind::threads) return combined(b, a, by);
  if (a.kind != Kind::threads) return unknown();
  if (!a.by.is_none() && !(a.by == by)) return unknown();
  LockstepValue result = a;
  if (is_number(b)) {
    if (is_neutral(b.number, by)) return result;
    // An extremum may keep it, in any order: max(max(x, 0), y) is max(max(x, y), 0).
    if (by.function.empty()) return unknown();
    result.by = by;
    result.bound = a.bound ? kept_of(*a.bound, b.number, by) : b.number;
    return result;
  }
  const bool fits =
      b.kind == Kind::threads && b.variable == a.variable && (b.by.is_none() || b.by == by);
  if (!fits) return unknown();
  if (!is_idempotent(by) && (a.threads & b.threads).any()) return mixed();
  result.by = by;
  result.threads |= b.threads;
  if (b.bound) result.bound = a.bound ? kept_of(*a.bound, *b.bound, by) : *b.bound;
  return result;
}

// What the condition keeps of the two values that it compares: a > b ? a : b keeps the larger one.
// Values that are no numbers have no order: which one stays depends on how the code asks, as with
// any loop that keeps the largest by a comparison.
std::optional<BinaryOperator> extremum_of(const Conditional& choice) {
  const auto* asked = as<Binary>(choice.condition);
  if (asked == nullptr) return std::nullopt;
  const bool keeps_left = equal(asked->left, choice.then) && equal(asked->right, choice.otherwise);
  const bool keeps_right = equal(asked->left, choice.otherwise) && equal(asked->right, choice.then);
  if (!keeps_left && !keeps_right) return std::nullopt;
  if (asked->op == BinaryOperator::greater || asked->op == BinaryOperator::greater_equal)
    return keeps_left ? BinaryOperator::greater : BinaryOperator::less;
  if (asked->op == BinaryOperator::less || asked->op == BinaryOperator::less_equal)
    return keeps_left ? BinaryOperator::less : BinaryOperator::greater;
  return std::nullopt;
}

std::optional<double> arithmetic(BinaryOperator op, double a, double b, bool integers) {
  const auto i = [](double value) { return static_cast<std::int64_t>(value); };
  switch (op) {
    case BinaryOperator::add:
      return a + b;
    case BinaryOperator::subtract:
      return a - b;
    case BinaryOperator::multiply:
      return a * b;
    case BinaryOperator::divide:
      if (b == 0.0) return std::nullopt;
      if (!integers) return a / b;
      return std::trunc(a / b);
    case BinaryOperator::remainder:
      if (!integers || i(b) == 0) return std::nullopt;
      return static_cast<double>(i(a) % i(b));
    case BinaryOperator::less:
      return a < b ? 1.0 : 0.0;
    case BinaryOperator::less_equal:
      return a <= b ? 1.0 : 0.0;
    case BinaryOperator::greater:
      return a > b ? 1.0 : 0.0;
    case BinaryOperator::greater_equal:
      return a >= b ? 1.0 : 0.0;
    case BinaryOperator::equal:
      return a == b ? 1.0 : 0.0;
    case BinaryOperator::not_equal:
      return a != b ? 1.0 : 0.0;
    case BinaryOperator::logical_and:
      return a != 0.0 && b != 0.0 ? 1.0 : 0.0;
    case BinaryOperator::logical_or:
      return a != 0.0 || b != 0.0 ? 1.0 : 0.0;
    default:
      break;
  }
  if (!integers || a < 0.0 || b < 0.0) return std::nullopt;
  switch (op) {
    case BinaryOperator::bit_and:
      return static_cast<double>(i(a) & i(b));
    case BinaryOperator::bit_or:
      return static_cast<double>(i(a) | i(b));
    case BinaryOperator::bit_xor:
      return static_cast<double>(i(a) ^ i(b));
    case BinaryOperator::shift_left:
      return b < 32.0 ? std::optional(static_cast<double>(i(a) << i(b))) : std::nullopt;
    case BinaryOperator::shift_right:
      return b < 32.0 ? std::optional(static_cast<double>(i(a) >> i(b))) : std::nullopt;
    default:
      return std::nullopt;
  }
}

LockstepValue operated(BinaryOperator op, const LockstepValue& a, const LockstepValue& b) {
  if (is_number(a) && is_number(b)) {
    const bool integers = a.is_integer && b.is_integer;
    const auto result = arithmetic(op, a.number, b.number, integers);
    return result ? number(*result, integers || gives_boolean(op)) : unknown();
  }
  const auto compound = source::compound(op);
  return is_associative(compound) ? combined(a, b, {compound, ""}) : unknown();
}

LockstepValue literal(const FloatingLiteral& expr) {
  if (expr.spelling == "INFINITY") return number(std::numeric_limits<double>::infinity(), false);
  char* end = nullptr;
  const double value = std::strtod(expr.spelling.c_str(), &end);
  return end != expr.spelling.c_str() ? number(value, false) : unknown();
}

}  // namespace

Lockstep::Lockstep(const Analysis& analysis, std::uint32_t threads)
    : analysis_(&analysis), threads_(threads) {}

ThreadSet Lockstep::all() const {
  ThreadSet result;
  for (std::size_t thread = 0; thread < threads_; ++thread)
    result.set(thread);
  return result;
}

const std::vector<LockstepValue>* Lockstep::variable(const std::string& name) const {
  const auto found = variables_.find(name);
  return found != variables_.end() ? &found->second : nullptr;
}

const LockstepValue* Lockstep::element(const std::string& array, std::int64_t at) const {
  const auto found = arrays_.find(array);
  if (found == arrays_.end()) return nullptr;
  const auto value = found->second.find(at);
  return value != found->second.end() ? &value->second : nullptr;
}

bool Lockstep::run(const StmtPtr& stmt) {
  Lockstep tried = *this;
  if (!tried.run(*stmt, all())) return false;
  *this = std::move(tried);
  return true;
}

bool Lockstep::run(const Block& block, const ThreadSet& active) {
  for (const StmtPtr& stmt : block)
    if (!run(*stmt, active)) return false;
  return true;
}

bool Lockstep::run(const Stmt& stmt, const ThreadSet& active) {
  switch (stmt.kind()) {
    case StmtKind::barrier:
      written_by_.clear();
      return active == all();
    case StmtKind::scope:
      return run(body_of(stmt), active);
    case StmtKind::declaration: {
      const auto& declared = to<Declaration>(stmt);
      const Variable& variable = declared.variable;
      if (variable.storage != Storage::automatic) return true;
      if (!variable.extents.empty() || variable.is_pointer || !variable.scalar) return false;
      if (!declared.value) {
        variables_[variable.name].assign(threads_, unknown());
        return true;
      }
      const VariableReference target(variable.name, variable.scalar);
      variables_[variable.name].assign(threads_, unknown());
      return assign(target, AssignmentOperator::assign, declared.value, active);
    }
    case StmtKind::assignment: {
      const auto& assigned = to<Assignment>(stmt);
      return assign(*assigned.target, assigned.op, assigned.value, active);
    }
    case StmtKind::branch: {
      const auto& choice = to<Branch>(stmt);
      const auto yes = where(choice.condition, active);
      return yes && run(choice.body, *yes) && run(choice.otherwise, active & ~*yes);
    }
    case StmtKind::for_loop:
      return run_loop(to<ForLoop>(stmt), active);
    case StmtKind::evaluation:
      return to<source::Evaluation>(stmt).call().function == "__syncwarp";
    default:
      return false;
  }
}

bool Lockstep::run_loop(const ForLoop& loop, const ThreadSet& active) {
  if (!loop.init || !loop.condition || !loop.step || !run(*loop.init, active)) return false;
  while (true) {
    const auto going = where(loop.condition, active);
    if (!going || (going->any() && *going != active)) return false;
    if (going->none()) break;
    if (++steps_ > kMostSteps || !run(loop.body, active) || !run(*loop.step, active)) return false;
  }
  if (const auto* counter = loop.declaration()) variables_.erase(counter->variable.name);
  return true;
}

bool Lockstep::assign(const Expr& target, AssignmentOperator op, const ExprPtr& value,
                      const ThreadSet& active) {
  const auto* name = as<VariableReference>(target);
  const auto* place = as<Subscript>(target);
  const auto* array = place != nullptr ? as<VariableReference>(place->base) : nullptr;
  if (name == nullptr && (array == nullptr || !analysis_->is_shared(array->name))) return false;
  if (name != nullptr && analysis_->local(name->name) == nullptr && !variable(name->name))
    return false;
  const bool is_shared = name != nullptr && analysis_->is_shared(name->name);
  // All read before any writes.
  std::vector<std::pair<std::size_t, LockstepValue>> results;
  for (std::size_t thread = 0; thread < threads_; ++thread) {
    if (!active.test(thread)) continue;
    LockstepValue result = this->value(value, thread, active);
    if (op != AssignmentOperator::assign) {
      const auto operation = operation_of(op);
      const LockstepValue before = name != nullptr ? value_of_name(name->name, thread, active)
                                                   : value_of_element(target, thread, active);
      result = operation ? operated(*operation, before, result) : unknown();
    }
    if (result.kind == Kind::unknown) return false;
    results.emplace_back(thread, std::move(result));
  }
  if (is_shared) {
    for (auto& [thread, result] : results)
      put(name->name, 0, thread, std::move(result));
    return true;
  }
  if (name != nullptr) {
    auto& values = variables_[name->name];
    if (values.empty()) {
      // Threads that are left out keep what they had.
      for (std::size_t thread = 0; thread < threads_; ++thread) {
        LockstepValue own;
        own.kind = Kind::threads;
        own.variable = name->name;
        own.threads.set(thread);
        values.push_back(std::move(own));
      }
    }
    for (auto& [thread, result] : results)
      values[thread] = std::move(result);
    return true;
  }
  for (auto& [thread, result] : results) {
    const LockstepValue at = this->value(place->index, thread, active);
    if (!is_number(at) || !at.is_integer) return false;
    put(array->name, static_cast<std::int64_t>(at.number), thread, std::move(result));
  }
  return true;
}

void Lockstep::put(const std::string& array, std::int64_t at, std::size_t thread,
                   LockstepValue value) {
  arrays_[array][at] = std::move(value);
  written_by_[array][at] = thread / kWarp;
  ++exchanges_;
}

LockstepValue Lockstep::held(const std::string& array, std::int64_t at, std::size_t thread) const {
  ++exchanges_;
  const LockstepValue* value = element(array, at);
  if (value == nullptr) return unknown();
  const auto written = written_by_.find(array);
  if (written == written_by_.end()) return *value;
  const auto by = written->second.find(at);
  return by == written->second.end() || by->second == thread / kWarp ? *value : unknown();
}

std::optional<ThreadSet> Lockstep::where(const ExprPtr& condition, const ThreadSet& active) const {
  ThreadSet result;
  for (std::size_t thread = 0; thread < threads_; ++thread) {
    if (!active.test(thread)) continue;
    const LockstepValue holds = value(condition, thread, active);
    if (!is_number(holds)) return std::nullopt;
    result.set(thread, holds.number != 0.0);
  }
  return result;
}

LockstepValue Lockstep::value(const ExprPtr& expr, std::size_t thread,
                              const ThreadSet& active) const {
  if (const auto* integer = as<IntegerLiteral>(expr))
    return number(static_cast<double>(integer->value), true);
  if (const auto* floating = as<FloatingLiteral>(expr)) return literal(*floating);
  if (is_zero(expr)) return number(0.0, false);
  if (const auto* builtin = as<Builtin>(expr)) {
    if (builtin->name == "threadIdx.x") return number(static_cast<double>(thread), true);
    if (builtin->name == "blockDim.x") return number(static_cast<double>(threads_), true);
    if (builtin->name == "threadIdx.y" || builtin->name == "threadIdx.z") return number(0.0, true);
    if (builtin->name == "blockDim.y" || builtin->name == "blockDim.z") return number(1.0, true);
    return unknown();
  }
  if (const auto* name = as<VariableReference>(expr))
    return value_of_name(name->name, thread, active);
  if (is<Subscript>(expr)) return value_of_element(*expr, thread, active);
  if (const auto* cast = as<Cast>(expr)) {
    LockstepValue inner = value(cast->operand, thread, active);
    if (is_number(inner) && cast->type) {
      inner.is_integer = !is_floating(*cast->type);
      if (inner.is_integer) inner.number = std::trunc(inner.number);
      return inner;
    }
    return cast->type == cast->operand->type ? inner : unknown();
  }
  if (const auto* unary = as<Unary>(expr)) {
    LockstepValue inner = value(unary->operand, thread, active);
    if (!is_number(inner)) return unknown();
    if (unary->op == UnaryOperator::minus)
      inner.number = -inner.number;
    else if (unary->op == UnaryOperator::logical_not)
      return number(inner.number == 0.0 ? 1.0 : 0.0, true);
    else if (unary->op != UnaryOperator::plus)
      return unknown();
    return inner;
  }
  if (const auto* binary = as<Binary>(expr)) {
    return operated(binary->op, value(binary->left, thread, active),
                    value(binary->right, thread, active));
  }
  if (const auto* choice = as<Conditional>(expr)) {
    const LockstepValue holds = value(choice->condition, thread, active);
    if (!is_number(holds)) return value_of_choice(*choice, thread, active);
    return value(holds.number != 0.0 ? choice->then : choice->otherwise, thread, active);
  }
  const auto* call = as<Call>(expr);
  return call != nullptr ? value_of_call(*call, thread, active) : unknown();
}

LockstepValue Lockstep::value_of_name(const std::string& name, std::size_t thread,
                                      const ThreadSet& active) const {
  if (const auto* values = variable(name)) return (*values)[thread];
  if (analysis_->is_shared(name)) return held(name, 0, thread);
  const Variable* local = analysis_->local(name);
  if (local == nullptr || !local->scalar || !local->extents.empty() || local->is_pointer)
    return unknown();
  // int lane = threadIdx.x % 32;
  if (const ExprPtr definition = analysis_->definition(name);
      definition && !is_floating(*local->scalar)) {
    LockstepValue known = value(definition, thread, active);
    if (is_number(known)) return known;
  }
  LockstepValue own;
  own.kind = Kind::threads;
  own.variable = name;
  own.threads.set(thread);
  return own;
}

LockstepValue Lockstep::value_of_element(const Expr& element, std::size_t thread,
                                         const ThreadSet& active) const {
  const auto& place = to<Subscript>(element);
  const auto* array = as<VariableReference>(place.base);
  if (array == nullptr) return unknown();
  const LockstepValue at = value(place.index, thread, active);
  if (!is_number(at) || !at.is_integer) return unknown();
  return held(array->name, static_cast<std::int64_t>(at.number), thread);
}

LockstepValue Lockstep::value_of_call(const Call& call, std::size_t thread,
                                      const ThreadSet& active) const {
  if (call.function.starts_with("__shfl_") && call.function.ends_with("_sync"))
    return shuffled(call, thread, active);
  const auto extremum = extremum_of(call.function);
  if (!extremum || call.arguments.size() != 2) return unknown();
  const LockstepValue a = value(call.arguments[0], thread, active);
  const LockstepValue b = value(call.arguments[1], thread, active);
  if (!is_number(a) || !is_number(b)) {
    const std::string function = function_of(*extremum, call.type);
    return combined(a, b, {std::nullopt, function.empty() ? call.function : function});
  }
  return (a.number < b.number) == (extremum == BinaryOperator::greater) ? b : a;
}

LockstepValue Lockstep::value_of_choice(const Conditional& choice, std::size_t thread,
                                        const ThreadSet& active) const {
  const auto kept = extremum_of(choice);
  const std::string function = kept ? function_of(*kept, choice.then->type) : "";
  if (function.empty() || choice.then->type != choice.otherwise->type) return unknown();
  return combined(value(choice.then, thread, active), value(choice.otherwise, thread, active),
                  {std::nullopt, function});
}

LockstepValue Lockstep::shuffled(const Call& call, std::size_t thread,
                                 const ThreadSet& active) const {
  if (call.arguments.size() < 3 || call.arguments.size() > 4) return unknown();
  const LockstepValue by = value(call.arguments[2], thread, active);
  const LockstepValue of = call.arguments.size() == 4 ? value(call.arguments[3], thread, active)
                                                      : number(static_cast<double>(kWarp), true);
  if (!is_number(by) || !is_number(of) || by.number < 0.0 || of.number < 1.0 ||
      of.number > static_cast<double>(kWarp)) {
    return unknown();
  }
  const auto distance = static_cast<std::size_t>(by.number);
  const auto width = static_cast<std::size_t>(of.number);
  const std::size_t lane = thread % width;
  const std::size_t first = thread - lane;
  std::size_t from = thread;
  if (call.function == "__shfl_xor_sync") {
    from = first + (lane ^ distance);
    if ((lane ^ distance) >= width) from = thread;
  } else if (call.function == "__shfl_down_sync") {
    if (lane + distance < width) from = thread + distance;
  } else if (call.function == "__shfl_up_sync") {
    if (lane >= distance) from = thread - distance;
  } else if (call.function == "__shfl_sync") {
    from = first + distance % width;
  } else {
    return unknown();
  }
  ++exchanges_;
  if (from >= threads_ || !active.test(from)) return mixed();
  return value(call.arguments[1], from, active);
}

}  // namespace regraph::rewrite

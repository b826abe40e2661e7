#include "rewrite/transform/element_sum_code.h"

#include "rewrite/analysis/global_index.h"
#include "rewrite/analysis/vector_type.h"
#include "rewrite/transform/names.h"
#include "rewrite/transform/unused_integers.h"
#include "rewrite/transform/warp_shuffle.h"
#include "source/build.h"
#include "source/match.h"
#include "source/walk.h"

#include <map>
#include <optional>
#include <string>
#include <utility>

namespace regraph::rewrite {

using source::as;
using source::Block;
using source::Builtin;
using source::Expr;
using source::ExprPtr;
using source::Polynomial;
using source::StmtPtr;

namespace {

constexpr const char* kThread = "threadIdx.x";

class SumCode {
 public:
  SumCode(const KernelForm& form, const ElementSum& sum, const SumShape& shape)
      : form_(form), sum_(sum), shape_(shape), names_(form.kernel) {
    total_.variable = names_.fresh("sum");
    total_.type = sum.type;
    total_.scalar = sum.scalar;
    first_ = names_.fresh("first");
    element_ = names_.fresh("i");
  }

  Block run() {
    const ExprPtr count = source::to_expression(sum_.count);
    const ExprPtr per_block = source::integer(shape_.elements_per_block());
    Block result = {
        source::declare(source::local_variable(total_.variable, total_.type, total_.scalar),
                        source::zero_of(total_.scalar)),
        source::declare_integer(
            first_,
            source::multiply(source::cast("int", source::builtin("blockIdx.x")), per_block))};
    const ExprPtr whole =
        source::binary(source::BinaryOperator::less_equal, source::add(first(), per_block), count);
    Block full = {full_rounds()};
    Block rest = {source::counted_loop(
        element_, source::add(first(), source::cast("int", source::builtin(kThread))), count,
        shape_.threads, element({}))};
    result.push_back(source::branch(whole, std::move(full), names_.renamed(rest)));
    add_up(result);
    return result;
  }

 private:
  ExprPtr first() const { return source::variable(first_); }
  ExprPtr total() const { return source::variable(total_.variable, total_.scalar); }

  // An atomic converts what it adds before it does.
  ExprPtr added() const {
    if (sum_.value->type == sum_.scalar) return sum_.value;
    return source::with_type(source::cast(sum_.type, sum_.value), sum_.scalar);
  }

  // What a thread does for element `element_`; streams are read from these registers.
  Block element(const std::map<std::string, ExprPtr>& registers) const {
    const ExprPtr index = source::variable(element_);
    Block body =
        source::rewrite_statements(sum_.element, [&](const StmtPtr& stmt) -> std::optional<Block> {
          if (stmt.get() != sum_.atomic) return std::nullopt;
          return Block{source::assign(total(), source::AssignmentOperator::add, added())};
        });
    body = source::rewrite_expressions(body, [&](const ExprPtr& expr) -> std::optional<ExprPtr> {
      if (const auto* access = as<source::Subscript>(expr)) {
        const auto* base = as<source::VariableReference>(access->base);
        const auto held = base != nullptr ? registers.find(base->name) : registers.end();
        if (held != registers.end() &&
            form_.analysis.polynomial(access->index) == global_index("x"))
          return held->second;
        return std::nullopt;
      }
      if (const auto* builtin = as<Builtin>(expr)) {
        // The kernel knows both together only.
        if (builtin->name == "blockIdx.x") return source::integer(0);
        if (builtin->name == kThread) return in_type_of(*expr, index);
        return std::nullopt;
      }
      if (!source::is<source::Binary>(expr) || form_.analysis.polynomial(expr) != global_index("x"))
        return std::nullopt;
      return in_type_of(*expr, index);
    });
    return without_unused_integers(std::move(body));
  }

  // for (round...) { vectors; for (place...) element }, unrolled.
  StmtPtr full_rounds() {
    const std::string round = names_.fresh("round");
    const std::string start = names_.fresh("start");
    const std::string place = names_.fresh("place");
    const ExprPtr step = source::integer(shape_.threads * shape_.width);
    Block body = {source::declare_integer(
        start, source::add(source::add(first(), source::multiply(source::variable(round), step)),
                           source::multiply(source::cast("int", source::builtin(kThread)),
                                            source::integer(shape_.width))))};
    std::map<std::string, ExprPtr> registers;
    if (shape_.width > 1) {
      for (const auto& [array, scalar] : sum_.streams) {
        const std::string values = names_.fresh(array + "_values");
        load(array, scalar, values, start, body);
        registers[array] =
            source::element(source::variable(values, scalar), {source::variable(place)});
      }
    }
    Block one = {source::declare_integer(
        element_, source::add(source::variable(start), source::variable(place)))};
    const Block code = element(registers);
    one.insert(one.end(), code.begin(), code.end());
    one = without_unused_integers(std::move(one));
    body.push_back(source::counted_loop(place, source::integer(0), source::integer(shape_.width), 1,
                                        std::move(one), source::kUnrollFully));
    return source::counted_loop(round, source::integer(0), source::integer(shape_.rounds), 1,
                                std::move(body), source::kUnrollFully);
  }

  void load(const std::string& array, ScalarType scalar, const std::string& values,
            const std::string& start, Block& out) {
    const std::string type = vector_type(scalar, shape_.width);
    const std::string vector = names_.fresh(array + "_vector");
    out.push_back(source::declare(
        source::local_variable(values, std::string(cuda_name(scalar)), scalar, {shape_.width}),
        nullptr));
    const ExprPtr address = source::address(
        source::element(source::variable(array, scalar), {source::variable(start)}));
    out.push_back(source::declare(
        source::local_variable(vector, type, std::nullopt),
        source::element(source::cast("const " + type + "*", address), {source::integer(0)})));
    for (int number = 0; number < shape_.width; ++number) {
      out.push_back(source::assign(
          source::element(source::variable(values, scalar), {source::integer(number)}),
          source::member(source::variable(vector, std::nullopt), component_name(number), scalar)));
    }
  }

  // The block's sum goes to where all sums go.
  void add_up(Block& out) {
    const std::string offset = names_.fresh("offset");
    out.push_back(all_reduce(total_, kWarpLanes, offset, names_.fresh("other")));
    const int warps = shape_.threads / kWarpLanes;
    const ExprPtr thread = source::cast("int", source::builtin(kThread));
    if (warps > 1) {
      source::Variable slots = source::local_variable(names_.fresh(total_.variable + "_of_warp"),
                                                      total_.type, total_.scalar, {warps});
      slots.storage = source::Storage::shared;
      const ExprPtr array = source::variable(slots.name, total_.scalar);
      out.insert(out.begin(), source::declare(slots, nullptr));
      const ExprPtr warp = source::divide(thread, source::integer(kWarpLanes));
      const ExprPtr lane = source::remainder(thread, source::integer(kWarpLanes));
      out.push_back(source::branch(source::equals(lane, source::integer(0)),
                                   {source::assign(source::element(array, {warp}), total())}));
      out.push_back(source::barrier());
      out.push_back(source::assign(
          total(), source::element(array, {source::remainder(thread, source::integer(warps))})));
      out.push_back(all_reduce(total_, warps, names_.fresh("offset"), names_.fresh("other")));
    }
    out.push_back(
        source::branch(source::equals(thread, source::integer(0)),
                       {source::evaluate(source::call("atomicAdd", {sum_.target, total()}))}));
  }

  const KernelForm& form_;
  const ElementSum& sum_;
  const SumShape& shape_;
  Names names_;
  Reduction total_;
  std::string first_;
  std::string element_;
};

}  // namespace

Block element_sum_code(const KernelForm& form, const ElementSum& sum, const SumShape& shape) {
  return SumCode(form, sum, shape).run();
}

}  // namespace regraph::rewrite

#include "rewrite/analysis/legality.h"

#include "source/build.h"
#include "source/printer.h"
#include "source/walk.h"

#include <algorithm>
#include <utility>

namespace regraph::rewrite {

using source::Block;
using source::Expr;
using source::ExprKind;
using source::ExprPtr;
using source::Kernel;
using source::Stmt;
using source::StmtKind;
using source::StmtPtr;

void rely_on(KernelState& state, const std::string& assumption) {
  const auto found =
      std::lower_bound(state.assumptions.begin(), state.assumptions.end(), assumption);
  if (found == state.assumptions.end() || *found != assumption)
    state.assumptions.insert(found, assumption);
}

Result<int> integer_parameter(const StepParameters& parameters, const std::string& name) {
  const auto found = parameters.find(name);
  if (found == parameters.end()) {
    return fail(ErrorCode::invalid_argument, "the step needs a parameter '" + name + "'");
  }
  int value = 0;
  for (const char digit : found->second) {
    if (digit < '0' || digit > '9' || value > 1'000'000) {
      return fail(ErrorCode::invalid_argument,
                  "parameter '" + name + "' is '" + found->second + "', not a small number");
    }
    value = value * 10 + (digit - '0');
  }
  return value;
}

Status require_transparent(const KernelState& state, const source::Analysis& analysis) {
  if (const auto opaque = analysis.opaque()) {
    return refuse("the kernel holds code the rewriter has no form for, " + *opaque);
  }
  if (analysis.unknown_calls().empty()) return {};
  for (const char* index : {"threadIdx", "blockIdx", "blockDim", "gridDim", "__syncthreads"}) {
    const bool outside = state.unit.before.find(index) != std::string::npos ||
                         state.unit.after.find(index) != std::string::npos;
    if (outside) {
      return refuse("the kernel calls '" + *analysis.unknown_calls().begin() +
                    "' and functions of the file use " + index +
                    ", which the rewriter does not follow");
    }
  }
  return {};
}

Result<const Launch*> only_launch(const KernelState& state) {
  if (state.plan.launches.size() != 1) return refuse("the launch plan has several launches");
  return &state.plan.launches.front();
}

std::uint32_t extent(const Dim3& dim, int axis) {
  return axis == 0 ? dim.x : axis == 1 ? dim.y : dim.z;
}

void set_extent(Dim3& dim, int axis, std::uint32_t value) {
  (axis == 0 ? dim.x : axis == 1 ? dim.y : dim.z) = value;
}

source::Polynomial with_block_extents(const source::Polynomial& polynomial, const Dim3& block) {
  source::Polynomial result = polynomial;
  for (int axis = 0; axis < 3; ++axis) {
    result = result.substitute(std::string("blockDim.") + kAxes[static_cast<std::size_t>(axis)],
                               source::Polynomial(extent(block, axis)));
  }
  return result;
}

ExprPtr zero_value(const std::string& type, std::optional<ScalarType> scalar) {
  if (scalar) return source::zero_of(*scalar);
  if (type.size() < 2 || type.back() < '2' || type.back() > '4') return nullptr;
  const auto component = scalar_type_from_cuda_name(type.substr(0, type.size() - 1));
  const ExprPtr zero = component ? source::zero_of(*component) : nullptr;
  if (!zero) return nullptr;
  return source::call("make_" + type,
                      std::vector<ExprPtr>(static_cast<std::size_t>(type.back() - '0'), zero));
}

source::ExprPtr linear_thread(const Dim3& block) {
  using source::Polynomial;
  Polynomial thread = Polynomial::symbol("threadIdx.x");
  std::int64_t pitch = block.x;
  if (block.y > 1) thread = thread + Polynomial(pitch) * Polynomial::symbol("threadIdx.y");
  pitch *= block.y;
  if (block.z > 1) thread = thread + Polynomial(pitch) * Polynomial::symbol("threadIdx.z");
  return source::to_expression(thread);
}

std::int64_t shared_bytes(const Kernel& kernel) {
  std::int64_t bytes = 0;
  walk(kernel.body, [&](const Stmt& stmt) {
    if (stmt.kind != StmtKind::declare || stmt.variable.storage != source::Storage::shared) return;
    std::int64_t size = stmt.variable.scalar
                            ? static_cast<std::int64_t>(size_in_bytes(*stmt.variable.scalar))
                            : std::int64_t{16};
    for (const std::int64_t count : stmt.variable.extents)
      size *= count;
    bytes += size;
  });
  return bytes;
}

}  // namespace regraph::rewrite

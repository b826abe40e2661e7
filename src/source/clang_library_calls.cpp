#include "source/clang_library_calls.h"

#include "source/build.h"
#include "source/clang_nodes.h"

#include <clang/AST/DeclTemplate.h>

#include <array>
#include <optional>
#include <string_view>
#include <utility>

namespace regraph::source {
namespace {

using clang::dyn_cast;
using clang::isa;
using llvm::isa_and_nonnull;

constexpr std::int64_t kWarp = 32;
constexpr const char* kAllLanes = "0xffffffffu";

// The outermost namespace that something is declared in.
std::string_view library_of(const clang::Decl& declaration) {
  std::string_view name;
  for (const clang::DeclContext* scope = declaration.getDeclContext(); scope != nullptr;
       scope = scope->getParent()) {
    const auto* space = dyn_cast<clang::NamespaceDecl>(scope);
    if (space != nullptr && !space->isAnonymousNamespace())
      name = {space->getName().data(), space->getName().size()};
  }
  return name;
}

const clang::CXXRecordDecl* library_record(clang::QualType type, std::string_view library) {
  type = type.getNonReferenceType();
  while (const auto* array = type->getAsArrayTypeUnsafe())
    type = array->getElementType();
  const auto* record = type->getAsCXXRecordDecl();
  return record != nullptr && library_of(*record) == library ? record : nullptr;
}

std::string_view word_of(const clang::NamedDecl& declaration) {
  const auto* name = declaration.getIdentifier();
  return name != nullptr ? std::string_view(name->getName().data(), name->getName().size())
                         : std::string_view();
}

// A number among the template's arguments.
std::optional<std::int64_t> template_number(const clang::CXXRecordDecl& record, unsigned at) {
  const auto* special = dyn_cast<clang::ClassTemplateSpecializationDecl>(&record);
  if (special == nullptr || at >= special->getTemplateArgs().size()) return std::nullopt;
  const clang::TemplateArgument& argument = special->getTemplateArgs()[at];
  if (argument.getKind() != clang::TemplateArgument::Integral) return std::nullopt;
  return argument.getAsIntegral().getExtValue();
}

std::optional<clang::QualType> template_type(const clang::CXXRecordDecl& record, unsigned at) {
  const auto* special = dyn_cast<clang::ClassTemplateSpecializationDecl>(&record);
  if (special == nullptr || at >= special->getTemplateArgs().size()) return std::nullopt;
  const clang::TemplateArgument& argument = special->getTemplateArgs()[at];
  if (argument.getKind() != clang::TemplateArgument::Type) return std::nullopt;
  return argument.getAsType();
}

enum class GroupKind { none, block, tile, grid };

struct Group {
  GroupKind kind = GroupKind::none;
  std::int64_t threads = 0;  // of a tile
};

Group group_of(clang::QualType type) {
  const auto* record = library_record(type, "cooperative_groups");
  if (record == nullptr) return {};
  const std::string_view name = word_of(*record);
  if (name == "thread_block") return {GroupKind::block, 0};
  if (name == "grid_group") return {GroupKind::grid, 0};
  if (name != "thread_block_tile") return {};
  const auto threads = template_number(*record, 0);
  return threads && *threads <= kWarp ? Group{GroupKind::tile, *threads} : Group{};
}

// A barrier of libcu++ that threads of one block meet at.
bool is_block_barrier(clang::QualType type) {
  if (const auto* pointer = type->getAs<clang::PointerType>()) type = pointer->getPointeeType();
  constexpr std::int64_t kOfBlock = 2;  // cuda::thread_scope_block
  const auto* record = library_record(type, "cuda");
  return record != nullptr && word_of(*record) == "barrier" &&
         template_number(*record, 0) == kOfBlock;
}

// Whether so many threads are those of the block: its extents, or their product.
bool is_whole_block(const ExprPtr& count) {
  if (const auto* cast = as<Cast>(count)) return is_whole_block(cast->operand);
  if (const auto* product = as<Binary>(count); product != nullptr)
    return product->op == BinaryOperator::multiply && is_whole_block(product->left) &&
           is_whole_block(product->right);
  const auto* extent = as<Builtin>(count);
  return extent != nullptr && extent->name.starts_with("blockDim.");
}

ExprPtr unsigned_number(std::int64_t value) {
  return integer(value, std::to_string(value) + "u", ScalarType::u32);
}

// The thread's number in its block, x running fastest.
ExprPtr rank_in_block() {
  const ExprPtr planes =
      add(builtin("threadIdx.y"), multiply(builtin("blockDim.y"), builtin("threadIdx.z")));
  return add(builtin("threadIdx.x"), multiply(builtin("blockDim.x"), planes));
}

ExprPtr threads_of_block() {
  return multiply(multiply(builtin("blockDim.x"), builtin("blockDim.y")), builtin("blockDim.z"));
}

ExprPtr rank_of(const Group& group) {
  switch (group.kind) {
    case GroupKind::block:
      return rank_in_block();
    case GroupKind::tile:
      return remainder(rank_in_block(), integer(group.threads));
    case GroupKind::grid: {
      const auto wide = [](const char* name) { return cast("unsigned long long", builtin(name)); };
      const ExprPtr blocks = add(
          builtin("blockIdx.x"),
          multiply(wide("gridDim.x"),
                   add(builtin("blockIdx.y"), multiply(wide("gridDim.y"), builtin("blockIdx.z")))));
      return add(multiply(blocks, threads_of_block()), rank_in_block());
    }
    case GroupKind::none:
      break;
  }
  return nullptr;
}

ExprPtr size_of_group(const Group& group) {
  switch (group.kind) {
    case GroupKind::block:
      return threads_of_block();
    case GroupKind::tile:
      return unsigned_number(group.threads);
    case GroupKind::grid:
      return multiply(
          multiply(multiply(cast("unsigned long long", builtin("gridDim.x")), builtin("gridDim.y")),
                   builtin("gridDim.z")),
          threads_of_block());
    case GroupKind::none:
      break;
  }
  return nullptr;
}

// The lanes of the thread's own tile.
ExprPtr lanes_of(std::int64_t threads) {
  const ExprPtr all = integer(0xffffffff, kAllLanes, ScalarType::u32);
  if (threads == kWarp) return all;
  const std::int64_t own = (std::int64_t{1} << threads) - 1;
  const ExprPtr lane = remainder(rank_in_block(), integer(kWarp));
  return binary(BinaryOperator::shift_left, unsigned_number(own),
                multiply(divide(lane, integer(threads)), integer(threads)));
}

// The object whose method is called, which may be one of the class alone; null for other calls.
const clang::Expr* object_of(const clang::CallExpr& call) {
  if (const auto* method = dyn_cast<clang::CXXMemberCallExpr>(&call)) {
    return isa_and_nonnull<clang::CXXConversionDecl>(method->getMethodDecl())
               ? nullptr
               : method->getImplicitObjectArgument()->IgnoreParenImpCasts();
  }
  const auto* access = dyn_cast<clang::MemberExpr>(call.getCallee()->IgnoreParenImpCasts());
  return access != nullptr ? access->getBase()->IgnoreParenImpCasts() : nullptr;
}

}  // namespace

// How two values are put together.
struct LibraryCalls::Operation {
  std::optional<AssignmentOperator> compound;
  std::string function;  // else

  [[nodiscard]] StmtPtr combine(const ExprPtr& target, const ExprPtr& other) const {
    if (compound) return assign(target, *compound, other);
    return assign(target, with_type(call(function, {target, other}), target->type));
  }

  // What a function object of the libraries does with values of the type.
  static std::optional<Operation> of(const clang::Expr& functor, std::optional<ScalarType> type) {
    const auto* record = functor.getType().getNonReferenceType()->getAsCXXRecordDecl();
    if (record == nullptr || !type) return std::nullopt;
    const std::string_view library = library_of(*record);
    if (library != "cub" && library != "cooperative_groups" && library != "cuda" &&
        library != "std" && library != "thrust") {
      return std::nullopt;
    }
    const std::string_view name = word_of(*record);
    const bool of_groups = library == "cooperative_groups";
    if (name == "Sum" || name == "plus") return Operation{AssignmentOperator::add, ""};
    if (name == "bit_and") return Operation{AssignmentOperator::bit_and, ""};
    if (name == "bit_or") return Operation{AssignmentOperator::bit_or, ""};
    if (name == "bit_xor") return Operation{AssignmentOperator::bit_xor, ""};
    const bool is_most = name == "Max" || name == "maximum" || (of_groups && name == "greater");
    const bool is_least = name == "Min" || name == "minimum" || (of_groups && name == "less");
    if (!is_most && !is_least) return std::nullopt;
    switch (*type) {
      case ScalarType::f32:
        return Operation{std::nullopt, is_most ? "fmaxf" : "fminf"};
      case ScalarType::f64:
        return Operation{std::nullopt, is_most ? "fmax" : "fmin"};
      case ScalarType::f16:
      case ScalarType::bf16:
        return Operation{std::nullopt, is_most ? "__hmax" : "__hmin"};
      default:
        return Operation{std::nullopt, is_most ? "max" : "min"};
    }
  }
};

bool is_library_object(clang::QualType type) {
  if (group_of(type).kind != GroupKind::none || is_block_barrier(type)) return true;
  type = type.getNonReferenceType();
  while (const auto* array = type->getAsArrayTypeUnsafe())
    type = array->getElementType();
  // Storage is a class within the algorithm's.
  const auto* record = type->getAsCXXRecordDecl();
  if (record == nullptr || library_of(*record) != "cub") return false;
  const auto* outer = dyn_cast<clang::CXXRecordDecl>(record->getDeclContext());
  const std::string_view name = word_of(outer != nullptr ? *outer : *record);
  return name == "BlockReduce" || name == "WarpReduce";
}

namespace {

// init(&barrier, count)
bool is_first_use_of_barrier(const clang::CallExpr& call) {
  const clang::FunctionDecl* callee = call.getDirectCallee();
  return callee != nullptr && library_of(*callee) == "cuda" && word_of(*callee) == "init" &&
         call.getNumArgs() == 2 && is_block_barrier(call.getArg(0)->getType());
}

}  // namespace

ExprPtr library_index(const clang::MemberExpr& access) {
  const auto* call = dyn_cast<clang::CallExpr>(access.getBase()->IgnoreParenImpCasts());
  const clang::Expr* object = call != nullptr ? object_of(*call) : nullptr;
  const clang::FunctionDecl* callee = call != nullptr ? call->getDirectCallee() : nullptr;
  if (object == nullptr || callee == nullptr) return nullptr;
  const Group group = group_of(object->getType());
  const std::string_view name = word_of(*callee);
  const std::string_view member = word_of(*access.getMemberDecl());
  if (member != "x" && member != "y" && member != "z") return nullptr;
  std::string of;
  if (group.kind == GroupKind::block) {
    if (name == "thread_index") of = "threadIdx.";
    if (name == "group_index") of = "blockIdx.";
    if (name == "group_dim" || name == "dim_threads") of = "blockDim.";
  } else if (group.kind == GroupKind::grid) {
    if (name == "block_index") of = "blockIdx.";
    if (name == "group_dim" || name == "dim_blocks") of = "gridDim.";
  }
  return of.empty() ? nullptr : builtin(of + std::string(member));
}

bool LibraryCalls::is_library_call(const clang::CallExpr& call) {
  if (const clang::Expr* object = object_of(call)) return is_library_object(object->getType());
  if (isa<clang::CXXOperatorCallExpr>(call)) return false;
  const clang::FunctionDecl* callee = call.getDirectCallee();
  return callee != nullptr &&
         (library_of(*callee) == "cooperative_groups" || is_first_use_of_barrier(call));
}

std::vector<const clang::Expr*> LibraryCalls::values_of(const clang::CallExpr& call) {
  std::vector<const clang::Expr*> result;
  for (const clang::Expr* argument : call.arguments()) {
    const clang::QualType type = argument->getType().getNonReferenceType();
    if (scalar_type_of(type)) result.push_back(argument);
  }
  return result;
}

bool LibraryCalls::write_out(const clang::CallExpr& call, Block* block, ExprPtr& value) {
  const clang::FunctionDecl* callee = call.getDirectCallee();
  if (callee == nullptr) return false;
  if (is_first_use_of_barrier(call)) return is_whole_block(expressions_.convert(call.getArg(1)));
  if (const clang::Expr* object = object_of(call)) {
    if (is_block_barrier(object->getType())) return write_barrier(call, block);
    return group_of(object->getType()).kind != GroupKind::none
               ? write_group_method(call, object->getType(), block, value)
               : write_cub_method(call, object->getType(), block, value);
  }
  const std::string_view name = word_of(*callee);
  if (name == "sync" && call.getNumArgs() == 1) return write_sync(call.getArg(0)->getType(), block);
  const bool is_reduction = name == "reduce" && call.getNumArgs() == 3;
  const Group group = is_reduction ? group_of(call.getArg(0)->getType()) : Group{};
  if (group.kind != GroupKind::tile || block == nullptr) return false;
  const clang::QualType type = call.getType().getCanonicalType().getUnqualifiedType();
  const auto operation = Operation::of(*call.getArg(2), scalar_type_of(type));
  if (!operation) return false;
  const std::string total =
      place_.declare_result("total", type, expressions_.convert(call.getArg(1)), false, *block);
  reduce_warp(total, type, *operation, group.threads, "__shfl_xor_sync",
              expressions_.line_of(call.getBeginLoc()), *block);
  value = variable(total, scalar_type_of(type));
  return true;
}

bool LibraryCalls::write_group_method(const clang::CallExpr& call, clang::QualType type,
                                      Block* block, ExprPtr& value) {
  const Group group = group_of(type);
  const std::string_view name = word_of(*call.getDirectCallee());
  const bool is_tile = group.kind == GroupKind::tile;
  if (name == "sync") return write_sync(type, block);
  if (name == "thread_rank" || name == "size" || name == "num_threads") {
    value = name == "thread_rank" ? rank_of(group) : size_of_group(group);
  } else if (is_tile && name == "meta_group_rank") {
    value = divide(rank_in_block(), integer(group.threads));
  } else if (is_tile && name == "meta_group_size") {
    value = divide(add(threads_of_block(), integer(group.threads - 1)), integer(group.threads));
  } else if (is_tile &&
             (name == "shfl" || name == "shfl_down" || name == "shfl_up" || name == "shfl_xor") &&
             call.getNumArgs() == 2) {
    std::vector<ExprPtr> arguments = {lanes_of(group.threads), expressions_.convert(call.getArg(0)),
                                      expressions_.convert(call.getArg(1))};
    if (group.threads < kWarp) arguments.push_back(integer(group.threads));
    value = source::call("__" + std::string(name) + "_sync", std::move(arguments));
  } else {
    return false;
  }
  const auto scalar = scalar_type_of(call.getType());
  // What the library counts in fewer bits is so many here.
  if (scalar && value->type && size_in_bytes(*scalar) < size_in_bytes(*value->type))
    value = cast(std::string(cuda_name(*scalar)), value);
  value = with_type(value, scalar);
  return true;
}

bool LibraryCalls::write_sync(clang::QualType group, Block* block) const {
  const Group of = group_of(group);
  if (block == nullptr) return false;
  if (of.kind == GroupKind::block) {
    block->push_back(barrier());
    return true;
  }
  if (of.kind != GroupKind::tile) return false;
  block->push_back(evaluate(source::call("__syncwarp", {lanes_of(of.threads)})));
  return true;
}

// All threads of the block arrive (is_whole_block), and wait.
bool LibraryCalls::write_barrier(const clang::CallExpr& call, Block* block) {
  if (block == nullptr || word_of(*call.getDirectCallee()) != "arrive_and_wait") return false;
  block->push_back(barrier());
  return true;
}

bool LibraryCalls::write_cub_method(const clang::CallExpr& call, clang::QualType algorithm,
                                    Block* block, ExprPtr& value) {
  const auto* record = library_record(algorithm, "cub");
  if (record == nullptr || block == nullptr) return false;
  const auto element = template_type(*record, 0);
  const auto threads = template_number(*record, 1);
  if (!element || !threads) return false;
  const clang::QualType type = element->getCanonicalType().getUnqualifiedType();
  const auto scalar = scalar_type_of(type);
  const std::string_view name = word_of(*call.getDirectCallee());
  std::optional<Operation> operation;
  if (name == "Sum" && call.getNumArgs() == 1) {
    operation = Operation{AssignmentOperator::add, ""};
  } else if (name == "Reduce" && (call.getNumArgs() == 2 || call.getNumArgs() == 3)) {
    operation = Operation::of(*call.getArg(1), scalar);
  }
  // The block may be smaller than the algorithm's, and says so: Reduce(value, operation,
  // blockDim.x).
  const bool says_threads = call.getNumArgs() == 3;
  const auto is_extent = [](const ExprPtr& expr) {
    const auto* builtin = as<Builtin>(expr);
    return builtin != nullptr && builtin->name == "blockDim.x";
  };
  if (says_threads && !is_extent(expressions_.convert(call.getArg(2)))) return false;
  // Of arrays each thread has several.
  if (!operation || !scalar || !scalar_type_of(call.getArg(0)->getType().getNonReferenceType()))
    return false;
  const bool is_block = word_of(*record) == "BlockReduce";
  const bool is_flat = !is_block || (template_number(*record, 3).value_or(1) == 1 &&
                                     template_number(*record, 4).value_or(1) == 1);
  const std::int64_t warps = is_block ? *threads / kWarp : 1;
  if (!is_flat || (is_block && *threads % kWarp != 0) || *threads > 1024) return false;
  const std::string total =
      place_.declare_result("total", type, expressions_.convert(call.getArg(0)), false, *block);
  const ExprPtr sum = variable(total, scalar);
  reduce_warp(total, type, *operation, is_block ? kWarp : *threads, "__shfl_down_sync",
              expressions_.line_of(call.getBeginLoc()), *block);
  if (warps > 1) {
    const std::string parts = place_.declare_shared("warp_totals", type, warps);
    const ExprPtr rank = rank_in_block();
    const auto part = [&](ExprPtr at) {
      return with_type(source::element(variable(parts, std::nullopt), {std::move(at)}), scalar);
    };
    block->push_back(source::branch(equals(remainder(rank, integer(kWarp)), integer(0)),
                                    {assign(part(divide(rank, integer(kWarp))), sum)}));
    block->push_back(barrier());
    block->push_back(assign(sum, part(integer(0))));
    const std::string warp = "other_warp_" + std::to_string(++loops_);
    const ExprPtr count =
        says_threads
            ? divide(add(cast("int", builtin("blockDim.x")), integer(kWarp - 1)), integer(kWarp))
            : integer(warps);
    block->push_back(
        counted_loop(warp, integer(1), count, 1, {operation->combine(sum, part(variable(warp)))}));
  }
  value = sum;
  return true;
}

void LibraryCalls::reduce_warp(const std::string& total, clang::QualType type,
                               const Operation& operation, std::int64_t threads,
                               const char* shuffle, int line, Block& block) {
  const auto scalar = scalar_type_of(type);
  const std::string offset = "lanes_apart_" + std::to_string(++loops_);
  const ExprPtr own = variable(total, scalar);
  std::vector<ExprPtr> arguments = {lanes_of(threads), own, variable(offset)};
  if (threads < kWarp) arguments.push_back(integer(threads));
  const ExprPtr other = with_type(source::call(shuffle, std::move(arguments)), scalar);
  auto rounds =
      std::make_shared<ForLoop>(declare_integer(offset, integer(threads / 2), false),
                                binary(BinaryOperator::greater, variable(offset), integer(0)),
                                assign(variable(offset), AssignmentOperator::divide, integer(2)),
                                Block{operation.combine(own, other)});
  rounds->unroll = kUnrollFully;
  rounds->line = line;
  block.push_back(std::move(rounds));
}

}  // namespace regraph::source

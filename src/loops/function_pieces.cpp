#include "loops/function_pieces.h"

#include "source/analysis.h"
#include "source/build.h"
#include "source/mutator.h"
#include "source/walk.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

namespace regraph::loops {
namespace {

using source::as;
using source::Block;
using source::Declaration;
using source::ExprPtr;
using source::StmtPtr;

void flatten(const Block& block, Block& out) {
  for (const StmtPtr& stmt : block) {
    if (source::is<source::Scope>(stmt)) {
      flatten(body_of(*stmt), out);
    } else {
      out.push_back(stmt);
    }
  }
}

std::set<std::string> mentioned(const Block& block) {
  std::set<std::string> result;
  source::walk_expressions(block, [&](const source::Expr& expr) {
    if (const auto* variable = as<source::VariableReference>(expr)) result.insert(variable->name);
  });
  return result;
}

// Locals that become elements of buffers.
class ScratchRewriter final : public source::Mutator {
 public:
  explicit ScratchRewriter(const std::map<std::string, source::Variable>& moved) : moved_(moved) {}

 private:
  void append(const StmtPtr& stmt, Block& out) override {
    const auto* declared = as<Declaration>(stmt);
    const auto moved = declared != nullptr ? moved_.find(declared->variable.name) : moved_.end();
    if (moved == moved_.end()) {
      out.push_back(run(stmt));
      return;
    }
    if (!declared->value) return;
    auto first = std::make_shared<source::Assignment>(
        first_element(moved->second), source::AssignmentOperator::assign, run(declared->value));
    first->line = stmt->line;
    out.push_back(first);
  }

  static ExprPtr first_element(const source::Variable& variable) {
    return element_at(variable, source::integer(0));
  }
  static ExprPtr element_at(const source::Variable& variable, ExprPtr index) {
    return std::make_shared<source::Subscript>(source::variable(variable.name, std::nullopt),
                                               std::move(index), variable.scalar);
  }

  ExprPtr mutate(const ExprPtr& expr, const source::VariableReference& variable) override {
    const auto moved = moved_.find(variable.name);
    if (moved == moved_.end() || !moved->second.extents.empty()) return expr;
    return first_element(moved->second);
  }

  ExprPtr mutate(const ExprPtr& expr, const source::Subscript& access) override {
    const auto* base = source::base_variable(access);
    const auto moved = base != nullptr ? moved_.find(base->name) : moved_.end();
    const std::vector<ExprPtr> indices = source::indices_of(access);
    if (moved == moved_.end() || moved->second.extents.size() != indices.size())
      return Mutator::mutate(expr, access);
    ExprPtr index;
    for (std::size_t i = 0; i < indices.size(); ++i) {
      ExprPtr own = run(indices[i]);
      index = index ? source::add(
                          source::multiply(index, source::integer(moved->second.extents[i])), own)
                    : own;
    }
    return element_at(moved->second, index);
  }

  const std::map<std::string, source::Variable>& moved_;
};

class PieceMaker {
 public:
  explicit PieceMaker(const source::Kernel& function) : function_(function), analysis_(function) {
    result_.kernel = function;
  }

  Result<FunctionPieces> run() {
    flatten(function_.body, body_);
    take_guards();
    for (const StmtPtr& stmt : body_) {
      if (source::is<source::Return>(stmt)) continue;
      const bool is_loop = source::is<source::ForLoop>(stmt) || source::is<source::WhileLoop>(stmt);
      if (!is_loop && holds_loop(*stmt)) {
        return fail(ErrorCode::unsupported,
                    fmt::format("line {}: a loop stands under a condition; ask in front of the "
                                "call, or inside of the loop",
                                stmt->line));
      }
      if (is_shared(*stmt)) {
        result_.shared.push_back(stmt);
      } else if (is_loop || groups_.empty() || holds_loop(*groups_.back().back())) {
        groups_.push_back({stmt});
      } else {
        groups_.back().push_back(stmt);
      }
    }
    if (Status status = move_locals(); !status) return status.error();
    ScratchRewriter rewriter(moved_);
    result_.kernel.body = result_.shared;
    for (const Block& group : groups_) {
      Block piece = rewriter.run(group);
      if (piece.empty()) continue;
      result_.kernel.body.insert(result_.kernel.body.end(), piece.begin(), piece.end());
      result_.pieces.push_back(std::move(piece));
    }
    return std::move(result_);
  }

 private:
  [[nodiscard]] bool is_of_parameters(const ExprPtr& expr) const {
    if (!expr || analysis_.reads_memory(expr)) return false;
    const auto names = source::variables_of(expr);
    return std::ranges::all_of(names, [&](const std::string& name) {
      const auto* parameter = function_.parameter(name);
      if (parameter != nullptr) return !parameter->is_pointer && !analysis_.is_written(name);
      return shared_names_.contains(name);
    });
  }

  // `if (n > 0) { all }`, as returns at the beginning leave it.
  void take_guards() {
    while (body_.size() == 1) {
      const auto* branch = as<source::Branch>(body_.front());
      const bool guards =
          branch != nullptr && branch->otherwise.empty() && is_of_parameters(branch->condition);
      if (!guards) return;
      result_.guards.push_back(branch->condition);
      const Block inner = branch->body;
      body_.clear();
      flatten(inner, body_);
    }
  }

  // A local whose value every kernel can work out for itself.
  bool is_shared(const source::Stmt& stmt) {
    const auto* declared = as<Declaration>(stmt);
    if (declared == nullptr || !declared->variable.extents.empty() ||
        declared->variable.is_pointer || !analysis_.is_single_definition(declared->variable.name) ||
        !is_of_parameters(declared->value))
      return false;
    shared_names_.insert(declared->variable.name);
    return true;
  }

  // What several pieces mention lives in a buffer of its own.
  Status move_locals() {
    std::map<std::string, int> uses;
    for (const Block& group : groups_) {
      std::set<std::string> names = mentioned(group);
      names.merge(source::declared_names(group));
      for (const std::string& name : names)
        ++uses[name];
    }
    for (const Block& group : groups_) {
      for (const StmtPtr& stmt : group) {
        const auto* declared = as<Declaration>(stmt);
        if (declared == nullptr || uses[declared->variable.name] < 2) continue;
        if (Status status = move(*declared); !status) return status;
      }
    }
    return {};
  }

  Status move(const Declaration& declared) {
    const source::Variable& variable = declared.variable;
    if (variable.is_pointer) {
      return fail(ErrorCode::unsupported,
                  fmt::format("line {}: a pointer that moves leads from one iteration to the next; "
                              "write what it points to with an index",
                              declared.line > 0 ? declared.line : function_.line));
    }
    if (!variable.scalar || source::as<source::InitializerList>(declared.value)) {
      return fail(ErrorCode::unsupported,
                  fmt::format("line {}: '{}' is handed on from one loop to another, and is no "
                              "number or plain array of numbers",
                              declared.line, variable.name));
    }
    moved_[variable.name] = variable;
    std::int64_t elements = 1;
    for (const std::int64_t extent : variable.extents)
      elements *= extent;
    ManifestScratch scratch;
    scratch.type = std::string(cuda_name(*variable.scalar));
    scratch.shape = {IntegerExpression(elements)};
    result_.scratch.emplace_back(variable.name, std::move(scratch));
    if (variable.extents.empty()) result_.scalars.insert(variable.name);
    source::KernelParameter parameter;
    parameter.name = variable.name;
    parameter.type = std::string(cuda_name(*variable.scalar));
    parameter.scalar = variable.scalar;
    parameter.is_pointer = true;
    result_.kernel.parameters.push_back(std::move(parameter));
    return {};
  }

  const source::Kernel& function_;
  const source::Analysis analysis_;
  Block body_;
  std::vector<Block> groups_;
  std::set<std::string> shared_names_;
  std::map<std::string, source::Variable> moved_;
  FunctionPieces result_;
};

}  // namespace

bool holds_loop(const source::Stmt& stmt) {
  bool found = source::is<source::ForLoop>(stmt) || source::is<source::WhileLoop>(stmt);
  const auto look = [&](const source::Stmt& inner) {
    found = found || source::is<source::ForLoop>(inner) || source::is<source::WhileLoop>(inner);
  };
  source::walk(body_of(stmt), look);
  source::walk(otherwise_of(stmt), look);
  return found;
}

Result<FunctionPieces> pieces_of(const source::Kernel& function) {
  return PieceMaker(function).run();
}

}  // namespace regraph::loops

#include "rewrite/forms/vector_components.h"

#include "rewrite/forms/names.h"
#include "rewrite/forms/uses.h"
#include "source/build.h"
#include "source/match.h"
#include "source/walk.h"

#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace regraph::rewrite {

namespace {

constexpr std::array<std::string_view, 4> kComponents = {"x", "y", "z", "w"};

struct VectorVariable {
  Variable whole;
  ScalarType scalar = ScalarType::f32;
  std::size_t count = 0;             // of components
  std::vector<std::string> names{};  // of the variables for them
};

// float2 to double4; nothing for other types.
std::optional<VectorVariable> vector_of(const Variable& variable) {
  static const std::map<std::string_view, ScalarType> kFamilies = {{"float", ScalarType::f32},
                                                                   {"int", ScalarType::i32},
                                                                   {"uint", ScalarType::u32},
                                                                   {"double", ScalarType::f64}};
  const std::string_view type = variable.type;
  const bool is_own = !variable.is_pointer && variable.extents.size() <= 1 &&
                      variable.storage != Storage::dynamic_shared;
  if (!is_own || type.size() < 2 || type.back() < '2' || type.back() > '4') return std::nullopt;
  const auto family = kFamilies.find(type.substr(0, type.size() - 1));
  if (family == kFamilies.end()) return std::nullopt;
  return VectorVariable{variable, family->second, static_cast<std::size_t>(type.back() - '0')};
}

class VectorComponents {
 public:
  explicit VectorComponents(const Kernel& kernel) : kernel_(kernel), names_(kernel) {}

  Block run() {
    std::map<std::string, int> declared;
    walk(kernel_.body, [&](const Stmt& stmt) {
      const auto* declaration = as<Declaration>(stmt);
      if (declaration == nullptr) return;
      const auto vector = vector_of(declaration->variable);
      const std::string& name = declaration->variable.name;
      if (++declared[name] == 1 && vector) vectors_.emplace(name, *vector);
    });
    std::erase_if(vectors_, [&](const auto& entry) { return declared.at(entry.first) != 1; });
    while (drop_others()) {
    }
    if (vectors_.empty()) return kernel_.body;
    for (auto& [name, vector] : vectors_)
      for (std::size_t at = 0; at < vector.count; ++at)
        vector.names.push_back(names_.fresh(name + "_" + std::string(kComponents[at])));
    Block body =
        rewrite_statements(kernel_.body, [&](const StmtPtr& stmt) { return of_components(*stmt); });
    return rewrite_expressions(body, [&](const ExprPtr& expr) -> std::optional<ExprPtr> {
      const auto* member = as<Member>(expr);
      const auto* vector = member != nullptr ? vector_at(*member->object) : nullptr;
      const auto at = vector != nullptr ? component(*member, *vector) : std::nullopt;
      return at ? std::optional(place(*member->object, *vector, *at)) : std::nullopt;
    });
  }

 private:
  // The vector that is at the place, a variable or an element; null for anything else.
  const VectorVariable* vector_at(const Expr& place) const {
    const auto* element = as<Subscript>(place);
    const auto* name = as<VariableReference>(element != nullptr ? *element->base : place);
    const auto found = name != nullptr ? vectors_.find(name->name) : vectors_.end();
    const bool fits =
        found != vectors_.end() && found->second.whole.extents.empty() == (element == nullptr);
    return fits ? &found->second : nullptr;
  }

  static std::optional<std::size_t> component(const Member& member, const VectorVariable& vector) {
    for (std::size_t at = 0; at < vector.count; ++at)
      if (member.name == kComponents[at]) return at;
    return std::nullopt;
  }

  static ExprPtr place(const Expr& whole, const VectorVariable& vector, std::size_t at) {
    const ExprPtr name =
        variable(vector.names.at(at),
                 vector.whole.extents.empty() ? std::optional(vector.scalar) : std::nullopt);
    const auto* at_index = as<Subscript>(whole);
    return at_index != nullptr ? with_type(element(name, {at_index->index}), vector.scalar) : name;
  }

  // What the vector is made of, a value for each component; nothing where the expression is neither
  // another vector nor makes one. `target`: the whole that it is put into.
  std::optional<std::vector<ExprPtr>> parts_of(const ExprPtr& value,
                                               const VectorVariable& target) const {
    if (const VectorVariable* other = vector_at(*value)) {
      if (other->whole.type != target.whole.type) return std::nullopt;
      std::vector<ExprPtr> result;
      for (std::size_t at = 0; at < other->names.size(); ++at)
        result.push_back(place(*value, *other, at));
      return result;
    }
    const auto* call = as<Call>(value);
    const bool makes = call != nullptr && call->function == "make_" + target.whole.type &&
                       call->arguments.size() == target.count;
    if (!makes) return std::nullopt;
    std::vector<ExprPtr> result;
    for (std::size_t at = 0; at < target.count; ++at) {
      const ExprPtr& part = call->arguments[at];
      if (at > 0 && mentions_earlier(part, target, at)) return std::nullopt;
      result.push_back(
          part->type == target.scalar ? part : cast(std::string(cuda_name(target.scalar)), part));
    }
    return result;
  }

  // Whether the part reads components of the target that are set before it is.
  static bool mentions_earlier(const ExprPtr& part, const VectorVariable& target, std::size_t at) {
    int own = 0;
    walk(part, [&](const Expr& expr) {
      const auto* member = as<Member>(expr);
      const bool is_target = member != nullptr && is_named(member->object, target.whole.name);
      const auto which = is_target ? component(*member, target) : std::nullopt;
      if (which && *which >= at) ++own;
    });
    return mentions_of(target.whole.name, part) > own;
  }

  // The vector that the statement declares or sets as a whole, and to what; null for others.
  const VectorVariable* target_of_whole(const Stmt& stmt, ExprPtr& value) const {
    if (const auto* declared = as<Declaration>(stmt)) {
      const auto found = vectors_.find(declared->variable.name);
      value = declared->value;
      return found != vectors_.end() ? &found->second : nullptr;
    }
    const auto* assigned = as<Assignment>(stmt);
    if (assigned == nullptr || assigned->op != AssignmentOperator::assign) return nullptr;
    value = assigned->value;
    return vector_at(*assigned->target);
  }

  // Leaves out the vectors with which something else is done; whether there were any.
  bool drop_others() {
    std::map<std::string, int> known;
    std::set<std::string> whole;  // declared as something that can be taken apart
    const auto name_of = [&](const Expr& place) { return vector_at(place)->whole.name; };
    walk(kernel_.body, [&](const Stmt& stmt) {
      ExprPtr value;
      const VectorVariable* target = target_of_whole(stmt, value);
      const bool is_copied = target != nullptr && (!value || parts_of(value, *target));
      if (!is_copied) return;
      if (is<Assignment>(stmt)) ++known[target->whole.name];
      if (value && vector_at(*value) != nullptr) ++known[name_of(*value)];
      if (is<Declaration>(stmt)) whole.insert(target->whole.name);
    });
    walk_expressions(kernel_.body, [&](const Expr& expr) {
      const auto* member = as<Member>(expr);
      const auto* vector = member != nullptr ? vector_at(*member->object) : nullptr;
      if (vector != nullptr && component(*member, *vector)) ++known[vector->whole.name];
    });
    return std::erase_if(vectors_, [&](const auto& entry) {
             const std::string& name = entry.first;
             return !whole.contains(name) || mentions_of(name, kernel_.body) != known[name];
           }) > 0;
  }

  std::optional<Block> of_components(const Stmt& stmt) const {
    ExprPtr value;
    const VectorVariable* target = target_of_whole(stmt, value);
    if (target == nullptr) return std::nullopt;
    const auto parts = value ? parts_of(value, *target) : std::nullopt;
    Block result;
    for (std::size_t at = 0; at < target->count; ++at) {
      const ExprPtr part = parts ? parts->at(at) : nullptr;
      if (const auto* assigned = as<Assignment>(stmt)) {
        result.push_back(assign(place(*assigned->target, *target, at), part));
        continue;
      }
      Variable one = target->whole;
      one.name = target->names.at(at);
      one.type = std::string(cuda_name(target->scalar));
      one.scalar = target->scalar;
      one.alignment = 0;
      result.push_back(declare(std::move(one), part));
    }
    return result;
  }

  const Kernel& kernel_;
  Names names_;
  std::map<std::string, VectorVariable> vectors_;
};

}  // namespace

Block with_vector_components(const Kernel& kernel) {
  return VectorComponents(kernel).run();
}

}  // namespace regraph::rewrite

#include "rewrite/forms/small_tables.h"

#include "source/polynomial.h"
#include "source/walk.h"

#include <cstddef>
#include <set>
#include <vector>

namespace regraph::rewrite {

namespace {

constexpr std::int64_t kMostElements = 32;

}  // namespace

std::optional<std::int64_t> number_of_literals(const ExprPtr& expr) {
  const auto polynomial =
      to_polynomial(expr, [](const std::string&) { return std::optional<Polynomial>(); });
  return polynomial ? polynomial->constant() : std::nullopt;
}

Tables find_tables(const Block& body) {
  Tables tables;
  std::set<std::string> others;
  walk(body, [&](const Stmt& stmt) {
    const auto* declaration = as<Declaration>(stmt);
    if (declaration == nullptr) return;
    const Variable& variable = declaration->variable;
    std::int64_t elements = 1;
    for (const std::int64_t extent : variable.extents)
      elements = extent < 1 || elements > kMostElements ? kMostElements + 1 : elements * extent;
    const bool is_table = !variable.extents.empty() && variable.storage == Storage::automatic &&
                          !variable.is_pointer && variable.scalar &&
                          !is_floating(*variable.scalar) && elements <= kMostElements &&
                          variable.type.find("volatile") == std::string::npos &&
                          (!declaration->value || is<InitializerList>(declaration->value));
    if (!is_table || !tables.emplace(variable.name, variable).second) others.insert(variable.name);
  });
  for (const std::string& name : others)
    tables.erase(name);
  return tables;
}

// The table that the expression is a whole element of; null for other expressions.
const Variable* table_of(const Expr& expr, const Tables& tables) {
  const auto* base = is<Subscript>(expr) ? base_variable(expr) : nullptr;
  const auto table = base != nullptr ? tables.find(base->name) : tables.end();
  const bool is_whole =
      table != tables.end() && indices_of(expr).size() == table->second.extents.size();
  return is_whole ? &table->second : nullptr;
}

// The name of the variable for an element; nothing where the element is not known by number.
std::optional<std::string> element_name(const Expr& element, const Variable& table) {
  std::string name = table.name;
  const std::vector<ExprPtr> indices = indices_of(element);
  for (std::size_t at = 0; at < indices.size(); ++at) {
    const auto number = number_of_literals(indices[at]);
    if (!number || *number < 0 || *number >= table.extents[at]) return std::nullopt;
    name += "_" + std::to_string(*number);
  }
  return name;
}

}  // namespace regraph::rewrite

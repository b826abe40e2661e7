#include "rewrite/transform/attention_results.h"

#include "rewrite/transform/tensor_tile.h"
#include "source/build.h"
#include "source/match.h"
#include "source/printer.h"
#include "source/walk.h"

#include <fmt/format.h>

#include <optional>
#include <set>
#include <string>

namespace regraph::rewrite {

namespace {

class AttentionResults {
 public:
  AttentionResults(CodeLines& lines, const AttentionPattern& pattern, const AttentionTile& tile,
                   const AttentionNames& names)
      : text_(lines), pattern_(pattern), tile_(tile), names_(names) {}

  void write() {
    const auto store = find_row_store();
    over_rows();
    text_.line("float& {0} = {1}[{2}][{3}];", names_.higher, names_.total, names_.i, names_.h);
    for (const int apart : {1, 2})
      text_.line("{0} += __shfl_xor_sync(0xffffffffu, {0}, {1});", names_.higher, apart);
    close_rows();
    over_rows();
    declare_row();
    text_.open("if ({} <= {})", row(), names_.last);
    text_.line("float {} = {}[{}][{}];", pattern_.maximum, names_.largest, names_.i, names_.h);
    for (const Variable& sum : pattern_.sums)
      text_.line("float {} = {}[{}][{}];", sum.name, names_.total, names_.i, names_.h);
    text_.add(behind(store));
    text_.close();
    close_rows();
    if (store) store_rows(*store);
  }

 private:
  const std::string& row() const { return pattern_.axis.coordinate; }
  int value_dimensions() const { return pattern_.values.elements; }

  // Opens the loops over the rows that a thread has sums of.
  void over_rows() {
    text_.unroll();
    text_.open("for (int {0} = 0; {0} < {1}; ++{0})", names_.i, tile_.rows_of_warp() / 16);
    text_.unroll();
    text_.open("for (int {0} = 0; {0} < 2; ++{0})", names_.h);
  }
  void close_rows() {
    text_.close();
    text_.close();
  }
  void declare_row() {
    text_.line("const int {} = {} + {} + 16 * {} + {} + 8 * {};", row(), names_.first, names_.warp,
               names_.i, names_.group, names_.h);
  }

  // The loop that stores a row of 16-bit elements, where it stores nothing else and always.
  struct RowStore {
    const Stmt* loop = nullptr;
    const Assignment* assignment = nullptr;
    std::string counter;
    std::string type;
  };

  std::optional<RowStore> find_row_store() const {
    for (const StmtPtr& stmt : pattern_.behind) {
      const auto counted = is<ForLoop>(stmt) ? counted_loop_of(*stmt) : std::nullopt;
      if (!counted) continue;
      for (const StmtPtr& inner : body_of(*stmt)) {
        const auto* assignment = as<Assignment>(inner);
        const auto* target = assignment != nullptr ? as<Subscript>(assignment->target) : nullptr;
        const auto* base = target != nullptr ? base_variable(*target) : nullptr;
        const KernelParameter* array =
            base != nullptr ? pattern_.form->kernel.parameter(base->name) : nullptr;
        if (array == nullptr || !array->scalar || size_in_bytes(*array->scalar) != 2 ||
            assignment->op != AssignmentOperator::assign ||
            variables_of(assignment->value).contains(base->name))
          continue;
        const std::set<std::string> used = variables_of(target->index);
        const std::set<std::string> own = declared_names(pattern_.behind);
        bool is_known = true;
        for (const std::string& name : used)
          is_known = is_known && (name == counted->name || !own.contains(name));
        const SymbolMeaning known = [](const std::string& name) -> std::optional<Polynomial> {
          return Polynomial::symbol(name);
        };
        // Quotients do not follow elements unless they mention them.
        const auto index = to_polynomial_with_quotients(target->index, known);
        const auto step = index ? index->coefficient(counted->name) : std::nullopt;
        if (!is_known || !step || step->constant() != 1) continue;
        bool in_quotient = false;
        for (const std::string& symbol : index->symbols())
          in_quotient = in_quotient ||
                        (is_quotient(symbol) && names_in_quotient(symbol).contains(counted->name));
        if (in_quotient) continue;
        return RowStore{stmt.get(), assignment, counted->name,
                        std::string(cuda_name(*array->scalar))};
      }
    }
    return std::nullopt;
  }

  Block behind(const std::optional<RowStore>& store) const {
    return rewrite_statements(pattern_.behind, [&](const StmtPtr& stmt) -> std::optional<Block> {
      if (is<ForLoop>(stmt)) return Block{over_elements(stmt, store)};
      const auto* assignment = as<Assignment>(stmt);
      const auto* base = assignment != nullptr ? base_variable(*assignment->target) : nullptr;
      const bool stores = base != nullptr && pattern_.form->kernel.parameter(base->name) != nullptr;
      if (!stores) return std::nullopt;
      return Block{branch(equals(variable(names_.pair), integer(0)), {stmt})};
    });
  }

  // The loop, over the elements that a thread has.
  StmtPtr over_elements(const StmtPtr& loop, const std::optional<RowStore>& store) const {
    const CountedLoop counted = *counted_loop_of(*loop);
    const ExprPtr k = variable(names_.k);
    const ExprPtr e = variable(names_.e);
    const ExprPtr mine = element(
        variable(names_.mix, ScalarType::f32),
        {variable(names_.i), k, source::add(source::multiply(integer(2), variable(names_.h)), e)});
    Block body =
        rewrite_statements(body_of(*loop), [&](const StmtPtr& stmt) -> std::optional<Block> {
          if (!store || as<Assignment>(stmt) != store->assignment) return std::nullopt;
          const std::string line = fmt::format("({} - {})", row(), names_.first);
          const ExprPtr place = variable(fmt::format(
              "(({}*){})[{}]", store->type, names_.query,
              place_in_panels(line, counted.name, tile_.queries, AttentionTile::kVector)));
          return Block{assign(place, store->assignment->value)};
        });
    body = rewrite_expressions(body, [&](const ExprPtr& expr) -> std::optional<ExprPtr> {
      const auto* access = as<Subscript>(expr);
      if (access == nullptr || !is_named(access->base, pattern_.mix.name)) return std::nullopt;
      return with_type(mine, ScalarType::f32);
    });
    body.insert(
        body.begin(),
        declare_integer(
            counted.name,
            source::add(source::add(source::multiply(integer(8), k), variable(names_.pair)), e)));
    return source::counted_loop(
        names_.k, integer(0), integer(value_dimensions() / 8), 1,
        {source::counted_loop(names_.e, integer(0), integer(2), 1, body, kUnrollFully)},
        kUnrollFully);
  }

  // Rows that lie in shared memory, by vectors.
  void store_rows(const RowStore& store) {
    const int vectors = value_dimensions() / AttentionTile::kVector;
    text_.line("__syncwarp();");
    text_.open("for (int {0} = {1}; {0} < {2}; {0} += 32)", names_.step, names_.lane,
               tile_.rows_of_warp() * vectors);
    text_.line("const int {} = {} + {} / {};", names_.line, names_.warp, names_.step, vectors);
    text_.line("const int {} = {} % {} * {};", store.counter, names_.step, vectors,
               AttentionTile::kVector);
    text_.line("const int {} = {} + {};", row(), names_.first, names_.line);
    text_.line("if ({} > {}) break;", row(), names_.last);
    text_.line("{}* const {} = &{};", store.type, names_.to, print(store.assignment->target));
    text_.line("const {0}* const {1} = ({0}*){2} + ({3});", store.type, names_.from, names_.query,
               place_in_panels(names_.line, store.counter, tile_.queries, AttentionTile::kVector));
    text_.open("if ((unsigned long long){} % 16 == 0)", names_.to);
    text_.line("*(uint4*){} = *(const uint4*){};", names_.to, names_.from);
    text_.reopen("} else {");
    text_.unroll();
    text_.line("for (int {0} = 0; {0} < {1}; ++{0}) {2}[{0}] = {3}[{0}];", names_.e,
               AttentionTile::kVector, names_.to, names_.from);
    text_.close();
    text_.close();
  }

  CodeLines& text_;
  const AttentionPattern& pattern_;
  const AttentionTile& tile_;
  const AttentionNames& names_;
};

}  // namespace

void write_attention_results(CodeLines& lines, const AttentionPattern& pattern,
                             const AttentionTile& tile, const AttentionNames& names) {
  AttentionResults(lines, pattern, tile, names).write();
}

}  // namespace regraph::rewrite

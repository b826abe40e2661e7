#include "rewrite/transform/share_rows.h"

#include "rewrite/transform/names.h"
#include "rewrite/transform/row_indices.h"
#include "rewrite/transform/row_totals.h"
#include "rewrite/transform/row_vector_code.h"
#include "rewrite/transform/scan_code.h"
#include "rewrite/transform/selection_code.h"
#include "rewrite/transform/warp_shuffle.h"
#include "source/build.h"
#include "source/walk.h"

#include <cstdlib>
#include <map>
#include <set>
#include <utility>

namespace regraph::rewrite {

using source::as;
using source::Assignment;
using source::AssignmentOperator;
using source::Block;
using source::Branch;
using source::Declaration;
using source::Evaluation;
using source::ExprPtr;
using source::ForLoop;
using source::is;
using source::Kernel;
using source::Stmt;
using source::StmtPtr;
using source::to;

namespace {

// The value of a literal.
std::optional<double> literal_value(const ExprPtr& expr) {
  if (const auto* integer = as<source::IntegerLiteral>(expr))
    return static_cast<double>(integer->value);
  if (const auto* floating = as<source::FloatingLiteral>(expr))
    return std::strtod(floating->spelling.c_str(), nullptr);
  return std::nullopt;
}

// Emits the kernel in which `threads` threads share a row and a block has `rows` rows.
class RowSharer {
 public:
  RowSharer(const Kernel& kernel, const RowPlan& plan, const RowVectors* vectors,
            const RowTeam& team)
      : kernel_(kernel),
        plan_(plan),
        vectors_(vectors),
        names_(kernel),
        threads_(team.threads),
        rows_(team.rows),
        items_(team.items),
        across_(team.across),
        lane_(names_.fresh(across_ ? "slice" : "lane")),
        row_in_block_(names_.fresh("row_in_block")),
        totals_(team, lane_, names_) {
    count_loops();
  }

  Block run() {
    Block body = convert(kernel_.body);
    // Whether the threads along the axis are those of one row.
    const bool shares_one_row = across_ || rows_ == 1;
    if (!across_) {
      body = for_rows(body, shares_one_row ? source::integer(0) : source::variable(row_in_block_),
                      rows_);
    }
    const ExprPtr thread = source::builtin(across_ ? "threadIdx.y" : "threadIdx.x");
    const ExprPtr threads = source::integer(threads_);
    Block result = shared_;
    result.insert(result.end(), totals_.declarations().begin(), totals_.declarations().end());
    result.push_back(source::declare_integer(
        lane_, source::cast("int", shares_one_row ? thread : source::remainder(thread, threads))));
    if (!shares_one_row) {
      result.push_back(source::declare_integer(
          row_in_block_, source::cast("int", source::divide(thread, threads))));
    }
    result.insert(result.end(), body.begin(), body.end());
    return result;
  }

 private:
  ExprPtr lane() const { return source::variable(lane_); }

  // A loop variable's name keeps one meaning, so shared loops need another where some are not.
  void count_loops() {
    std::map<std::string, int> loops;
    std::map<std::string, int> shared;
    source::walk(kernel_.body, [&](const Stmt& stmt) {
      const auto* loop = as<ForLoop>(stmt);
      const Declaration* counter = loop != nullptr ? loop->declaration() : nullptr;
      if (counter == nullptr) return;
      ++loops[counter->variable.name];
      if (plan_.contains(&stmt)) ++shared[counter->variable.name];
    });
    for (const auto& [name, count] : shared) {
      if (loops.at(name) != count) mixed_.insert(name);
      if (loops.at(name) > 1) repeated_.insert(name);
    }
  }

  Block convert(const Block& block) {
    std::set<std::string> fresh;
    if (vectors_ == nullptr || vectors_->block != &block) return convert(block, fresh);
    const auto first = block.begin() + static_cast<std::ptrdiff_t>(vectors_->first);
    Block result = convert(Block(block.begin(), first), fresh);
    const Block rest(first, block.end());
    RowVectorCode code(kernel_, *vectors_, threads_, lane_, names_);
    vector_code_ = &code;
    std::set<std::string> fresh_again = fresh;
    Block by_vectors = convert(rest, fresh_again);
    vector_code_ = nullptr;
    const ExprPtr condition = code.condition();
    if (!condition) {
      result.insert(result.end(), by_vectors.begin(), by_vectors.end());
      return result;
    }
    Block by_elements = names_.renamed(convert(rest, fresh));
    result.push_back(source::branch(condition, std::move(by_vectors), std::move(by_elements)));
    return result;
  }

  // `fresh`: accumulators that hold their neutral value at the beginning, then at the end.
  Block convert(const Block& block, std::set<std::string>& fresh) {
    Block result;
    for (const StmtPtr& stmt : block) {
      const auto found = plan_.find(stmt.get());
      if (found != plan_.end()) {
        share(std::static_pointer_cast<const ForLoop>(stmt), found->second, fresh, result);
        fresh.clear();
      } else if (const auto* declaration = as<Declaration>(stmt)) {
        note_literal(*declaration, fresh);
        result.push_back(stmt);
      } else if (const auto* assignment = as<Assignment>(stmt)) {
        const auto* base = source::base_variable(*assignment->target);
        if (base != nullptr) fresh.erase(base->name);
        const auto* parameter = base != nullptr ? kernel_.parameter(base->name) : nullptr;
        if (parameter != nullptr && parameter->is_pointer) {
          once_a_row(stmt, result);
        } else {
          result.push_back(stmt);
        }
      } else if (is<Evaluation>(stmt)) {
        once_a_row(stmt, result);
      } else {
        const bool has_blocks = !body_of(*stmt).empty() || !otherwise_of(*stmt).empty();
        result.push_back(
            source::with_blocks(stmt, convert(body_of(*stmt)), convert(otherwise_of(*stmt))));
        if (has_blocks) fresh.clear();
      }
    }
    return result;
  }

  void note_literal(const Declaration& declaration, std::set<std::string>& fresh) {
    const auto value = literal_value(declaration.value);
    if (value != 0.0 && value != 1.0) return;
    fresh.insert(declaration.variable.name);
    literals_[declaration.variable.name] = *value;
  }

  void once_a_row(const StmtPtr& stmt, Block& out) const {
    const ExprPtr first = source::equals(lane(), source::integer(0));
    const auto* last = !out.empty() ? as<Branch>(out.back()) : nullptr;
    if (last == nullptr || !last->otherwise.empty() || !source::equal(last->condition, first)) {
      out.push_back(source::branch(first, {stmt}));
      return;
    }
    Block longer = last->body;
    longer.push_back(stmt);
    out.back() = source::branch(first, std::move(longer), {}, last->line);
  }

  // The loop's iterations, dealt out to the lanes of the row. `noted`: the loop with what they
  // note.
  Block dealt_out(const ForLoop& loop, const ForLoop& noted, const SharedLoop& shared) {
    if (vector_code_ == nullptr) return {dealt(noted, shared)};
    Block result;
    // Selections note times where they are.
    const bool is_as_planned = shared.growth && shared.selections.empty();
    vector_code_->add_loop(noted, written_after(loop), is_as_planned ? &*shared.growth : nullptr,
                           result);
    return result;
  }

  // The arrays that loops behind this one write.
  std::set<std::string> written_after(const ForLoop& loop) const {
    std::set<std::string> written;
    bool is_behind = false;
    for (const StmtPtr& stmt : *vectors_->block) {
      const auto found = plan_.find(stmt.get());
      if (found == plan_.end()) continue;
      if (is_behind) written.merge(vector_code_->written_by(to<ForLoop>(stmt)));
      is_behind = is_behind || stmt.get() == &loop;
    }
    return written;
  }

  StmtPtr dealt(const ForLoop& loop, const SharedLoop& shared) {
    auto result = std::make_shared<ForLoop>(loop);
    const Declaration& counter = *loop.declaration();
    result->init = source::declare(
        counter.variable,
        source::add(counter.value,
                    source::multiply(lane(), source::integer(shared.counted.stride))));
    result->step = source::assign(loop.advance()->target, AssignmentOperator::add,
                                  source::integer(shared.counted.stride * threads_));
    if (!mixed_.contains(shared.counted.name)) return result;
    return names_.renamed(Block{result}).front();
  }

  // Whether the accumulator holds the value that changes nothing when the loop begins.
  bool starts_neutral(const Reduction& reduction, const std::set<std::string>& fresh) const {
    const ExprPtr neutral = reduction.neutral();
    if (!neutral) return true;
    return fresh.contains(reduction.variable) &&
           literals_.at(reduction.variable) == literal_value(neutral);
  }

  // A loop that uses what it has accumulated so far.
  void scan(const ForLoop& loop, const SharedLoop& shared, Block& out) {
    // Beside a version by vectors, the other one is for rows whose elements neighbours take in
    // turn.
    const int items = vectors_ != nullptr && vector_code_ == nullptr ? 1 : items_;
    const ScanTeam team = {threads_, across_ ? rows_ : 0, items, lane()};
    Block code = ScanCode(loop, shared, team, vector_code_ != nullptr ? vectors_ : nullptr,
                          vector_code_, names_)
                     .run(shared_);
    // A counter that is declared anew keeps one meaning.
    if (repeated_.contains(shared.counted.name)) code = names_.renamed(code);
    out.insert(out.end(), code.begin(), code.end());
  }

  void share(const std::shared_ptr<const ForLoop>& loop, const SharedLoop& shared,
             const std::set<std::string>& fresh, Block& out) {
    if (shared.scan) {
      scan(*loop, shared, out);
      return;
    }
    std::shared_ptr<const ForLoop> noted = loop;
    std::vector<DealtSelection> selections;
    for (const Selection& selection : shared.selections) {
      selections.emplace_back(selection, shared.counted, names_, out);
      noted = selections.back().noted(noted);
    }
    Block result = dealt_out(*loop, *noted, shared);
    std::vector<Reduction> partial;
    std::vector<StmtPtr> merges;
    for (const Reduction& reduction : shared.reductions) {
      if (starts_neutral(reduction, fresh)) {
        partial.push_back(reduction);
        continue;
      }
      if (!reduction.scaled_by.empty()) {
        // The first lane goes on from what the sum begins with.
        const ExprPtr is_other = source::less(source::integer(0), lane());
        out.push_back(source::branch(
            is_other, {source::assign(source::variable(reduction.variable, reduction.scalar),
                                      reduction.neutral())}));
        partial.push_back(reduction);
        continue;
      }
      Reduction part = reduction;
      part.variable = names_.fresh(reduction.variable + "_part");
      out.push_back(source::declare(source::local_variable(part.variable, part.type, part.scalar),
                                    reduction.neutral()));
      const ExprPtr part_value = source::variable(part.variable, part.scalar);
      result = source::rewrite_expressions(
          result, source::replace_variable(reduction.variable, part_value));
      merges.push_back(
          reduction.combine(source::variable(reduction.variable, reduction.scalar), part_value));
      partial.push_back(part);
    }
    out.insert(out.end(), result.begin(), result.end());
    totals_.add(partial, selections, shared.repeats, out);
    out.insert(out.end(), merges.begin(), merges.end());
  }

  const Kernel& kernel_;
  const RowPlan& plan_;
  const RowVectors* vectors_;
  RowVectorCode* vector_code_ = nullptr;  // while the loops that move vectors are written
  Names names_;
  int threads_;
  int rows_;
  int items_;
  bool across_;
  std::string lane_;
  std::string row_in_block_;
  RowTotals totals_;
  std::set<std::string> mixed_;
  std::set<std::string> repeated_;  // counters of several loops
  std::map<std::string, double> literals_;
  Block shared_;
};

}  // namespace

Block share_rows(const Kernel& kernel, const RowPlan& plan,
                 const std::optional<RowVectors>& vectors, const RowTeam& team) {
  return RowSharer(kernel, plan, vectors ? &*vectors : nullptr, team).run();
}

}  // namespace regraph::rewrite

#include "rewrite/transform/share_rows.h"

#include "rewrite/analysis/reduction_loop.h"
#include "rewrite/forms/ir.h"
#include "rewrite/forms/names.h"
#include "rewrite/transform/row_vector_code.h"
#include "rewrite/transform/scan_code.h"
#include "rewrite/transform/selection_code.h"
#include "rewrite/transform/warp_shuffle.h"
#include "source/build.h"
#include "source/mutator.h"
#include "source/walk.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace regraph::rewrite {

namespace {

// Code that puts together what the threads of a row have accumulated, so that all of them have the
// row's.

// What each of the threads has accumulated. Sums that are scaled by a maximum stand behind it: each
// thread's is scaled to the largest of the threads' maxima before they are added up.
struct Accumulated {
  std::vector<Reduction> reductions;
  std::vector<DealtSelection> selections;

  [[nodiscard]] std::vector<CarriedScalar> scalars() const {
    std::vector<CarriedScalar> result(reductions.begin(), reductions.end());
    for (const DealtSelection& selection : selections)
      result.insert(result.end(), selection.carried().begin(), selection.carried().end());
    return result;
  }
  // A sum that the maximum scales; null where it scales none.
  [[nodiscard]] const Reduction* scaled_by(const Reduction& maximum) const {
    const auto sum = std::ranges::find(reductions, maximum.variable, &Reduction::scaled_by);
    return sum != reductions.end() ? &*sum : nullptr;
  }
};

class RowTotals {
 public:
  // `lane` names a thread's place in its row. `names` must outlive it.
  RowTotals(const RowTeam& team, std::string lane, Names& names)
      : team_(team),
        lane_(std::move(lane)),
        names_(names),
        offset_(names.fresh("offset")),
        warp_offset_(names.fresh("warp_offset")) {}

  // Appends the code for what the threads have to `out`; it stands in a loop where it `repeats`.
  void add(const Accumulated& parts, bool repeats, Block& out) {
    if (parts.reductions.empty() && parts.selections.empty()) return;
    const bool has_slots = team_.across ? add_across(parts, out) : add_along(parts, out);
    // The slots are written again the next time round.
    if (has_slots && repeats) out.push_back(barrier());
  }

  // What the code so far needs at the start of the kernel: shared memory, and the lanes of a row.
  [[nodiscard]] Block declarations() const {
    Block result = shared_;
    if (row_lanes_.empty()) return result;
    const ExprPtr threads = source::integer(team_.threads);
    const ExprPtr in_warp = remainder(source::builtin("threadIdx.x"), source::integer(kWarpLanes));
    Variable lanes = local_variable(row_lanes_, "unsigned int", ScalarType::u32);
    lanes.is_const = true;
    const ExprPtr first_lanes =
        integer((std::int64_t{1} << team_.threads) - 1,
                fmt::format("0x{:x}u", (1U << team_.threads) - 1), ScalarType::u32);
    result.push_back(declare(lanes, binary(BinaryOperator::shift_left, first_lanes,
                                           multiply(divide(in_warp, threads), threads))));
    return result;
  }

 private:
  // Both say whether the code uses shared memory. Of threads along y: each adds up what all of them
  // put there.
  bool add_across(const Accumulated& parts, Block& out);
  // Of threads along x: by shuffles, across warps through shared memory.
  bool add_along(const Accumulated& parts, Block& out);
  // Of groups of `lanes` neighbouring lanes.
  void add_lanes(const Accumulated& parts, int lanes, const std::string& offset, Block& out);

  // Shared memory for a value of each thread that `extents` count.
  [[nodiscard]] ExprPtr slots_for(const CarriedScalar& scalar, const std::string& suffix,
                                  std::vector<std::int64_t> extents) {
    Variable array = local_variable(names_.fresh(scalar.variable + suffix), scalar.type,
                                    scalar.scalar, std::move(extents));
    array.storage = Storage::shared;
    shared_.push_back(declare(array, nullptr));
    return source::variable(array.name, scalar.scalar);
  }
  [[nodiscard]] ExprPtr lane() const { return source::variable(lane_); }
  // The lanes of a warp that exchange values: rows that share one may go different ways.
  [[nodiscard]] ExprPtr mask() {
    if (team_.across || team_.threads >= kWarpLanes) return full_mask();
    if (row_lanes_.empty()) row_lanes_ = names_.fresh("row_lanes");
    return source::variable(row_lanes_, ScalarType::u32);
  }

  RowTeam team_;
  std::string lane_;
  Names& names_;
  std::string offset_;
  std::string warp_offset_;
  std::string row_lanes_;
  Block shared_;
};

// What a part of the sum is multiplied by, where `maximum` is that of all parts and `own` the
// part's: nothing is subtracted from minus infinity, nor from a part's maximum that is no number.
ExprPtr scale_of_part(const Reduction& sum, const ExprPtr& own) {
  const ExprPtr maximum = source::variable(sum.scaled_by, sum.scalar);
  const ExprPtr one = source::floating(sum.scalar == ScalarType::f64 ? "1.0" : "1.0f");
  return conditional(less(own, maximum), call(sum.exponential, {subtract(own, maximum)}), one);
}

bool RowTotals::add_across(const Accumulated& parts, Block& out) {
  Block loads;
  std::map<std::string, ExprPtr> slots_of;
  const auto slot = [&](const std::string& name, const ExprPtr& of) {
    return element(slots_of.at(name), {of, source::builtin("threadIdx.x")});
  };
  // A place to leave the value in.
  const auto leave = [&](const CarriedScalar& scalar) {
    slots_of[scalar.variable] = slots_for(scalar, "_of_slice", {team_.threads, team_.rows});
    out.push_back(assign(slot(scalar.variable, lane()), scalar.value()));
  };
  const auto over_others = [&](const std::string& other, StmtPtr combined) {
    loads.push_back(counted_loop(other, source::integer(1), source::integer(team_.threads), 1,
                                 {std::move(combined)}, kUnrollFully));
  };
  for (const Reduction& reduction : parts.reductions) {
    const std::string other = names_.fresh("other");
    leave(reduction);
    const auto part = [&](const ExprPtr& of) {
      ExprPtr value = slot(reduction.variable, of);
      if (reduction.scaled_by.empty()) return value;
      return source::multiply(value, scale_of_part(reduction, slot(reduction.scaled_by, of)));
    };
    loads.push_back(assign(reduction.value(), part(source::integer(0))));
    over_others(other, reduction.combine(reduction.value(), part(source::variable(other))));
  }
  for (const DealtSelection& selection : parts.selections) {
    const std::string other = names_.fresh("other");
    std::vector<ExprPtr> theirs;
    for (const CarriedScalar& carried : selection.carried()) {
      leave(carried);
      loads.push_back(assign(carried.value(), slot(carried.variable, source::integer(0))));
      theirs.push_back(slot(carried.variable, source::variable(other)));
    }
    over_others(other, selection.take(theirs));
  }
  out.push_back(barrier());
  out.insert(out.end(), loads.begin(), loads.end());
  return true;
}

bool RowTotals::add_along(const Accumulated& parts, Block& out) {
  add_lanes(parts, std::min(team_.threads, kWarpLanes), offset_, out);
  const int warps = team_.threads / kWarpLanes;
  if (warps <= 1) return false;
  Block stores;
  Block loads;
  for (const CarriedScalar& scalar : parts.scalars()) {
    const ExprPtr slots = slots_for(scalar, "_of_warp", {warps});
    const auto slot_at = [&](const ExprPtr& place) { return element(slots, {place}); };
    stores.push_back(assign(slot_at(divide(lane(), source::integer(kWarpLanes))), scalar.value()));
    loads.push_back(assign(scalar.value(), slot_at(remainder(lane(), source::integer(warps)))));
  }
  add_lanes(parts, warps, warp_offset_, loads);
  out.push_back(branch(equals(remainder(lane(), source::integer(kWarpLanes)), source::integer(0)),
                       std::move(stores)));
  out.push_back(barrier());
  out.insert(out.end(), loads.begin(), loads.end());
  return true;
}

void RowTotals::add_lanes(const Accumulated& parts, int lanes, const std::string& offset,
                          Block& out) {
  const auto declared = [&](const std::string& stem, const Reduction& like, const ExprPtr& value) {
    Variable variable = local_variable(names_.fresh(stem), like.type, like.scalar);
    variable.is_const = true;
    out.push_back(declare(variable, value));
    return source::variable(variable.name, like.scalar);
  };
  std::map<std::string, ExprPtr> scales;  // by maximum
  for (const Reduction& reduction : parts.reductions) {
    const Reduction* const scaled = parts.scaled_by(reduction);
    ExprPtr own;
    if (scaled != nullptr)
      own = declared(reduction.variable + "_own", reduction, reduction.value());
    if (!reduction.scaled_by.empty()) {
      out.push_back(
          assign(reduction.value(), AssignmentOperator::multiply, scales.at(reduction.scaled_by)));
    }
    out.push_back(
        all_reduce(reduction, lanes, offset, names_.fresh(reduction.variable + "_other"), mask()));
    if (scaled == nullptr) continue;
    scales[reduction.variable] =
        declared(reduction.variable + "_own_scale", reduction, scale_of_part(*scaled, own));
  }
  for (const DealtSelection& selection : parts.selections)
    out.push_back(selection.all_select(lanes, offset, names_));
}

// Code of one thread a row, for blocks in which several threads share one.

class RowIndices final : public Mutator {
 public:
  RowIndices(ExprPtr thread, ExprPtr extent)
      : thread_(std::move(thread)), extent_(std::move(extent)) {}

 private:
  using Mutator::mutate;

  ExprPtr mutate(const ExprPtr& expr, const Builtin& builtin) override {
    if (builtin.name == "threadIdx.x") return thread_;
    return builtin.name == "blockDim.x" ? extent_ : expr;
  }

  ExprPtr mutate(const ExprPtr& expr, const Binary& binary) override {
    ExprPtr left = run(binary.left);
    ExprPtr right = run(binary.right);
    if (left == binary.left && right == binary.right) return expr;
    return source::binary(binary.op, std::move(left), std::move(right));
  }

  ExprPtr thread_;
  ExprPtr extent_;
};

// The block with threadIdx.x and blockDim.x as rows see them: the row's number in the block, and
// how many it has. What becomes constant is folded.
Block for_rows(const Block& block, const ExprPtr& row_in_block, int rows) {
  return RowIndices(row_in_block, source::integer(rows)).run(block);
}

// The value of a literal.
std::optional<double> literal_value(const ExprPtr& expr) {
  if (const auto* integer = as<IntegerLiteral>(expr)) return static_cast<double>(integer->value);
  if (const auto* floating = as<FloatingLiteral>(expr))
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
    append(totals_.declarations(), result);
    result.push_back(
        declare_integer(lane_, cast("int", shares_one_row ? thread : remainder(thread, threads))));
    if (!shares_one_row) {
      result.push_back(declare_integer(row_in_block_, cast("int", divide(thread, threads))));
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
    walk(kernel_.body, [&](const Stmt& stmt) {
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
    RowVectorCode code(kernel_, *vectors_, plan_, threads_, lane_, names_);
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
    result.push_back(branch(condition, std::move(by_vectors), std::move(by_elements)));
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
        const auto* base = base_variable(*assignment->target);
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
        result.push_back(with_blocks(stmt, convert(body_of(*stmt)), convert(otherwise_of(*stmt))));
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
    const ExprPtr first = equals(lane(), source::integer(0));
    const auto* last = !out.empty() ? as<Branch>(out.back()) : nullptr;
    if (last == nullptr || !last->otherwise.empty() || !equal(last->condition, first)) {
      out.push_back(branch(first, {stmt}));
      return;
    }
    Block longer = last->body;
    longer.push_back(stmt);
    out.back() = branch(first, std::move(longer), {}, last->line);
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
    result->init =
        declare(counter.variable,
                source::add(counter.value,
                            source::multiply(lane(), source::integer(shared.counted.stride))));
    result->step = assign(loop.advance()->target, AssignmentOperator::add,
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
    Accumulated parts;
    for (const Selection& selection : shared.selections) {
      parts.selections.emplace_back(selection, shared.counted, names_, out);
      noted = parts.selections.back().noted(noted);
    }
    Block result = dealt_out(*loop, *noted, shared);
    std::vector<StmtPtr> merges;
    for (const Reduction& reduction : shared.reductions) {
      Reduction part = reduction;
      if (!starts_neutral(reduction, fresh)) {
        if (!reduction.scaled_by.empty()) {
          // The first lane goes on from what the sum begins with.
          out.push_back(branch(less(source::integer(0), lane()),
                               {assign(reduction.value(), reduction.neutral())}));
        } else {
          part.variable = names_.fresh(reduction.variable + "_part");
          out.push_back(part.declared(reduction.neutral()));
          result = rewrite_expressions(result, replace_variable(reduction.variable, part.value()));
          merges.push_back(reduction.combine(reduction.value(), part.value()));
        }
      }
      parts.reductions.push_back(std::move(part));
    }
    out.insert(out.end(), result.begin(), result.end());
    totals_.add(parts, shared.repeats, out);
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

#include "rewrite/transform/scan_exchange.h"

#include "rewrite/transform/warp_shuffle.h"
#include "source/build.h"

#include <cstdint>
#include <string>
#include <utility>

namespace regraph::rewrite {

namespace {

// Slots that are combined one after the other in an unrolled loop.
constexpr int kMostUnrolled = 8;

class Exchange {
 public:
  Exchange(const ScanTeam& team, Names& names, Block& declarations)
      : team_(team), names_(names), declarations_(declarations) {}

  Block run(const std::vector<RunningValue>& values) {
    for (const RunningValue& value : values)
      is_across() ? across(value) : among_lanes(value);
    Block result = std::move(before_);
    if (buffer_) {
      result.push_back(barrier());
      after_.push_back(assign(buffer_, AssignmentOperator::bit_xor, integer(1)));
    }
    result.insert(result.end(), after_.begin(), after_.end());
    return result;
  }

 private:
  bool is_across() const { return team_.columns > 0; }
  ExprPtr number(int value) const { return integer(value); }

  // Slots for a value of each thread or warp: one set is written while another is read.
  ExprPtr slots_for(const std::string& name, const Reduction& reduction) {
    if (!buffer_) {
      const std::string buffer = names_.fresh("buffer");
      declarations_.push_back(declare_integer(buffer, number(0), false));
      buffer_ = variable(buffer);
    }
    std::vector<std::int64_t> extents = {2, team_.threads};
    if (is_across()) {
      extents.push_back(team_.columns);
    } else {
      extents.back() = team_.threads / kWarpLanes;
    }
    Variable array =
        local_variable(names_.fresh(name), reduction.type, reduction.scalar, std::move(extents));
    array.storage = Storage::shared;
    declarations_.push_back(declare(array, nullptr));
    return variable(array.name, array.scalar);
  }

  // `here` and `total` with the values in the slots: those before `own`, and all.
  void take(const RunningValue& value, const ExprPtr& slots, int count, const std::string& stem,
            const ExprPtr& own) {
    const std::string other = names_.fresh(stem);
    std::vector<ExprPtr> place = {buffer_, variable(other)};
    if (is_across()) place.push_back(builtin("threadIdx.x"));
    Reduction theirs = value.part;
    theirs.variable = names_.fresh(value.total.variable + "_theirs");
    Block body = {theirs.declared(element(slots, place)),
                  branch(less(variable(other), own),
                         {value.here.combine(value.here.value(), theirs.value())}),
                  value.total.combine(value.total.value(), theirs.value())};
    after_.push_back(counted_loop(other, number(0), number(count), 1, std::move(body),
                                  count <= kMostUnrolled ? kUnrollFully : kMostUnrolled));
  }

  void across(const RunningValue& value) {
    const ExprPtr slots = slots_for(value.total.variable + "_of_slice", value.total);
    before_.push_back(
        assign(element(slots, {buffer_, team_.lane, builtin("threadIdx.x")}), value.part.value()));
    after_.push_back(value.here.declared(value.total.value()));
    take(value, slots, team_.threads, "other", team_.lane);
  }

  void among_lanes(const RunningValue& value) {
    const int warps = team_.threads / kWarpLanes;
    const ExprPtr lane = warps == 1 ? team_.lane : remainder(team_.lane, number(kWarpLanes));
    before_.push_back(scan_lanes(value.part, lane, names_.fresh("distance"),
                                 names_.fresh(value.total.variable + "_below")));
    const auto shuffled = [&](const char* function, int from) {
      return call(function, {full_mask(), value.part.value(), number(from)});
    };
    before_.push_back(value.here.declared(shuffled("__shfl_up_sync", 1)));
    before_.push_back(branch(equals(lane, number(0)), {assign(value.here.value(), value.start())}));
    // What repeating changes nothing is in every part already.
    const auto add_total = [&](Block& out) {
      if (value.total.neutral())
        out.push_back(value.here.combine(value.here.value(), value.total.value()));
    };
    if (warps == 1) {
      add_total(before_);
      Reduction last = value.part;
      last.variable = names_.fresh(value.total.variable + "_of_round");
      before_.push_back(last.declared(shuffled("__shfl_sync", kWarpLanes - 1)));
      before_.push_back(value.total.combine(value.total.value(), last.value()));
      return;
    }
    const ExprPtr slots = slots_for(value.total.variable + "_of_warp", value.total);
    const ExprPtr warp = divide(team_.lane, number(kWarpLanes));
    before_.push_back(branch(equals(lane, number(kWarpLanes - 1)),
                             {assign(element(slots, {buffer_, warp}), value.part.value())}));
    add_total(after_);
    take(value, slots, warps, "warp", warp);
  }

  const ScanTeam& team_;
  Names& names_;
  Block& declarations_;
  ExprPtr buffer_;  // the set of slots that the round uses; null: none are needed
  Block before_;    // the barrier
  Block after_;
};

}  // namespace

ExprPtr RunningValue::start() const {
  const ExprPtr neutral = total.neutral();
  return neutral ? neutral : total.value();
}

Block exchange_parts(const std::vector<RunningValue>& values, const ScanTeam& team, Names& names,
                     Block& declarations) {
  return Exchange(team, names, declarations).run(values);
}

}  // namespace regraph::rewrite

#include "rewrite/analysis/tile_uses.h"

#include "affine/guarded_access.h"
#include "rewrite/analysis/refusal_place.h"
#include "rewrite/forms/kernel_state.h"
#include "source/build.h"
#include "source/walk.h"

#include <algorithm>
#include <utility>

namespace regraph::rewrite {

namespace {

class UseCollector {
 public:
  UseCollector(const Analysis& analysis, const Dim3& block, std::int64_t depth)
      : analysis_(analysis), block_(block), depth_(depth) {}

  Result<TileUses> run(const Stmt& loop, const std::string& counter) {
    if (Status status = collect_locals(loop, counter); !status) return status.error();
    collect_arrays(loop);
    return std::move(result_);
  }

 private:
  Status collect_locals(const Stmt& loop, const std::string& variable) {
    for (int axis = 0; axis < 3; ++axis) {
      const std::string name = std::string("threadIdx.") + kAxes[static_cast<std::size_t>(axis)];
      if (extent(block_, axis) > 1) result_.locals[name] = extent(block_, axis);
    }
    result_.locals[variable] = depth_;
    Status status;
    walk(body_of(loop), [&](const Stmt& stmt) {
      switch (stmt.kind()) {
        case StmtKind::for_loop: {
          const auto inner = counted_loop_of(stmt);
          const auto trips = inner ? inner->trip_count() : std::nullopt;
          if (!trips || !inner->starts_at_zero()) {
            status = refuse(loop_named(stmt) + "an inner loop does not run from 0 to a constant");
          } else {
            // What lies between the elements that are read is copied as well.
            const std::int64_t steps = std::max<std::int64_t>(*trips, 1) - 1;
            result_.locals[inner->name] = steps * inner->stride + 1;
            result_.iterations[inner->name] = *trips;
          }
          break;
        }
        case StmtKind::barrier:
        case StmtKind::while_loop:
        case StmtKind::jump:
        case StmtKind::return_:
        case StmtKind::opaque:
        case StmtKind::evaluation:
          status =
              refuse(loop_named(stmt) + "the loop holds a barrier, a call, a jump or a while loop");
          break;
        default:
          break;
      }
    });
    return status;
  }

  void collect_arrays(const Stmt& loop) {
    for_each_guarded_access(body_of(loop), [&](const GuardedAccess& access) {
      const auto* base = base_variable(*access.access);
      if (base == nullptr || !analysis_.is_global_pointer(base->name)) return;
      auto found = std::find_if(result_.arrays.begin(), result_.arrays.end(),
                                [&](const ArrayUse& use) { return use.name == base->name; });
      const bool is_new = found == result_.arrays.end();
      if (is_new)
        found =
            result_.arrays.insert(result_.arrays.end(), ArrayUse{base->name, {}, {}, false, ""});
      ArrayUse& use = *found;
      if (analysis_.is_written(base->name)) use.obstacle = "written in the kernel";
      if (analysis_.is_viewed(base->name)) use.obstacle = "read as another type too";
      const ExprPtr& index = access.access->index;
      const auto polynomial = local_polynomial(index, analysis_, block_);
      if (!polynomial || !is<VariableReference>(access.access->base)) {
        use.obstacle = "its index is not a polynomial of known symbols";
        return;
      }
      use.wide = use.wide || (index->type && size_in_bytes(*index->type) == 8);
      if (is_new) {
        use.index = *polynomial;
        use.guards = access.guards;
        return;
      }
      if (!(use.index == *polynomial)) use.obstacle = "read at several different places";
      const bool same_guards =
          use.guards.size() == access.guards.size() &&
          std::equal(use.guards.begin(), use.guards.end(), access.guards.begin(),
                     [](const ExprPtr& a, const ExprPtr& b) { return source::equal(a, b); });
      if (!same_guards) use.obstacle = "read under different conditions";
    });
  }

  const Analysis& analysis_;
  const Dim3& block_;
  std::int64_t depth_;
  TileUses result_;
};

}  // namespace

Result<TileUses> tile_uses(const Stmt& loop, const std::string& counter, const Analysis& analysis,
                           const Dim3& block, std::int64_t depth) {
  return UseCollector(analysis, block, depth).run(loop, counter);
}

}  // namespace regraph::rewrite

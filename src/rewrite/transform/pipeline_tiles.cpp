#include "rewrite/transform/pipeline_tiles.h"

#include "rewrite/transform/kept_tiles.h"
#include "rewrite/transform/names.h"
#include "source/build.h"
#include "source/walk.h"

#include <algorithm>
#include <utility>

namespace regraph::rewrite {

namespace {

class Pipeliner {
 public:
  Pipeliner(const Kernel& kernel, const StripLoop& strips, const Block& copies, int stages)
      : kernel_(kernel),
        tiles_(strips),
        strips_(strips),
        copies_(copies),
        stages_(stages),
        names_(kernel) {
    stage_ = names_.fresh("stage");
    ahead_ = names_.fresh("ahead");
  }

  Block run() {
    const bool is_on_top =
        std::any_of(kernel_.body.begin(), kernel_.body.end(),
                    [&](const StmtPtr& stmt) { return stmt.get() == strips_.loop; });
    return tiles_.kept(kernel_.body, stages_, [&] {
      Block result = pipelined();
      // Around again, the first copies must not overtake the last use.
      if (!is_on_top) result.push_back(barrier());
      return result;
    });
  }

 private:
  static StmtPtr commit() { return evaluate(call("__pipeline_commit", {})); }

  ExprPtr stage() const { return variable(stage_); }

  Block pipelined() {
    Block result;
    const std::int64_t stride = strips_.counted.stride;
    // All stages but one are on their way before the loop.
    const ExprPtr first = add(strips_.counted.first, multiply(variable(ahead_), integer(stride)));
    Block fill = {
        branch(tiles_.has_strip(first),
               names_.renamed(tiles_.on_tile(tiles_.in_strip(copies_, first), variable(ahead_)))),
        commit()};
    result.push_back(
        counted_loop(ahead_, integer(0), integer(stages_ - 1), 1, std::move(fill), kUnrollFully));
    result.push_back(declare_integer(stage_, integer(0), false));

    Block body;
    body.push_back(evaluate(call("__pipeline_wait_prior", {integer(stages_ - 2)})));
    // The strip has arrived for all threads, and all are done with the one before.
    body.push_back(barrier());
    const ExprPtr next = add(variable(strips_.counted.name), integer((stages_ - 1) * stride));
    const ExprPtr last = conditional(equals(stage(), integer(0)), integer(stages_ - 1),
                                     subtract(stage(), integer(1)));
    body.push_back(
        branch(tiles_.has_strip(next), tiles_.on_tile(tiles_.in_strip(copies_, next), last)));
    body.push_back(commit());
    Block use = tiles_.on_tile(strips_.use, stage());
    if (strips_.active) use = {branch(strips_.active, std::move(use))};
    body.insert(body.end(), use.begin(), use.end());
    body.push_back(assign(stage(), conditional(equals(stage(), integer(stages_ - 1)), integer(0),
                                               add(stage(), integer(1)))));
    const auto& loop = to<ForLoop>(*strips_.loop);
    result.push_back(
        source::loop(loop.init, loop.condition, loop.step, std::move(body), loop.unroll));
    return result;
  }

  const Kernel& kernel_;
  KeptTiles tiles_;
  const StripLoop& strips_;
  const Block& copies_;
  int stages_;
  Names names_;
  std::string stage_;
  std::string ahead_;
};

}  // namespace

Block pipeline_tiles(const Kernel& kernel, const StripLoop& strips, const Block& copies,
                     int stages) {
  return Pipeliner(kernel, strips, copies, stages).run();
}

}  // namespace regraph::rewrite

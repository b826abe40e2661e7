#include "rewrite/transform/pipeline_tiles.h"

#include "rewrite/transform/kept_tiles.h"
#include "rewrite/transform/names.h"
#include "source/build.h"
#include "source/walk.h"

#include <algorithm>
#include <utility>

namespace regraph::rewrite {

using source::Block;
using source::ExprPtr;
using source::ForLoop;
using source::Kernel;
using source::StmtPtr;

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
      if (!is_on_top) result.push_back(source::barrier());
      return result;
    });
  }

 private:
  static StmtPtr commit() { return source::evaluate(source::call("__pipeline_commit", {})); }

  ExprPtr stage() const { return source::variable(stage_); }

  Block pipelined() {
    Block result;
    const std::int64_t stride = strips_.counted.stride;
    // All stages but one are on their way before the loop.
    const ExprPtr first = source::add(
        strips_.counted.first, source::multiply(source::variable(ahead_), source::integer(stride)));
    Block fill = {source::branch(tiles_.has_strip(first),
                                 names_.renamed(tiles_.on_tile(tiles_.in_strip(copies_, first),
                                                               source::variable(ahead_)))),
                  commit()};
    result.push_back(source::counted_loop(ahead_, source::integer(0), source::integer(stages_ - 1),
                                          1, std::move(fill), source::kUnrollFully));
    result.push_back(source::declare_integer(stage_, source::integer(0), false));

    Block body;
    body.push_back(
        source::evaluate(source::call("__pipeline_wait_prior", {source::integer(stages_ - 2)})));
    // The strip has arrived for all threads, and all are done with the one before.
    body.push_back(source::barrier());
    const ExprPtr next = source::add(source::variable(strips_.counted.name),
                                     source::integer((stages_ - 1) * stride));
    const ExprPtr last = source::conditional(source::equals(stage(), source::integer(0)),
                                             source::integer(stages_ - 1),
                                             source::subtract(stage(), source::integer(1)));
    body.push_back(source::branch(tiles_.has_strip(next),
                                  tiles_.on_tile(tiles_.in_strip(copies_, next), last)));
    body.push_back(commit());
    Block use = tiles_.on_tile(strips_.use, stage());
    if (strips_.active) use = {source::branch(strips_.active, std::move(use))};
    body.insert(body.end(), use.begin(), use.end());
    body.push_back(source::assign(
        stage(),
        source::conditional(source::equals(stage(), source::integer(stages_ - 1)),
                            source::integer(0), source::add(stage(), source::integer(1)))));
    const auto& loop = source::to<ForLoop>(*strips_.loop);
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

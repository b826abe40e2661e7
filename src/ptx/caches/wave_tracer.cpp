#include "ptx/caches/wave_tracer.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace regraph::ptx {
namespace {

// Parts of a wave that are handed out to threads: enough that none waits long for the last, few
// enough that a part is worth the handing out.
constexpr std::uint64_t kPartsOfWave = 32;

// The tracers of one wave; one that has done a part goes on with another.
class WaveTracers {
 public:
  explicit WaveTracers(WaveTracer& source) : source_(source) {}

  BlockTracer& take() {
    const std::lock_guard lock(mutex_);
    if (idle_.empty()) {
      all_.push_back(source_.take());
      return *all_.back();
    }
    BlockTracer& tracer = *idle_.back();
    idle_.pop_back();
    return tracer;
  }
  void give_back(BlockTracer& tracer) {
    const std::lock_guard lock(mutex_);
    idle_.push_back(&tracer);
  }
  // Once no part runs any more.
  std::vector<std::unique_ptr<BlockTracer>> release() { return std::move(all_); }

 private:
  WaveTracer& source_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<BlockTracer>> all_;
  std::vector<BlockTracer*> idle_;
};

// The failure of the earliest block, whichever thread came first.
class EarliestFailure {
 public:
  void add(std::uint64_t block, TraceFailure failure) {
    const std::lock_guard lock(mutex_);
    if (block >= block_) return;
    block_ = block;
    failure_ = std::move(failure);
  }
  // Whether a block before this one has failed, so that it need not run.
  [[nodiscard]] bool before(std::uint64_t block) {
    const std::lock_guard lock(mutex_);
    return block_ < block;
  }
  [[nodiscard]] std::optional<TraceFailure>& failure() { return failure_; }

 private:
  std::mutex mutex_;
  std::uint64_t block_ = ~std::uint64_t{0};
  std::optional<TraceFailure> failure_;
};

}  // namespace

Result<TracedWave, TraceFailure> WaveTracer::trace(std::uint64_t first_block, std::uint64_t count) {
  TracedWave wave;
  wave.blocks.resize(count);
  const std::uint64_t parts = std::min(count, kPartsOfWave);
  WaveTracers tracers(*this);
  EarliestFailure failed;
  threads_.for_each_index(parts, [&](std::size_t part) {
    BlockTracer& tracer = tracers.take();
    for (std::uint64_t i = part * count / parts; i < (part + 1) * count / parts; ++i) {
      if (failed.before(i)) break;
      wave.blocks[i] = {&tracer.trace(), tracer.trace().requests().size(), 0};
      if (auto run = tracer.run(first_block + i); !run) {
        failed.add(i, std::move(run).error());
        break;
      }
      wave.blocks[i].end = tracer.trace().requests().size();
    }
    tracers.give_back(tracer);
  });
  wave.tracers = tracers.release();
  for (const auto& tracer : wave.tracers)
    wave.requests += tracer->trace().totals().requests;
  if (!failed.failure()) return wave;
  give_back(std::move(wave));
  return *std::move(failed.failure());
}

std::unique_ptr<BlockTracer> WaveTracer::take() {
  std::unique_ptr<BlockTracer> tracer;
  {
    const std::lock_guard lock(mutex_);
    if (!unused_.empty()) {
      tracer = std::move(unused_.back());
      unused_.pop_back();
    }
  }
  if (tracer == nullptr) tracer = std::make_unique<BlockTracer>(launch_);
  tracer->set_time_limit(time_limit_);
  return tracer;
}

void WaveTracer::give_back(std::unique_ptr<BlockTracer> tracer) {
  tracer->trace().clear();
  const std::lock_guard lock(mutex_);
  unused_.push_back(std::move(tracer));
}

void WaveTracer::give_back(TracedWave wave) {
  for (auto& tracer : wave.tracers)
    give_back(std::move(tracer));
}

}  // namespace regraph::ptx

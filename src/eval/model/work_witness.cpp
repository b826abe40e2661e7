#include "eval/model/work_witness.h"

#include "base/random.h"
#include "eval/model/sampling.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace regraph {

namespace {

constexpr std::uint64_t kSeed = 0xB10C;
// A first look, which honest kernels pass, and a closer one before anything is said.
constexpr int kFewBlocks = 32;
constexpr int kManyBlocks = 200;
// Warp instructions that one look may take, over all its blocks: a few hundredths of a second.
constexpr std::uint64_t kFewInstructions = 2'000'000;
constexpr std::uint64_t kManyInstructions = 100'000'000;
// Estimates from 200 blocks of which half work stay below that; from all of them, above.
constexpr double kWrittenShare = 0.75;
constexpr double kReadShare = 0.1;

std::vector<std::uint64_t> drawn_blocks(std::uint64_t grid, int count) {
  std::set<std::uint64_t> blocks;
  if (grid <= static_cast<std::uint64_t>(count)) {
    for (std::uint64_t block = 0; block < grid; ++block)
      blocks.insert(block);
  } else {
    // Two neighbours, one odd and one even, of each of count / 2 equal parts.
    const auto parts = static_cast<std::uint64_t>(count / 2);
    for (std::uint64_t part = 0; part < parts; ++part) {
      const std::uint64_t begin = grid / parts * part;
      const std::uint64_t drawn = begin + random_bits(kSeed, part) % (grid / parts - 1);
      blocks.insert({drawn, drawn + 1});
    }
  }
  return {blocks.begin(), blocks.end()};
}

GlobalWork work_of_profile(const ptx::Profile& profile) {
  GlobalWork work;
  for (const ptx::InstructionProfile& one : profile.instructions) {
    const double bytes =
        one.bulk_bytes > 0
            ? static_cast<double>(one.bulk_bytes)
            : static_cast<double>(one.thread_executions) * static_cast<double>(one.access_bytes);
    using Class = ptx::InstructionClass;
    const bool atomic = one.instruction_class == Class::atomic_global;
    if (one.instruction_class == Class::load_global || atomic) work.read_bytes += bytes;
    if (one.instruction_class == Class::store_global || atomic) work.written_bytes += bytes;
  }
  return work;
}

// Of all inputs, and of all outputs.
GlobalWork buffer_bytes(const Problem& problem, const Symbols& symbols) {
  GlobalWork bytes;
  for (const Argument& argument : problem.arguments) {
    if (!argument.has_memory()) continue;
    const Result<std::int64_t> count = argument.element_count(symbols);
    if (!count.ok()) continue;
    const double size =
        static_cast<double>(*count) * static_cast<double>(size_in_bytes(argument.type));
    if (argument.is_input()) bytes.read_bytes += size;
    if (argument.is_output()) bytes.written_bytes += size;
  }
  return bytes;
}

bool too_little(const GlobalWork& done, const GlobalWork& needed) {
  return done.written_bytes < kWrittenShare * needed.written_bytes ||
         done.read_bytes < kReadShare * needed.read_bytes;
}

}  // namespace

Result<GlobalWork> estimate_work(const Problem& problem, const verify::LoadedPlan& plan,
                                 const Symbols& symbols, int blocks,
                                 const Cancellation& cancellation) {
  const std::uint64_t instructions = blocks > kFewBlocks ? kManyInstructions : kFewInstructions;
  GlobalWork total;
  for (const verify::LoadedLaunch& loaded : plan) {
    const Result<ConcreteLaunch> launch = concretise(loaded.launch, symbols);
    if (!launch.ok()) return launch.error();
    const std::uint64_t grid = launch->grid.count();
    const auto profile = sample_blocks(problem, loaded.program, *launch, symbols,
                                       drawn_blocks(grid, blocks), instructions, cancellation);
    if (!profile.ok()) return profile.error();
    const GlobalWork sampled = work_of_profile(*profile);
    const double scale = static_cast<double>(grid) /
                         static_cast<double>(std::max<std::uint64_t>(profile->blocks, 1));
    total.read_bytes += scale * sampled.read_bytes;
    total.written_bytes += scale * sampled.written_bytes;
  }
  return total;
}

std::optional<std::string> WorkWitness::missing(const Problem& problem,
                                                const verify::LoadedPlan& original,
                                                const verify::LoadedPlan& candidate,
                                                const Cancellation& cancellation) {
  if (original.empty()) return std::nullopt;
  for (std::size_t b = 0; b < problem.bench.size(); ++b) {
    const Symbols& symbols = problem.bench[b];
    GlobalWork needed = buffer_bytes(problem, symbols);
    const auto first = estimate_work(problem, candidate, symbols, kFewBlocks, cancellation);
    if (!first.ok() || !too_little(*first, needed)) continue;
    {
      const std::lock_guard lock(mutex_);
      auto known = original_.find(b);
      if (known == original_.end()) {
        const auto work = estimate_work(problem, original, symbols, kManyBlocks, cancellation);
        if (cancellation.requested()) return std::nullopt;
        known = original_.emplace(b, work.ok() ? std::optional(*work) : std::nullopt).first;
      }
      if (!known->second) continue;
      needed.read_bytes = std::min(needed.read_bytes, known->second->read_bytes);
      needed.written_bytes = std::min(needed.written_bytes, known->second->written_bytes);
    }
    if (!too_little(*first, needed)) continue;
    const auto closer = estimate_work(problem, candidate, symbols, kManyBlocks, cancellation);
    if (!closer.ok() || !too_little(*closer, needed)) continue;
    return fmt::format(
        "at the bench size its threads read about {:.3g} bytes of the {:.3g} that are needed, and "
        "write {:.3g} of {:.3g}: it does less there than at the sizes of the tests",
        closer->read_bytes, needed.read_bytes, closer->written_bytes, needed.written_bytes);
  }
  return std::nullopt;
}

}  // namespace regraph

#include "eval/gpu/timing/race.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace regraph::gpu {
namespace {

constexpr int kPatternLength = 4;  // ABBA: a drift that is linear within it cancels

// ABBA ABBA ... of a multiple of four samples, led by `first`.
std::vector<RaceSide> interleaving(int length, RaceSide first) {
  const RaceSide second = first == RaceSide::candidate ? RaceSide::incumbent : RaceSide::candidate;
  std::vector<RaceSide> sides;
  for (int i = 0; i < length; ++i) {
    const int place = i % kPatternLength;
    sides.push_back(place == 0 || place == kPatternLength - 1 ? first : second);
  }
  return sides;
}

int size(const std::vector<double>& values) {
  return static_cast<int>(values.size());
}

}  // namespace

const char* name(RaceEnd end) {
  switch (end) {
    case RaceEnd::running:
      return "running";
    case RaceEnd::dropped_at_first_look:
      return "dropped at the first look";
    case RaceEnd::dropped_at_second_look:
      return "dropped at the second look";
    case RaceEnd::enough_samples:
      return "enough samples";
    case RaceEnd::precise:
      return "precise";
    case RaceEnd::gpu_time:
      return "GPU time used up";
    case RaceEnd::wall_time:
      return "wall time used up";
    case RaceEnd::unstable_clock:
      break;
  }
  return "unstable clock";
}

Race::Race(std::optional<RaceIncumbent> incumbent, double session_clock_hertz, RaceConfig config)
    : config_(config), incumbent_(incumbent), session_clock_hertz_(session_clock_hertz) {
  if (incumbent_) longest_sample_ = incumbent_->seconds.median;
  plan_block();
}

Status Race::take(const RaceBlockResult& result) {
  if (finished()) return fail(ErrorCode::invalid_argument, "the race is over");
  if (result.seconds.size() != next_.samples.size()) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("{} samples were asked for, {} came", next_.samples.size(),
                            result.seconds.size()));
  }
  for (const double seconds : result.seconds) {
    if (!std::isfinite(seconds) || !(seconds > 0.0)) {
      return fail(ErrorCode::invalid_argument, fmt::format("a sample of {} s is no time", seconds));
    }
  }
  longest_sample_ = 0.0;  // of this block: the first sample after an idle pause is no measure
  for (const double seconds : result.seconds)
    longest_sample_ = std::max(longest_sample_, seconds);

  if (phase_ != Phase::warm_up) {
    ++blocks_;
    if (result.clock_hertz > 0.0) block_clocks_.push_back(result.clock_hertz);
    if (clock_is_low(result.clock_hertz)) {
      ++discarded_;
      if (++discarded_in_a_row_ >= config_.most_discards_in_a_row) {
        if (!takes_own_clock()) finish(RaceEnd::unstable_clock);
      } else if (result.wall_since_start >= config_.wall_seconds) {
        finish(RaceEnd::wall_time);
      } else {
        next_.wait_seconds =
            config_.first_wait_seconds * std::pow(config_.wait_growth, discarded_in_a_row_ - 1);
      }
      return {};
    }
    discarded_in_a_row_ = 0;
  }
  keep(result);
  look(result.wall_since_start);
  return {};
}

// A kernel that draws so much power that the GPU always runs it at a lower clock has no other time.
bool Race::takes_own_clock() {
  const auto first = block_clocks_.end() - discarded_in_a_row_;
  const auto [lowest, highest] = std::minmax_element(first, block_clocks_.end());
  if (*lowest < config_.slow_clock * *highest) return false;
  session_clock_hertz_ = median(std::vector<double>(first, block_clocks_.end()));
  discarded_in_a_row_ = 0;
  next_.wait_seconds = 0.0;
  return true;
}

bool Race::clock_is_low(double clock_hertz) const {
  if (!(clock_hertz > 0.0)) return false;
  const double usual = session_clock_hertz_ > 0.0 ? session_clock_hertz_ : median(block_clocks_);
  return clock_hertz < config_.slow_clock * usual;
}

void Race::keep(const RaceBlockResult& result) {
  for (std::size_t i = 0; i < result.seconds.size(); ++i) {
    phase_gpu_seconds_ += result.seconds[i];
    Samples& samples = phase_ != Phase::interleaved              ? looks_
                       : next_.samples[i] == RaceSide::candidate ? candidate_
                                                                 : incumbent_samples_;
    samples.seconds.push_back(result.seconds[i]);
    samples.clock_hertz.push_back(result.clock_hertz);
  }
  if (phase_ == Phase::interleaved) ++interleaved_blocks_;
}

void Race::look(double wall_since_start) {
  const bool used_up = phase_gpu_seconds_ >= config_.phase_gpu_seconds;
  const bool few = size(looks_.seconds) < config_.fewest_look;
  if (phase_ == Phase::warm_up) {
    if (size(looks_.seconds) >= config_.warm_ups || used_up) {
      looks_ = {};
      enter(incumbent_ ? Phase::first_look : Phase::interleaved);
    }
  } else if (phase_ == Phase::first_look) {
    if (size(looks_.seconds) >= config_.first_look || (used_up && !few)) {
      const double best = *std::min_element(looks_.seconds.begin(), looks_.seconds.end());
      if (best > config_.drop_ratio * incumbent_->seconds.median)
        return finish(RaceEnd::dropped_at_first_look);
      enter(Phase::second_look);
    }
  } else if (phase_ == Phase::second_look) {
    if (size(looks_.seconds) >= config_.second_look || used_up) {
      const double best = *std::min_element(looks_.seconds.begin(), looks_.seconds.end());
      if (best > incumbent_->seconds.third_quartile) return finish(RaceEnd::dropped_at_second_look);
      enter(Phase::interleaved);
    }
  } else {
    look_at_interleaved();
  }
  if (!finished() && wall_since_start >= config_.wall_seconds) finish(RaceEnd::wall_time);
  if (!finished()) plan_block();
}

void Race::look_at_interleaved() {
  const int fewest = incumbent_
                         ? std::min(size(candidate_.seconds), size(incumbent_samples_.seconds))
                         : size(candidate_.seconds);
  if (fewest >= config_.enough_samples) return finish(RaceEnd::enough_samples);
  if (fewest >= config_.fewest_samples) {
    const auto is_precise = [&](const Samples& samples) {
      return summarize(samples.seconds, kTimerUnitSeconds).relative_standard_error() <
             config_.precise;
    };
    if (is_precise(candidate_) && (!incumbent_ || is_precise(incumbent_samples_)))
      return finish(RaceEnd::precise);
  }
  if (phase_gpu_seconds_ >= config_.phase_gpu_seconds && fewest >= config_.fewest_long)
    finish(RaceEnd::gpu_time);
}

void Race::enter(Phase phase) {
  phase_ = phase;
  phase_gpu_seconds_ = 0.0;
}

void Race::plan_block() {
  // A block takes no longer than a phase: between blocks is the only time to stop.
  const double fits = longest_sample_ > 0.0 ? config_.phase_gpu_seconds / longest_sample_
                                            : static_cast<double>(config_.block_size);
  int length = std::max(1, static_cast<int>(std::min<double>(config_.block_size, fits)));
  next_ = {};
  const int looked = size(looks_.seconds);
  switch (phase_) {
    case Phase::warm_up:
      // One at a time: nothing is known yet of how long it takes.
      next_.warm_up = true;
      next_.samples = {RaceSide::candidate};
      return;
    case Phase::first_look:
      length = std::min(length, config_.first_look - looked);
      break;
    case Phase::second_look:
      length = std::min(length, config_.second_look - looked);
      break;
    case Phase::interleaved:
      if (!incumbent_) break;
      length = std::max(kPatternLength, length / kPatternLength * kPatternLength);
      // Whoever comes first after the pause between blocks is at a disadvantage: take turns.
      next_.samples = interleaving(
          length, interleaved_blocks_ % 2 == 0 ? RaceSide::candidate : RaceSide::incumbent);
      return;
  }
  next_.samples.assign(static_cast<std::size_t>(std::max(1, length)), RaceSide::candidate);
}

void Race::finish(RaceEnd end) {
  end_ = end;
  next_ = {};
}

RaceOutcome Race::outcome() const {
  RaceOutcome outcome;
  outcome.end = end_;
  const bool interleaved = !candidate_.seconds.empty();
  const std::vector<double>& looks =
      phase_ == Phase::warm_up ? std::vector<double>() : looks_.seconds;
  outcome.candidate = summarize(interleaved ? candidate_.seconds : looks, kTimerUnitSeconds);
  if (incumbent_ && interleaved) {
    outcome.verdict =
        judge({candidate_.seconds, candidate_.clock_hertz},
              {incumbent_samples_.seconds, incumbent_samples_.clock_hertz}, incumbent_->noise);
    outcome.incumbent = outcome.verdict->incumbent;
  } else if (incumbent_) {
    outcome.verdict = judge_summaries(outcome.candidate, incumbent_->seconds, incumbent_->noise);
    if (outcome.verdict->word == SpeedVerdict::fast) {
      outcome.verdict->word = SpeedVerdict::ambiguous;
      outcome.verdict->reason = "not timed next to the incumbent";
    }
  }
  outcome.samples = size(looks) + size(candidate_.seconds) + size(incumbent_samples_.seconds);
  outcome.blocks = blocks_;
  outcome.discarded_blocks = discarded_;
  outcome.thermally_unstable =
      end_ == RaceEnd::unstable_clock || discarded_ > config_.unstable_share * blocks_;
  return outcome;
}

}  // namespace regraph::gpu

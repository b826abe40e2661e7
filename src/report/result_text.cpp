#include "kernel/caveats.h"
#include "report/hand_back_text.h"
#include "report/likely_answer.h"
#include "report/predicted_text.h"
#include "report/run_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <iterator>
#include <tuple>

namespace regraph {
namespace {

// A kernel cannot be faster than the device: where it is beyond the uncertainty of its time, what
// it is said to have to do is not what it did.
std::string roofline_text(double roofline_seconds, const TimeEstimate& time) {
  const std::string limit = duration_text(roofline_seconds);
  const double share = roofline_seconds / time.median_seconds;
  if (share <= 1.0) return fmt::format("{:.0f} % of the roofline ({})", 100.0 * share, limit);
  if (roofline_seconds <= time.high_seconds) return fmt::format("at the roofline ({})", limit);
  return fmt::format(
      "faster than the roofline of its counters ({}), so these are no bound: data that stays in "
      "the "
      "caches need not move, else 'counters' in the manifest say too much",
      limit);
}

std::string interval_text(const TimeEstimate& time) {
  return fmt::format("{:>9}   [{}, {}]  {}", duration_text(time.median_seconds),
                     duration_text(time.low_seconds), duration_text(time.high_seconds),
                     name(time.method));
}

// A step that a language model made up: it may be worth a place in a ReGraph.
std::string new_step_text(const NewStepRecord& step) {
  std::string text = fmt::format("  new step    {} [{}]: ", step.id, step.title);
  if (step.tries == 0) return text + "never tried\n";
  text += fmt::format("{} of {} tries correct", step.verified, step.tries);
  if (step.verified > 0) text += fmt::format(", at best {:.2f}x", std::exp(step.best_log_gain));
  return text + "\n";
}

std::string verdict_text(const SearchOutcome& outcome) {
  std::string text;
  for (int index = 0; index < kVerdictCount; ++index) {
    const int count = outcome.verdict_counts[static_cast<std::size_t>(index)];
    if (count == 0) continue;
    text +=
        fmt::format("{}{} {}", text.empty() ? "" : ", ", count, name(static_cast<Verdict>(index)));
  }
  return text.empty() ? "none" : text;
}

void append_best(const RunReport& report, std::string& text) {
  const SearchOutcome& outcome = report.outcome;
  const Evaluation& best = outcome.best_evaluation;
  auto out = std::back_inserter(text);
  fmt::format_to(out, "  best      {}\n", interval_text(best.time));
  fmt::format_to(out, "  speedup   {:>8.2f}x   [{:.2f}x, {:.2f}x]\n\n", report.speedup(),
                 report.speedup_low(), report.speedup_high());
  fmt::format_to(out, "  steps\n");
  int number = 0;
  for (const PathStep& step : outcome.path) {
    fmt::format_to(out, "    {:>2}. {:<44} {:.2f}x\n", ++number, step.step.text(),
                   std::exp(step.log_gain));
  }
  std::string assumptions;
  for (const std::string& assumption : report.assumptions()) {
    assumptions += (assumptions.empty() ? "" : "; ") + assumption;
  }
  fmt::format_to(out, "\n  assumes     {}\n",
                 assumptions.empty() ? "nothing beyond the original" : assumptions);
  text += launches_text(report);
}

// What the speedup was taken from.
void append_final(const MeasuredSpeedup& measured, std::string& text) {
  auto out = std::back_inserter(text);
  const MeasuredSpeedup::Bench& last = measured.benches.back();
  fmt::format_to(out, "\n  final       {} samples of each in {} fresh processes", last.cold.samples,
                 measured.processes);
  for (const auto& [name, times, speedup] :
       {std::tuple{"cold", last.cold, measured.cold}, std::tuple{"hot", last.hot, measured.hot}}) {
    fmt::format_to(out, "; {} {} -> {}, {:.2f}x [{:.2f}x, {:.2f}x]", name,
                   duration_text(times.original_seconds), duration_text(times.best_seconds),
                   speedup.ratio, speedup.low, speedup.high);
  }
  if (measured.benches.size() > 1) {
    fmt::format_to(out, " (times of the last size, speedups over all {})", measured.benches.size());
  }
}

void append_sanitizer(const SanitizerReport& report, std::string& text) {
  auto out = std::back_inserter(text);
  if (!report.findings.empty()) {
    fmt::format_to(out, "\n  sanitizer   objects to the best candidate, which is withdrawn: {}",
                   fmt::join(report.findings, "; "));
  } else if (!report.tools.empty()) {
    fmt::format_to(out, "\n  sanitizer   {}: no objection", fmt::join(report.tools, ", "));
  } else {
    text += "\n  sanitizer   did not run";
  }
  for (const std::string& note : report.notes)
    fmt::format_to(out, "\n              {}", note);
}

// How many workers were busy, and what they did ahead of being asked.
void append_workers(const RunReport& report, std::string& text) {
  if (report.config.jobs < 2) return;
  const WorkAhead& ahead = report.outcome.work_ahead;
  fmt::format_to(std::back_inserter(text), "  workers     {:.1f} of {} busy",
                 report.outcome.busy_workers(), report.config.jobs);
  if (ahead.evaluations > 0) {
    fmt::format_to(std::back_inserter(text),
                   "; {} candidates evaluated ahead, {} of them asked for later", ahead.evaluations,
                   ahead.evaluations_used);
  }
  text += "\n";
}

// The program with the winner in it.
void append_program(const ProgramRunReport& program, std::string& text) {
  auto out = std::back_inserter(text);
  if (!program.ran) {
    fmt::format_to(out, "  program     not run with the winner: {}\n", program.trouble);
    return;
  }
  fmt::format_to(out, "  program     {} with {} launches replaced",
                 program.same ? "behaves as before" : "BEHAVES DIFFERENTLY", program.replaced);
  if (program.kept > 0) fmt::format_to(out, " ({} of other shapes were not)", program.kept);
  if (!program.same)
    fmt::format_to(out, ", so the best candidate is withdrawn: {}", program.trouble);
  text += "\n";
}

void append_measurement(const Measurement& measurement, std::string& text) {
  auto out = std::back_inserter(text);
  fmt::format_to(out, "  timed       {} candidates", measurement.timed);
  if (measurement.pruned > 0) {
    fmt::format_to(out, "; {} left at a prediction far behind the best", measurement.pruned);
  }
  if (measurement.faults > 0) {
    fmt::format_to(out, "; {} went wrong on the GPU only", measurement.faults);
  }
  fmt::format_to(out, "\n  noise       {:.2g} % between two timings of the same kernel",
                 100.0 * measurement.noise);
  if (measurement.clock_hertz > 0.0) {
    fmt::format_to(out, "; SM clock {:.0f} MHz", measurement.clock_hertz / 1e6);
  }
  if (measurement.exact_looks > 0) {
    text +=
        "\n  sums        so long at the bench size that the original's own rounding exceeds the "
        "tolerance:\n              outputs were compared on small integers, bit for bit";
  }
  if (measurement.double_looks > 0) {
    text +=
        "\n  exact       the original is itself off by more than the tolerance at the bench size:\n"
        "              outputs were compared with what it computes in double precision";
  }
  if (!measurement.no_counters.empty()) {
    fmt::format_to(out, "\n  counters    none: {}", measurement.no_counters);
  }
  if (measurement.speedup) append_final(*measurement.speedup, text);
  if (!measurement.disturbances.empty()) {
    fmt::format_to(out, "\n  disturbed   perhaps: {}", fmt::join(measurement.disturbances, "; "));
  }
  if (measurement.sanitizer) append_sanitizer(*measurement.sanitizer, text);
  text += "\n";
}

}  // namespace

std::string duration_text(double seconds) {
  struct Unit {
    double scale;
    const char* name;
  };
  // The bounds lie where rounding to three digits would reach the next power of ten.
  for (const Unit unit : {Unit{1.0, "s"}, Unit{1e-3, "ms"}, Unit{1e-6, "us"}}) {
    const double value = seconds / unit.scale;
    if (value < 0.9995 && unit.scale != 1e-6) continue;
    const int decimals = value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
    return fmt::format("{:.{}f} {}", value, decimals, unit.name);
  }
  return "";
}

std::string result_text(const RunReport& report) {
  const SearchOutcome& outcome = report.outcome;
  const Evaluation& best = outcome.best_evaluation;
  const std::string how = report.measurement ? "times are measured on " + report.measurement->gpu
                                             : predicted_text(report.device);
  const std::optional<LikelyAnswer> likely = likely_answer(report);
  std::string text;
  auto out = std::back_inserter(text);
  fmt::format_to(out, "{} on {} ({})\n\n", report.problem.signature.name, report.device.name, how);
  fmt::format_to(out, "  baseline  {}\n", interval_text(outcome.baseline_evaluation.time));
  if (report.outcome.improved()) {
    append_best(report, text);
  } else {
    const bool is_cut_short = outcome.evaluations == 0 && outcome.stopped == StopReason::budget;
    text += is_cut_short
                ? "  best      no candidate was evaluated before the time was up: give it more "
                  "(--time)\n"
                : "  best      no candidate is faster beyond the uncertainty of the times\n";
    if (likely) {
      fmt::format_to(out, "  likely    {} [{:.2f}x, {:.2f}x], predicted: worth a measurement\n",
                     likely_text(*likely), likely->low, likely->high);
    }
    text += "\n";
    if (!report.rewritable) {
      fmt::format_to(out, "  the built-in rewriter could not work on this kernel: {}\n\n",
                     report.opaque_reason);
    }
  }
  fmt::format_to(out, "  limited by  {}", best.bottleneck);
  if (best.roofline_seconds > 0.0) {
    text += "; " + roofline_text(best.roofline_seconds, best.time);
  }
  for (const std::string_view reason : caveats_of(best.facts))
    fmt::format_to(out, "\n  uncertain   {}", reason);
  fmt::format_to(out, "\n  verified    {}\n", report.verification);
  if (report.program) append_program(*report.program, text);
  if (outcome.improved() && report.hand_back) text += hand_back_text(*report.hand_back);
  if (report.check) text += check_text(*report.check);
  if (report.measurement) append_measurement(*report.measurement, text);
  if (report.model_use) text += model_use_text(*report.model_use);
  fmt::format_to(out,
                 "  evaluated   {} candidates in {:.1f} s ({}); {} merged with known states{}\n",
                 outcome.evaluations, outcome.wall_seconds, verdict_text(outcome),
                 outcome.transpositions + outcome.machine_code_merges,
                 outcome.stopped == StopReason::exhausted ? "; nothing was left to be tried" : "");
  for (const NewStepRecord& step : outcome.new_steps)
    text += new_step_text(step);
  append_workers(report, text);
  text += "\n";
  if (report.directory.empty()) return text;
  fmt::format_to(
      out, "  {}/{}           {}\n", report.directory, report.kernel_file("best"),
      report.outcome.improved() ? "the faster kernel" : "the original, as nothing was faster");
  fmt::format_to(out, "  {}/best.regraph.yaml its manifest: the two are an input of their own\n",
                 report.directory);
  fmt::format_to(out, "  {}/best.diff         against the original\n", report.directory);
  if (likely) {
    fmt::format_to(out,
                   "  {}/{}         what is likely faster; likely.regraph.yaml is its manifest\n",
                   report.directory, report.kernel_file("likely"));
  }
  if (outcome.improved() && report.hand_back && !report.hand_back->patch.empty()) {
    const std::string& folder = report.hand_back->folder;
    fmt::format_to(out,
                   "  {}/best.patch        your own file with it: patch {}-p1 < {}/best.patch\n",
                   report.directory, folder.empty() ? "" : "-d " + folder + " ", report.directory);
  }
  fmt::format_to(out, "  {}/manifest.yaml     the problem as it was understood\n",
                 report.directory);
  fmt::format_to(
      out, "  {}/report.html       all of this as a page, with the search graph to walk through\n",
      report.directory);
  fmt::format_to(out, "  {}/result.json       all of this for programs\n", report.directory);
  fmt::format_to(out, "  {}/results.t4.json   every candidate, for auto-tuning tools\n",
                 report.directory);
  fmt::format_to(out,
                 "  {}/run.db            every result; --resume {} continues an unfinished run\n",
                 report.directory, report.directory);
  return text;
}

}  // namespace regraph

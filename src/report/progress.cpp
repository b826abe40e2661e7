#include "report/progress.h"

#include "report/run_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace regraph {
namespace {

// Below this share of the budget an estimate of the time left is a guess.
constexpr double kLeastFractionForEta = 0.02;

}  // namespace

ProgressReporter::ProgressReporter(Style style, const SearchBudget& budget, Sink sink)
    : style_(style),
      budget_(budget),
      sink_(std::move(sink)),
      start_(std::chrono::steady_clock::now()) {}

double ProgressReporter::elapsed_seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

void ProgressReporter::on_evaluated(const SearchEvent& event) {
  if (status_) {
    const std::string of =
        budget_.evaluations > 0 ? fmt::format(" of {}", budget_.evaluations) : std::string();
    status_(fmt::format("{}{} evaluated, best {:.2f}x", event.evaluations, of,
                        std::exp(event.best_log_speedup)));
  }
  if (style_ != Style::terminal) {
    if (event.recalled) return;  // was told in its own sitting
    if (style_ == Style::lines && !event.improved && event.state != 0) return;
    const std::string what = event.state == 0 ? "baseline" : event.step.text();
    const std::string result =
        event.evaluation.correct()
            ? fmt::format("{} ({:.2f}x)", duration_text(event.evaluation.time.median_seconds),
                          std::exp(event.log_speedup))
            : fmt::format("{}: {}", name(event.evaluation.verdict), event.evaluation.message);
    const std::string also = words_ ? " [" + words_() + "]" : "";
    sink_(fmt::format("[{:7.1f} s] {:>4} {} -> {}: {}{}\n", elapsed_seconds(), event.evaluations,
                      event.parent, what, result, also));
    return;
  }
  int failed = 0;
  for (int index = 1; index < kVerdictCount; ++index) {
    failed += event.verdict_counts[static_cast<std::size_t>(index)];
  }
  std::string line = fmt::format("best {:.2f}x  evaluated {}", std::exp(event.best_log_speedup),
                                 event.evaluations);
  if (budget_.evaluations > 0) line += fmt::format("/{}", budget_.evaluations);
  line += fmt::format("  correct {}  failed {}", event.verdict_counts[0], failed);
  if (event.budget_fraction > kLeastFractionForEta) {
    const double left = elapsed_seconds() * (1.0 - event.budget_fraction) / event.budget_fraction;
    line += fmt::format("  about {:.0f} s left", left);
  }
  if (words_) line += "  " + words_();
  const std::size_t length = line.size();
  line.append(line_length_ > length ? line_length_ - length : 0, ' ');
  line_length_ = length;
  sink_("\r" + line);
}

void ProgressReporter::on_final_selection(int finalists) {
  if (status_) status_(fmt::format("confirming {} finalists with fresh inputs", finalists));
  if (style_ == Style::verbose_lines) {
    sink_(fmt::format("[{:7.1f} s] confirming {} finalists with fresh inputs\n", elapsed_seconds(),
                      finalists));
  }
}

void ProgressReporter::finish() {
  if (style_ != Style::terminal || line_length_ == 0) return;
  sink_("\r" + std::string(line_length_, ' ') + "\r");
  line_length_ = 0;
}

}  // namespace regraph

#include "session/sequential_check.h"

#include "report/run_report.h"
#include "session/host_function.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace regraph {
namespace {

constexpr double kLongestTiming = 60.0;  // of all runs at a size
constexpr double kLongEnough = 1.0;      // a run that long need not be followed by a larger one
constexpr double kLongestNext = 15.0;    // a run that is expected to take longer is not begun
constexpr std::int64_t kSmallestExtent = 128;

std::string sizes_as_text(const Symbols& symbols) {
  std::string text;
  for (const auto& [name, value] : symbols)
    text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", name, value);
  return "{" + text + "}";
}

Symbols halved(const Symbols& symbols, int times) {
  Symbols result = symbols;
  for (auto& [name, value] : result) {
    for (int i = 0; i < times && value / 2 >= kSmallestExtent; ++i)
      value /= 2;
  }
  return result;
}

// The function's time at the bench size, or at the largest of its halves that does not take long.
std::string time_note(const HostFunction& function, const Problem& problem,
                      const Cancellation& cancellation) {
  const Symbols& bench = problem.bench.empty() ? problem.sizes : problem.bench.front();
  constexpr int kMostHalvings = 24;
  constexpr int kAtOnce = 2;
  std::optional<double> seconds;
  Symbols at;
  double growth = 64.0;
  Symbols before;
  for (int halvings = kMostHalvings; halvings >= 0; halvings -= kAtOnce) {
    const Symbols symbols = halved(bench, halvings);
    if (symbols == before && halvings > 0) continue;
    before = symbols;
    if (seconds && (*seconds > kLongEnough || *seconds * growth > kLongestNext)) break;
    const auto measured = function.time(symbols, kLongestTiming, cancellation);
    if (!measured) break;
    if (seconds && *seconds > 1e-3) growth = std::max(4.0, *measured / *seconds);
    seconds = *measured;
    at = symbols;
  }
  if (!seconds) return "";
  return fmt::format(
      "the function takes {} on one core of this machine ({}, best of several runs) at "
      "{}; times of kernels are those of the device",
      duration_text(*seconds), function.compiler(), sizes_as_text(at));
}

SessionError check_failed(const SequentialSource& source, const Error& error) {
  if (error.code == ErrorCode::cancelled) return {FailureCause::interrupted, "interrupted"};
  if (error.code == ErrorCode::io) return {FailureCause::internal, error.message};
  return {FailureCause::unusable_kernel, source.file + ": " + error.message};
}

}  // namespace

Result<std::vector<std::string>, SessionError> check_against_function(
    const SequentialSource& source, OpenedProblem& opened, std::uint64_t seed,
    const Cancellation& cancellation) {
  std::vector<std::string> notes;
  int runs = 0;
  for (const char* level : {"-O0", "-O2"}) {
    auto function = HostFunction::build(source, opened.problem, {level}, cancellation);
    if (!function) return check_failed(source, function.error());
    std::optional<Error> trouble;
    const VerificationResult result = opened.verifier->verify_on(
        [&](const Problem&, const Symbols& symbols, const verify::Buffers& inputs,
            const verify::RunSettings& settings) {
          auto run = function->run(symbols, inputs, settings, cancellation);
          if (!run) trouble = run.error();
          return run;
        },
        seed, cancellation, verify::CaseChoice::as_given);
    if (result.cancelled || cancellation.requested())
      return SessionError{FailureCause::interrupted, "interrupted"};
    if (trouble) return check_failed(source, *trouble);
    if (!result.correct()) {
      return SessionError{
          FailureCause::unusable_kernel,
          fmt::format(
              "{}: the kernel that was made of '{}' does not compute what the function does on "
              "this processor ({}): {} (expected is the kernel's value, the other the "
              "function's); nothing was searched",
              source.file, source.function, function->compiler(), result.message)};
    }
    runs += result.runs;
  }
  notes.push_back(
      fmt::format("on {} inputs '{}' computes the same on this processor, compiled with -O0 and "
                  "with -O2, as the "
                  "kernel on the interpreter",
                  runs, source.function));
  const auto fast =
      HostFunction::build(source, opened.problem, {"-O3", "-march=native"}, cancellation);
  if (!fast) return notes;
  if (std::string note = time_note(*fast, opened.problem, cancellation); !note.empty())
    notes.push_back(std::move(note));
  return notes;
}

}  // namespace regraph

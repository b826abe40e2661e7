#include "session/fit_sizes.h"

#include "eval/verify/launch_work.h"
#include "infer/grid_sizes.h"
#include "infer/size_quotients.h"
#include "kernel/check_values.h"
#include "kernel/derived_tests.h"

#include <algorithm>
#include <functional>
#include <optional>

namespace regraph {
namespace {

// A GPU issues some 10^12 instructions of warps a second, a warp one in about eight cycles.
constexpr double kMostInstructions = 0x1p34;
constexpr double kMostOfWarp = 0x1p21;
constexpr double kLeastInstructions = 0x1p22;
constexpr std::int64_t kLeastBenchSize = 32;
constexpr int kMostSteps = 40;
// The interpreter runs tens of millions a second, and every test some twenty times.
constexpr double kMostTestInstructions = 0x1p21;
constexpr double kMostTestElements = 0x1p20;  // filled, copied and compared as often
constexpr std::int64_t kLeastTestSize = 4;
constexpr std::int64_t kTile = 16;  // tests at multiples of it stay that, while they can

class SizeFitter {
 public:
  SizeFitter(Problem& problem, const verify::LoadedPlan& plan, const SizeChoice& choice,
             const Cancellation& cancellation)
      : problem_(problem), plan_(plan), choice_(choice), cancellation_(cancellation) {}

  void fit_bench() {
    if (choice_.own_sizes.empty() || problem_.bench.size() != 1 || has_whole_inputs()) return;
    Symbols sizes = problem_.bench.front();
    auto work = work_at(sizes, kMostOfWarp);
    if (!work) return;
    shrink(sizes, *work);
    grow(sizes, *work);
    if (sizes == problem_.bench.front()) return;
    for (const std::string& name : choice_.own_sizes) {
      if (problem_.sizes.contains(name)) problem_.sizes[name] = sizes[name];
    }
    problem_.bench.front() = std::move(sizes);
    say_sizes();
  }

  void fit_tests() {
    if (!problem_.tests_are_derived || problem_.tests.empty()) return;
    std::vector<Symbols> tests;
    for (Symbols test : problem_.tests) {
      if (problem_.captured_at(test) == nullptr) fit_test(test);
      if (std::ranges::find(tests, test) == tests.end()) tests.push_back(std::move(test));
    }
    if (tests == problem_.tests) return;
    const std::string before = sizes_text(problem_.tests);
    problem_.tests = std::move(tests);
    for (std::string& note : problem_.notes) {
      if (note.ends_with(before))
        note.replace(note.size() - before.size(), before.size(), sizes_text(problem_.tests));
    }
  }

 private:
  // Their sizes go together, and to make them takes long.
  [[nodiscard]] bool has_whole_inputs() const {
    return std::ranges::any_of(problem_.arguments, [&](const Argument& argument) {
      return argument.is_input() && problem_.is_whole(problem_.bench.front(), argument);
    });
  }

  std::optional<verify::LaunchWork> work_at(const Symbols& sizes, double most_of_warp) const {
    for (const Argument& argument : problem_.arguments) {
      if (!check_values(argument, sizes).ok()) return std::nullopt;
    }
    const auto work = verify::estimate_work(problem_, plan_, sizes, most_of_warp, cancellation_);
    if (!work.ok()) return std::nullopt;
    return *work;
  }

  static bool is_too_much(const verify::LaunchWork& work) {
    return work.warp_instructions > kMostInstructions || work.longest_warp >= kMostOfWarp;
  }

  // The sizes of our own, the largest first.
  [[nodiscard]] std::vector<std::string> by_size(const Symbols& sizes) const {
    std::vector<std::string> names;
    for (const std::string& name : choice_.own_sizes) {
      if (sizes.contains(name)) names.push_back(name);
    }
    std::ranges::stable_sort(names, std::greater<>(),
                             [&](const std::string& name) { return sizes.find(name)->second; });
    return names;
  }

  // The largest size that makes a difference is halved.
  void shrink(Symbols& sizes, verify::LaunchWork& work) const {
    for (int step = 0; step < kMostSteps && is_too_much(work); ++step) {
      bool changed = false;
      for (const std::string& name : by_size(sizes)) {
        if (sizes[name] <= kLeastBenchSize) continue;
        Symbols smaller = sizes;
        smaller[name] /= 2;
        const auto less = work_at(smaller, kMostOfWarp);
        if (!less) continue;
        const bool capped = less->longest_warp >= kMostOfWarp;  // it is more than is seen
        if (!capped && less->warp_instructions > 0.9 * work.warp_instructions &&
            less->longest_warp > 0.9 * work.longest_warp)
          continue;
        sizes = std::move(smaller);
        work = *less;
        changed = true;
        break;
      }
      if (!changed) return;
    }
  }

  void grow(Symbols& sizes, verify::LaunchWork& work) const {
    for (int step = 0; step < kMostSteps && work.warp_instructions < kLeastInstructions; ++step) {
      bool changed = false;
      for (const std::string& name : by_size(sizes)) {
        Symbols larger = sizes;
        larger[name] *= 2;
        if (!infer::is_moderate(problem_, larger)) continue;
        const auto more = work_at(larger, kMostOfWarp);
        if (!more || is_too_much(*more) || more->warp_instructions < 1.1 * work.warp_instructions)
          continue;
        sizes = std::move(larger);
        work = *more;
        changed = true;
        break;
      }
      if (!changed) return;
    }
  }

  void say_sizes() const {
    auto& notes = problem_.notes;
    const auto first = std::ranges::find_if(notes, infer::is_note_of_own_sizes);
    const auto place = first - notes.begin();
    std::erase_if(notes, infer::is_note_of_own_sizes);
    const auto said = infer::notes_of_own_sizes(choice_.own_sizes, problem_.sizes);
    notes.insert(notes.begin() + std::min<std::ptrdiff_t>(place, std::ssize(notes)), said.begin(),
                 said.end());
  }

  // Sizes that are parts of others divide them; then the largest is halved, until it is little
  // work.
  void fit_test(Symbols& test) const {
    make_multiples(test);
    for (int step = 0; step < kMostSteps; ++step) {
      const bool is_large = elements_at(test) > kMostTestElements;
      const auto work = is_large ? std::nullopt : work_at(test, kMostTestInstructions);
      if (!is_large && (!work || work->warp_instructions <= kMostTestInstructions)) return;
      const std::string largest = largest_size(test);
      if (largest.empty()) return;
      test[largest] = half_of(test[largest]);
      make_multiples(test);
    }
  }

  // The largest that may be halved; of structural sizes, where no other is left, images of 32
  // pixels rather than filters. Empty: none.
  [[nodiscard]] std::string largest_size(const Symbols& test) const {
    std::string largest;
    for (const bool is_structural : {false, true}) {
      std::int64_t least = is_structural ? kTile : 2 * kLeastTestSize;
      for (const auto& [name, value] : test) {
        const auto own = problem_.sizes.find(name);
        if (own == problem_.sizes.end() || (own->second <= kStructuralSize) != is_structural)
          continue;
        if (value < least) continue;
        least = value + 1;
        largest = name;
      }
      if (!largest.empty()) break;
    }
    return largest;
  }

  [[nodiscard]] double elements_at(const Symbols& sizes) const {
    double elements = 0.0;
    for (const Argument& argument : problem_.arguments) {
      const auto count = argument.element_count(sizes);
      if (argument.has_content() && count.ok()) elements += static_cast<double>(*count);
    }
    return elements;
  }

  // What no tile divides stays so.
  static std::int64_t half_of(std::int64_t value) {
    return value % kTile == 0 ? value / 2 : (value / 2) | 1;
  }

  void make_multiples(Symbols& test) const {
    for (const auto& [whole, parts] : choice_.quotients) {
      const auto value = test.find(whole);
      const auto divisor = test.find(parts);
      const auto own = problem_.sizes.find(whole);
      if (value == test.end() || divisor == test.end() || own == problem_.sizes.end()) continue;
      if (divisor->second < 1 || own->second <= kStructuralSize) continue;
      value->second = infer::whole_parts(value->second, divisor->second);
    }
  }

  Problem& problem_;
  const verify::LoadedPlan& plan_;
  const SizeChoice& choice_;
  const Cancellation& cancellation_;
};

}  // namespace

void fit_sizes(Problem& problem, const verify::LoadedPlan& plan, const SizeChoice& choice,
               const Cancellation& cancellation) {
  SizeFitter fitter(problem, plan, choice, cancellation);
  fitter.fit_bench();
  fitter.fit_tests();
}

}  // namespace regraph

// Kernels made by lot (element types x statements x launches) through the front end and the
// built-in steps: what is proposed applies, what applies compiles and computes the same, and no
// step builds what cannot be. PROGRAM [SECONDS [SEED]]; REGRAPH_FUZZ_KERNEL=1 prints the first
// kernel alone.
#include "fuzz/mutate.h"
#include "fuzz/random_kernel.h"
#include "rewrite/kernel_case.h"
#include "source/analysis.h"
#include "source/printer.h"

#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace regraph;  // NOLINT: a program of its own

constexpr int kLongestPath = 3;

class StepFuzzer {
 public:
  StepFuzzer(const fuzz::Rounds& rounds, const fuzz::RandomKernel& made,
             const test::KernelCase& kernel)
      : rounds_(rounds), made_(made), kernel_(kernel) {}

  void run(fuzz::Random& random) {
    rewrite::KernelState state = kernel_.original();
    for (int length = 0; length < kLongestPath; ++length) {
      std::vector<std::pair<std::string, rewrite::KernelState>> next = successors(state);
      if (next.empty()) return;
      auto& [step, made] = next[random() % next.size()];
      path_ += " | " + step;
      state = std::move(made);
    }
    require_same(state);
  }

 private:
  std::vector<std::pair<std::string, rewrite::KernelState>> successors(
      const rewrite::KernelState& state) {
    std::vector<std::pair<std::string, rewrite::KernelState>> result;
    const rewrite::StepViews views = kernel_.views(state);
    for (const rewrite::StepRewriter* step : rewrite::built_in_steps()) {
      for (const StepParameters& parameters : step->settings()) {
        const std::string text = StepProposal{std::string(step->id()), parameters}.text();
        const Status match = views.match(*step, parameters);
        auto next = views.apply(*step, parameters);
        if (match.ok() != next.ok()) fail(text + ": match and apply differ");
        if (!next && next.error().code == ErrorCode::internal)
          fail(text + ": " + next.error().message);
        if (next) result.emplace_back(text, std::move(*next));
      }
    }
    return result;
  }

  void require_same(const rewrite::KernelState& state) const {
    const VerificationResult result = kernel_.verify(state);
    // Sums of half type in another order may round beyond what the judge allows: no mistake.
    const bool is_slow = result.verdict == Verdict::timeout ||
                         result.message.find("less precise") != std::string::npos ||
                         result.message.find("compiler was stopped") != std::string::npos;
    if (result.correct() || is_slow) return;
    fail(std::string(name(result.verdict)) + ": " + result.message + "\n" +
         source::print(state.unit) + "\n" + state.plan.text());
  }

  [[noreturn]] void fail(const std::string& what) const {
    rounds_.fail(what + "\nafter" + path_ + "\n" + made_.source + made_.manifest);
  }

  const fuzz::Rounds& rounds_;
  const fuzz::RandomKernel& made_;
  const test::KernelCase& kernel_;
  std::string path_;
};

}  // namespace

int main(int argc, char** argv) {
  fuzz::Rounds rounds(fuzz::settings(argc, argv));
  const bool prints = std::getenv("REGRAPH_FUZZ_KERNEL") != nullptr;
  int opaque = 0;
  int unsound = 0;
  int tried = 0;
  const int result = rounds.run([&](fuzz::Random& random) {
    const fuzz::RandomKernel made = fuzz::random_kernel(random);
    if (prints) {
      std::printf("%s%s", made.source.c_str(), made.manifest.c_str());
      std::exit(0);
    }
    auto kernel = test::KernelCase::make(made.source, made.manifest);
    ++tried;
    if (!kernel.ok()) {
      if (kernel.error().code == ErrorCode::internal || kernel.error().code == ErrorCode::parse)
        rounds.fail(kernel.error().message + "\n" + made.source + made.manifest);
      ++unsound;
      std::printf("seed %llu: %s\n", static_cast<unsigned long long>(rounds.current()),
                  kernel.error().message.c_str());
      return;
    }
    if (const auto why = source::Analysis((*kernel)->original().unit.opened_kernel()).opaque()) {
      ++opaque;
      std::printf("seed %llu: opaque: %s\n", static_cast<unsigned long long>(rounds.current()),
                  why->c_str());
    }
    StepFuzzer(rounds, made, **kernel).run(random);
  });
  std::printf("%d kernels, %d opaque, %d that the judge does not take\n", tried, opaque, unsound);
  return result;
}

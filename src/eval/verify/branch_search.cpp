#include "eval/verify/branch_search.h"

#include "eval/verify/added_sizes.h"
#include "eval/verify/parameters.h"
#include "eval/verify/predicate_slice.h"
#include "ptx/decode/code.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

namespace regraph::verify {
namespace {

// Every value up to here is tried for each size: remainders modulo small numbers come.
constexpr std::int64_t kTriedValues = 200;
constexpr std::size_t kMostSizes = 8;
constexpr std::size_t kMostNumbers = 4;
// Where buffers might lie; only conditions on pointers look at it.
constexpr std::uint64_t kSomeAddress = 0x7f12'3400'0000ULL;
constexpr std::uint64_t kApart = std::uint64_t{1} << 32;

// What one branch needs.
struct Reach {
  std::optional<Symbols> small;  // a size that takes it and can be run
  bool large = false;            // another one does
};

class Searcher {
 public:
  Searcher(const Problem& problem, const LoadedPlan& candidate)
      : problem_(problem), plan_(candidate) {
    for (const TestCase& one : planned_cases(problem)) {
      if (one.is_beyond) break;
      if (small_.empty() || is_many(one.symbols) > is_many(small_)) small_ = one.symbols;
    }
    for (std::size_t i = 0; i < problem.arguments.size(); ++i)
      addresses_.push_back(kSomeAddress + i * kApart);
  }

  [[nodiscard]] const Symbols& small() const { return small_; }

  Reach reach(const UntakenBranch& branch, PredicateSlice& slice) {
    Reach reach;
    for (const Symbols& symbols : tried_sizes(branch)) {
      const std::optional<bool> holds = at(branch, slice, symbols);
      if (!holds) return {};
      if (*holds != branch.never) continue;
      if (is_affordable(problem_, symbols)) {
        reach.small = symbols;
        return reach;
      }
      reach.large = true;
    }
    return reach;
  }

 private:
  static bool is_many(const Symbols& symbols) {
    return std::ranges::all_of(symbols, [](const auto& entry) { return entry.second > 1; });
  }

  // Of one symbol at a time, small ones first.
  std::vector<Symbols> tried_sizes(const UntakenBranch& branch) const {
    std::set<std::int64_t> values;
    for (std::int64_t value = 1; value <= kTriedValues; ++value)
      values.insert(value);
    if (branch.integer) {
      for (const std::int64_t near : {*branch.integer - 1, *branch.integer, *branch.integer + 1})
        if (near > 0) values.insert(near);
    }
    // Powers of two and their neighbours, for thresholds of what is worked out from sizes.
    for (std::int64_t power = 256; power <= (std::int64_t{1} << 31); power *= 2) {
      values.insert(power);
      values.insert(power + 1);
    }
    std::vector<Symbols> sizes;
    for (const std::int64_t value : values) {
      for (const auto& [name, usual] : small_) {
        if (problem_.assume.is_fixed(name)) continue;
        Symbols symbols = small_;
        symbols[name] = value;
        sizes.push_back(std::move(symbols));
      }
    }
    return sizes;
  }

  std::optional<bool> at(const UntakenBranch& branch, PredicateSlice& slice,
                         const Symbols& symbols) const {
    const LoadedLaunch& launch = plan_[branch.launch];
    const Result<ConcreteLaunch> concrete = concretise(launch.launch, symbols);
    if (!concrete.ok()) return !branch.never;  // no size for the launch: as if it went as always
    const auto parameters =
        pack_parameters(problem_, launch.program, launch.launch.arguments, symbols, addresses_);
    if (!parameters.ok()) return !branch.never;
    return slice.holds(*parameters, concrete->grid, concrete->block);
  }

  const Problem& problem_;
  const LoadedPlan& plan_;
  Symbols small_;
  std::vector<std::uint64_t> addresses_;
};

// 0 and 1 are in every kernel.
bool tells_something(const UntakenBranch& branch) {
  if (branch.integer) return *branch.integer > 1 || *branch.integer < -1;
  return branch.real && std::isfinite(*branch.real) && *branch.real != 0.0;
}

bool is_known(const UntakenBranch& branch, const ComparedNumbers& original) {
  if (branch.integer) return original.integers.contains(*branch.integer);
  return branch.real && original.reals.contains(*branch.real);
}

bool has_inputs(const Problem& problem) {
  return !problem.is_captured && !problem.has_files() && !problem.tests.empty();
}

// Cases with the numbers among ordinary inputs, in all of them, and as scalars.
void add_cases(const Problem& problem, const Symbols& small, const ComparedNumbers& numbers,
               std::vector<TestCase>& cases) {
  const auto add = [&](std::string what) -> TestCase& {
    TestCase& one = cases.emplace_back();
    one.symbols = small;
    one.distribution = Distribution::manifest;
    one.must_run = false;
    one.is_beyond = true;
    one.variation = std::move(what);
    return one;
  };
  TestCase& among = add("with numbers that the kernel compares with");
  among.sprinkled.assign(numbers.reals.begin(), numbers.reals.end());
  for (const std::int64_t integer : numbers.integers)
    among.sprinkled.push_back(static_cast<double>(integer));
  for (const double real : among.sprinkled) {
    for (std::size_t i = 0; i < problem.arguments.size(); ++i) {
      const Argument& argument = problem.arguments[i];
      const bool varies = !argument.is_pointer && argument.value &&
                          argument.value->expression() == nullptr &&
                          !problem.assume.is_fixed(argument.name);
      if (!varies || (!is_floating(argument.type) && std::floor(real) != real)) continue;
      auto varied = std::make_shared<Problem>(problem);
      varied->arguments[i].value = real;
      if (!varied->arguments[i].value->check_fits(argument.type, small).ok()) continue;
      cases.reserve(cases.size() + 1);
      TestCase& one = add(fmt::format("{} = {}", argument.name, number_text(real)));
      one.varied = std::move(varied);
    }
    if (cases.size() > 4 * kMostNumbers) return;
  }
}

}  // namespace

ComparedNumbers compared_numbers(const LoadedPlan& plan) {
  ComparedNumbers numbers;
  for (const UntakenBranch& branch : all_comparisons(plan)) {
    if (branch.integer) numbers.integers.insert(*branch.integer);
    if (branch.real) numbers.reals.insert(*branch.real);
  }
  return numbers;
}

BranchSearch search_branches(const Problem& problem, const LoadedPlan& candidate,
                             const std::vector<UntakenBranch>& branches,
                             const ComparedNumbers& original) {
  BranchSearch found;
  if (problem.tests.empty()) return found;
  Searcher searcher(problem, candidate);
  ComparedNumbers numbers;
  for (const UntakenBranch& branch : branches) {
    PredicateSlice slice(candidate[branch.launch].program, branch.instruction);
    if (slice.depends_on() == DependsOn::parameters) {
      Reach reach = searcher.reach(branch, slice);
      if (reach.small) {
        const bool known = std::ranges::find(found.sizes, *reach.small) != found.sizes.end();
        if (!known && found.sizes.size() < kMostSizes) found.sizes.push_back(*reach.small);
      } else if (reach.large && tells_something(branch) && !is_known(branch, original)) {
        found.open.push_back(branch);
        found.open.back().needs_large_size = true;
      }
      // A scalar may decide it.
      if (reach.small || reach.large || !tells_something(branch)) continue;
    }
    if (slice.depends_on() == DependsOn::threads || !tells_something(branch)) continue;
    if (branch.real && numbers.reals.size() < kMostNumbers) numbers.reals.insert(*branch.real);
    if (branch.integer && numbers.integers.size() < kMostNumbers)
      numbers.integers.insert(*branch.integer);
    if (slice.depends_on() == DependsOn::data && !is_known(branch, original))
      found.open.push_back(branch);
  }
  const bool any = !numbers.reals.empty() || !numbers.integers.empty();
  if (any && has_inputs(problem)) add_cases(problem, searcher.small(), numbers, found.cases);
  return found;
}

}  // namespace regraph::verify

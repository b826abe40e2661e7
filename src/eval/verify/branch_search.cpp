#include "eval/verify/branch_search.h"

#include "base/random.h"
#include "eval/verify/added_sizes.h"
#include "eval/verify/parameters.h"
#include "eval/verify/predicate_slice.h"
#include "ptx/decode/code.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>
#include <map>
#include <optional>
#include <utility>

namespace regraph::verify {
namespace {

// Every value up to here is tried for each size: remainders modulo small numbers come.
constexpr std::int64_t kTriedValues = 200;
constexpr std::size_t kMostSizes = 8;
constexpr std::size_t kMostNumbers = 4;
constexpr std::size_t kMostOwnNumbers = 96;
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
      : problem_(problem), plan_(candidate), small_(smallest_of_many(problem)) {
    for (const auto& [name, value] : problem.sizes)
      rules_.emplace(name, size_rule(problem, name));
    for (std::size_t i = 0; i < problem.arguments.size(); ++i)
      addresses_.push_back(kSomeAddress + i * kApart);
  }

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
  // Whether kernels must expect the value.
  [[nodiscard]] bool may_be(const std::string& name, std::int64_t value) const {
    const auto rule = rules_.find(name);
    return rule == rules_.end() || rule->second.allows(value);
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
    constexpr std::int64_t kPastPower = 8;
    // Powers of two and their neighbours, for thresholds of what is worked out from sizes.
    for (std::int64_t power = 256; power <= (std::int64_t{1} << 31); power *= 2) {
      for (std::int64_t past = 0; past < kPastPower; ++past)
        values.insert(power + past);
    }
    std::vector<Symbols> sizes;
    constexpr std::uint64_t kDrawnPairs = 512;
    constexpr std::uint64_t kMostOfPair = 128;
    for (const std::int64_t value : values) {
      for (const auto& [name, usual] : small_) {
        if (!may_be(name, value)) continue;
        Symbols symbols = small_;
        symbols[name] = value;
        sizes.push_back(std::move(symbols));
      }
    }
    for (std::uint64_t i = 0; small_.size() > 1 && i < kDrawnPairs; ++i) {
      Symbols symbols = small_;
      for (auto& [name, value] : symbols) {
        const auto drawn = static_cast<std::int64_t>(1 + random_bits(i, value) % kMostOfPair);
        if (may_be(name, drawn)) value = drawn;
      }
      sizes.push_back(std::move(symbols));
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
  std::map<std::string, SizeRule> rules_;  // of each symbol
};

// 0 and 1 are in every kernel.
bool tells_something(const UntakenBranch& branch) {
  if (branch.integer) return *branch.integer > 1 || *branch.integer < -1;
  return branch.real && std::isfinite(*branch.real) && *branch.real != 0.0;
}

// Not with a constant of floating type: 0 and infinity are guards.
bool asks_for_equality(const UntakenBranch& branch) {
  if (branch.real) return false;
  return branch.comparison.starts_with("setp.eq") || branch.comparison.starts_with("setp.ne");
}

bool is_known(const UntakenBranch& branch, const KernelNumbers& original) {
  if (branch.integer) return original.compared_integers.contains(*branch.integer);
  return branch.real && original.compared_reals.contains(*branch.real);
}

// What a comparison of data compares.
std::string compared(const UntakenBranch& branch) {
  const std::string type = branch.comparison.substr(branch.comparison.rfind('.') + 1);
  if (branch.integer) return fmt::format("{} {}", type, *branch.integer);
  return branch.real ? fmt::format("{} {}", type, *branch.real) : type + " register";
}

// Definitions of a plan's registers, of each launch when first asked for.
class PlanDefinitions {
 public:
  explicit PlanDefinitions(const LoadedPlan& plan) : plan_(plan) {}

  PredicateSlice slice(const UntakenBranch& branch) {
    const ptx::Program& program = plan_[branch.launch].program;
    const auto made = launches_.try_emplace(branch.launch, *program.code().function);
    return {program, made.first->second, branch.instruction};
  }

 private:
  const LoadedPlan& plan_;
  std::map<std::size_t, ptx::DefinitionTable> launches_;
};

bool has_inputs(const Problem& problem) {
  return !problem.is_captured && !problem.has_files() && !problem.tests.empty();
}

// Cases of a size with the numbers among ordinary inputs, in all of them, and as scalars.
void add_cases(const Problem& problem, const Symbols& symbols, const std::set<double>& numbers,
               const std::set<double>& of_branches, std::vector<TestCase>& cases) {
  const std::size_t most = cases.size() + 6 * kMostNumbers;
  const auto add = [&](std::string what) -> TestCase& {
    TestCase& one = cases.emplace_back();
    one.symbols = symbols;
    one.distribution = Distribution::manifest;
    one.must_run = false;
    one.is_beyond = true;
    one.variation = std::move(what);
    return one;
  };
  add("with numbers of the kernel").sprinkled.assign(numbers.begin(), numbers.end());
  // Not beside others that might hide them.
  if (!of_branches.empty() && of_branches.size() < numbers.size())
    add("with numbers of its branches").sprinkled.assign(of_branches.begin(), of_branches.end());
  TestCase& bits = add("with numbers of the kernel as bits");
  bits.sprinkled.assign(numbers.begin(), numbers.end());
  bits.sprinkling = Sprinkling::bits;
  for (const double real : of_branches) {
    TestCase& all = add(fmt::format("all {}", number_text(real)));
    all.sprinkled = {real};
    all.sprinkling = Sprinkling::everywhere;
    TestCase& highest = add(fmt::format("none above {}", number_text(real)));
    highest.sprinkled = {real};
    highest.sprinkling = Sprinkling::highest;
    TestCase& last = add(fmt::format("{} among the last elements", number_text(real)));
    last.sprinkled = {real};
    last.sprinkling = Sprinkling::at_the_end;
    for (std::size_t i = 0; i < problem.arguments.size(); ++i) {
      const Argument& argument = problem.arguments[i];
      if (!may_vary(problem, argument) || (!is_floating(argument.type) && std::floor(real) != real))
        continue;
      auto varied = std::make_shared<Problem>(problem);
      varied->arguments[i].value = real;
      if (!varied->arguments[i].value->check_fits(argument.type, symbols).ok()) continue;
      TestCase& one = add(fmt::format("{} = {}", argument.name, number_text(real)));
      one.varied = std::move(varied);
    }
    if (cases.size() > most) return;
  }
}

// What the branch compares with, as numbers that elements may be.
std::vector<double> elements_like(const UntakenBranch& branch) {
  if (branch.real) return {*branch.real};
  const auto bits = static_cast<std::uint32_t>(*branch.integer);
  const float real = std::bit_cast<float>(bits);
  const bool may_be_bits = std::int64_t{static_cast<std::int32_t>(bits)} == *branch.integer;
  if (!may_be_bits || !std::isnormal(real)) return {static_cast<double>(*branch.integer)};
  return {static_cast<double>(*branch.integer), real};
}

}  // namespace

KernelNumbers numbers_of(const LoadedPlan& plan) {
  KernelNumbers numbers;
  PlanDefinitions definitions(plan);
  for (const UntakenBranch& branch : all_comparisons(plan)) {
    if (definitions.slice(branch).depends_on() == DependsOn::data)
      numbers.of_data.insert(compared(branch));
    if (branch.integer) numbers.compared_integers.insert(*branch.integer);
    if (branch.real) numbers.compared_reals.insert(*branch.real);
  }
  for (const LoadedLaunch& launch : plan) {
    const ptx::Function& function = *launch.program.code().function;
    for (const ptx::Operand& operand : function.operands) {
      using Kind = ptx::Operand::Kind;
      if (operand.kind == Kind::integer)
        numbers.all.insert(static_cast<double>(static_cast<std::int64_t>(operand.bits)));
      if (operand.kind == Kind::real32)
        numbers.all.insert(std::bit_cast<float>(static_cast<std::uint32_t>(operand.bits)));
      if (operand.kind == Kind::real64) numbers.all.insert(std::bit_cast<double>(operand.bits));
    }
  }
  std::erase_if(numbers.all,
                [](double one) { return !std::isfinite(one) || std::abs(one) <= 1.0; });
  return numbers;
}

BranchSearch search_branches(const Problem& problem, const LoadedPlan& candidate,
                             const std::vector<UntakenBranch>& branches,
                             const KernelNumbers& original) {
  BranchSearch found;
  if (problem.tests.empty()) return found;
  Searcher searcher(problem, candidate);
  PlanDefinitions definitions(candidate);
  std::set<double> of_branches;
  for (const UntakenBranch& branch : branches) {
    PredicateSlice slice = definitions.slice(branch);
    const bool telling = tells_something(branch) && !is_known(branch, original);
    if (slice.depends_on() == DependsOn::parameters) {
      Reach reach = searcher.reach(branch, slice);
      if (reach.small) {
        const bool known =
            std::ranges::find(found.sizes, *reach.small, &BranchSize::symbols) != found.sizes.end();
        if (known) continue;
        if (found.sizes.size() < kMostSizes) {
          found.sizes.push_back({*reach.small, branch, telling});
          continue;
        }
      }
      if (telling) {
        found.open.push_back(branch);
        found.open.back().needs_large_size = reach.large;
      }
      // A scalar may decide it.
      if (reach.small || reach.large || !tells_something(branch)) continue;
    }
    if (slice.depends_on() == DependsOn::data && !tells_something(branch) &&
        asks_for_equality(branch) && !original.of_data.contains(compared(branch)))
      found.open.push_back(branch);
    if (slice.depends_on() == DependsOn::threads || !tells_something(branch)) continue;
    if (of_branches.size() < kMostNumbers) {
      for (const double number : elements_like(branch))
        of_branches.insert(number);
    }
    if (slice.depends_on() == DependsOn::data && telling) found.open.push_back(branch);
  }
  // Whatever instruction holds it, a number that the original does not have may be a threshold.
  std::set<double> own = numbers_of(candidate).all;
  std::erase_if(own, [&](double one) { return original.all.contains(one); });
  while (own.size() > kMostOwnNumbers)
    own.erase(std::next(own.begin(), static_cast<std::ptrdiff_t>(own.size() / 2)));
  own.insert(of_branches.begin(), of_branches.end());
  if (!own.empty() && has_inputs(problem))
    for (const Symbols& symbols : variation_sizes(problem))
      add_cases(problem, symbols, own, of_branches, found.cases);
  return found;
}

}  // namespace regraph::verify

#include "eval/verify/test_cases.h"

#include "base/random.h"
#include "eval/verify/added_sizes.h"
#include "eval/verify/random_streams.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>
#include <utility>

namespace regraph::verify {
namespace {

// A size that is drawn is no larger, whatever the bench sizes are.
constexpr double kLargestDrawn = 8192.0;

// Nor is one that has all bits set.
constexpr std::int64_t kLongest = 16383;
// Nor is there more work (volume) at either: some tenths of a second.
constexpr double kMostVolumeOfAdded = 0x1p18;

std::uint64_t hash_of(const std::string& name) {
  std::uint64_t hash = 0;
  for (const char one : name)
    hash = random_bits(hash, static_cast<unsigned char>(one));
  return hash;
}

// A scalar this small is a threshold or an epsilon, whose sign means something.
constexpr double kThreshold = 0.01;

// Other values that a scalar could have as well.
std::vector<double> other_values(ScalarType type, double value) {
  std::set<double> values;
  if (type == ScalarType::boolean) {
    values = {value == 0.0 ? 1.0 : 0.0};
  } else if (is_floating(type)) {
    values = {0.625 * value, 0.0};
    values.insert(std::abs(value) < kThreshold ? 3.0 * value : -1.25 * value);
    if (value == 0.0) values.insert({0.75, -1.0});
  } else {
    values = {value + 1.0, value - 1.0, 0.0, 2.0 * value + 3.0, 20.0, -5.0};
    if (type == ScalarType::u8 || type == ScalarType::u16 || type == ScalarType::u32 ||
        type == ScalarType::u64) {
      std::erase_if(values, [](double one) { return one < 0.0; });
    }
  }
  values.erase(value);
  return {values.begin(), values.end()};
}

// Above 1, as they stand in the text; few of them.
std::vector<double> integers_of(const std::string& source) {
  constexpr std::size_t kMost = 32;
  constexpr std::size_t kMostDigits = 10;
  const auto is_digit = [](char one) { return one >= '0' && one <= '9'; };
  const auto is_part = [&](char one) {
    return is_digit(one) || one == '_' || one == '.' || (one >= 'a' && one <= 'z') ||
           (one >= 'A' && one <= 'Z');
  };
  std::set<double> found;
  for (std::size_t i = 0; i < source.size() && found.size() < kMost; ++i) {
    if (!is_part(source[i])) continue;
    const std::size_t begin = i;
    while (i < source.size() && is_part(source[i]))
      ++i;
    const std::string word = source.substr(begin, i - begin);
    if (word.size() > kMostDigits || !std::ranges::all_of(word, is_digit)) continue;
    if (const double value = std::stod(word); value > 1.0) found.insert(value);
  }
  return {found.begin(), found.end()};
}

std::vector<const Symbols*> tests_by_volume(const Problem& problem) {
  std::vector<const Symbols*> sizes;
  for (const Symbols& symbols : problem.tests)
    sizes.push_back(&symbols);
  std::ranges::stable_sort(sizes, {}, [&](const Symbols* one) { return volume(problem, *one); });
  return sizes;
}

class Planner {
 public:
  Planner(const Problem& problem, std::uint64_t seed) : problem_(problem), seed_(seed) {
    sizes_ = tests_by_volume(problem);
  }

  std::vector<TestCase> plan() {
    for (const Symbols* symbols : sizes_)
      add_size(*symbols);
    if (problem_.is_captured || sizes_.empty()) return std::move(cases_);
    variation_sizes_ = variation_sizes(problem_);
    small_ = variation_sizes_.front();
    vary_scalars();
    equate_scalars();
    if (problem_.has_files()) return std::move(cases_);
    vary_floats();
    vary_integers();
    equate_integers();
    meet_numbers();
    fill_one_row();
    draw_sizes();
    lengthen();
    if (!problem_.assume.noalias) overlap();
    return std::move(cases_);
  }

 private:
  void add_size(const Symbols& symbols) {
    bool is_first = true;
    for (const Distribution distribution : choose_distributions(problem_, symbols)) {
      TestCase one;
      one.symbols = symbols;
      one.distribution = distribution;
      one.must_run = problem_.is_captured
                         ? distribution == Distribution::captured
                         : !problem_.has_files() || distribution == Distribution::manifest;
      one.may_drop_size = problem_.tests_are_derived && !problem_.is_captured;
      one.is_first = std::exchange(is_first, false);
      cases_.push_back(std::move(one));
    }
  }

  TestCase& add(Distribution distribution) {
    TestCase& one = cases_.emplace_back();
    one.symbols = small_;
    one.distribution = distribution;
    one.must_run = false;
    one.is_beyond = true;
    return one;
  }

  void vary_scalars() {
    for (std::size_t i = 0; i < problem_.arguments.size(); ++i) {
      const Argument& argument = problem_.arguments[i];
      if (!may_vary(problem_, argument)) continue;
      const Result<double> value = argument.value->at(small_);
      if (!value.ok()) continue;  // running the case as given reports it
      for (const double other : other_values(argument.type, *value)) {
        auto varied = std::make_shared<Problem>(problem_);
        varied->arguments[i].value = other;
        TestCase& one = add(Distribution::manifest);
        one.varied = std::move(varied);
        one.variation = fmt::format("{} = {}", argument.name, number_text(other));
        one.varies = argument.name;
      }
    }
  }

  // What compares two of them with each other.
  void equate_scalars() {
    for (const bool floating : {true, false}) {
      auto varied = std::make_shared<Problem>(problem_);
      int scalars = 0;
      for (Argument& argument : varied->arguments) {
        if (!may_vary(problem_, argument) || is_floating(argument.type) != floating ||
            argument.type == ScalarType::boolean) {
          continue;
        }
        argument.value = floating ? 0.75 : 3.0;
        ++scalars;
      }
      if (scalars < 2) continue;
      TestCase& one = add(Distribution::manifest);
      one.varied = std::move(varied);
      one.variation = floating ? "all scalars 0.75" : "all integer scalars 3";
    }
  }

  // Between those that the manifest gives, with all the divisors that these have in common.
  void draw_sizes() {
    constexpr int kDrawn = 2;
    for (int i = 0; i < kDrawn; ++i) {
      Symbols drawn = small_;
      for (auto& [name, value] : drawn) {
        const SizeRule rule = size_rule(problem_, name);
        if (!rule.is_length || rule.is_fixed) continue;
        if (rule.least >= rule.most) continue;
        const double unit = to_unit_interval(random_bits(seed_, kDrawnSizes, i, hash_of(name)));
        const double largest = std::min(static_cast<double>(rule.most), kLargestDrawn);
        const double wanted = std::exp(unit * std::log(std::max(largest, 2.0)));
        value = std::clamp(static_cast<std::int64_t>(wanted) / rule.divisor * rule.divisor,
                           rule.least, rule.most);
      }
      shrink(drawn);
      const bool known = std::ranges::find(problem_.tests, drawn) != problem_.tests.end();
      if (known || !is_affordable(problem_, drawn)) continue;
      for (const Distribution one : {Distribution::small_integers, Distribution::manifest}) {
        TestCase& test = add(one);
        test.symbols = drawn;
      }
    }
  }

  // Halves the longest length until there is little enough work.
  void shrink(Symbols& symbols) const {
    while (volume(problem_, symbols) > kMostVolumeOfAdded) {
      std::int64_t* longest = nullptr;
      std::int64_t half = 0;
      for (auto& [name, value] : symbols) {
        const SizeRule rule = size_rule(problem_, name);
        const std::int64_t halved = value / 2 / rule.divisor * rule.divisor;
        if (!rule.is_length || rule.is_fixed || halved < std::max<std::int64_t>(rule.least, 1))
          continue;
        if (longest != nullptr && value <= *longest) continue;
        longest = &value;
        half = halved;
      }
      if (longest == nullptr) return;
      *longest = half;
    }
  }

  // Each length by itself as long as can be run often, every bit of it set: whatever a kernel asks
  // of some bits alone holds somewhere.
  void lengthen() {
    Symbols least = small_;
    for (auto& [name, value] : least) {
      const SizeRule rule = size_rule(problem_, name);
      if (rule.is_length && !rule.is_fixed && rule.least > 0) value = std::min(value, rule.least);
    }
    for (const auto& [name, usual] : small_) {
      const SizeRule rule = size_rule(problem_, name);
      if (!rule.is_length || rule.is_fixed) continue;
      for (std::int64_t bits = kLongest; bits > usual; bits /= 2) {
        const std::int64_t length = bits / rule.divisor * rule.divisor;
        if (length <= rule.most && length > usual && add_long(name, length, least)) break;
      }
    }
  }

  // Others as usual, or as small as they come. False: it is too much work with either.
  bool add_long(const std::string& name, std::int64_t length, const Symbols& least) {
    for (Symbols symbols : {small_, least}) {
      symbols[name] = length;
      if (volume(problem_, symbols) > kMostVolumeOfAdded || !is_affordable(problem_, symbols))
        continue;
      add(Distribution::small_integers).symbols = std::move(symbols);
      return true;
    }
    return false;
  }

  void vary_floats() {
    const bool any = std::ranges::any_of(problem_.arguments, [](const Argument& argument) {
      return argument.is_input() && has_floats(argument) &&
             argument.init.kind != BufferInit::Kind::constant;
    });
    if (!any) return;
    for (const Symbols& symbols : variation_sizes_) {
      const auto add_here = [&](Distribution one) { add(one).symbols = symbols; };
      for (const Distribution one :
           {Distribution::zero_runs, Distribution::near_ties, Distribution::magnitudes,
            Distribution::near_zero, Distribution::far_below, Distribution::lowest,
            Distribution::largest, Distribution::below_exponent, Distribution::ascending})
        add_here(one);
      if (problem_.assume.finite || problem_.assume.fast_math) continue;
      for (const Distribution one :
           {Distribution::denormals, Distribution::denormals_and_large, Distribution::signed_zeros,
            Distribution::infinite, Distribution::not_finite})
        add_here(one);
      // A denormal number has few bits left in a type of less precision.
      if (problem_.assume.precision == Precision::keep) add_here(Distribution::small_or_large);
    }
    if (!problem_.assume.finite && !problem_.assume.fast_math) repeat_special_values();
  }

  // Short runs, many of them: what vectors leave over of a row is a few elements, and each of each
  // buffer should meet what is no number beside ordinary ones in the others; and each buffer should
  // be the one of denormal numbers.
  void repeat_special_values() {
    constexpr double kMostVolume = 0x1p13;
    constexpr int kRuns = 8;
    constexpr std::int64_t kLeftOver = 7;  // of eight
    constexpr std::int64_t kVectors = 64;  // beside which that is little
    Symbols symbols;
    for (const std::int64_t least : {kVectors, std::int64_t{0}}) {
      symbols = small_;
      for (auto& [name, value] : symbols) {
        const SizeRule rule = size_rule(problem_, name);
        const std::int64_t length = std::max(value, least) | kLeftOver;
        if (rule.is_length && !rule.is_fixed && rule.divisor == 1 && length <= rule.most)
          value = length;
      }
      if (volume(problem_, symbols) <= kMostVolume) break;
    }
    if (volume(problem_, symbols) > kMostVolume || !is_affordable(problem_, symbols)) return;
    for (int i = 0; i < kRuns; ++i) {
      for (const Distribution one : {Distribution::infinite, Distribution::not_finite})
        add(one).symbols = symbols;
      if (problem_.assume.precision == Precision::keep)
        add(Distribution::small_or_large).symbols = symbols;
    }
  }

  // One buffer at a time: another may hold indices.
  void vary_integers() {
    std::vector<std::size_t> guessed;
    for (std::size_t i = 0; i < problem_.arguments.size(); ++i)
      if (has_guessed_integers(problem_.arguments[i])) guessed.push_back(i);
    for (const std::size_t one : guessed) {
      for (const Distribution distribution :
           {Distribution::negative_integers, Distribution::extreme_integers,
            Distribution::equal_integers}) {
        auto varied = std::make_shared<Problem>(problem_);
        for (const std::size_t other : guessed)
          if (other != one) varied->arguments[other].init_is_given = true;
        TestCase& test = add(distribution);
        test.varied = std::move(varied);
        test.varies = problem_.arguments[one].name;
        if (guessed.size() > 1)
          test.variation = fmt::format("in '{}'", problem_.arguments[one].name);
      }
    }
  }

  // Of a sparse matrix: nearly all entries at the largest test size.
  void fill_one_row() {
    for (std::size_t i = 0; i < problem_.arguments.size(); ++i) {
      const Argument& offsets = problem_.arguments[i];
      if (!offsets.is_input() || offsets.init.kind != BufferInit::Kind::csr_offsets) continue;
      const Result<BufferInit> init = offsets.init.at(*sizes_.back());
      if (!init.ok()) continue;
      auto varied = std::make_shared<Problem>(problem_);
      varied->arguments[i].init.low = std::floor(0.9 * init->high);
      TestCase& one = add(Distribution::manifest);
      one.symbols = *sizes_.back();
      one.varied = std::move(varied);
      one.variation = fmt::format("one row of '{}' has nearly all", offsets.name);
    }
  }

  // What is compared with scalars: these, and what equals them in its lowest bits alone. And what
  // is divided by numbers of the source: their multiples.
  void meet_numbers() {
    std::vector<double> values = integers_of(problem_.source);
    for (const Argument& argument : problem_.arguments) {
      if (argument.is_pointer || !argument.value || is_floating(argument.type)) continue;
      const Result<double> value = argument.value->at(small_);
      if (!value.ok()) continue;
      for (const double apart : {0.0, 256.0, 65536.0})
        values.insert(values.end(), {*value + apart, *value - apart});
    }
    const auto takes_them = [](const Argument& argument) {
      return has_guessed_integers(argument) || has_range_of_integers(argument);
    };
    if (values.empty() || std::ranges::none_of(problem_.arguments, takes_them)) return;
    TestCase& one = add(Distribution::manifest);
    one.sprinkled = std::move(values);
    one.variation = "with values of scalars and numbers of the source";
  }

  // Counters of what comes often overflow first.
  void equate_integers() {
    auto varied = std::make_shared<Problem>(problem_);
    bool any = false;
    for (Argument& argument : varied->arguments) {
      if (!argument.init_is_given || !has_range_of_integers(argument)) continue;
      argument = with_equal_integers(argument);
      any = true;
    }
    if (!any) return;
    TestCase& one = add(Distribution::manifest);
    one.symbols = *sizes_.back();
    one.varied = std::move(varied);
    one.variation = "equal integers";
    one.equates_integers = true;
  }

  // An output that begins where an input does, or a little after it.
  void overlap() {
    constexpr std::int64_t kVector = 4;
    constexpr std::int64_t kOdd = 7;  // no vector begins there
    for (std::size_t input = 0; input < problem_.arguments.size(); ++input) {
      for (std::size_t output = 0; output < problem_.arguments.size(); ++output) {
        if (!may_overlap(problem_.arguments[input], problem_.arguments[output])) continue;
        for (const std::int64_t elements : {std::int64_t{0}, std::int64_t{1}, kVector, kOdd})
          add_overlap(input, output, elements);
        for (const std::int64_t elements : {std::int64_t{1}, kVector})
          add_overlap(output, input, elements);
      }
    }
  }

  static bool may_overlap(const Argument& input, const Argument& output) {
    const bool plain = input.has_memory() && output.has_memory() && !input.is_scratch &&
                       !output.is_scratch && input.fields.empty() && output.fields.empty();
    return plain && input.direction == Direction::in && output.direction == Direction::out &&
           input.type == output.type && input.components == output.components;
  }

  // `inside` begins so many elements after `both`, which is as long as the two need.
  void add_overlap(std::size_t both, std::size_t inside, std::int64_t elements) {
    const auto of_both = problem_.arguments[both].element_count(small_);
    const auto of_inside = problem_.arguments[inside].element_count(small_);
    if (!of_both.ok() || !of_inside.ok()) return;
    auto varied = std::make_shared<Problem>(problem_);
    Argument& outer = varied->arguments[both];
    Argument& inner = varied->arguments[inside];
    const std::int64_t components = outer.components;
    // The input's contents, wherever it lies.
    const Argument& input = outer.direction == Direction::in ? outer : inner;
    outer.init = BufferInit(input.init);
    outer.init_is_given = input.init_is_given;
    outer.direction = Direction::inout;
    outer.shape = {
        IntegerExpression(std::max(*of_both / components, *of_inside / components + elements))};
    inner.overlaps = outer.name;
    inner.overlap_bytes = IntegerExpression(elements * components *
                                            static_cast<std::int64_t>(size_in_bytes(outer.type)));
    TestCase& one = add(Distribution::manifest);
    one.varied = std::move(varied);
    one.may_not_race = true;
    one.variation = elements == 0
                        ? fmt::format("'{}' begins where '{}' does", inner.name, outer.name)
                        : fmt::format("'{}' begins {} element{} after '{}'", inner.name, elements,
                                      elements == 1 ? "" : "s", outer.name);
  }

  const Problem& problem_;
  std::uint64_t seed_;
  std::vector<const Symbols*> sizes_;  // small ones first
  std::vector<Symbols> variation_sizes_;
  Symbols small_;  // the first of them
  std::vector<TestCase> cases_;
};

}  // namespace

bool may_vary(const Problem& problem, const Argument& argument) {
  return !argument.is_pointer && argument.record_bytes == 0 && argument.value &&
         argument.value->expression() == nullptr && !problem.assume.is_fixed(argument.name);
}

Symbols smallest_of_many(const Problem& problem) {
  const std::vector<const Symbols*> sizes = tests_by_volume(problem);
  const auto many = std::ranges::find_if(sizes, [](const Symbols* symbols) {
    return std::ranges::all_of(*symbols, [](const auto& entry) { return entry.second > 1; });
  });
  if (many != sizes.end()) return **many;
  return sizes.empty() ? Symbols() : *sizes.back();
}

std::vector<Symbols> variation_sizes(const Problem& problem) {
  constexpr std::int64_t kVector = 16;
  const Symbols small = smallest_of_many(problem);
  std::vector<Symbols> sizes = {small};
  Symbols whole = small;
  Symbols apart = small;
  for (const auto& [name, value] : small) {
    const SizeRule rule = size_rule(problem, name);
    if (!rule.is_length || rule.is_fixed) continue;
    const auto keep = [&rule](std::int64_t& length, std::int64_t above, std::int64_t below) {
      if (above <= rule.most) {
        length = above;
      } else if (below >= std::max<std::int64_t>(rule.least, 1)) {
        length = below;
      }
    };
    keep(whole[name], (value + kVector - 1) / kVector * kVector, value / kVector * kVector);
    keep(apart[name], value + rule.divisor, value - rule.divisor);
  }
  const Symbols& other = whole == small ? apart : whole;
  if (other != small && is_affordable(problem, other)) sizes.push_back(other);
  return sizes;
}

bool SizeRule::allows(std::int64_t value) const {
  if (is_fixed || value % divisor != 0) return false;
  return !powers_of_two || std::has_single_bit(static_cast<std::uint64_t>(value));
}

SizeRule size_rule(const Problem& problem, const std::string& symbol) {
  SizeRule rule;
  rule.is_fixed = problem.assume.is_fixed(symbol);
  rule.is_length = std::ranges::any_of(problem.arguments, [&](const Argument& argument) {
    return std::ranges::any_of(argument.shape, [&](const IntegerExpression& extent) {
      return extent.symbols().contains(symbol);
    });
  });
  std::int64_t divisor = 0;
  int given = 0;
  bool all_powers = true;
  for (const auto* list : {&problem.tests, &problem.bench}) {
    for (const Symbols& symbols : *list) {
      const auto own = symbols.find(symbol);
      if (own == symbols.end()) continue;
      rule.least = given == 0 ? own->second : std::min(rule.least, own->second);
      rule.most = std::max(rule.most, own->second);
      ++given;
      divisor = std::gcd(divisor, own->second);
      all_powers = all_powers && std::has_single_bit(static_cast<std::uint64_t>(own->second));
    }
  }
  if (divisor > 0) rule.divisor = divisor & -divisor;
  rule.powers_of_two = !rule.is_length && given > 1 && all_powers;
  return rule;
}

double volume(const Problem& problem, const Symbols& symbols) {
  double total = 1.0;
  for (const auto& [name, value] : symbols)
    total *= static_cast<double>(std::max<std::int64_t>(value, 1));
  for (const Argument& argument : problem.arguments) {
    const Result<std::int64_t> count = argument.element_count(symbols);
    if (count.ok() && argument.has_content()) total += static_cast<double>(*count);
  }
  return total;
}

std::vector<TestCase> planned_cases(const Problem& problem, std::uint64_t seed) {
  return Planner(problem, seed).plan();
}

std::vector<std::string> fixed_by_manifest(const Problem& problem) {
  std::vector<std::string> fixed;
  if (problem.assume.finite)
    fixed.emplace_back("inputs are finite and normal, as the manifest says (assume.finite)");
  // A captured program's sizes are those that it had.
  std::string largest;
  for (const auto& [name, value] : problem.is_captured ? Symbols() : problem.sizes) {
    const SizeRule rule = size_rule(problem, name);
    const bool is_same = rule.most == 0 || (rule.least == value && rule.most == value);
    if (is_same) {
      fixed.push_back(fmt::format("{} = {}, at all sizes", name, value));
    } else {
      largest +=
          fmt::format("{}{} = {}", largest.empty() ? "" : ", ", name, std::max(value, rule.most));
    }
  }
  if (!largest.empty()) fixed.push_back("sizes are at least 1 and at most " + largest);
  for (const Argument& argument : problem.arguments) {
    if (!argument.is_pointer && argument.record_bytes > 0)
      fixed.push_back(fmt::format("'{}' is the structure that is given", argument.name));
    if (argument.is_pointer || !argument.value || argument.value->expression() != nullptr) continue;
    if (problem.is_captured || problem.assume.is_fixed(argument.name)) {
      fixed.push_back(fmt::format(
          "{} = {}, {}", argument.name, argument.value->text(),
          problem.is_captured ? "as the program had it" : "as the manifest says (assume.fixed)"));
    }
  }
  return fixed;
}

}  // namespace regraph::verify

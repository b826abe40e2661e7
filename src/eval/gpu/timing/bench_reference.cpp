#include "eval/gpu/timing/bench_reference.h"

#include "base/random.h"
#include "eval/gpu/timing/present_buffer.h"
#include "eval/verify/inputs.h"

#include <fmt/format.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <cstring>
#include <functional>

namespace regraph::gpu {
namespace {

// Sets whose outputs are kept, as long as they take no more host memory than that.
constexpr int kKeptSets = 2;
constexpr double kKeptBytes = double{1 << 30};
// Bytes that a thread takes at once: a multiple of every element's size but structures'.
constexpr std::size_t kGrain = 1 << 18;
constexpr std::uint8_t kOpen = 2;  // in the marks of untouched elements
// Launches that decide what is open: each leaves one in 256 so.
constexpr int kMostDeciding = 8;

// What the worker's poison kernel writes from byte `at` of a buffer on, a multiple of a word.
void poison_part(std::span<std::byte> part, std::size_t at, std::uint64_t seed) {
  constexpr std::size_t kWord = sizeof(std::uint32_t);
  for (std::size_t byte = 0; byte < part.size(); byte += kWord) {
    // splitmix64 adds its constant itself.
    const std::uint64_t x = splitmix64(((at + byte) / kWord + seed - 1) * 0x9E3779B97F4A7C15ULL);
    const auto word = static_cast<std::uint32_t>(x >> 32);
    std::memcpy(part.data() + byte, &word, std::min(kWord, part.size() - byte));
  }
}

}  // namespace

void fill_as_device(std::span<std::byte> buffer, std::uint64_t seed) {
  const std::size_t chunks = (buffer.size() + kGrain - 1) / kGrain;
  tbb::parallel_for(std::size_t{0}, chunks, [&](std::size_t chunk) {
    const std::size_t at = chunk * kGrain;
    poison_part(buffer.subspan(at, std::min(kGrain, buffer.size() - at)), at, seed);
  });
}

std::vector<std::uint8_t> untouched_elements(std::span<const std::byte> once, std::uint64_t seed,
                                             std::span<const std::byte> again,
                                             std::uint64_t other_seed, std::size_t size) {
  // Whole elements and whole words, about kGrain bytes of them.
  const std::size_t part = (kGrain + 4 * size - 1) / (4 * size) * (4 * size);
  const std::size_t parts = (once.size() + part - 1) / part;
  std::vector<std::vector<std::uint8_t>> marks(parts);  // of parts that have any
  tbb::parallel_for(std::size_t{0}, parts, [&](std::size_t p) {
    const std::size_t begin = p * part;
    const std::size_t bytes = std::min(part, once.size() - begin);
    std::vector<std::byte> poison(bytes);
    std::vector<std::byte> other(bytes);
    poison_part(poison, begin, seed);
    poison_part(other, begin, other_seed);
    for (std::size_t at = 0; at + size <= bytes; at += size) {
      const bool kept = std::memcmp(&once[begin + at], &poison[at], size) == 0 &&
                        std::memcmp(&again[begin + at], &other[at], size) == 0;
      if (!kept) continue;
      if (marks[p].empty()) marks[p].resize(bytes / size, 0);
      const bool is_same_poison = std::memcmp(&poison[at], &other[at], size) == 0;
      marks[p][at / size] = is_same_poison ? kOpen : 1;
    }
  });
  if (std::all_of(marks.begin(), marks.end(), [](const auto& one) { return one.empty(); }))
    return {};
  std::vector<std::uint8_t> untouched(once.size() / size, 0);
  for (std::size_t p = 0; p < parts; ++p)
    std::copy(marks[p].begin(), marks[p].end(),
              untouched.begin() + static_cast<std::ptrdiff_t>(p * (part / size)));
  return untouched;
}

bool decide_untouched(std::vector<std::uint8_t>& marks, std::uint64_t seed,
                      std::span<const std::byte> later, std::uint64_t later_seed,
                      std::size_t size) {
  bool is_open = false;
  for (std::size_t i = 0; i < marks.size(); ++i) {
    if (marks[i] != kOpen) continue;
    // From the word on that the element begins in.
    const std::size_t at = i * size;
    const std::size_t word = at / sizeof(std::uint32_t) * sizeof(std::uint32_t);
    std::vector<std::byte> first(at - word + size);
    std::vector<std::byte> now(first.size());
    poison_part(first, word, seed);
    poison_part(now, word, later_seed);
    const std::byte* const poison = now.data() + (at - word);
    if (std::memcmp(&later[at], poison, size) != 0)
      marks[i] = 0;
    else if (std::memcmp(first.data() + (at - word), poison, size) != 0)
      marks[i] = 1;
    else
      is_open = true;
  }
  return is_open;
}

namespace {

// By how much each size of `symbols` is more than that of `test`, put together by `combine`.
template <typename Combine>
double growth_between(const Symbols& symbols, const Symbols& test, Combine combine) {
  double growth = 1.0;
  for (const auto& [name, value] : symbols) {
    const auto found = test.find(name);
    if (found == test.end() || found->second <= 0) continue;
    const double own = static_cast<double>(value) / static_cast<double>(found->second);
    growth = combine(growth, std::max(1.0, own));
  }
  return growth;
}

// One that sums nothing does so at no size.
constexpr double kNoSum = 2.0;

}  // namespace

double reduction_length_at(const Problem& problem, const Symbols& symbols, const Symbols& test,
                           double test_reduction_length) {
  double elements = 0.0;
  for (const Argument& argument : problem.arguments) {
    const Result<std::int64_t> count = argument.element_count(symbols);
    if (argument.is_output() && count.ok()) elements += static_cast<double>(*count);
  }
  if (problem.flops && elements > 0.0) {
    const Result<std::int64_t> flops = problem.flops->evaluate(symbols);
    if (flops.ok()) return std::max(1.0, static_cast<double>(*flops) / elements);
  }
  if (test_reduction_length <= kNoSum) return test_reduction_length;
  return test_reduction_length *
         growth_between(symbols, test, [](double a, double b) { return std::max(a, b); });
}

double longest_reduction_at(const Problem& problem, const Symbols& symbols, const Symbols& test,
                            double test_reduction_length) {
  const double likely = reduction_length_at(problem, symbols, test, test_reduction_length);
  if (test_reduction_length <= kNoSum) return likely;
  return std::max(likely,
                  test_reduction_length * growth_between(symbols, test, std::multiplies<>()));
}

Result<verify::Buffers, Failure> run_as_timed(GpuProcess& process, BenchMemory& memory,
                                              const TimedPlan& plan, int set, RaceSide side,
                                              std::uint64_t poison_seed, double timeout_seconds,
                                              const Cancellation& stop) {
  TimeRequest request;
  request.plans = {plan};
  request.samples = {0};
  request.poison_seed = poison_seed;
  request.timeout_seconds = timeout_seconds;
  Result<TimeResponse, Failure> timed = process.time(request, stop);
  if (!timed.ok()) return timed.error();
  return memory.outputs(set, side, stop);
}

Result<BenchReference, Failure> BenchReference::create(GpuProcess& process, BenchMemory& memory,
                                                       const Problem& problem,
                                                       const std::vector<TimedPlan>& original,
                                                       const verify::Arithmetic& arithmetic,
                                                       std::uint64_t seed, double timeout_seconds,
                                                       const Cancellation& stop) {
  BenchReference reference;
  reference.problem_ = &problem;
  reference.symbols_ = memory.symbols();
  reference.arithmetic_ = arithmetic;
  reference.first_poison_ = random_bits(seed, 0);
  const int sets =
      kKeptSets * memory.output_bytes() <= kKeptBytes ? std::min(kKeptSets, memory.sets()) : 1;
  for (int set = 0; set < sets; ++set) {
    Result<verify::Buffers, Failure> outputs =
        run_as_timed(process, memory, original[static_cast<std::size_t>(set)], set,
                     RaceSide::incumbent, random_bits(seed, set), timeout_seconds, stop);
    if (!outputs.ok()) return outputs.error();
    reference.expected_.push_back(std::move(*outputs));
  }
  // What holds both of two poisons afterwards was not written.
  bool is_open = false;
  for (int run = 0; run == 0 || (is_open && run < kMostDeciding); ++run) {
    const std::uint64_t other = random_bits(seed, sets + run);
    Result<verify::Buffers, Failure> again = run_as_timed(
        process, memory, original.front(), 0, RaceSide::incumbent, other, timeout_seconds, stop);
    if (!again.ok()) return again.error();
    is_open = false;
    reference.untouched_.resize(problem.arguments.size());
    for (std::size_t i = 0; i < problem.arguments.size(); ++i) {
      const Argument& argument = problem.arguments[i];
      if (!argument.is_output() || argument.direction != Direction::out) continue;
      std::vector<std::uint8_t>& marks = reference.untouched_[i];
      const std::size_t size = size_in_bytes(argument.type);
      if (run == 0) {
        marks = untouched_elements(reference.expected_.front()[i], reference.first_poison_,
                                   (*again)[i], other, size);
        is_open = is_open || std::ranges::find(marks, kOpen) != marks.end();
      } else {
        is_open =
            decide_untouched(marks, reference.first_poison_, (*again)[i], other, size) || is_open;
      }
    }
  }
  for (std::vector<std::uint8_t>& marks : reference.untouched_) {
    std::ranges::replace(marks, kOpen, std::uint8_t{0});
    if (std::ranges::count(marks, 1) == 0) marks.clear();
  }
  return reference;
}

BenchReference BenchReference::with(verify::Buffers expected) const {
  BenchReference other;
  other.problem_ = problem_;
  other.symbols_ = symbols_;
  other.arithmetic_ = arithmetic_;
  other.untouched_ = untouched_;
  other.expected_.push_back(std::move(expected));
  return other;
}

bool BenchReference::is_exact() const {
  for (std::size_t i = 0; i < problem_->arguments.size(); ++i) {
    const Argument& argument = problem_->arguments[i];
    if (!argument.is_output() || !verify::has_floats(argument)) continue;
    for (const verify::Buffers& outputs : expected_) {
      if (!verify::exactly_representable(argument, outputs[i], untouched_[i])) return false;
    }
  }
  return true;
}

std::optional<std::string> BenchReference::difference(const verify::Buffers& outputs, int set,
                                                      std::uint64_t poison_seed,
                                                      Exactness exactness) const {
  const verify::Buffers& expected = expected_[static_cast<std::size_t>(set)];
  for (std::size_t i = 0; i < problem_->arguments.size(); ++i) {
    const Argument& argument = problem_->arguments[i];
    if (!argument.is_output()) continue;
    if (outputs[i].size() != expected[i].size()) {
      return fmt::format("'{}' came back with {} bytes", argument.name, outputs[i].size());
    }
    std::vector<std::int64_t> extents;
    for (const IntegerExpression& extent : argument.shape) {
      const Result<std::int64_t> value = extent.evaluate(symbols_);
      extents.push_back(value.ok() ? *value : 1);
    }
    if (argument.components > 1) extents.push_back(argument.components);
    std::vector<std::byte> before;
    const auto fill_before = [&] {
      before = present_buffer(expected[i].size());
      fill_as_device(before, poison_seed);
    };
    if (!untouched_[i].empty()) fill_before();
    const double tau = verify::tolerance(verify::judged_type(argument), arithmetic_,
                                         problem_->check, problem_->assume);
    const auto compare = [&] {
      return verify::compare({argument,
                              extents,
                              expected[i],
                              outputs[i],
                              before,
                              untouched_[i],
                              {},
                              problem_->has_given_data(symbols_)},
                             tau, exactness == Exactness::bit_for_bit);
    };
    if (compare().equal) continue;
    if (before.empty()) fill_before();  // for the message
    return compare().message;
  }
  return std::nullopt;
}

}  // namespace regraph::gpu

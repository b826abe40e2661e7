#include "session/measured_lengths.h"

#include "kernel/derived_tests.h"
#include "session/indexed_lengths.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <utility>

namespace regraph {
namespace {

constexpr std::int64_t kBenchSize = 1024;  // of integers that nothing says a value of
constexpr std::int64_t kLeastSize = 4;
constexpr std::uint64_t kInstructions = 2'000'000;  // of a launch's warps; it is run many times
constexpr int kMostHalvings = 40;
constexpr double kMostElements = 0x1p28;  // of all buffers
// Other contents show what depends on them.
constexpr std::array<DrawnContents, 4> kDrawn = {{{verify::Distribution::manifest, 1},
                                                  {verify::Distribution::small_integers, 2},
                                                  {verify::Distribution::manifest, 3},
                                                  {verify::Distribution::normal, 4}}};
constexpr std::int64_t kShareOfSlack = 8;

// What a launch at these sizes touched, with any contents.
struct Row {
  Symbols sizes;
  Trial touched;
  std::vector<std::int64_t> least;  // by parameter: its length with the contents that touch least
  bool all_blocks = true;

  [[nodiscard]] bool depends_on_contents(std::size_t place) const {
    return least[place] != touched[place].length;
  }
};

class Measurement {
 public:
  Measurement(TrialLaunch& launch, const CompiledKernel& compiled, const KernelSignature& signature,
              const Manifest& draft, const MeasureRequest& request,
              const Cancellation& cancellation)
      : launch_(launch),
        compiled_(compiled),
        signature_(signature),
        draft_(draft),
        request_(request),
        cancellation_(cancellation) {}

  Status run(ObservedLengths& result) {
    launch_.limit_instructions(kInstructions);
    if (Status status = choose_bench(); !status.ok()) return status;
    if (Status status = choose_tests(); !status.ok()) return status;
    for (const std::size_t place : request_.wanted)
      add_length(place, result);
    ObservedSizes chosen;
    chosen.bench = rows_.front().sizes;
    for (std::size_t i = 1; i < rows_.size(); ++i)
      chosen.tests.push_back(rows_[i].sizes);
    if (chosen.tests.empty()) chosen.tests.push_back(chosen.bench);
    result.chosen = std::move(chosen);
    return {};
  }

 private:
  // As large as can be looked at, halved until it can.
  Status choose_bench() {
    Symbols sizes = draft_.sizes;
    for (const std::string& name : request_.scaled) {
      const auto parameter = std::ranges::find(signature_.parameters, name, &Parameter::name);
      const bool is_byte =
          parameter != signature_.parameters.end() && size_in_bytes(parameter->type) == 1;
      sizes.emplace(name, is_byte ? kStructuralSize : kBenchSize);
    }
    auto row = largest_row(std::move(sizes), /*all_blocks=*/false);
    if (!row.ok()) return row.error();
    rows_.push_back(std::move(*row));
    return {};
  }

  Status choose_tests() {
    Problem problem;
    problem.sizes = rows_.front().sizes;
    std::optional<Error> first_error;
    const bool given = !draft_.tests.empty();
    for (Symbols& sizes : tests_of(problem)) {
      auto row = given ? row_at(sizes, /*all_blocks=*/true)
                       : largest_row(std::move(sizes), /*all_blocks=*/true);
      if (!row.ok()) {
        if (given || row.error().code == ErrorCode::cancelled) return row.error();
        if (!first_error) first_error = row.error();
        continue;
      }
      const bool known = std::any_of(rows_.begin() + 1, rows_.end(),
                                     [&](const Row& one) { return one.sizes == row->sizes; });
      if (!known) rows_.push_back(std::move(*row));
    }
    if (rows_.size() == 1 && first_error) return *std::move(first_error);
    return {};
  }

  // The user's, where there are any.
  [[nodiscard]] std::vector<Symbols> tests_of(const Problem& problem) const {
    if (draft_.tests.empty()) return derived_test_sizes(problem);
    std::vector<Symbols> tests;
    for (const Symbols& said : draft_.tests) {
      tests.push_back(problem.sizes);
      for (const auto& [name, value] : said)
        tests.back()[name] = value;
    }
    return tests;
  }

  // At these sizes, or at the largest below that can be looked at.
  Result<Row> largest_row(Symbols sizes, bool all_blocks) {
    std::optional<Error> first_error;
    for (int i = 0; i < kMostHalvings; ++i) {
      auto row = row_at(sizes, all_blocks);
      if (row.ok() || row.error().code == ErrorCode::cancelled) return row;
      if (!first_error) first_error = row.error();
      if (!halve(sizes)) break;
    }
    return *std::move(first_error);
  }

  // The largest and what is about as large; false where all are small.
  bool halve(Symbols& sizes) const {
    std::int64_t largest = 0;
    for (const std::string& name : request_.scaled)
      largest = std::max(largest, sizes[name]);
    if (largest < 2 * kLeastSize) return false;
    for (const std::string& name : request_.scaled) {
      std::int64_t& value = sizes[name];
      // What no tile divides stays so.
      if (value > largest / 2) value = value % 2 == 0 ? value / 2 : (value / 2) | 1;
    }
    return true;
  }

  // Of buffers whose lengths are expressions.
  [[nodiscard]] double elements_known(const Symbols& sizes) const {
    double elements = 0.0;
    for (const auto& [name, said] : draft_.arguments) {
      double one = said.shape ? 1.0 : 0.0;
      for (const IntegerExpression& extent :
           said.shape.value_or(std::vector<IntegerExpression>())) {
        const auto value = extent.evaluate(sizes);
        one *= value.ok() ? static_cast<double>(*value) : 0.0;
      }
      elements += one;
    }
    return elements;
  }

  Result<Row> row_at(const Symbols& sizes, bool all_blocks) {
    const std::size_t count = signature_.parameters.size();
    if (elements_known(sizes) > kMostElements)
      return fail(ErrorCode::unsupported, "its buffers are too large");
    Row row{sizes, Trial(count), {}, true};
    for (const DrawnContents& drawn : kDrawn) {
      launch_.look_at_all_blocks();
      TrialContents contents;
      contents.drawn = drawn;
      const auto seen = launch_.run(sizes, contents, cancellation_);
      if (!seen.ok()) return seen.error();
      if (launch_.looks_at_some_blocks()) {
        if (all_blocks) return fail(ErrorCode::unsupported, "its tests would take too long");
        row.all_blocks = false;
      }
      for (std::size_t i = 0; i < count; ++i) {
        const Touched& one = (*seen)[i];
        if (row.least.size() < count) row.least.push_back(one.length);
        row.least[i] = std::min(row.least[i], one.length);
        row.touched[i].length = std::max(row.touched[i].length, one.length);
        row.touched[i].is_read = row.touched[i].is_read || one.is_read;
        row.touched[i].is_written = row.touched[i].is_written || one.is_written;
      }
    }
    return row;
  }

  // Of a buffer at a row's sizes. Contents that decide what is touched may reach as far as in other
  // buffers, and as far again as they did here.
  static std::int64_t length_at(const Row& row, std::size_t place) {
    std::int64_t length = row.touched[place].length;
    if (row.depends_on_contents(place) || length == 0) {
      std::int64_t steady = 1;
      for (std::size_t i = 0; i < row.touched.size(); ++i) {
        if (!row.depends_on_contents(i)) steady = std::max(steady, row.touched[i].length);
      }
      length = std::max(2 * length, steady);
    }
    return row.all_blocks ? length : length + length / kShareOfSlack;
  }

  void add_length(std::size_t place, ObservedLengths& result) {
    const Parameter& parameter = signature_.parameters[place];
    std::vector<std::int64_t> lengths;
    std::vector<Trial> trials;
    bool touched = false;
    for (const Row& row : rows_) {
      touched = touched || row.touched[place].length > 0;
      lengths.push_back(length_at(row, place));
      trials.push_back(row.touched);
    }
    ObservedBuffer buffer;
    buffer.direction = direction_of(compiled_, parameter, place, trials);
    const bool constant = std::ranges::all_of(
        lengths, [&](std::int64_t length) { return length == lengths.front(); });
    if (constant) {
      buffer.length = IntegerExpression(lengths.front());
    } else {
      buffer.length = IntegerExpression::symbol(size_of(parameter.name, lengths));
    }
    result.notes.push_back(fmt::format(
        "'{}': {}{}", parameter.name,
        constant ? "" : fmt::format("{} elements, which is ", buffer.length.text()),
        touched ? fmt::format("{} at the bench size, because so much is touched (no expression of "
                              "sizes was found; another size needs another length)",
                              lengths.front())
                : fmt::format("{} at the bench size: nothing of it was touched", lengths.front())));
    result.buffers[parameter.name] = std::move(buffer);
  }

  // The size that has these values: one that there is, or a new one.
  std::string size_of(const std::string& name, const std::vector<std::int64_t>& lengths) {
    for (const auto& [known, values] : added_) {
      if (values == lengths) return known;
    }
    std::string wish = name + "_length";
    std::ranges::replace(wish, '.', '_');
    const auto taken = [&](const std::string& one) {
      return rows_.front().sizes.contains(one) ||
             std::ranges::any_of(signature_.parameters,
                                 [&](const Parameter& parameter) { return parameter.name == one; });
    };
    while (taken(wish))
      wish += "_";
    for (std::size_t i = 0; i < rows_.size(); ++i)
      rows_[i].sizes[wish] = lengths[i];
    added_.emplace_back(wish, lengths);
    return wish;
  }

  TrialLaunch& launch_;
  const CompiledKernel& compiled_;
  const KernelSignature& signature_;
  const Manifest& draft_;
  const MeasureRequest& request_;
  const Cancellation& cancellation_;
  std::vector<Row> rows_;  // bench first, then tests
  std::vector<std::pair<std::string, std::vector<std::int64_t>>> added_;
};

}  // namespace

Status measure_lengths(TrialLaunch& launch, const CompiledKernel& compiled,
                       const KernelSignature& signature, const Manifest& draft,
                       const MeasureRequest& request, const Cancellation& cancellation,
                       ObservedLengths& result) {
  return Measurement(launch, compiled, signature, draft, request, cancellation).run(result);
}

}  // namespace regraph

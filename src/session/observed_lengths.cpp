#include "session/observed_lengths.h"

#include "kernel/derived_tests.h"
#include "session/indexed_lengths.h"
#include "session/measured_lengths.h"
#include "session/trial_launch.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <set>
#include <utility>

namespace regraph {
namespace {

// Sizes are so many units: of one, two and more sizes, so that blocks without a guard fit. Where
// that is too much for buffers and patience, the next of them.
constexpr std::array<std::int64_t, 5> kUnits = {256, 64, 32, 8, 2};
constexpr std::size_t kFirstUnits = 3;
constexpr std::array<std::int64_t, 8> kFactors = {2, 3, 5, 7, 4, 6, 1, 8};
constexpr std::size_t kTrials = 4;
// Numbers of floating type that decide whether something is touched: negative ones, and zeros.
constexpr std::array<double, 2> kDecidingFloats = {-0.75, 0.0};
constexpr double kOtherFloats = 1.5;

class Observer {
 public:
  Observer(const CompiledKernel& compiled, const KernelSignature& signature, const Manifest& draft,
           const ObservationHints& hints, const Cancellation& cancellation)
      : compiled_(compiled),
        signature_(signature),
        draft_(draft),
        hints_(hints),
        cancellation_(cancellation) {}

  Result<ObservedLengths> run() {
    auto launch = TrialLaunch::make(compiled_, signature_, draft_);
    if (!launch.ok()) return launch.error();
    launch_.emplace(std::move(*launch));
    collect_sizes();
    if (hints_.measured) return measure();
    const std::size_t count = std::max<std::size_t>(result_.sizes.size(), 1);
    std::optional<Error> first_error;
    for (std::size_t unit = std::min(count, kFirstUnits) - 1; unit < kUnits.size(); ++unit) {
      auto seen = look(kUnits[unit]);
      if (seen.ok() || seen.error().code == ErrorCode::cancelled) return seen;
      if (!first_error) first_error = seen.error();
    }
    return *std::move(first_error);
  }

 private:
  // With sizes of so many units.
  Result<ObservedLengths> look(std::int64_t unit) {
    ObservedLengths none;
    none.sizes = result_.sizes;
    result_ = std::move(none);
    fillings_ = {TrialContents().floats};
    plain_.clear();
    symbols_.clear();
    trials_.clear();
    for (std::size_t trial = 0; trial < kTrials; ++trial)
      symbols_.push_back(sizes_of(trial, unit));
    if (Status status = find_shared_bytes(); !status.ok()) return status.error();
    if (hints_.wanted.empty()) return std::move(result_);
    auto first = launch_->run(symbols_.front(), {}, cancellation_);
    if (!first.ok()) return first.error();
    if (Status status = look_at_floats(*first); !status.ok()) return status.error();
    IndexedLengths indexed(*launch_, compiled_, signature_, draft_, symbols_, cancellation_);
    auto base = indexed.run(wanted_places(), *first);
    if (!base.ok()) return base.error();
    if (Status status = run_trials(*base); !status.ok()) return status.error();
    look_at_drawn(indexed);
    if (Status status = indexed.explain_entries(trials_, result_); !status.ok())
      return status.error();
    for (const std::size_t place : wanted_places()) {
      if (!indexed.is_chosen(place)) explain(place);
    }
    if (Status status = indexed.explain_chosen(trials_, result_); !status.ok())
      return status.error();
    look_at_odd_sizes(*base);
    return std::move(result_);
  }

  // What holds where tiles divide the sizes need not hold elsewhere.
  void look_at_odd_sizes(const TrialContents& base) {
    Problem problem;
    problem.sizes = draft_.sizes;
    for (const std::string& name : result_.sizes)
      problem.sizes[name] = symbols_.front().at(name);
    for (const Symbols& odd : derived_test_sizes(problem)) {
      const auto seen = launch_->run(odd, base, cancellation_);
      if (!seen.ok()) continue;  // the kernel need not work there
      for (std::size_t place = 0; place < seen->size(); ++place) {
        const auto found = result_.buffers.find(signature_.parameters[place].name);
        if (found == result_.buffers.end() || !plain_.contains(found->first)) continue;
        const auto length = found->second.length.evaluate(odd);
        if (!length.ok() || (*seen)[place].length <= *length) continue;
        result_.unknown.emplace_back(
            found->first,
            fmt::format("with {} it has {} elements, more than {}, which fits at other sizes",
                        sizes_text({odd}), (*seen)[place].length, found->second.length.text()));
        result_.buffers.erase(found);
      }
    }
  }

  // As numbers.
  Result<ObservedLengths> measure() {
    MeasureRequest request;
    request.wanted = wanted_places();
    for (const std::string& name : result_.sizes) {
      if (std::ranges::find(hints_.said_sizes, name) == hints_.said_sizes.end())
        request.scaled.push_back(name);
    }
    const bool shares = hints_.shared_bytes_wanted && launch_->has_dynamic_shared_memory();
    if (shares) launch_->take_all_shared_memory();
    Status status =
        measure_lengths(*launch_, compiled_, signature_, draft_, request, cancellation_, result_);
    if (!status.ok()) return status.error();
    if (!shares) return std::move(result_);
    std::vector<Symbols> all = result_.chosen->tests;
    all.push_back(result_.chosen->bench);
    std::int64_t most = 0;
    for (const Symbols& sizes : all) {
      const auto bytes = launch_->shared_bytes(sizes, draft_.launch->block.x, cancellation_);
      if (!bytes.ok()) return bytes.error();
      most = std::max(most, *bytes);
    }
    result_.shared_bytes = IntegerExpression(most);
    return std::move(result_);
  }

  [[nodiscard]] bool is_answered(const std::string& name) const {
    return result_.buffers.contains(name) ||
           std::ranges::any_of(result_.unknown, [&](const auto& one) { return one.first == name; });
  }

  [[nodiscard]] std::vector<std::size_t> wanted_places() const {
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < signature_.parameters.size(); ++i) {
      const std::string& name = signature_.parameters[i].name;
      if (std::ranges::find(hints_.wanted, name) != hints_.wanted.end() && !is_answered(name))
        places.push_back(i);
    }
    return places;
  }

  void collect_sizes() {
    for (const Parameter& parameter : signature_.parameters) {
      if (may_be_size(parameter)) result_.sizes.push_back(parameter.name);
    }
    // Sizes of the grid alone.
    for (const IntegerExpression& extent : draft_.launch->grid) {
      for (const std::string& name : extent.symbols()) {
        const bool known = std::ranges::find(result_.sizes, name) != result_.sizes.end();
        const auto size = draft_.sizes.find(name);
        const bool parameter = std::ranges::any_of(
            signature_.parameters, [&](const Parameter& one) { return one.name == name; });
        if (known || parameter || size == draft_.sizes.end() || size->second <= kStructuralSize)
          continue;
        if (extent.text() == name) blocks_.insert(name);
        result_.sizes.push_back(name);
      }
    }
    add_sizes_of_values();
  }

  [[nodiscard]] bool may_be_size(const Parameter& parameter) const {
    if (parameter.is_pointer || is_floating(parameter.type) ||
        parameter.type == ScalarType::boolean)
      return false;
    if (std::ranges::find(hints_.fixed, parameter.name) != hints_.fixed.end()) return false;
    const auto size = draft_.sizes.find(parameter.name);
    if (size != draft_.sizes.end()) return size->second > kStructuralSize;
    const ManifestArgument* said = launch_->said_of(parameter.name);
    if (said == nullptr || !said->value) return true;
    const Result<double> number = said->value->at({});  // an expression follows other sizes
    return number.ok() && *number > static_cast<double>(kStructuralSize);
  }

  // Sizes that are not passed, but that what is passed follows.
  void add_sizes_of_values() {
    for (const auto& [name, said] : draft_.arguments) {
      if (!said.value || said.value->expression() == nullptr) continue;
      for (const std::string& symbol : said.value->expression()->symbols()) {
        const auto size = draft_.sizes.find(symbol);
        const bool known = std::ranges::find(result_.sizes, symbol) != result_.sizes.end();
        if (known || size == draft_.sizes.end()) continue;
        if (size->second > kStructuralSize) result_.sizes.push_back(symbol);
      }
    }
  }

  [[nodiscard]] Symbols sizes_of(std::size_t trial, std::int64_t unit) const {
    Symbols symbols = draft_.sizes;
    const auto factor_of = [&](std::size_t k) {
      return kFactors[(trial * (k + 1) + k) % kFactors.size()];
    };
    for (std::size_t k = 0; k < result_.sizes.size(); ++k) {
      const bool counts_blocks = blocks_.contains(result_.sizes[k]);
      symbols[result_.sizes[k]] = counts_blocks ? factor_of(k) + 1 : unit * factor_of(k);
    }
    // A size that is cut into parts has room for them.
    for (const auto& [whole, parts] : hints_.quotients) {
      const auto place = std::ranges::find(result_.sizes, whole);
      if (place == result_.sizes.end() || !symbols.contains(parts)) continue;
      const auto k = static_cast<std::size_t>(place - result_.sizes.begin());
      if (std::ranges::find(result_.sizes, parts) != result_.sizes.end())
        symbols[parts] = std::max<std::int64_t>(symbols[parts] / unit, 1) * 2;
      symbols[whole] = symbols[parts] * 2 * factor_of(k);
    }
    return symbols;
  }

  // Numbers of floating type may decide what is touched, but not where.
  Status look_at_floats(const Trial& first) {
    TrialContents other;
    other.floats = kOtherFloats;
    const auto changed = launch_->run(symbols_.front(), other, cancellation_);
    if (!changed.ok()) return changed.error();
    std::vector<std::string> reasons;
    for (const std::size_t place : wanted_places()) {
      if ((*changed)[place].length == first[place].length) continue;
      auto name = float_that_decides(place, first[place].length);
      if (!name.ok()) return name.error();
      result_.unknown.emplace_back(
          signature_.parameters[place].name,
          fmt::format("the places that are touched depend on what buffers hold{}",
                      name->empty() ? "" : ", on the numbers of '" + *name + "'"));
    }
    for (const double floats : kDecidingFloats) {
      TrialContents deciding;
      deciding.floats = floats;
      const auto seen = launch_->run(symbols_.front(), deciding, cancellation_);
      if (cancellation_.requested()) return seen.error();
      if (!seen.ok()) continue;  // no numbers that it can take
      const bool more = std::ranges::any_of(wanted_places(), [&](std::size_t place) {
        return (*seen)[place].length > first[place].length;
      });
      if (more) fillings_.push_back(floats);
    }
    return {};
  }

  // Structures choose places, too: what is touched with the numbers that verification draws must be
  // within what was seen.
  void look_at_drawn(const IndexedLengths& indexed) {
    for (const std::uint64_t seed : {std::uint64_t{1}, std::uint64_t{2}}) {
      TrialContents drawn;
      drawn.drawn = DrawnContents{verify::Distribution::manifest, seed};
      const auto seen = launch_->run(symbols_.front(), drawn, cancellation_);
      if (!seen.ok()) continue;  // indices that are none
      for (const std::size_t place : wanted_places()) {
        const bool further = (*seen)[place].length > trials_.front()[place].length;
        if (!further || indexed.is_chosen(place)) continue;
        result_.unknown.emplace_back(signature_.parameters[place].name,
                                     "the places that are touched depend on what buffers hold");
      }
    }
  }

  Result<std::string> float_that_decides(std::size_t place, std::int64_t length) {
    for (std::size_t i = 0; i < signature_.parameters.size(); ++i) {
      const Parameter& parameter = signature_.parameters[i];
      if (!parameter.is_pointer || !is_floating(parameter.type)) continue;
      TrialContents contents;
      contents.of[i] = {kOtherFloats, 0};
      const auto seen = launch_->run(symbols_.front(), contents, cancellation_);
      if (!seen.ok()) return seen.error();
      if ((*seen)[place].length != length) return parameter.name;
    }
    return std::string();
  }

  Status run_trials(const TrialContents& base) {
    for (const Symbols& symbols : symbols_) {
      Trial all(signature_.parameters.size());
      for (const double floats : fillings_) {
        TrialContents contents = base;
        contents.floats = floats;
        const auto seen = launch_->run(symbols, contents, cancellation_);
        if (!seen.ok()) return seen.error();
        for (std::size_t i = 0; i < all.size(); ++i) {
          all[i].length = std::max(all[i].length, (*seen)[i].length);
          all[i].is_read = all[i].is_read || (*seen)[i].is_read;
          all[i].is_written = all[i].is_written || (*seen)[i].is_written;
        }
      }
      trials_.push_back(std::move(all));
    }
    return {};
  }

  void explain(std::size_t place) {
    const std::string& name = signature_.parameters[place].name;
    std::vector<std::int64_t> lengths;
    for (const Trial& trial : trials_)
      lengths.push_back(trial[place].length);
    if (lengths.front() == 0) {
      result_.unknown.emplace_back(name, "nothing of it is touched at small sizes");
      return;
    }
    auto length = length_of(symbols_, lengths);
    if (!length) {
      result_.unknown.emplace_back(
          name, fmt::format("run at small sizes it has {} and {} elements, which no simple "
                            "expression of sizes gives",
                            lengths[0], lengths[1]));
      return;
    }
    result_.buffers[name] = {*std::move(length),
                             direction_of(compiled_, signature_.parameters[place], place, trials_)};
    plain_.insert(name);
  }

  // At all sizes, and with half of the threads.
  Status find_shared_bytes() {
    if (!hints_.shared_bytes_wanted || !launch_->has_dynamic_shared_memory()) return {};
    launch_->take_all_shared_memory();
    const std::uint32_t threads = draft_.launch->block.x;
    const std::uint32_t half = std::max<std::uint32_t>(threads / 2, 1);
    std::vector<Symbols> symbols;
    std::vector<std::int64_t> bytes;
    for (const Symbols& sizes : symbols_) {
      for (const std::uint32_t extent : {threads, half}) {
        const auto least = launch_->shared_bytes(sizes, extent, cancellation_);
        if (!least.ok()) {
          // Blocks of another extent need not work.
          if (extent == half && least.error().code != ErrorCode::cancelled) continue;
          return least.error();
        }
        symbols.push_back(sizes);
        symbols.back()["bx"] = extent;
        bytes.push_back(*least);
      }
    }
    result_.shared_bytes = length_of(symbols, bytes);
    // Sizes that the blocks are cut to may hide that it follows their threads.
    if (!result_.shared_bytes && !bytes.empty()) {
      return fail(ErrorCode::unsupported,
                  fmt::format("it needs {} bytes of dynamic shared memory at small sizes, which no "
                              "simple expression of sizes gives; add smem to the launch",
                              bytes.front()));
    }
    return {};
  }

  const CompiledKernel& compiled_;
  const KernelSignature& signature_;
  const Manifest& draft_;
  const ObservationHints& hints_;
  const Cancellation& cancellation_;
  std::optional<TrialLaunch> launch_;
  std::set<std::string> blocks_;  // sizes that are a number of blocks
  std::set<std::string> plain_;   // buffers whose lengths do not depend on contents
  std::vector<double> fillings_ = {TrialContents().floats};
  std::vector<Symbols> symbols_;
  std::vector<Trial> trials_;  // at these, with the contents that index what
  ObservedLengths result_;
};

}  // namespace

Result<ObservedLengths> observe_lengths(const CompiledKernel& compiled,
                                        const KernelSignature& signature, const Manifest& draft,
                                        const ObservationHints& hints,
                                        const Cancellation& cancellation) {
  return Observer(compiled, signature, draft, hints, cancellation).run();
}

}  // namespace regraph

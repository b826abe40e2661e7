#include "eval/verify/inputs.h"

#include "base/random.h"
#include "eval/verify/element.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace regraph::verify {

namespace {

// Draws for one element.
class Draw {
 public:
  Draw(std::uint64_t seed, std::uint64_t stream, std::uint64_t index)
      : state_(random_bits(seed, stream, index)) {}

  std::uint64_t bits() { return state_ = splitmix64(state_); }
  double unit() { return to_unit_interval(bits()); }

  // Box and Muller: "A note on the generation of random normal deviates", 1958.
  double normal() {
    const double radius = std::sqrt(-2.0 * std::log(1.0 - unit()));
    return radius * std::cos(2.0 * std::numbers::pi * unit());
  }

  double integer(double low, double high) { return low + std::floor(unit() * (high - low + 1.0)); }

 private:
  std::uint64_t state_;
};

// `iota` restarts so that small floating types count exactly.
constexpr std::uint64_t kFloatingIotaPeriod = 1024;

double manifest_value(const Argument& argument, Draw& draw, std::uint64_t index) {
  const BufferInit& init = argument.init;
  switch (init.kind) {
    case BufferInit::Kind::normal: {
      const double value = draw.normal();
      return is_floating(argument.type) ? value : std::round(std::abs(value));
    }
    case BufferInit::Kind::uniform:
      return init.low + draw.unit() * (init.high - init.low);
    case BufferInit::Kind::integers:
      return draw.integer(init.low, init.high);
    case BufferInit::Kind::iota:
      return static_cast<double>(is_floating(argument.type) ? index % kFloatingIotaPeriod : index);
  }
  return 0.0;
}

double value_of(const Argument& argument, Distribution distribution, Draw& draw,
                std::uint64_t index) {
  switch (distribution) {
    case Distribution::manifest:
      return manifest_value(argument, draw, index);
    case Distribution::small_integers:
      return draw.integer(-3.0, 3.0);
    case Distribution::normal:
      return draw.normal();
    case Distribution::uniform:
      return draw.unit();
    case Distribution::large: {
      const double value = 3.0 + 10.0 * draw.normal();
      // Half precision ends at 65504: sums of such values would be infinite.
      const bool roomy = argument.type == ScalarType::f32 || argument.type == ScalarType::f64;
      return roomy && draw.bits() % 16 == 0 ? 100.0 * value : value;
    }
    case Distribution::sparse:
      return draw.bits() % 4 == 0 ? static_cast<double>(index % 97) / 16.0 - 3.0 : 0.0;
  }
  return 0.0;
}

}  // namespace

std::string_view name(Distribution distribution) {
  switch (distribution) {
    case Distribution::small_integers:
      return "integers -3..3";
    case Distribution::manifest:
      return "the manifest's inputs";
    case Distribution::normal:
      return "N(0,1)";
    case Distribution::uniform:
      return "U(0,1)";
    case Distribution::large:
      return "large values";
    case Distribution::sparse:
      return "sparse ramp";
  }
  return "unknown";
}

std::vector<Distribution> choose_distributions(const Problem& problem) {
  const bool all_normal =
      std::all_of(problem.arguments.begin(), problem.arguments.end(), [](const Argument& argument) {
        return !argument.is_input() || argument.init == BufferInit{};
      });
  std::vector<Distribution> distinct = {Distribution::small_integers, Distribution::manifest};
  if (!all_normal) distinct.push_back(Distribution::normal);
  distinct.insert(distinct.end(),
                  {Distribution::uniform, Distribution::large, Distribution::sparse});
  const auto count = static_cast<std::size_t>(std::max(problem.check.seeds, 5));
  std::vector<Distribution> chosen;
  for (std::size_t i = 0; i < std::max(count, distinct.size()); ++i) {
    chosen.push_back(distinct[i % distinct.size()]);
  }
  return chosen;
}

void fill(const Argument& argument, Distribution distribution, std::uint64_t seed,
          std::uint64_t stream, std::span<std::byte> buffer) {
  const std::size_t size = size_in_bytes(argument.type);
  if (!is_floating(argument.type)) distribution = Distribution::manifest;
  for (std::uint64_t i = 0; i < buffer.size() / size; ++i) {
    Draw draw(seed, stream, i);
    store_element(argument.type, value_of(argument, distribution, draw, i),
                  buffer.data() + i * size);
  }
}

}  // namespace regraph::verify

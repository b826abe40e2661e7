#include "eval/verify/inputs.h"

#include "eval/verify/draw.h"
#include "eval/verify/element.h"
#include "eval/verify/whole_inputs.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>

namespace regraph::verify {

namespace {

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
    case BufferInit::Kind::constant:
      return init.low;
    case BufferInit::Kind::permutation:
    case BufferInit::Kind::csr_offsets:
    case BufferInit::Kind::csr_columns:
    case BufferInit::Kind::file:
      return 0.0;  // no element by itself: fill_input
  }
  return 0.0;
}

// Whether squares of what `magnitudes` draws fit.
bool is_roomy(ScalarType type) {
  return type != ScalarType::f16;
}

// Long runs of one value, the next often only bits away.
double near_tie(const FloatFormat& format, Draw& draw, std::uint64_t index) {
  constexpr std::uint64_t kRun = 32;
  const double base = 1.0 + static_cast<double>(splitmix64(index / kRun) % 4) / 4.0;
  const auto steps = static_cast<double>(draw.bits() % 4 == 0 ? draw.bits() % 3 : 0);
  return base + std::ldexp(steps, -format.mantissa_bits);
}

// Half of the runs are zeros: beginnings of rows, rows and tiles of nothing.
double of_zero_run(std::uint64_t buffer, Draw& draw, std::uint64_t index) {
  constexpr std::uint64_t kRun = 64;
  // Rows of a usual length begin elsewhere.
  const std::uint64_t shift = buffer % kRun | 1;
  return random_bits(buffer, (index + shift) / kRun) % 2 == 0 ? 0.0 : draw.normal();
}

// From 1 to 2, as far from one number of a smaller type as from the next: of half precision,
// bfloat16 or e4m3. Rounding to even shows there.
double halfway_between(Draw& draw) {
  constexpr int kMantissas[] = {10, 7, 3};
  const double numbers = std::ldexp(1.0, kMantissas[draw.bits() % std::size(kMantissas)]);
  return 1.0 +
         (static_cast<double>(draw.bits() % static_cast<std::uint64_t>(numbers)) + 0.5) / numbers;
}

double of_any_magnitude(ScalarType type, Draw& draw) {
  const double exponent = is_roomy(type) ? draw.integer(-20.0, 24.0) : draw.integer(-6.0, 6.0);
  const double power = std::ldexp(1.0, static_cast<int>(exponent));
  double value = power;
  switch (draw.bits() % 4) {
    case 0:
    case 1:
      break;
    case 2:
      value *= 1.0 + draw.unit();
      break;
    default:
      value *= halfway_between(draw);
  }
  return draw.bits() % 2 == 0 ? value : -value;
}

double denormal(const FloatFormat& format, Draw& draw) {
  const double most = std::ldexp(1.0, format.mantissa_bits - 3);
  return std::ldexp(draw.integer(-most, most), format.least_exponent - format.mantissa_bits);
}

// Its product with a denormal number of fp32 is mostly a normal one.
double beside_denormals(ScalarType type, Draw& draw) {
  constexpr double kLargeExponent = 50.0;  // two of them and a little have a product
  constexpr double kLargeOfHalf = 6.0;
  const double exponent =
      (is_roomy(type) ? kLargeExponent : kLargeOfHalf) * (0.8 + 0.2 * draw.unit());
  return std::ldexp(1.0 + draw.unit(), static_cast<int>(exponent));
}

// Flushed to zero, a denormal number shows where it is multiplied by a large one.
double denormal_or_large(const FloatFormat& format, ScalarType type, Draw& draw) {
  if (draw.bits() % 4 != 0) return denormal(format, draw);
  return beside_denormals(type, draw);
}

// And nothing hides the product where what is added to it is small: the same for a whole buffer.
double small_or_large(const FloatFormat& format, ScalarType type, std::uint64_t buffer,
                      Draw& draw) {
  switch (buffer % 3) {
    case 0:
      return denormal(format, draw);
    case 1:
      return beside_denormals(type, draw);
    default:
      return 0.0;
  }
}

double zero_or_small(const FloatFormat& format, Draw& draw) {
  switch (draw.bits() % 4) {
    case 0:
      return 0.0;
    case 1:
      return -0.0;
    case 2:
      return denormal(format, draw);
    default:
      return draw.normal();
  }
}

double not_finite(Draw& draw, bool with_nan) {
  const double infinity = std::numeric_limits<double>::infinity();
  if (with_nan && draw.bits() % 2 == 0) return std::numeric_limits<double>::quiet_NaN();
  return draw.bits() % 2 == 0 ? infinity : -infinity;
}

// Rare, so that a row of numbers is not always all of them.
double perhaps_not_finite(Draw& draw, bool with_nan) {
  constexpr std::uint64_t kOneOf = 64;
  return draw.bits() % kOneOf == 0 ? not_finite(draw, with_nan) : draw.normal();
}

// But frequent among the last elements, which kernels with vectors treat by themselves: of one of
// three buffers, since what another does with its own would hide it.
bool is_not_finite_at_the_end(Distribution distribution, std::uint64_t seed, std::uint64_t stream,
                              std::uint64_t left, std::uint64_t count) {
  constexpr std::uint64_t kLast = 8;
  constexpr std::uint64_t kMany = 64;
  constexpr std::uint64_t kBuffers = 3;
  return (distribution == Distribution::infinite || distribution == Distribution::not_finite) &&
         count >= kMany && left <= kLast &&
         random_bits(seed, kLast, left) % kBuffers == stream % kBuffers;
}

double last_value(Distribution distribution, Draw& draw) {
  return distribution == Distribution::not_finite ? std::numeric_limits<double>::quiet_NaN()
                                                  : not_finite(draw, false);
}

// Of one sign and all far from zero.
double below_any_bound(ScalarType type, int exponent, Draw& draw) {
  constexpr int kExponentOfHalf = 10;
  return -std::ldexp(1.0 + draw.unit(), is_roomy(type) ? exponent : kExponentOfHalf);
}
double near_the_largest(ScalarType type, Draw& draw) {
  constexpr double kLeastExponent = 100.0;
  constexpr double kLeastOfHalf = 8.0;
  const double least = is_roomy(type) ? kLeastExponent : kLeastOfHalf;
  const double most = is_roomy(type) ? 127.0 : 15.0;
  const double value =
      std::ldexp(1.0 + 0.99 * draw.unit(), static_cast<int>(draw.integer(least, most)));
  return draw.bits() % 2 == 0 ? value : -value;
}
constexpr int kFarBelow = 40;
constexpr int kLowest = 110;

constexpr double kNearZero = 0x1p-24;
// Half precision is denormal from 2^-14 down.
constexpr double kNearZeroHalf = 0x1p-8;
constexpr std::uint64_t kRampLength = 4096;

// `buffer` is random, one number for each buffer.
double value_of(const Argument& argument, Distribution distribution, std::uint64_t buffer,
                Draw& draw, std::uint64_t index) {
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
    case Distribution::zero_runs:
      return of_zero_run(buffer, draw, index);
    case Distribution::near_ties:
      return near_tie(format_of(argument.type), draw, index);
    case Distribution::magnitudes:
      return of_any_magnitude(argument.type, draw);
    case Distribution::denormals:
      return denormal(format_of(argument.type), draw);
    case Distribution::denormals_and_large:
      return denormal_or_large(format_of(argument.type), argument.type, draw);
    case Distribution::small_or_large:
      return small_or_large(format_of(argument.type), argument.type, buffer, draw);
    case Distribution::signed_zeros:
      return zero_or_small(format_of(argument.type), draw);
    case Distribution::not_finite:
      return perhaps_not_finite(draw, true);
    case Distribution::infinite:
      return perhaps_not_finite(draw, false);
    case Distribution::near_zero:
      return draw.normal() * (argument.type == ScalarType::f16 ? kNearZeroHalf : kNearZero);
    case Distribution::far_below:
      return below_any_bound(argument.type, kFarBelow, draw);
    case Distribution::lowest:
      return below_any_bound(argument.type, kLowest, draw);
    case Distribution::largest:
      return near_the_largest(argument.type, draw);
    case Distribution::below_exponent:
      return -105.0 * std::exp2(3.0 * draw.unit());
    case Distribution::ascending:
      return static_cast<double>(index % kRampLength) / 64.0 - 32.0;
    case Distribution::negative_integers:
    case Distribution::extreme_integers:
    case Distribution::equal_integers:
      return manifest_value(argument, draw, index);  // of floating-point numbers nothing is asked
    case Distribution::captured:
    case Distribution::perturbed:
    case Distribution::exchanged:
      return manifest_value(argument, draw, index);  // nothing was captured
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
    case Distribution::captured:
      return "captured inputs";
    case Distribution::perturbed:
      return "inputs as given, perturbed";
    case Distribution::exchanged:
      return "inputs as given, integers exchanged";
    case Distribution::zero_runs:
      return "long runs of zeros";
    case Distribution::near_ties:
      return "near ties";
    case Distribution::magnitudes:
      return "values of all magnitudes";
    case Distribution::near_zero:
      return "values near zero";
    case Distribution::largest:
      return "the largest values";
    case Distribution::below_exponent:
      return "values whose exponential is 0";
    case Distribution::far_below:
      return "very negative values";
    case Distribution::lowest:
      return "the most negative values";
    case Distribution::ascending:
      return "ascending values";
    case Distribution::denormals:
      return "denormal values";
    case Distribution::denormals_and_large:
      return "denormal and large values";
    case Distribution::small_or_large:
      return "buffers of denormal, large or no values";
    case Distribution::signed_zeros:
      return "signed zeros and denormals";
    case Distribution::infinite:
      return "infinities";
    case Distribution::not_finite:
      return "NaN and infinities";
    case Distribution::negative_integers:
      return "negative integers";
    case Distribution::extreme_integers:
      return "extreme integers";
    case Distribution::equal_integers:
      return "equal integers";
  }
  return "unknown";
}

namespace {

bool has_integers(const Argument& argument) {
  return argument.fields.empty() && !is_floating(argument.type);
}

bool is_constant(const Argument& argument) {
  return argument.init.kind == BufferInit::Kind::constant;
}

// `first` is the data as they are; the others are drawn from them, and may be no valid input.
std::vector<Distribution> around_given_data(const Problem& problem, Distribution first) {
  std::vector<Distribution> chosen = {first};
  bool floats = false;
  bool integers = false;
  for (const Argument& argument : problem.arguments) {
    // Of a problem with files the others are drawn as the manifest says.
    const bool given =
        first == Distribution::captured || argument.init.kind == BufferInit::Kind::file;
    floats = floats || (argument.is_input() && has_floats(argument) && !is_constant(argument));
    integers = integers || (argument.is_input() && has_integers(argument) && given);
  }
  if (floats) chosen.push_back(Distribution::perturbed);
  if (integers) chosen.push_back(Distribution::exchanged);
  if (floats) {
    chosen.push_back(Distribution::small_integers);
    chosen.push_back(Distribution::uniform);
    chosen.push_back(Distribution::sparse);
  }
  const auto count = static_cast<std::size_t>(std::max(problem.check.seeds, 5));
  while (chosen.size() < count && (floats || integers))
    chosen.push_back(floats ? Distribution::perturbed : Distribution::exchanged);
  return chosen;
}

}  // namespace

std::vector<Distribution> choose_distributions(const Problem& problem) {
  if (problem.has_files()) return around_given_data(problem, Distribution::manifest);
  const bool all_normal =
      std::all_of(problem.arguments.begin(), problem.arguments.end(), [](const Argument& argument) {
        return !argument.is_input() || argument.init == BufferInit{} ||
               argument.init.kind == BufferInit::Kind::constant;
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

std::vector<Distribution> choose_distributions(const Problem& problem, const Symbols& symbols) {
  if (problem.captured_at(symbols) == nullptr) return choose_distributions(problem);
  return around_given_data(problem, Distribution::captured);
}

bool has_floats(const Argument& argument) {
  if (argument.fields.empty()) return is_floating(argument.type);
  return std::ranges::any_of(argument.fields, [](const Field& field) {
    return !field.is_pointer && is_floating(field.type);
  });
}

bool is_extreme(Distribution distribution) {
  switch (distribution) {
    case Distribution::magnitudes:
    case Distribution::near_zero:
    case Distribution::below_exponent:
    case Distribution::largest:
    case Distribution::far_below:
    case Distribution::lowest:
    case Distribution::denormals:
    case Distribution::denormals_and_large:
    case Distribution::small_or_large:
    case Distribution::signed_zeros:
    case Distribution::infinite:
    case Distribution::not_finite:
      return true;
    default:
      return false;
  }
}

bool has_range_of_integers(const Argument& argument) {
  return argument.is_input() && has_integers(argument) && argument.type != ScalarType::boolean &&
         argument.init.kind == BufferInit::Kind::integers;
}

Argument with_equal_integers(Argument argument) {
  if (!has_range_of_integers(argument)) return argument;
  argument.init.high = argument.init.low;
  argument.init.high_expression = argument.init.low_expression;
  return argument;
}

bool has_guessed_integers(const Argument& argument) {
  return argument.is_input() && has_integers(argument) && !argument.init_is_given;
}

namespace {

bool is_of_integers(Distribution distribution) {
  return distribution == Distribution::negative_integers ||
         distribution == Distribution::extreme_integers ||
         distribution == Distribution::equal_integers;
}

bool is_signed(ScalarType type) {
  return type == ScalarType::i8 || type == ScalarType::i16 || type == ScalarType::i32 ||
         type == ScalarType::i64;
}

// An integer's bits, of which the type takes the lowest.
std::uint64_t integer_bits(ScalarType type, Distribution distribution, Draw& draw) {
  const auto bits = static_cast<unsigned>(8 * size_in_bytes(type));
  if (distribution == Distribution::equal_integers) return 7;
  if (distribution == Distribution::negative_integers)
    return is_signed(type) ? draw.bits() % 32 - 16 : draw.bits() % 256;
  const std::uint64_t sign = std::uint64_t{1} << (bits - 1);
  switch (draw.bits() % 8) {
    case 0:
      return sign;  // the least
    case 1:
      return sign - 1;  // the largest
    case 2:
      return 0;
    case 3:
      return ~std::uint64_t{0};
    case 4:
      return std::uint64_t{1} << (draw.bits() % bits);
    case 5:
      return (std::uint64_t{1} << (draw.bits() % bits)) - 1;
    case 6:
      return draw.bits() % 16 - 8;
    default:
      return draw.bits();
  }
}

void fill_integers(ScalarType type, Distribution distribution, std::uint64_t seed,
                   std::uint64_t stream, std::span<std::byte> buffer) {
  const std::size_t size = size_in_bytes(type);
  for (std::uint64_t i = 0; i < buffer.size() / size; ++i) {
    Draw draw(seed, stream, i);
    std::uint64_t bits = integer_bits(type, distribution, draw);
    if (type == ScalarType::boolean) bits &= 1U;
    std::memcpy(buffer.data() + i * size, &bits, size);  // little-endian, as on the device
  }
}

}  // namespace

void fill(const Argument& argument, Distribution distribution, std::uint64_t seed,
          std::uint64_t stream, std::span<std::byte> buffer) {
  const std::size_t size = size_in_bytes(argument.type);
  if (is_of_integers(distribution) && has_guessed_integers(argument))
    return fill_integers(argument.type, distribution, seed, stream, buffer);
  if (!is_floating(argument.type) || is_constant(argument)) distribution = Distribution::manifest;
  const std::uint64_t count = buffer.size() / size;
  const std::uint64_t buffer_number = random_bits(seed, stream);
  for (std::uint64_t i = 0; i < count; ++i) {
    Draw draw(seed, stream, i);
    const double value = is_not_finite_at_the_end(distribution, seed, stream, count - i, count)
                             ? last_value(distribution, draw)
                             : value_of(argument, distribution, buffer_number, draw, i);
    store_element(argument.type, value, buffer.data() + i * size);
  }
}

namespace {

// Numbers of one type, `count` of them in each of the elements that lie `stride` bytes apart.
struct Plane {
  ScalarType type = ScalarType::f32;
  std::size_t begin = 0;
  std::size_t count = 1;
  std::size_t stride = 0;
};

std::vector<Plane> float_planes(const Argument& argument) {
  const std::size_t size = size_in_bytes(argument.type);
  if (argument.fields.empty()) {
    if (!is_floating(argument.type)) return {};
    return {{argument.type, 0, 1, size}};
  }
  std::vector<Plane> planes;
  for (const Field& field : argument.fields) {
    if (field.is_pointer || !is_floating(field.type)) continue;
    planes.push_back({field.type, static_cast<std::size_t>(field.byte),
                      static_cast<std::size_t>(field.components),
                      static_cast<std::size_t>(argument.record_bytes)});
  }
  return planes;
}

// Of a structure: its integers.
std::vector<Plane> integer_planes(const Argument& argument) {
  std::vector<Plane> planes;
  for (const Field& field : argument.fields) {
    if (field.is_pointer || is_floating(field.type)) continue;
    planes.push_back({field.type, static_cast<std::size_t>(field.byte),
                      static_cast<std::size_t>(field.components),
                      static_cast<std::size_t>(argument.record_bytes)});
  }
  return planes;
}

// Another value of the same kind: scaled, or that of an element elsewhere. Zeros and what is not
// finite stay, because they may mean something.
double perturbed(double value, double elsewhere, Draw& draw) {
  constexpr std::uint64_t kOfEight = 8;
  if (value == 0.0 || !std::isfinite(value)) return value;
  const std::uint64_t kind = draw.bits() % kOfEight;
  if (kind == 0) return value;
  if (kind == 1 && std::isfinite(elsewhere) && elsewhere != 0.0) return elsewhere;
  return value * (0.5 + draw.unit());
}

void draw_plane(const Argument& argument, const Plane& plane, Distribution distribution,
                std::uint64_t seed, std::uint64_t stream, std::span<std::byte> buffer,
                std::span<const std::byte> original) {
  const std::size_t size = size_in_bytes(plane.type);
  Argument scalar = argument;
  scalar.type = plane.type;
  const std::size_t elements = buffer.size() / plane.stride;
  for (std::size_t element = 0; element < elements; ++element) {
    for (std::size_t i = 0; i < plane.count; ++i) {
      const std::size_t at = element * plane.stride + plane.begin + i * size;
      Draw draw(seed, stream, at);
      double value = 0.0;
      if (distribution == Distribution::perturbed) {
        const std::size_t other = draw.bits() % elements;
        value = perturbed(load_element(plane.type, original.data() + at),
                          load_element(plane.type, original.data() + other * plane.stride +
                                                       plane.begin + i * size),
                          draw);
      } else {
        value = value_of(scalar, distribution, random_bits(seed, stream), draw, element);
      }
      store_element(plane.type, value, buffer.data() + at);
    }
  }
}

// A quarter of the elements get the values that others have in the original.
void exchange_integers(std::size_t size, std::uint64_t seed, std::uint64_t stream,
                       std::span<std::byte> buffer, std::span<const std::byte> original) {
  constexpr std::uint64_t kOneOf = 4;
  const std::size_t elements = buffer.size() / size;
  for (std::size_t i = 0; i < elements; ++i) {
    Draw draw(seed, stream, i);
    if (draw.bits() % kOneOf != 0) continue;
    std::copy_n(original.begin() + static_cast<std::ptrdiff_t>(draw.bits() % elements * size), size,
                buffer.begin() + static_cast<std::ptrdiff_t>(i * size));
  }
}

}  // namespace

void fill_input(const Problem& problem, const Argument& argument, const Symbols& symbols,
                Distribution distribution, std::uint64_t seed, std::size_t stream,
                std::span<std::byte> buffer) {
  const CapturedContent* captured = problem.captured_content(symbols, argument.name);
  if (captured == nullptr) {
    if (argument.init.is_whole()) return fill_whole(problem, symbols, seed, stream, buffer);
    const Result<BufferInit> init = argument.init.at(symbols);
    Argument known = argument;
    if (init.ok()) known.init = *init;  // make_problem reports what is not
    fill(known, distribution, seed, stream, buffer);
    if (argument.fields.empty() || is_constant(argument)) return;
    // What is said of integers is said of each, not of their bytes.
    for (const Plane& plane : integer_planes(argument))
      draw_plane(known, plane, Distribution::manifest, seed, stream, buffer, buffer);
    for (const Plane& plane : float_planes(argument))
      draw_plane(argument, plane, distribution, seed, stream, buffer, buffer);
    return;
  }
  const std::size_t bytes = std::min(buffer.size(), captured->bytes->size());
  std::copy_n(captured->bytes->begin(), bytes, buffer.begin());
  if (distribution == Distribution::captured || distribution == Distribution::manifest) return;
  if (distribution == Distribution::exchanged && has_integers(argument)) {
    exchange_integers(size_in_bytes(argument.type), seed, stream, buffer.first(bytes),
                      *captured->bytes);
  }
  if (distribution == Distribution::exchanged) distribution = Distribution::perturbed;
  for (const Plane& plane : float_planes(argument))
    draw_plane(argument, plane, distribution, seed, stream, buffer.first(bytes), *captured->bytes);
}

}  // namespace regraph::verify

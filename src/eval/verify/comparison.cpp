#include "eval/verify/comparison.h"

#include "eval/verify/element.h"

#include <fmt/format.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

namespace regraph::verify {

namespace {

// Elements that one thread looks at.
constexpr std::size_t kStretch = std::size_t{1} << 20;

// Slack of a single element over the relative error of the whole buffer.
constexpr double kElementFactor = 8.0;

std::string number(ScalarType type, double value) {
  if (!is_floating(type)) return fmt::format("{:.0f}", value);
  return type == ScalarType::f64 ? fmt::format("{:.17g}", value) : fmt::format("{:.8g}", value);
}

// "element 135 [2][35]".
std::string place(const OutputView& view, std::size_t index) {
  if (!view.places.empty()) index = static_cast<std::size_t>(view.places[index]);
  std::string text = fmt::format("element {}", index);
  if (view.extents.size() < 2) return text;
  std::string coordinates;
  std::size_t rest = index;
  for (std::size_t axis = view.extents.size(); axis-- > 0;) {
    const auto extent = static_cast<std::size_t>(view.extents[axis]);
    coordinates.insert(0, fmt::format("[{}]", rest % extent));
    rest /= extent;
  }
  return text + " " + coordinates;
}

bool same_value(double a, double b) {
  return a == b || (std::isnan(a) && std::isnan(b));
}

class Comparer {
 public:
  Comparer(const OutputView& view, double tau, bool exact)
      : view_(view),
        tau_(tau),
        exact_(exact || tau == 0.0),
        type_(view.argument.type),
        size_(size_in_bytes(type_)),
        count_(view.expected.size() / size_) {}

  BufferComparison run() {
    check_untouched();
    measure();
    if (problem_.empty() && !exact_) check_norm();
    BufferComparison comparison;
    comparison.relative_error = static_cast<double>(relative_error_);
    comparison.equal = problem_.empty();
    if (!comparison.equal) {
      comparison.message = fmt::format("'{}': {}", view_.argument.name, problem_);
      if (differing_ > 1) {
        comparison.message += fmt::format("; {} of {} elements differ", differing_, count_);
      }
    }
    return comparison;
  }

 private:
  bool same_bytes(std::span<const std::byte> a, std::span<const std::byte> b, std::size_t i) const {
    return std::memcmp(a.data() + i * size_, b.data() + i * size_, size_) == 0;
  }
  bool written_by_original(std::size_t i) const {
    return view_.untouched.empty() || view_.untouched[i] == 0;
  }

  [[nodiscard]] std::string value(std::span<const std::byte> buffer, std::size_t i) const {
    if (view_.is_private) return "with data as given";
    return number(type_, load_element(type_, buffer.data() + i * size_));
  }

  void check_untouched() {
    if (view_.untouched.empty()) return;
    for (std::size_t i = 0; i < count_; ++i) {
      if (written_by_original(i) || same_bytes(view_.actual, view_.before, i)) continue;
      ++differing_;
      if (!problem_.empty()) continue;
      problem_ = fmt::format("{} was written ({}), the original leaves it alone", place(view_, i),
                             value(view_.actual, i));
    }
  }

  // What one stretch of the buffer adds up to. Sums are long double: fp64 squares could overflow.
  struct Part {
    long double error_sum = 0.0L;
    long double reference_sum = 0.0L;
    std::size_t finite = 0;
    std::size_t differing = 0;
    std::size_t first_differing = 0;
  };

  // Finds the worst elements and the norms. In stretches whose sums are added in order: the result
  // does not depend on how many threads there are.
  void measure() {
    std::vector<Part> parts(std::max<std::size_t>((count_ + kStretch - 1) / kStretch, 1));
    const auto each = [&](const auto& work) {
      if (parts.size() == 1) return work(0);
      tbb::parallel_for(std::size_t{0}, parts.size(), work);
    };
    each([&](std::size_t part) { add_up(part * kStretch, parts[part]); });
    long double error_sum = 0.0L;
    long double reference_sum = 0.0L;
    std::size_t finite = 0;
    for (const Part& part : parts) {
      error_sum += part.error_sum;
      reference_sum += part.reference_sum;
      finite += part.finite;
    }
    const double rms =
        finite == 0
            ? 0.0
            : static_cast<double>(std::sqrt(reference_sum / static_cast<long double>(finite)));
    if (error_sum > 0.0L) {
      relative_error_ = reference_sum > 0.0L ? std::sqrt(error_sum / reference_sum) : 1.0L;
    }
    each([&](std::size_t part) { judge(part * kStretch, rms, parts[part]); });
    for (const Part& part : parts) {
      differing_ += part.differing;
      if (part.differing > 0 && problem_.empty()) describe(part.first_differing);
    }
  }

  void add_up(std::size_t begin, Part& part) const {
    for (std::size_t i = begin; i < std::min(begin + kStretch, count_); ++i) {
      if (!written_by_original(i)) continue;
      const double expected = load_element(type_, view_.expected.data() + i * size_);
      if (!std::isfinite(expected)) continue;
      const double actual = load_element(type_, view_.actual.data() + i * size_);
      ++part.finite;
      part.reference_sum += static_cast<long double>(expected) * expected;
      if (!std::isfinite(actual)) continue;
      const long double error =
          std::max(std::abs(static_cast<long double>(actual) - expected) - view_.slack, 0.0L);
      part.error_sum += error * error;
    }
  }

  void judge(std::size_t begin, double rms, Part& part) const {
    for (std::size_t i = begin; i < std::min(begin + kStretch, count_); ++i) {
      if (!written_by_original(i) || element_agrees(i, rms)) continue;
      if (part.differing++ == 0) part.first_differing = i;
    }
  }

  bool element_agrees(std::size_t i, double rms) const {
    if (same_bytes(view_.expected, view_.actual, i)) return true;
    if (!is_floating(type_)) return false;
    const double expected = load_element(type_, view_.expected.data() + i * size_);
    const double actual = load_element(type_, view_.actual.data() + i * size_);
    const bool other_zero =
        view_.zero_signs && expected == 0.0 && std::signbit(expected) != std::signbit(actual);
    if (same_value(expected, actual)) return !other_zero;
    if (exact_ || !std::isfinite(expected) || !std::isfinite(actual)) return false;
    const double magnitude = std::abs(expected) + (view_.by_element ? 0.0 : rms);
    return std::abs(actual - expected) <= kElementFactor * tau_ * magnitude + view_.slack;
  }

  void describe(std::size_t i) {
    const double expected = load_element(type_, view_.expected.data() + i * size_);
    if (!view_.before.empty() && same_bytes(view_.actual, view_.before, i)) {
      problem_ = view_.is_private ? fmt::format("{} was not written", place(view_, i))
                                  : fmt::format("{} was not written, expected {}", place(view_, i),
                                                number(type_, expected));
      return;
    }
    if (view_.is_private) {
      problem_ = fmt::format("{} is not what it should be", place(view_, i));
      return;
    }
    const double actual = load_element(type_, view_.actual.data() + i * size_);
    problem_ = fmt::format("{} is {}, expected {}", place(view_, i), number(type_, actual),
                           number(type_, expected));
    if (exact_ && is_floating(type_)) problem_ += " (these inputs allow no rounding)";
  }

  void check_norm() {
    if (relative_error_ <= tau_) return;
    problem_ = fmt::format(
        "relative error {:.2g}, at most {:.2g} is allowed: the arithmetic is less precise than the "
        "original's",
        static_cast<double>(relative_error_), tau_);
  }

  const OutputView& view_;
  double tau_;
  bool exact_;
  ScalarType type_;
  std::size_t size_;
  std::size_t count_;
  std::string problem_;
  std::size_t differing_ = 0;
  long double relative_error_ = 0.0L;
};

}  // namespace

double tolerance(ScalarType type, const Arithmetic& arithmetic, const CheckPolicy& check,
                 const Assumptions& assume) {
  if (!is_floating(type)) return 0.0;
  if (check.relative_tolerance) return *check.relative_tolerance;
  const double root = std::sqrt(std::max(arithmetic.reduction_length, 1.0));
  const bool reduces = arithmetic.reduction_length > 16.0;
  double tau = 0.0;
  switch (type) {
    case ScalarType::f64:
      tau = std::max(1e-14, 4.0 * 0x1p-53 * root);
      break;
    case ScalarType::f16:
      tau = reduces ? 2e-3 : 1e-3;
      break;
    case ScalarType::bf16:
      tau = reduces ? 8e-3 : 4e-3;
      break;
    default:
      tau = std::max(1e-6, 4.0 * 0x1p-24 * root);
      if (arithmetic.special_functions) tau = std::max(tau, 5e-6);
      // Beyond this a sum of fp32 is no better than fp16 inputs would be.
      tau = std::min(tau, 1e-4);
      break;
  }
  if (type != ScalarType::f64) {
    if (assume.fast_math) tau = std::max(tau, 1e-4);
    if (assume.lets_precision_go()) tau = std::max(tau, 1e-3);  // tf32 or fp16 inputs
  }
  const bool in_half =
      (arithmetic.accumulates_in_half && (type == ScalarType::f16 || type == ScalarType::f32)) ||
      (arithmetic.adds_halves_atomically && type == ScalarType::f16);
  if (in_half) tau = std::max({tau, 5e-3, 0x1p-11 * root});
  if (arithmetic.adds_halves_atomically && type == ScalarType::bf16)
    tau = std::max({tau, 4e-2, 0x1p-8 * root});
  return tau;
}

namespace {

// One field of all structures in a buffer, as a buffer of its own.
class FieldView {
 public:
  FieldView(const OutputView& view, const Field& field)
      : argument_(view.argument),
        begin_(static_cast<std::size_t>(field.byte)),
        bytes_(static_cast<std::size_t>(field.components) * size_in_bytes(field.type)),
        stride_(static_cast<std::size_t>(view.argument.record_bytes)) {
    argument_.fields.clear();
    argument_.record_bytes = 0;
    argument_.type = field.type;
    argument_.components = field.components;
    argument_.name += "." + field.name;
    expected_ = gather(view.expected);
    actual_ = gather(view.actual);
    before_ = gather(view.before);
    if (!view.untouched.empty()) mark_untouched(view.untouched, size_in_bytes(field.type));
    extents_ = {static_cast<std::int64_t>(expected_.size() / size_in_bytes(field.type))};
  }

  [[nodiscard]] OutputView view(const OutputView& of) const {
    return {argument_, extents_,      expected_,     actual_,       before_, untouched_,
            {},        of.is_private, of.by_element, of.zero_signs, of.slack};
  }

 private:
  [[nodiscard]] std::vector<std::byte> gather(std::span<const std::byte> from) const {
    std::vector<std::byte> bytes;
    bytes.reserve(from.size() / stride_ * bytes_);
    for (std::size_t at = begin_; at + bytes_ <= from.size(); at += stride_)
      bytes.insert(bytes.end(), from.begin() + static_cast<std::ptrdiff_t>(at),
                   from.begin() + static_cast<std::ptrdiff_t>(at + bytes_));
    return bytes;
  }
  // An element is left alone when all its bytes are.
  void mark_untouched(std::span<const std::uint8_t> bytes, std::size_t size) {
    for (std::size_t at = begin_; at + bytes_ <= bytes.size(); at += stride_) {
      for (std::size_t i = 0; i < bytes_; i += size) {
        const auto element = bytes.subspan(at + i, size);
        untouched_.push_back(std::ranges::all_of(element, [](auto one) { return one != 0; }) ? 1
                                                                                             : 0);
      }
    }
  }

  Argument argument_;
  std::size_t begin_;
  std::size_t bytes_;
  std::size_t stride_;
  std::vector<std::int64_t> extents_;
  std::vector<std::byte> expected_;
  std::vector<std::byte> actual_;
  std::vector<std::byte> before_;
  std::vector<std::uint8_t> untouched_;
};

// Gaps between fields are nobody's. Where only some bytes are compared, these may be parts of
// fields: bit for bit then.
BufferComparison compare_fields(const OutputView& view, double tau, bool exact) {
  BufferComparison worst;
  if (!view.places.empty()) return Comparer(view, 0.0, true).run();
  for (const Field& field : view.argument.fields) {
    const FieldView one(view, field);
    const double own = is_floating(field.type) ? tau : 0.0;
    const BufferComparison comparison = Comparer(one.view(view), own, exact).run();
    worst.relative_error = std::max(worst.relative_error, comparison.relative_error);
    if (comparison.equal) continue;
    worst.equal = false;
    worst.message = comparison.message;
    return worst;
  }
  return worst;
}

}  // namespace

ScalarType judged_type(const Argument& argument) {
  ScalarType type = argument.type;
  for (const Field& field : argument.fields) {
    if (field.is_pointer || !is_floating(field.type)) continue;
    if (field.type == ScalarType::f32 || !is_floating(type)) type = field.type;
  }
  return type;
}

BufferComparison compare(const OutputView& view, double tau, bool exact) {
  const bool identical =
      view.untouched.empty() && view.expected.size() == view.actual.size() &&
      std::memcmp(view.expected.data(), view.actual.data(), view.expected.size()) == 0;
  if (identical) return {};
  if (!view.argument.fields.empty()) return compare_fields(view, tau, exact);
  return Comparer(view, tau, exact).run();
}

bool exactly_representable(const Argument& argument, std::span<const std::byte> values,
                           std::span<const std::uint8_t> untouched) {
  if (argument.type != ScalarType::f32 && argument.type != ScalarType::f64) return false;
  constexpr double kUnitsPerOne = 16.0;
  constexpr double kLargest = 0x1p18;  // 18 + 4 bits leave two of fp32's 24 for partial sums
  const std::size_t size = size_in_bytes(argument.type);
  for (std::size_t i = 0; i < values.size() / size; ++i) {
    if (!untouched.empty() && untouched[i] != 0) continue;
    const double value = load_element(argument.type, values.data() + i * size);
    if (!(std::abs(value) <= kLargest) ||
        std::floor(value * kUnitsPerOne) != value * kUnitsPerOne) {
      return false;
    }
  }
  return true;
}

}  // namespace regraph::verify

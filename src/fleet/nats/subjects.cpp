#include "fleet/nats/subjects.h"

#include <algorithm>
#include <charconv>
#include <cstdint>

namespace regraph::fleet {
namespace {

constexpr std::string_view kJobs = "regraph.jobs.";
constexpr std::string_view kDone = "regraph.done.";
constexpr std::size_t kHalf = 16;

std::optional<std::uint64_t> half_of_hex(std::string_view digits) {
  std::uint64_t value = 0;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return value;
}

std::optional<Hash128> hash_of_hex(std::string_view digits) {
  if (digits.size() != 2 * kHalf) return std::nullopt;
  const auto high = half_of_hex(digits.substr(0, kHalf));
  const auto low = half_of_hex(digits.substr(kHalf));
  if (!high || !low) return std::nullopt;
  const Hash128 hash{.low = *low, .high = *high};
  // Capitals would be another subject.
  return hash.hex() == digits ? std::optional(hash) : std::nullopt;
}

}  // namespace

std::string lane_token(std::string_view lane) {
  std::string token(lane);
  std::replace(token.begin(), token.end(), '.', '_');
  return token;
}

std::string job_subject(std::string_view lane, const Hash128& id) {
  return std::string(kJobs) + lane_token(lane) + "." + id.hex();
}

std::string lane_subjects(std::string_view lane) {
  return std::string(kJobs) + lane_token(lane) + ".*";
}

std::optional<Hash128> job_of_subject(std::string_view subject, std::string_view lane) {
  const std::string start = std::string(kJobs) + lane_token(lane) + ".";
  if (!subject.starts_with(start)) return std::nullopt;
  return hash_of_hex(subject.substr(start.size()));
}

std::string done_subject(const Hash128& id) {
  return std::string(kDone) + id.hex();
}

std::optional<Hash128> job_of_done(std::string_view subject) {
  if (!subject.starts_with(kDone)) return std::nullopt;
  return hash_of_hex(subject.substr(kDone.size()));
}

}  // namespace regraph::fleet

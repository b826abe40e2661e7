#include "llm/client/retry_after.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <string>

namespace regraph::llm {
namespace {

using std::chrono::sys_days;
using std::chrono::sys_seconds;

constexpr double kLongest = 1e9;

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\n";
  const std::size_t first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

struct Fields {
  int year = 0;
  std::array<char, 4> month{};
  int day = 0;
  int hour = 0;
  int minute = 0;
  int second = 0;
};

std::optional<sys_seconds> to_time(const Fields& fields) {
  constexpr std::string_view kMonths = "JanFebMarAprMayJunJulAugSepOctNovDec";
  const std::size_t month = kMonths.find(fields.month.data());
  if (month == std::string_view::npos || month % 3 != 0) return std::nullopt;
  const std::chrono::year_month_day day{
      std::chrono::year(fields.year), std::chrono::month(static_cast<unsigned>(month / 3 + 1)),
      std::chrono::day(static_cast<unsigned>(std::max(fields.day, 0)))};
  // 60 is a leap second.
  if (!day.ok() || fields.hour < 0 || fields.hour > 23 || fields.minute < 0 || fields.minute > 59 ||
      fields.second < 0 || fields.second > 60)
    return std::nullopt;
  return sys_days(day) + std::chrono::hours(fields.hour) + std::chrono::minutes(fields.minute) +
         std::chrono::seconds(fields.second);
}

}  // namespace

std::optional<sys_seconds> parse_http_date(std::string_view text) {
  // A copy ends with a zero; dates are short.
  const std::string date(trimmed(text).substr(0, 64));
  Fields f;
  int end = 0;
  if (std::sscanf(date.c_str(), "%*3[A-Za-z], %2d %3[A-Za-z] %4d %2d:%2d:%2d GMT%n", &f.day,
                  f.month.data(), &f.year, &f.hour, &f.minute, &f.second, &end) == 6 &&
      end == static_cast<int>(date.size()))
    return to_time(f);
  end = 0;
  if (std::sscanf(date.c_str(), "%*9[A-Za-z], %2d-%3[A-Za-z]-%2d %2d:%2d:%2d GMT%n", &f.day,
                  f.month.data(), &f.year, &f.hour, &f.minute, &f.second, &end) == 6 &&
      end == static_cast<int>(date.size())) {
    f.year += f.year < 70 ? 2000 : 1900;
    return to_time(f);
  }
  end = 0;
  if (std::sscanf(date.c_str(), "%*3[A-Za-z] %3[A-Za-z] %2d %2d:%2d:%2d %4d%n", f.month.data(),
                  &f.day, &f.hour, &f.minute, &f.second, &f.year, &end) == 6 &&
      end == static_cast<int>(date.size()))
    return to_time(f);
  return std::nullopt;
}

std::optional<double> parse_retry_after(std::string_view value, sys_seconds now) {
  value = trimmed(value);
  if (value.empty()) return std::nullopt;
  double seconds = 0.0;
  const char* const end = value.data() + value.size();
  const auto [stop, status] = std::from_chars(value.data(), end, seconds, std::chars_format::fixed);
  if (status == std::errc{} && stop == end && seconds >= 0.0 && value[0] >= '0' && value[0] <= '9')
    return std::min(seconds, kLongest);
  const auto date = parse_http_date(value);
  if (!date) return std::nullopt;
  return std::clamp(std::chrono::duration<double>(*date - now).count(), 0.0, kLongest);
}

}  // namespace regraph::llm

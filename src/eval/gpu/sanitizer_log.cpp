#include "eval/gpu/sanitizer_log.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace regraph::gpu {
namespace {

constexpr std::string_view kMark = "=========";
// A finding's further lines that are worth repeating: where, which thread, which address.
constexpr int kDetails = 3;
constexpr std::size_t kLongestFinding = 600;

// Lines about the tool and the program under it, not about the kernel.
constexpr std::array<std::string_view, 14> kTroubles = {
    "Error: Device not supported",
    "Device not supported",
    "Error: Target application",
    "Target application",
    "Error: No attachable process",
    "Error: process didn't terminate",
    "Error: Process",
    "Internal Sanitizer Error",
    "Internal Error",
    "Error: Internal",
    "Unable to find injection library",
    "Error: Unable",
    "Error: Failed",
    "Insufficient",
};
constexpr std::array<std::string_view, 7> kNeutral = {
    "COMPUTE-SANITIZER", "ERROR SUMMARY", "RACECHECK SUMMARY", "LEAK SUMMARY",
    "Process ID",        "Program hit",   "Tracking kernels",
};

bool starts_with_any(std::string_view line, const auto& prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(),
                     [&](std::string_view prefix) { return line.starts_with(prefix); });
}

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

// The number before `word`, as in "(2 errors, 1 warning)"; 0 without one.
int number_before(std::string_view text, std::string_view word) {
  const std::size_t at = text.find(word);
  if (at == std::string_view::npos) return 0;
  const std::string_view before = trimmed(text.substr(0, at));
  const std::size_t begin = before.find_last_not_of("0123456789");
  const std::string_view digits = before.substr(begin == std::string_view::npos ? 0 : begin + 1);
  int value = 0;
  const auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  // More than fits is many.
  if (code == std::errc::result_out_of_range) return 1;
  return code == std::errc() && end != digits.data() ? value : 0;
}

class Reader {
 public:
  SanitizerLog read(std::string_view text) {
    while (!text.empty()) {
      const std::size_t end = std::min(text.find('\n'), text.size());
      take(text.substr(0, end));
      text.remove_prefix(std::min(end + 1, text.size()));
    }
    // The program may have ended badly because of what was found.
    if (log_.errors > 0 && !log_.first_finding.empty()) log_.trouble.clear();
    if (log_.first_finding.empty()) log_.first_finding = warning_;
    log_.complete = summary_ && log_.trouble.empty();
    if (log_.errors > 0 && log_.first_finding.empty()) {
      log_.first_finding = "errors that its report does not name";
    }
    return std::move(log_);
  }

 private:
  void take(std::string_view line) {
    // What the program itself printed has no mark.
    if (!line.starts_with(kMark)) return;
    line.remove_prefix(kMark.size());
    const bool detail = line.starts_with("  ");
    line = trimmed(line);
    if (line.empty()) {
      target_ = nullptr;
      return;
    }
    if (detail) return add_detail(line);
    target_ = nullptr;
    if (const std::size_t at = line.find(" SUMMARY:"); at != std::string_view::npos) {
      if (!line.starts_with("LEAK")) summarize(line.substr(at));
    } else if (starts_with_any(line, kTroubles)) {
      if (log_.trouble.empty()) log_.trouble = line;
    } else if (!starts_with_any(line, kNeutral)) {
      // A mere warning is told only where there is nothing worse.
      std::string& target =
          line.starts_with("Warning:") || line.starts_with("Info:") ? warning_ : log_.first_finding;
      if (!target.empty()) return;
      target = line;
      target_ = &target;
      details_ = 0;
    }
  }

  void add_detail(std::string_view line) {
    if (target_ == nullptr || details_ >= kDetails) return;
    if (line.starts_with("Saved host backtrace") || line.starts_with("Host Frame") ||
        line.starts_with("Device Frame")) {
      target_ = nullptr;
      return;
    }
    ++details_;
    *target_ += ", ";
    *target_ += line;
    if (target_->size() > kLongestFinding) target_->resize(kLongestFinding);
  }

  void summarize(std::string_view line) {
    summary_ = true;
    log_.errors += number_before(line, "error");
    log_.warnings += number_before(line, "warning");
  }

  SanitizerLog log_;
  std::string warning_;
  bool summary_ = false;
  std::string* target_ = nullptr;  // what details belong to
  int details_ = 0;
};

}  // namespace

SanitizerLog read_sanitizer_log(std::string_view text) {
  return Reader().read(text);
}

}  // namespace regraph::gpu

#include "llm/record/spending_log.h"

#include "base/files.h"
#include "llm/record/chat_text.h"
#include "llm/record/json_lines.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cerrno>
#include <cmath>
#include <cstring>
#include <fcntl.h>
#include <optional>
#include <string_view>
#include <unistd.h>

namespace regraph::llm {

namespace {

constexpr std::size_t kLargestFile = std::size_t{64} << 20;

// Adds a line up; false when it is none.
bool add_line(const std::string& line, Spending& sum) {
  const nlohmann::json json = parse_compact(line);
  if (!json.is_object() || !json.contains("usage") || !json.contains("dollars")) return false;
  const nlohmann::json& dollars = json["dollars"];
  if (!dollars.is_number() || !(dollars.get<double>() >= 0.0)) return false;
  ++sum.answers;
  sum.usage += read_usage(json);
  sum.dollars += dollars.get<double>();
  return true;
}

}  // namespace

Result<std::unique_ptr<SpendingLog>> SpendingLog::open(const std::filesystem::path& path) {
  std::error_code ignored;
  Spending earlier;
  std::size_t whole = 0;
  if (std::filesystem::exists(path, ignored)) {
    const Result<std::string> text = read_file(path, kLargestFile);
    if (!text) return text.error();
    std::string_view rest = *text;
    for (int line = 1; !rest.empty(); ++line) {
      const std::size_t end = rest.find('\n');
      if (end == std::string_view::npos) break;
      if (!add_line(std::string(rest.substr(0, end)), earlier)) {
        return fail(ErrorCode::parse, fmt::format("{}:{}: this is no record of what a language "
                                                  "model took; remove the file to begin anew",
                                                  path.string(), line));
      }
      whole += end + 1;
      rest.remove_prefix(end + 1);
    }
  }
  FileDescriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
  const auto at = static_cast<off_t>(whole);
  const bool ready =
      file.valid() && ::ftruncate(file.get(), at) == 0 && ::lseek(file.get(), at, SEEK_SET) == at;
  if (!ready) {
    return fail(ErrorCode::io,
                fmt::format("cannot write '{}': {}", path.string(), std::strerror(errno)));
  }
  return std::unique_ptr<SpendingLog>(new SpendingLog(std::move(file), path.string(), earlier));
}

Status SpendingLog::add(const TokenUsage& usage, double dollars) {
  const nlohmann::json line = {{"usage", usage_json(usage)}, {"dollars", dollars}};
  if (Status written = write_line(file_.get(), line, "'" + path_ + "'"); !written) return written;
  if (::fdatasync(file_.get()) == 0) return {};
  return fail(ErrorCode::io, fmt::format("cannot write '{}': {}", path_, std::strerror(errno)));
}

}  // namespace regraph::llm

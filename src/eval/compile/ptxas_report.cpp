#include "eval/compile/ptxas_report.h"

#include <charconv>
#include <string>

namespace regraph::compile_internal {

namespace {

// The integer that stands right before `words` in `line`, if both are there.
bool number_before(std::string_view line, std::string_view words, int& value) {
  const std::size_t place = line.find(words);
  if (place == std::string_view::npos) return false;
  std::size_t start = place;
  while (start > 0 && line[start - 1] >= '0' && line[start - 1] <= '9')
    --start;
  int parsed = 0;
  const auto [end, code] = std::from_chars(line.data() + start, line.data() + place, parsed);
  if (code != std::errc{} || end != line.data() + place) return false;
  value = parsed;
  return true;
}

bool names(std::string_view line, std::string_view before, std::string_view entry,
           std::string_view after) {
  const std::size_t place = line.find(before);
  if (place == std::string_view::npos) return false;
  const std::string_view rest = line.substr(place + before.size());
  return rest.substr(0, entry.size()) == entry && rest.substr(entry.size(), after.size()) == after;
}

}  // namespace

std::optional<ResourceUsage> parse_ptxas_report(std::string_view log, std::string_view entry) {
  ResourceUsage usage;
  bool in_entry = false;
  bool in_properties = false;
  bool found = false;
  while (!log.empty()) {
    const std::size_t end = log.find('\n');
    const std::string_view line = log.substr(0, end);
    log.remove_prefix(end == std::string_view::npos ? log.size() : end + 1);
    if (line.find("Compiling entry function") != std::string_view::npos) {
      in_entry = names(line, "Compiling entry function '", entry, "'");
      in_properties = false;
    } else if (line.find("Function properties for") != std::string_view::npos) {
      const std::size_t place = line.find("for ") + 4;
      in_properties = in_entry && line.substr(place) == entry;
    } else if (in_properties && line.find("bytes stack frame") != std::string_view::npos) {
      number_before(line, " bytes stack frame", usage.stack_bytes);
      number_before(line, " bytes spill stores", usage.spill_store_bytes);
      number_before(line, " bytes spill loads", usage.spill_load_bytes);
    } else if (in_entry && number_before(line, " registers", usage.registers_per_thread)) {
      number_before(line, " bytes smem", usage.static_shared_bytes);
      found = true;
    }
  }
  if (!found) return std::nullopt;
  return usage;
}

}  // namespace regraph::compile_internal

#include "eval/compile/nvcc_text.h"

#include <algorithm>
#include <cctype>

namespace regraph::compile_internal {

namespace {

constexpr std::string_view kMarker = "regraph_kernel_entry";
// Before the marker in its mangled name, around the id that nvcc gives the file.
constexpr std::string_view kBeforeId = "_GLOBAL__N__";
constexpr std::string_view kAfterId = "20regraph_kernel_entryE";

bool is_name_character(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$' || c == '%';
}

std::size_t count(std::string_view text, std::string_view part) {
  std::size_t times = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string_view::npos; at += part.size())
    ++times;
  return times;
}

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
}

// "8a0b33f1_9_kernel_cu__Z1kPf" -> zeros of the same length, since mangled names count it.
std::string without_hash(std::string_view id) {
  std::string zeros(id);
  std::ranges::replace_if(
      zeros, [](char c) { return c != '_'; }, '0');
  return zeros;
}

// Where the whole word `name` follows ".entry ", one by one from `from` on.
std::size_t find_entry(std::string_view ptx, std::string_view name, std::size_t from) {
  const std::string wanted = ".entry " + std::string(name);
  for (std::size_t at = from; (at = ptx.find(wanted, at)) != std::string_view::npos; ++at) {
    const std::size_t end = at + wanted.size();
    if (end == ptx.size() || !is_name_character(ptx[end])) return at;
  }
  return std::string_view::npos;
}

// The marker makes nvcc declare the kernel before it defines it. Returns false where the PTX is not
// of this form.
bool drop_declaration(std::string& ptx, const std::string& entry) {
  const std::size_t first = find_entry(ptx, entry, 0);
  if (first == std::string::npos) return true;  // not a kernel: the caller will see
  const std::size_t second = find_entry(ptx, entry, first + 1);
  if (second == std::string::npos) return true;
  if (find_entry(ptx, entry, second + 1) != std::string::npos) return false;
  const std::size_t open = ptx.find('(', first);
  const std::size_t close = ptx.find(')', first);
  const std::size_t semicolon = ptx.find(';', first);
  if (semicolon > second || open > close || close > semicolon) return false;
  const std::size_t line = ptx.rfind('\n', first) + 1;
  ptx.erase(line, semicolon + 1 - line);
  return true;
}

}  // namespace

std::string with_entry_marker(std::string_view source, std::string_view kernel) {
  const std::string value =
      kernel.empty() ? std::string("nullptr") : "(void*)&" + std::string(kernel);
  return std::string(source) + "\n#line 1 \"name of the kernel\"\nnamespace { __device__ " +
         "__attribute__((used)) void* " + std::string(kMarker) + " = " + value + "; }\n";
}

std::optional<MarkedPtx> read_marked_ptx(std::string ptx, std::string_view folder) {
  if (count(ptx, kMarker) != 1) return std::nullopt;
  const std::size_t marker = ptx.find(kMarker);
  const std::size_t begin = ptx.rfind('\n', marker) + 1;
  const std::size_t end = ptx.find('\n', marker);
  if (end == std::string::npos) return std::nullopt;
  const std::string line = ptx.substr(begin, end - begin);
  const std::size_t after_id = line.find(kAfterId);
  const std::size_t before_id = line.rfind(kBeforeId, after_id);
  if (after_id == std::string::npos || before_id == std::string::npos) return std::nullopt;
  ptx.erase(begin, end + 1 - begin);

  MarkedPtx marked;
  constexpr std::string_view kIs = " = ";
  if (const std::size_t value = line.find(kIs, after_id); value != std::string::npos) {
    const std::size_t name = value + kIs.size();
    marked.entry = line.substr(name, line.find(';', name) - name);
    if (marked.entry.empty() || !std::ranges::all_of(marked.entry, is_name_character) ||
        !drop_declaration(ptx, marked.entry)) {
      return std::nullopt;
    }
  }
  const std::size_t id_begin = before_id + kBeforeId.size();
  const std::string id = line.substr(id_begin, after_id - id_begin);
  const std::string zeros = without_hash(id);
  if (id.empty() || count(ptx, zeros) != 0) return std::nullopt;
  replace_all(ptx, id, zeros);
  replace_all(marked.entry, id, zeros);
  replace_all(ptx, folder, "");
  marked.ptx = std::move(ptx);
  return marked;
}

}  // namespace regraph::compile_internal

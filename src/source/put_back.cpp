#include "base/hash.h"
#include "source/code_items.h"
#include "source/relevant_part.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace regraph::source {
namespace {

// What a text says at its top level: hashes of the tokens of its items and of the scopes around
// them, as names may be many and scopes long.
struct Definitions {
  std::map<std::string_view, std::vector<Hash128>> by_name;
  std::set<Hash128> surrounding;
};

Definitions definitions_in(std::string_view text, const std::vector<CodeItem>& items) {
  Definitions found;
  std::vector<Hash128> paths(items.size());  // of scopes: hashes with those around them
  for (std::size_t at = 0; at < items.size(); ++at) {
    const CodeItem& item = items[at];
    const Hash128 around = item.scope ? paths[*item.scope] : Hash128();
    const std::string tokens = joined_tokens(text.substr(item.begin, item.end - item.begin));
    const Hash128 hash = Hasher().add(around.low).add(around.high).add(tokens).finish();
    if (item.kind == CodeItem::Kind::scope_begin) {
      paths[at] = hash;
      continue;
    }
    if (item.kind == CodeItem::Kind::surrounding) found.surrounding.insert(hash);
    for (const std::string_view name : item.names)
      found.by_name[name].push_back(hash);
  }
  return found;
}

bool is_defined_alike(const std::string& name, const Definitions& shown,
                      const Definitions& answered) {
  const auto before = shown.by_name.find(name);
  const auto now = answered.by_name.find(name);
  if (before == shown.by_name.end() || now == answered.by_name.end())
    return (before == shown.by_name.end()) == (now == answered.by_name.end());
  return before->second == now->second;
}

}  // namespace

std::optional<std::string> put_back(const RelevantPart& part, std::string_view answer) {
  if (part.is_whole()) return std::string(answer);
  if (joined_tokens(answer) == joined_tokens(part.shown)) return part.whole;
  std::string out = part.head + std::string(answer);
  if (!out.empty() && out.back() != '\n') out += '\n';
  if (part.left_out.empty()) return out;
  const auto shown_items = code_items(part.shown);
  const auto items = code_items(answer);
  if (!shown_items || !items) return std::nullopt;
  const Definitions shown = definitions_in(part.shown, *shown_items);
  const Definitions answered = definitions_in(answer, *items);
  if (!std::ranges::includes(answered.surrounding, shown.surrounding)) return std::nullopt;
  for (const std::string& word : part.words) {
    if (!is_defined_alike(word, shown, answered)) return std::nullopt;
  }
  return out + part.left_out;
}

}  // namespace regraph::source

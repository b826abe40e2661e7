#include "source/item_reach.h"

#include <algorithm>

namespace regraph::source {

using Kind = CodeItem::Kind;

ItemReach::ItemReach(const std::vector<CodeItem>& items)
    : items_(items), kept_(items.size(), false), inside_(items.size()) {
  for (std::size_t at = 0; at < items.size(); ++at) {
    const CodeItem& item = items[at];
    if (item.kind == Kind::scope_end || item.kind == Kind::remark) continue;
    ItemsByName& names = item.kind == Kind::scope_begin ? scopes_ : by_name_;
    for (const std::string_view name : item.names)
      names[name].push_back(at);
    if (item.kind == Kind::surrounding && item.scope) inside_[*item.scope].push_back(at);
  }
}

void ItemReach::mention(std::string_view name) {
  if (seen_.insert(name).second) open_.push_back(name);
}

void ItemReach::keep(std::size_t item) {
  std::vector<std::size_t> wanted = {item};
  while (!wanted.empty()) {
    const std::size_t next = wanted.back();
    wanted.pop_back();
    if (kept_[next]) continue;
    kept_[next] = true;
    for (const std::string_view word : items_[next].words)
      mention(word);
    if (items_[next].scope) wanted.push_back(*items_[next].scope);
    wanted.insert(wanted.end(), inside_[next].begin(), inside_[next].end());
  }
}

void ItemReach::follow_names() {
  while (!open_.empty()) {
    const auto found = by_name_.find(open_.back());
    open_.pop_back();
    if (found == by_name_.end()) continue;
    for (const std::size_t at : found->second)
      keep(at);
  }
}

void ItemReach::follow() {
  while (!open_.empty()) {
    follow_names();
    // Only when all else is known: most scopes are kept for what stands in them.
    for (const auto& [name, scopes] : scopes_) {
      const auto is_kept = [&](std::size_t at) { return kept_[at]; };
      if (seen_.contains(name) && std::ranges::none_of(scopes, is_kept)) keep(scopes.front());
    }
  }
}

std::vector<bool> ItemReach::kept() const {
  std::vector<bool> kept = kept_;
  for (std::size_t at = 0; at < items_.size(); ++at) {
    const CodeItem& item = items_[at];
    if (item.kind == Kind::scope_end) kept[at] = !item.scope || kept[*item.scope];
    if (item.kind == Kind::remark) kept[at] = is_about_kept(item, kept);
  }
  return kept;
}

bool ItemReach::is_about_kept(const CodeItem& remark, const std::vector<bool>& kept) const {
  if (remark.scope && !kept[*remark.scope]) return false;
  bool speaks = false;
  for (const std::string_view word : remark.words) {
    const auto found = by_name_.find(word);
    if (found == by_name_.end()) continue;
    speaks = true;
    if (!std::ranges::all_of(found->second, [&](std::size_t at) { return kept[at]; })) return false;
  }
  return speaks;
}

}  // namespace regraph::source

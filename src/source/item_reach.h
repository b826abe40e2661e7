// Which items of device code are needed, by what mentions what.
#pragma once

#include "source/code_items.h"

#include <cstddef>
#include <map>
#include <set>
#include <string_view>
#include <vector>

namespace regraph::source {

// Keeps items and what they mention. Refers to the items, which must stay. Near linear.
class ItemReach {
 public:
  explicit ItemReach(const std::vector<CodeItem>& items);

  // Whether an item that is no scope declares `name`.
  [[nodiscard]] bool declares(std::string_view name) const { return by_name_.contains(name); }
  void mention(std::string_view name);
  // Keeps the item, the scopes around it and what surrounds it there.
  void keep(std::size_t item);
  // Keeps what was mentioned, and what that mentions in turn. A namespace that is mentioned is kept
  // once, even if nothing in it is.
  void follow();
  // All names that were mentioned so far.
  [[nodiscard]] const std::set<std::string_view>& mentioned() const { return seen_; }
  // Whether each item was kept, with the ends of scopes, and remarks that speak of nothing else.
  [[nodiscard]] std::vector<bool> kept() const;

 private:
  void follow_names();
  [[nodiscard]] bool is_about_kept(const CodeItem& remark, const std::vector<bool>& kept) const;

  using ItemsByName = std::map<std::string_view, std::vector<std::size_t>>;
  const std::vector<CodeItem>& items_;
  std::vector<bool> kept_;
  std::vector<std::vector<std::size_t>> inside_;  // what surrounds, by scope
  ItemsByName by_name_;
  ItemsByName scopes_;
  std::set<std::string_view> seen_;
  std::vector<std::string_view> open_;  // mentioned, not yet followed
};

}  // namespace regraph::source

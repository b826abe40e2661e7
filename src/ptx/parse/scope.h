// Names of registers and variables, nested as the braces of a function body are.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace regraph::ptx {

struct NameBinding {
  enum class Kind : std::uint8_t { reg, variable, function };
  Kind kind = Kind::reg;
  std::uint32_t index = 0;
};

class ScopeStack {
 public:
  void push() { scopes_.emplace_back(); }
  void pop() { scopes_.pop_back(); }
  [[nodiscard]] std::size_t depth() const { return scopes_.size(); }

  void declare(std::string_view name, NameBinding binding);
  // `.reg .b32 %r<10>`: names %r0 to %r9 are registers first to first + 9.
  void declare_range(std::string_view prefix, std::uint32_t count, std::uint32_t first);
  // Innermost binding of the name.
  [[nodiscard]] std::optional<NameBinding> find(std::string_view name) const;

 private:
  struct Range {
    std::uint32_t count;
    std::uint32_t first;
  };
  struct Scope {
    std::unordered_map<std::string_view, NameBinding> names;
    std::unordered_map<std::string_view, Range> ranges;
  };
  std::vector<Scope> scopes_;
};

}  // namespace regraph::ptx

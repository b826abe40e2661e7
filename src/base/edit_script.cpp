#include "base/edit_script.h"

#include <algorithm>
#include <optional>
#include <span>

namespace regraph {

namespace {

using Lines = std::span<const std::string_view>;

// Edits looked for before the texts count as different altogether. The search keeps their square in
// memory: 16 MiB.
constexpr std::int64_t kMostEdits = 2000;

// Walks Myers' edit graph: x counts lines of `before`, y of `after`, diagonal k = x - y.
class Myers {
 public:
  Myers(Lines before, Lines after)
      : before_(before),
        after_(after),
        rows_(static_cast<std::int64_t>(before.size())),
        columns_(static_cast<std::int64_t>(after.size())) {}

  // Edits with line numbers from the start of the two spans; nothing beyond kMostEdits.
  std::optional<std::vector<Edit>> run() {
    const std::int64_t most = std::min(rows_ + columns_, kMostEdits);
    // The furthest x on every diagonal, after each number of edits.
    std::vector<std::int32_t> furthest(static_cast<std::size_t>(2 * most + 3), 0);
    const auto at = [&](std::int64_t k) -> std::int32_t& {
      return furthest[static_cast<std::size_t>(k + most + 1)];
    };
    for (std::int64_t edits = 0; edits <= most; ++edits) {
      for (std::int64_t k = -edits; k <= edits; k += 2) {
        const bool down = k == -edits || (k != edits && at(k - 1) < at(k + 1));
        std::int64_t x = down ? at(k + 1) : at(k - 1) + 1;
        while (same(x, x - k))
          ++x;
        at(k) = static_cast<std::int32_t>(x);
        if (x < rows_ || x - k < columns_) continue;
        keep_row(furthest, edits, most);
        return trace_back(edits);
      }
      keep_row(furthest, edits, most);
    }
    return std::nullopt;
  }

 private:
  [[nodiscard]] bool same(std::int64_t x, std::int64_t y) const {
    return x < rows_ && y < columns_ &&
           before_[static_cast<std::size_t>(x)] == after_[static_cast<std::size_t>(y)];
  }

  void keep_row(const std::vector<std::int32_t>& furthest, std::int64_t edits, std::int64_t most) {
    const auto first = furthest.begin() + (most + 1 - edits);
    history_.emplace_back(first, first + (2 * edits + 1));
  }

  [[nodiscard]] std::int64_t reached(std::int64_t edits, std::int64_t k) const {
    return history_[static_cast<std::size_t>(edits)][static_cast<std::size_t>(k + edits)];
  }

  [[nodiscard]] std::vector<Edit> trace_back(std::int64_t edits) const {
    std::vector<Edit> script;
    std::int64_t x = rows_;
    std::int64_t y = columns_;
    const auto keep_until = [&](std::int64_t start) {
      while (x > start) {
        script.push_back({Edit::Kind::keep, static_cast<std::size_t>(--x)});
        --y;
      }
    };
    for (; edits > 0; --edits) {
      const std::int64_t k = x - y;
      const bool down =
          k == -edits || (k != edits && reached(edits - 1, k - 1) < reached(edits - 1, k + 1));
      const std::int64_t previous = reached(edits - 1, down ? k + 1 : k - 1);
      keep_until(down ? previous : previous + 1);
      if (down) {
        script.push_back({Edit::Kind::insert, static_cast<std::size_t>(--y)});
      } else {
        script.push_back({Edit::Kind::remove, static_cast<std::size_t>(--x)});
      }
    }
    keep_until(0);
    std::reverse(script.begin(), script.end());
    return script;
  }

  Lines before_;
  Lines after_;
  std::int64_t rows_;
  std::int64_t columns_;
  std::vector<std::vector<std::int32_t>> history_;  // [edits][k + edits]
};

}  // namespace

std::vector<Edit> edit_script(const std::vector<std::string_view>& before,
                              const std::vector<std::string_view>& after) {
  const std::size_t shorter = std::min(before.size(), after.size());
  std::size_t prefix = 0;
  while (prefix < shorter && before[prefix] == after[prefix])
    ++prefix;
  std::size_t suffix = 0;
  while (suffix < shorter - prefix &&
         before[before.size() - 1 - suffix] == after[after.size() - 1 - suffix]) {
    ++suffix;
  }
  const Lines old_middle = Lines(before).subspan(prefix, before.size() - prefix - suffix);
  const Lines new_middle = Lines(after).subspan(prefix, after.size() - prefix - suffix);

  std::vector<Edit> middle;
  if (auto shortest = Myers(old_middle, new_middle).run()) {
    middle = std::move(*shortest);
  } else {
    for (std::size_t i = 0; i < old_middle.size(); ++i)
      middle.push_back({Edit::Kind::remove, i});
    for (std::size_t i = 0; i < new_middle.size(); ++i)
      middle.push_back({Edit::Kind::insert, i});
  }

  std::vector<Edit> script;
  script.reserve(prefix + middle.size() + suffix);
  for (std::size_t i = 0; i < prefix; ++i)
    script.push_back({Edit::Kind::keep, i});
  for (const Edit& edit : middle)
    script.push_back({edit.kind, edit.line + prefix});
  for (std::size_t i = before.size() - suffix; i < before.size(); ++i) {
    script.push_back({Edit::Kind::keep, i});
  }
  // Between two kept lines the order is free; readers expect what goes before what comes.
  for (auto from = script.begin(); from != script.end();) {
    const auto kept = [](const Edit& edit) { return edit.kind == Edit::Kind::keep; };
    from = std::find_if_not(from, script.end(), kept);
    const auto to = std::find_if(from, script.end(), kept);
    std::stable_partition(from, to,
                          [](const Edit& edit) { return edit.kind == Edit::Kind::remove; });
    from = to;
  }
  return script;
}

}  // namespace regraph

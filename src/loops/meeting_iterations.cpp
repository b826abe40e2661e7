#include "loops/meeting_iterations.h"

#include "loops/small_values.h"
#include "source/printer.h"
#include "source/walk.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <vector>

namespace regraph::loops {
namespace {

using affine::PlacedAccess;
using affine::Surrounding;
using source::Analysis;
using source::CountedLoop;

constexpr std::size_t kMostTouches = 20'000;
constexpr std::size_t kMostPairs = 2'000'000;
constexpr std::int64_t kTriedIterations = 4;  // of a loop whose limit depends on data

struct Touch {
  Values counters;
  bool is_certain = true;  // all conditions around it are known to hold
};

// An access at all iterations that it is in, by the element that it touches.
class Touches {
 public:
  Touches(const PlacedAccess& access, const Values& sizes, const Analysis& analysis)
      : access_(access), analysis_(analysis), values_(sizes) {
    go(0, true);
  }

  std::map<std::int64_t, std::vector<Touch>> at;
  bool depends_on_data = false;

 private:
  void go(std::size_t depth, bool is_certain) {
    if (count_ >= kMostTouches) return;
    if (depth == access_.around.size()) {
      ++count_;
      const auto index = value_at(access_.access->index, values_, analysis_);
      if (!index) {
        depends_on_data = depends_on_data || reads_data(access_.access->index);
        return;
      }
      at[*index].push_back({counters_, is_certain});
      return;
    }
    const Surrounding& around = access_.around[depth];
    if (around.condition) {
      const auto holds = value_at(around.condition, values_, analysis_);
      if (!holds || *holds != 0) go(depth + 1, is_certain && holds);
      return;
    }
    if (!around.counted) {
      go(depth + 1, false);
      return;
    }
    count(*around.counted, depth, is_certain && !around.may_be_left);
  }

  // Names that the kernel defines once are followed.
  [[nodiscard]] bool reads_data(const source::ExprPtr& expr) const {
    if (analysis_.reads_memory(expr)) return true;
    const std::set<std::string> names = source::variables_of(expr);
    return std::ranges::any_of(names, [&](const std::string& name) {
      const source::ExprPtr value = analysis_.definition(name);
      return value && reads_data(value);
    });
  }

  void count(const CountedLoop& loop, std::size_t depth, bool is_certain) {
    const auto first = value_at(loop.first, values_, analysis_);
    const auto limit = value_at(loop.limit, values_, analysis_);
    const bool is_known = first && limit;
    const std::int64_t begin = first.value_or(0);
    const std::int64_t end = limit.value_or(begin + kTriedIterations * loop.stride);
    for (std::int64_t value = begin; value < end; value += loop.stride) {
      values_[loop.name] = counters_[loop.name] = value;
      go(depth + 1, is_certain && is_known);
    }
    values_.erase(loop.name);
    counters_.erase(loop.name);
  }

  const PlacedAccess& access_;
  const Analysis& analysis_;
  Values values_;
  Values counters_;
  std::size_t count_ = 0;
};

struct Meeting {
  std::int64_t index = 0;
  std::int64_t one = 0;    // the loop's counter at the first access
  std::int64_t other = 0;  // and at the second
  bool is_certain = false;
  Values sizes;
  bool depends_on_data = false;  // then the rest says nothing
};

// The counters of loops around `loop` that have other values.
std::int64_t moved_outside(const Touch& a, const Touch& b, const PlacedAccess& access,
                           const CountedLoop& loop) {
  std::int64_t count = 0;
  for (const Surrounding& around : access.around) {
    if (!around.counted) continue;
    if (around.counted->name == loop.name) break;
    const auto left = a.counters.find(around.counted->name);
    const auto right = b.counters.find(around.counted->name);
    const bool same =
        left != a.counters.end() && right != b.counters.end() && left->second == right->second;
    count += same ? 0 : 1;
  }
  return count;
}

std::optional<Meeting> find_meeting(const Values& sizes, const Analysis& analysis,
                                    const CountedLoop& loop, const PlacedAccess& one,
                                    const PlacedAccess& other) {
  const Touches first(one, sizes, analysis);
  const Touches second(other, sizes, analysis);
  std::optional<Meeting> best;
  std::tuple<bool, std::int64_t, std::int64_t, std::int64_t> best_rank;
  std::size_t pairs = 0;
  for (const auto& [index, touches] : first.at) {
    const auto same = second.at.find(index);
    if (same == second.at.end()) continue;
    for (const Touch& a : touches) {
      for (const Touch& b : same->second) {
        if (++pairs > kMostPairs) return best;
        const auto left = a.counters.find(loop.name);
        const auto right = b.counters.find(loop.name);
        if (left == a.counters.end() || right == b.counters.end() || left->second == right->second)
          continue;
        const bool is_certain = a.is_certain && b.is_certain;
        const std::tuple rank(!is_certain, moved_outside(a, b, one, loop),
                              std::abs(left->second - right->second),
                              std::min(left->second, right->second));
        if (best && !(rank < best_rank)) continue;
        best_rank = rank;
        best = Meeting{index, left->second, right->second, is_certain, sizes};
      }
    }
  }
  if (!best && (first.depends_on_data || second.depends_on_data))
    best = Meeting{.sizes = sizes, .depends_on_data = true};
  return best;
}

std::vector<Values> tried_sizes(const source::Kernel& kernel) {
  std::vector<Values> result(3);
  std::int64_t number = 0;
  for (const source::KernelParameter& parameter : kernel.parameters) {
    if (parameter.is_pointer || !parameter.scalar || is_floating(*parameter.scalar)) continue;
    result[0][parameter.name] = 6;
    result[1][parameter.name] = 5 + number % 4;
    result[2][parameter.name] = 8 - number % 4;
    ++number;
  }
  return result;
}

std::optional<Meeting> first_meeting(const source::Kernel& kernel, const Analysis& analysis,
                                     const CountedLoop& loop, const PlacedAccess& one,
                                     const PlacedAccess& other) {
  std::optional<Meeting> result;
  for (const Values& sizes : tried_sizes(kernel)) {
    auto found = find_meeting(sizes, analysis, loop, one, other);
    if (!found) continue;
    if (!found->depends_on_data && found->is_certain) return found;
    if (!result || (result->depends_on_data && !found->depends_on_data)) result = std::move(found);
  }
  return result;
}

const char* verb(const PlacedAccess& access) {
  return access.stores ? (access.loads ? "updates" : "writes") : "reads";
}

const char* plural_verb(const PlacedAccess& access) {
  return access.stores ? (access.loads ? "update" : "write") : "read";
}

std::string place(const PlacedAccess& access) {
  return access.stmt != nullptr && access.stmt->line > 0
             ? fmt::format(" (line {})", access.stmt->line)
             : std::string();
}

std::string shown(const PlacedAccess& access) {
  return fmt::format("{}[{}]", access.buffer, source::print(access.access->index));
}

// "n = 6, m = 5": of the sizes that bounds and indices mention.
std::string sizes_of(const Meeting& meeting, const PlacedAccess& one, const PlacedAccess& other) {
  std::set<std::string> names;
  for (const PlacedAccess* access : {&one, &other}) {
    names.merge(source::variables_of(access->access->index));
    for (const Surrounding& around : access->around) {
      if (!around.counted) continue;
      names.merge(source::variables_of(around.counted->limit));
      names.merge(source::variables_of(around.counted->first));
    }
  }
  std::string text;
  for (const auto& [name, value] : meeting.sizes) {
    if (names.contains(name))
      text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", name, value);
  }
  return text;
}

}  // namespace

std::string meeting_iterations(const source::Kernel& kernel, const Analysis& analysis,
                               const CountedLoop& loop, const PlacedAccess& one,
                               const PlacedAccess& other) {
  const auto meeting = first_meeting(kernel, analysis, loop, one, other);
  const std::string& name = loop.name;
  if (!meeting) {
    return fmt::format(
        "it is not proved that {}{} and {}{} are different elements in different "
        "iterations",
        shown(one), place(one), shown(other), place(other));
  }
  if (meeting->depends_on_data) {
    const bool first_depends = !value_at(one.access->index, meeting->sizes, analysis) &&
                               source::print(one.access->index).find('[') != std::string::npos;
    const PlacedAccess& unknown = first_depends ? one : other;
    const std::int64_t begin = value_at(loop.first, meeting->sizes, analysis).value_or(0);
    const std::string deeds =
        one.access == other.access
            ? fmt::format("may both {} it", plural_verb(one))
            : fmt::format("may {} and {} it", plural_verb(one), plural_verb(other));
    return fmt::format(
        "the element {}{} depends on data, so that two iterations, say {} = {} and "
        "{} = {}, {}",
        shown(unknown), place(unknown), name, begin, name, begin + loop.stride, deeds);
  }
  const std::string sizes = sizes_of(*meeting, one, other);
  return fmt::format("iteration {} = {} {} {}[{}]{}, iteration {} = {} {} it{}{}{}", name,
                     meeting->one, verb(one), one.buffer, meeting->index, place(one), name,
                     meeting->other, verb(other), place(other),
                     sizes.empty() ? "" : ", for example with " + sizes,
                     meeting->is_certain ? "" : ", where the conditions around them hold");
}

}  // namespace regraph::loops

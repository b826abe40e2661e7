#include "dataset/family_split.h"

#include "base/hash.h"
#include "learn/leak_check.h"
#include "learn/name_groups.h"
#include "learn/source_shingles.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

namespace regraph::dataset {

namespace {

// Kernels of a family that are compared with those of others: families of generated kernels are
// large, and their kernels are of one kind.
constexpr std::size_t kMostCompared = 8;

bool are_alike(const std::vector<learn::Shingles>& one, const std::vector<learn::Shingles>& other) {
  for (const learn::Shingles& a : one) {
    for (const learn::Shingles& b : other) {
      if (learn::similarity(a, b) >= learn::kAlike) return true;
    }
  }
  return false;
}

std::uint64_t order_of(const std::string& family, std::uint64_t seed) {
  return Hasher().add(seed).add(family).finish().low;
}

std::size_t share_of(double share, std::size_t groups) {
  if (share <= 0.0) return 0;
  const double count = std::round(share * static_cast<double>(groups));
  return std::max<std::size_t>(1, static_cast<std::size_t>(count));
}

}  // namespace

std::map<std::string, std::string> split_families(
    const std::vector<score::RegisteredProblem>& problems, std::uint64_t seed,
    const SplitShares& shares) {
  std::map<std::string, std::vector<learn::Shingles>> families;
  for (const score::RegisteredProblem& problem : problems) {
    auto& kernels = families[problem.family];
    if (kernels.size() < kMostCompared) kernels.push_back(learn::source_shingles(problem.source));
  }
  learn::NameGroups together;
  for (auto one = families.begin(); one != families.end(); ++one) {
    for (auto other = std::next(one); other != families.end(); ++other) {
      if (are_alike(one->second, other->second)) together.join({one->first, other->first});
    }
  }
  std::map<std::string, std::vector<std::string>> groups;
  for (const auto& [family, kernels] : families)
    groups[together.leader(family)].push_back(family);

  std::vector<std::pair<std::uint64_t, std::string>> order;
  order.reserve(groups.size());
  for (const auto& [group, members] : groups)
    order.emplace_back(order_of(group, seed), group);
  std::ranges::sort(order);
  constexpr std::size_t kEnoughGroups = 3;
  const bool divided = order.size() >= kEnoughGroups;
  const std::size_t tests = divided ? share_of(shares.test, order.size()) : 0;
  const std::size_t validations = divided ? share_of(shares.validation, order.size()) : 0;
  std::map<std::string, std::string> splits;
  for (std::size_t place = 0; place < order.size(); ++place) {
    const char* split = place < tests ? kTest : place < tests + validations ? kValidation : kTrain;
    for (const std::string& family : groups[order[place].second])
      splits.emplace(family, split);
  }
  return splits;
}

}  // namespace regraph::dataset

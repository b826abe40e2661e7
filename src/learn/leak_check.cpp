#include "learn/leak_check.h"

#include "learn/source_shingles.h"

#include <algorithm>
#include <deque>
#include <map>
#include <set>
#include <tuple>

namespace regraph::learn {

namespace {

using Places = std::pair<std::size_t, std::size_t>;  // of kernels, the first one first
using Paths = std::pair<std::vector<std::string>, std::vector<std::string>>;

std::size_t steps(const Paths& paths) {
  return paths.first.size() + paths.second.size();
}

// States that two kernels have both.
std::map<Places, Paths> shared_states(std::span<const CheckedKernel> kernels) {
  // The shortest path of each kernel to a state.
  std::map<std::string, std::map<std::size_t, std::vector<std::string>>> owners;
  for (std::size_t at = 0; at < kernels.size(); ++at) {
    for (const CheckedState& state : kernels[at].states) {
      auto [known, fresh] = owners[state.identity].try_emplace(at, state.path);
      if (!fresh && state.path.size() < known->second.size()) known->second = state.path;
    }
  }
  std::map<Places, Paths> shared;
  for (const auto& [identity, paths] : owners) {
    for (auto one = paths.begin(); one != paths.end(); ++one) {
      for (auto other = std::next(one); other != paths.end(); ++other) {
        const Paths both(one->second, other->second);
        auto [known, fresh] = shared.try_emplace({one->first, other->first}, both);
        if (!fresh && steps(both) < steps(known->second)) known->second = both;
      }
    }
  }
  return shared;
}

bool same_original(const KernelPair& pair) {
  return pair.shared_state && steps(*pair.shared_state) == 0;
}

// Nearer pairs are greater.
std::tuple<bool, double> nearness(const KernelPair& pair) {
  return {pair.shared_state.has_value(), pair.similarity};
}

// What joins which kernels.
class JoinedKernels {
 public:
  void add(const KernelPair& pair) {
    groups_.join({pair.one.name, pair.other.name});
    neighbours_[pair.one.name].push_back(pair);
    neighbours_[pair.other.name].push_back(pair);
  }

  [[nodiscard]] std::vector<std::vector<std::string>> families() const {
    std::map<std::string, std::set<std::string>> of_group;
    for (const auto& [name, pairs] : neighbours_) {
      for (const KernelPair& pair : pairs)
        of_group[groups_.leader(name)].insert({pair.one.family, pair.other.family});
    }
    std::vector<std::vector<std::string>> result;
    for (const auto& [leader, families] : of_group) {
      if (families.size() > 1) result.emplace_back(families.begin(), families.end());
    }
    return result;
  }

  // The shortest way over joined kernels from one family to the other; empty: there is none.
  [[nodiscard]] std::vector<KernelPair> chain(const std::string& from,
                                              const std::string& to) const {
    std::map<std::string, std::vector<KernelPair>> ways;
    std::deque<std::string> open;
    for (const auto& [name, pairs] : neighbours_) {
      const CorpusKernel& own = pairs[0].one.name == name ? pairs[0].one : pairs[0].other;
      if (own.family != from) continue;
      ways[name] = {};
      open.push_back(name);
    }
    for (; !open.empty(); open.pop_front()) {
      const std::string& name = open.front();
      for (const KernelPair& pair : neighbours_.at(name)) {
        const CorpusKernel& next = pair.one.name == name ? pair.other : pair.one;
        if (ways.contains(next.name)) continue;
        std::vector<KernelPair> way = ways[name];
        way.push_back(pair);
        if (next.family == to) return way;
        ways[next.name] = std::move(way);
        open.push_back(next.name);
      }
    }
    return {};
  }

 private:
  NameGroups groups_;
  std::map<std::string, std::vector<KernelPair>> neighbours_;
};

// What two families may have in common.
class Separation {
 public:
  explicit Separation(const Corpus& corpus) : kinships_(corpus.kinships()) {}

  [[nodiscard]] bool kinship_counts(const CorpusKernel& one, const CorpusKernel& other) const {
    return one.sealed == other.sealed && one.control == other.control;
  }
  [[nodiscard]] bool must_differ(const CorpusKernel& one, const CorpusKernel& other) const {
    if (one.family == other.family) return false;
    return !kinship_counts(one, other) || !kinships_.together(one.family, other.family);
  }
  [[nodiscard]] bool kin(const std::string& one, const std::string& other) const {
    return kinships_.together(one, other);
  }

 private:
  NameGroups kinships_;
};

using FamilyPair = std::pair<std::string, std::string>;

FamilyPair family_pair(const CorpusKernel& one, const CorpusKernel& other) {
  return std::minmax(one.family, other.family);
}

// A kernel of each family: sealed or a control is all of a family.
std::map<std::string, CorpusKernel> families_of(std::span<const CheckedKernel> kernels) {
  std::map<std::string, CorpusKernel> families;
  for (const CheckedKernel& checked : kernels)
    families.emplace(checked.kernel.family, checked.kernel);
  return families;
}

}  // namespace

LeakCheck check_leaks(const Corpus& corpus, std::span<const CheckedKernel> kernels) {
  LeakCheck check;
  const Separation separation(corpus);
  const std::map<Places, Paths> shared = shared_states(kernels);
  std::vector<Shingles> shingles;
  shingles.reserve(kernels.size());
  for (const CheckedKernel& checked : kernels)
    shingles.push_back(source_shingles(checked.source));

  JoinedKernels joined;
  std::map<FamilyPair, Leak> leaks;
  for (std::size_t one = 0; one < kernels.size(); ++one) {
    for (std::size_t other = one + 1; other < kernels.size(); ++other) {
      KernelPair pair{kernels[one].kernel, kernels[other].kernel,
                      similarity(shingles[one], shingles[other]), std::nullopt};
      if (const auto found = shared.find({one, other}); found != shared.end())
        pair.shared_state = found->second;
      const bool must_differ = separation.must_differ(pair.one, pair.other);
      if (must_differ && (!check.nearest || pair.similarity > check.nearest->similarity))
        check.nearest = pair;
      if (pair.one.family == pair.other.family &&
          (pair.similarity >= kRepetitive || same_original(pair)))
        check.repetitions.push_back(pair);
      if (pair.similarity < kAlike && !pair.shared_state) continue;
      joined.add(pair);
      if (!must_differ) continue;
      Leak& leak = leaks[family_pair(pair.one, pair.other)];
      ++leak.pairs;
      if (leak.chain.empty()) {
        leak.chain.push_back(pair);
      } else if (nearness(pair) > nearness(leak.chain[0])) {
        leak.chain[0] = pair;
      }
    }
  }
  check.joined = joined.families();

  const std::map<std::string, CorpusKernel> families = families_of(kernels);
  for (auto one = families.begin(); one != families.end(); ++one) {
    for (auto other = std::next(one); other != families.end(); ++other) {
      if (one->second.sealed != other->second.sealed && separation.kin(one->first, other->first)) {
        const bool first_open = !one->second.sealed;
        check.kin_of_sealed.emplace_back((first_open ? one : other)->first,
                                         (first_open ? other : one)->first);
      }
      if (!separation.must_differ(one->second, other->second)) continue;
      const auto direct = leaks.find({one->first, other->first});
      Leak leak = direct != leaks.end() ? direct->second : Leak();
      if (leak.chain.empty()) leak.chain = joined.chain(one->first, other->first);
      if (leak.chain.empty()) continue;
      leak.one = one->first;
      leak.other = other->first;
      leak.kinship_mends = separation.kinship_counts(one->second, other->second);
      check.leaks.push_back(std::move(leak));
    }
  }
  std::ranges::sort(check.kin_of_sealed);
  return check;
}

}  // namespace regraph::learn

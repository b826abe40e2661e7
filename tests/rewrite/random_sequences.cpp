#include "rewrite/random_sequences.h"

#include "base/random.h"
#include "rewrite/ast_rewriter.h"
#include "source/printer.h"
#include "source/walk.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace regraph::test {
namespace {

constexpr std::uint64_t kSeed = 20;
constexpr int kLongestSequence = 5;

using Choice = std::pair<StepProposal, rewrite::KernelState>;

// The reason without what is particular to a kernel: names in quotes, numbers, lines.
std::string general(const std::string& reason) {
  std::string result;
  bool quoted = false;
  for (const char character : reason) {
    const bool opens = result.empty() || result.back() == ' ' || result.back() == '(';
    if (character == '\'' && (quoted || opens)) {
      quoted = !quoted;
      if (quoted) result += "'...'";
      continue;
    }
    const bool repeats = std::isdigit(static_cast<unsigned char>(character)) != 0 &&
                         !result.empty() && result.back() == '#';
    if (quoted || repeats) continue;
    result += std::isdigit(static_cast<unsigned char>(character)) != 0 ? '#' : character;
  }
  constexpr std::size_t kLongestReason = 100;
  return result.substr(0, kLongestReason);
}

void print_tally(const std::string& step, const StepTally& counts, bool with_reasons) {
  std::map<std::string, int> reasons;
  int refused = 0;
  for (const auto& [reason, count] : counts.refused) {
    refused += count;
    reasons[general(reason)] += count;
  }
  std::cout << "  " << step << ": applied " << counts.applied << ", refused " << refused << " for "
            << reasons.size() << " kinds of reason\n";
  if (!with_reasons) return;
  std::multimap<int, std::string, std::greater<>> by_count;
  for (const auto& [reason, count] : reasons)
    by_count.emplace(count, reason);
  for (const auto& [count, reason] : by_count)
    std::cout << "    " << count << "  " << reason << "\n";
}

// A name that is declared where it means something already; empty: there is none. Steps that copy
// statements into inner blocks would change its meaning there.
std::string hidden_name(const source::Block& block, std::set<std::string> known) {
  for (const source::StmtPtr& stmt : block) {
    std::string hidden;
    const auto declare = [&](const source::Stmt& part, std::set<std::string>& scope) {
      const auto* declaration = dynamic_cast<const source::Declaration*>(&part);
      if (declaration != nullptr && !scope.insert(declaration->variable.name).second)
        hidden = declaration->variable.name;
    };
    declare(*stmt, known);
    std::set<std::string> inside = known;
    source::for_each_header(*stmt, [&](const source::StmtPtr& part) { declare(*part, inside); });
    if (hidden.empty()) hidden = hidden_name(source::body_of(*stmt), inside);
    if (hidden.empty()) hidden = hidden_name(source::otherwise_of(*stmt), inside);
    if (!hidden.empty()) return hidden;
  }
  return "";
}

// The choices of all steps that apply to the state; refusals are counted.
std::vector<Choice> successors(const KernelCase& kernel, const rewrite::KernelState& state,
                               StepTallies& tallies) {
  std::vector<Choice> result;
  const rewrite::StepViews shared = kernel.views(state);
  for (const rewrite::StepRewriter* step : rewrite::built_in_steps()) {
    for (const StepParameters& parameters : step->settings()) {
      const Status match = shared.match(*step, parameters);
      // On views of its own: what steps share must not depend on who asked first.
      auto next = kernel.views(state).apply(*step, parameters);
      EXPECT_EQ(match.ok(), next.ok()) << step->id();
      if (!match && !next) {
        EXPECT_EQ(match.error().code, next.error().code) << step->id();
        EXPECT_EQ(match.error().message, next.error().message) << step->id();
      }
      StepTally& tally = tallies[std::string(step->id())];
      if (next) {
        ++tally.offered;
        result.emplace_back(StepProposal{std::string(step->id()), parameters, 1}, std::move(*next));
      } else {
        EXPECT_EQ(next.error().code, ErrorCode::refused) << next.error().message;
        ++tally.refused[next.error().message];
      }
    }
  }
  return result;
}

// A step chosen evenly among step kinds first, so that many parameter choices do not crowd out
// others.
const Choice& choose(const std::vector<Choice>& options, std::uint64_t bits) {
  std::vector<std::string> kinds;
  for (const auto& [proposal, state] : options) {
    if (kinds.empty() || kinds.back() != proposal.step) kinds.push_back(proposal.step);
  }
  const std::string& kind = kinds[bits % kinds.size()];
  std::vector<const Choice*> matching;
  for (const Choice& option : options) {
    if (option.first.step == kind) matching.push_back(&option);
  }
  return *matching[(bits >> 20) % matching.size()];
}

}  // namespace

RandomSequence random_sequence(const KernelCase& kernel, const std::string& name,
                               std::uint64_t kernel_number, std::uint64_t number,
                               StepTallies& tallies) {
  const auto length =
      1 + static_cast<int>(random_bits(kSeed, kernel_number, number, 0u) % kLongestSequence);
  RandomSequence sequence{kernel.original(), name, {}};
  for (int position = 1; position <= length; ++position) {
    std::vector<Choice> options = successors(kernel, sequence.state, tallies);
    sequence.offered.push_back(options.size());
    if (options.empty()) break;
    const auto& [proposal, next] =
        choose(options, random_bits(kSeed, kernel_number, number, position));
    ++tallies[proposal.step].applied;
    sequence.history += " | " + proposal.text();
    std::set<std::string> parameters;
    for (const source::KernelParameter& parameter : next.unit.kernel.parameters)
      parameters.insert(parameter.name);
    EXPECT_EQ(hidden_name(next.unit.kernel.body, parameters), "") << sequence.history;
    // `options` owns `next`.
    rewrite::KernelState copy = next;
    sequence.state = std::move(copy);
  }
  return sequence;
}

std::string record_of(const RandomSequence& sequence) {
  std::string text =
      fmt::format("{}\noffered {}\n", sequence.history, fmt::join(sequence.offered, ", "));
  for (const std::string& assumption : sequence.state.assumptions)
    text += fmt::format("assumes {}\n", assumption);
  for (const Launch& launch : sequence.state.plan.launches) {
    text += fmt::format("{} block {} x {} x {} grid {}, {}, {} shared {}\n", launch.kernel,
                        launch.block.x, launch.block.y, launch.block.z, launch.grid[0].text(),
                        launch.grid[1].text(), launch.grid[2].text(),
                        launch.dynamic_shared_bytes.text());
  }
  return text + source::print(sequence.state.unit);
}

int sequences_per_kernel(int fallback) {
  const char* wanted = std::getenv("REGRAPH_REWRITE_SEQUENCES");
  return wanted != nullptr ? std::atoi(wanted) : fallback;
}

std::uint64_t first_sequence() {
  const char* wanted = std::getenv("REGRAPH_REWRITE_FIRST");
  return wanted != nullptr ? std::strtoull(wanted, nullptr, 10) : 0;
}

bool kernel_is_wanted(const std::string& name, std::uint64_t kernel_number) {
  const char* wanted = std::getenv("REGRAPH_REWRITE_KERNEL");
  if (wanted != nullptr && name.find(wanted) == std::string::npos) return false;
  const char* shard = std::getenv("REGRAPH_REWRITE_SHARD");
  unsigned index = 0;
  unsigned count = 1;
  if (shard == nullptr) return true;
  if (std::sscanf(shard, "%u/%u", &index, &count) != 2 || count == 0) {
    ADD_FAILURE() << "REGRAPH_REWRITE_SHARD is " << shard << "; say 2/8";
    return false;
  }
  return kernel_number % count == index;
}

bool some_kernels_are_left_out() {
  return std::getenv("REGRAPH_REWRITE_KERNEL") != nullptr ||
         std::getenv("REGRAPH_REWRITE_SHARD") != nullptr;
}

void print_tallies(const StepTallies& tallies, bool with_reasons) {
  for (const auto& [step, counts] : tallies)
    print_tally(step, counts, with_reasons);
}

}  // namespace regraph::test

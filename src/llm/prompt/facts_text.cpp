#include "llm/prompt/facts_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <vector>

namespace regraph::llm {

namespace {

constexpr auto kAlways = std::to_array<std::string_view>(
    {"roofline_fraction", "dram_utilization", "issue_utilization", "occupancy",
     "registers_per_thread", "shared_bytes_per_block"});

struct Threshold {
  std::string_view fact;
  Comparison comparison;
  double value;
};

// Where a counter begins to point at a problem. Few metrics serve a model better than all of them
// (CudaForge, arXiv 2511.01884: 1.77x against 1.41x).
constexpr Threshold kNoteworthy[] = {
    {"spill_bytes", Comparison::greater, 0.0},
    // An access that begins within a sector touches one more than it needs, a quarter for floats.
    {"global_load_sectors_over_ideal", Comparison::greater, 1.25},
    {"global_store_sectors_over_ideal", Comparison::greater, 1.25},
    {"shared_wavefronts_over_ideal", Comparison::greater, 1.05},
    {"dram_bytes_over_compulsory", Comparison::greater, 1.3},
    {"lsu_utilization", Comparison::greater, 0.4},
    {"l2_utilization", Comparison::greater, 0.4},
    {"atomic_utilization", Comparison::greater, 0.2},
    {"fma_utilization", Comparison::greater, 0.4},
    {"alu_utilization", Comparison::greater, 0.4},
    {"fp64_utilization", Comparison::greater, 0.4},
    {"special_function_utilization", Comparison::greater, 0.4},
    {"tensor_utilization", Comparison::greater, 0.0},
    {"latency_share", Comparison::greater, 0.2},
    {"waves", Comparison::less, 4.0},
    {"warp_slots_filled", Comparison::less, 0.5},
    {"blocks_per_multiprocessor", Comparison::less, 1.0},
    {"thread_efficiency", Comparison::less, 0.9},
    {"sm_active_share", Comparison::less, 0.9},
    {"achieved_occupancy", Comparison::less, 0.5},
    {"l1_hit_rate", Comparison::greater, 0.0},
    {"long_scoreboard_stall_share", Comparison::greater, 0.2},
    {"short_scoreboard_stall_share", Comparison::greater, 0.2},
    {"barrier_stall_share", Comparison::greater, 0.1},
    {"math_pipe_stall_share", Comparison::greater, 0.2},
    {"load_store_queue_stall_share", Comparison::greater, 0.1},
    {"memory_input_output_queue_stall_share", Comparison::greater, 0.1},
    {"branch_stall_share", Comparison::greater, 0.1},
    {"instruction_fetch_stall_share", Comparison::greater, 0.1},
    {"limited_by_registers", Comparison::greater, 0.5},
    {"limited_by_shared_memory", Comparison::greater, 0.5},
    {"limited_by_blocks", Comparison::greater, 0.5},
    {"limited_by_warps", Comparison::greater, 0.5},
    {"guard_share", Comparison::greater, 0.05},
    {"atomic_share", Comparison::greater, 0.01},
};

const FactDescription* description_of(std::string_view name) {
  const auto* const found = std::ranges::find(kFactDescriptions, name, &FactDescription::name);
  return found == std::end(kFactDescriptions) ? nullptr : found;
}

std::string fact_line(const FactDescription& fact, double value) {
  std::string text;
  if (fact.unit == "fraction") {
    text = fmt::format("{}: {:.3g} %", fact.name, 100.0 * value);
  } else if (fact.unit == "0 or 1" || fact.unit == "1") {
    text = fmt::format("{}: {}", fact.name, value > 0.5 ? "yes" : "no");
  } else if (fact.unit == "ratio" || fact.unit.empty()) {
    text = fmt::format("{}: {:.4g}", fact.name, value);
  } else {
    text = fmt::format("{}: {:.4g} {}", fact.name, value, fact.unit);
  }
  if (!fact.meaning.empty()) text += fmt::format(", {}", fact.meaning);
  return text;
}

// The facts to be shown, in order; those of the step's evidence first.
std::vector<std::string_view> chosen_facts(const Facts& facts, const Step* step,
                                           std::size_t limit) {
  std::vector<std::string_view> chosen;
  const auto choose = [&](std::string_view name) {
    const bool wanted = chosen.size() < limit && facts.contains(name) &&
                        description_of(name) != nullptr &&
                        std::ranges::find(chosen, name) == chosen.end();
    if (wanted) chosen.push_back(name);
  };
  if (step != nullptr) {
    for (const EvidenceCondition& condition : step->evidence) {
      if (condition.weight > 0.0) choose(condition.fact);
    }
  }
  for (const std::string_view name : kAlways)
    choose(name);
  constexpr double kEnoughOccupancy = 0.75;
  const auto occupancy = facts.find("occupancy");
  const bool is_occupied = occupancy != facts.end() && occupancy->second >= kEnoughOccupancy;
  for (const Threshold& threshold : kNoteworthy) {
    const auto fact = facts.find(threshold.fact);
    if (fact == facts.end()) continue;
    // Something limits even a full occupancy.
    if (threshold.fact.substr(0, 8) == "limited_" && is_occupied) continue;
    const EvidenceCondition condition{std::string(threshold.fact), threshold.comparison,
                                      threshold.value, 1.0};
    if (condition.holds(fact->second)) choose(threshold.fact);
  }
  return chosen;
}

std::string lines_of(const Facts& facts, const std::vector<std::string_view>& chosen) {
  std::string out;
  for (const std::string_view name : chosen)
    out += fact_line(*description_of(name), facts.find(name)->second) + "\n";
  if (!out.empty()) out.pop_back();
  return out;
}

}  // namespace

std::string facts_text(const Facts& facts, const Step* step, std::size_t limit) {
  return lines_of(facts, chosen_facts(facts, step, limit));
}

std::string step_facts_text(const Facts& facts, const Step& step, std::size_t limit) {
  const std::vector<std::string_view> shown = chosen_facts(facts, nullptr, limit);
  std::vector<std::string_view> chosen;
  for (const EvidenceCondition& condition : step.evidence) {
    const std::string_view name = condition.fact;
    const bool wanted = facts.contains(name) && description_of(name) != nullptr &&
                        std::ranges::find(shown, name) == shown.end() &&
                        std::ranges::find(chosen, name) == chosen.end();
    if (wanted) chosen.push_back(name);
  }
  return lines_of(facts, chosen);
}

std::string time_text(double seconds) {
  constexpr std::array<std::pair<double, std::string_view>, 4> kUnits = {
      {{1.0, "s"}, {1e-3, "ms"}, {1e-6, "us"}, {1e-9, "ns"}}};
  for (const auto& [size, unit] : kUnits) {
    if (seconds >= size) return fmt::format("{:.4g} {}", seconds / size, unit);
  }
  return fmt::format("{:.4g} ns", seconds * 1e9);
}

}  // namespace regraph::llm

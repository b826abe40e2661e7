#include "report/dry_run.h"

#include "kernel/caveats.h"
#include "report/refusals.h"
#include "report/run_report.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>

namespace regraph {

namespace {

std::vector<std::size_t> by_prior(const DryRunReport& report) {
  std::vector<std::size_t> order(report.proposals.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return report.priors[a] > report.priors[b];
  });
  return order;
}

// "1.90x published, 1.42x learned from 12 families, policy +0.31"
std::string parts_text(const PriorParts& parts) {
  std::string text = fmt::format("{:.2f}x published", std::exp(parts.published));
  if (parts.families > 0) {
    text += fmt::format(", {:.2f}x learned from {} famil{}", std::exp(parts.expected),
                        parts.families, parts.families == 1 ? "y" : "ies");
  }
  text += fmt::format(", evidence {:.2f}", parts.evidence);
  if (parts.policy != 0.0) text += fmt::format(", policy {:+.2f}", parts.policy);
  return text;
}

}  // namespace

std::string dry_run_text(const DryRunReport& report) {
  const TimeEstimate& time = report.evaluation.time;
  std::string text =
      fmt::format("{} on {}: {} {} [{}, {}], limited by {}\n", report.problem.signature.name,
                  report.device.name, duration_text(time.median_seconds), name(time.method),
                  duration_text(time.low_seconds), duration_text(time.high_seconds),
                  report.evaluation.bottleneck);
  const std::string_view doubts = doubts_about(report.device);
  if (time.method == TimeMethod::predicted && !doubts.empty()) {
    fmt::format_to(std::back_inserter(text), "uncertain: the numbers of the {} are {}\n",
                   report.device.name, doubts);
  }
  for (const std::string_view reason : caveats_of(report.evaluation.facts))
    fmt::format_to(std::back_inserter(text), "uncertain: {}\n", reason);
  text += "\nfirst steps by prior\n";
  for (const std::size_t index : by_prior(report)) {
    fmt::format_to(std::back_inserter(text), "  {:.3f}  {:44}  {}\n", report.priors[index],
                   report.proposals[index].text(), parts_text(report.parts[index]));
  }
  if (report.proposals.empty()) {
    text += "  none" + (report.opaque_reason.empty() ? "" : ": " + report.opaque_reason) + "\n";
  }
  if (!report.refusals.empty())
    text += "\nnot proposed\n" + refusals_text(report.refusals, report.proposals);
  for (const PromptPreview& prompt : report.prompts) {
    text += "\n==== prompt: " + prompt.title + "\n";
    for (const llm::ChatMessage& message : prompt.messages)
      fmt::format_to(std::back_inserter(text), "---- {}\n{}\n", name(message.role), message.text);
  }
  if (!report.cost.empty()) text += "\n==== cost of asking: " + report.cost + "\n";
  return text;
}

std::string dry_run_json(const DryRunReport& report) {
  using Json = nlohmann::ordered_json;
  const TimeEstimate& time = report.evaluation.time;
  Json json;
  json["schema"] = "regraph-dry-run/1";
  json["kernel"] = report.problem.signature.name;
  json["source"] = report.problem.source_path;
  json["device"] = std::string(report.device.name);
  json["architecture"] = std::string(report.device.architecture);
  json["method"] = name(time.method);
  json["baseline"] = {{"seconds", time.median_seconds},
                      {"interval", {time.low_seconds, time.high_seconds}},
                      {"samples", time.samples},
                      {"bottleneck", report.evaluation.bottleneck},
                      {"caveats", caveats_of(report.evaluation.facts)},
                      {"facts", report.evaluation.facts}};
  json["steps"] = Json::array();
  for (const std::size_t index : by_prior(report)) {
    const StepProposal& step = report.proposals[index];
    const PriorParts& parts = report.parts[index];
    json["steps"].push_back({{"step", step.step},
                             {"parameters", step.parameters},
                             {"prior", report.priors[index]},
                             {"evidence", parts.evidence},
                             {"published", parts.published},
                             {"expected", parts.expected},
                             {"families", parts.families},
                             {"policy", parts.policy}});
  }
  if (!report.opaque_reason.empty()) json["opaque"] = report.opaque_reason;
  if (!report.refusals.empty()) json["refused"] = report.refusals;
  json["notes"] = report.problem.notes;
  if (!report.prompts.empty()) {
    json["cost"] = report.cost;
    json["prompts"] = Json::array();
    for (const PromptPreview& prompt : report.prompts) {
      Json messages = Json::array();
      for (const llm::ChatMessage& message : prompt.messages)
        messages.push_back({{"role", name(message.role)}, {"text", message.text}});
      json["prompts"].push_back({{"title", prompt.title}, {"messages", std::move(messages)}});
    }
  }
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace regraph

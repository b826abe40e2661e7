#include "report/comparison_text.h"

#include "report/run_report.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <iterator>

namespace regraph {

namespace {

using Json = nlohmann::ordered_json;

std::string time_line(const Evaluation& evaluation) {
  const TimeEstimate& time = evaluation.time;
  return fmt::format("{} [{}, {}] {}; limited by {}", duration_text(time.median_seconds),
                     duration_text(time.low_seconds), duration_text(time.high_seconds),
                     name(time.method), evaluation.bottleneck);
}

std::string speed_words(const ComparedKernel& compared) {
  if (compared.same_code) return "the same machine code and launch";
  switch (compared.verdict) {
    case SpeedVerdict::fast:
      return "FASTER";
    case SpeedVerdict::slow:
      return "SLOWER";
    case SpeedVerdict::same:
      return "as fast";
    case SpeedVerdict::ambiguous:
      return "not known to be faster or slower";
  }
  return "";
}

Json compared_time_json(const TimeEstimate& time) {
  return Json{{"seconds", time.median_seconds},
              {"interval", {time.low_seconds, time.high_seconds}},
              {"samples", time.samples},
              {"method", name(time.method)}};
}

Json compared_speedup_json(const SpeedupEstimate& speedup) {
  return Json{{"ratio", speedup.ratio}, {"interval", {speedup.low, speedup.high}}};
}

}  // namespace

std::string original_text(const std::string& name, const Evaluation& original) {
  return fmt::format("  {}: the original\n    time     {}\n", name, time_line(original));
}

std::string comparison_text(const ComparedKernel& compared) {
  std::string text;
  auto out = std::back_inserter(text);
  if (!compared.no_reason.empty()) {
    fmt::format_to(out, "  {}: NOT JUDGED\n    why      {}\n", compared.name, compared.no_reason);
  } else if (!compared.equal) {
    fmt::format_to(out, "  {}: NOT EQUAL ({})\n    why      {}\n", compared.name,
                   name(compared.evaluation.verdict), compared.evaluation.message);
  } else {
    fmt::format_to(out,
                   "  {}: EQUAL, {}\n    speedup  {:.2f}x [{:.2f}x, {:.2f}x]\n    time     {}\n",
                   compared.name, speed_words(compared), compared.speedup.ratio,
                   compared.speedup.low, compared.speedup.high, time_line(compared.evaluation));
    if (!compared.evaluation.message.empty())
      fmt::format_to(out, "    equal    {}\n", compared.evaluation.message);
    for (const std::string& assumption : compared.assumes)
      fmt::format_to(out, "    assumes  {}\n", assumption);
  }
  if (compared.measured) {
    const SpeedupEstimate& hot = compared.measured->hot;
    fmt::format_to(out,
                   "    measured interleaved in {} fresh processes with a cold L2; hot {:.2f}x "
                   "[{:.2f}x, {:.2f}x]\n",
                   compared.measured->processes, hot.ratio, hot.low, hot.high);
  }
  for (const std::string& note : compared.notes)
    fmt::format_to(out, "    note     {}\n", note);
  return text;
}

std::string comparison_json(const ComparedKernel& compared, const Evaluation& original) {
  Json json{{"name", compared.name}};
  if (!compared.no_reason.empty()) {
    json["equal"] = false;
    json["verdict"] = "not_judged";
    json["message"] = compared.no_reason;
  } else {
    json["equal"] = compared.equal;
    json["verdict"] = name(compared.evaluation.verdict);
    json["message"] = compared.evaluation.message;
  }
  if (compared.equal) {
    json["speed"] = name(compared.verdict);
    json["speedup"] = compared_speedup_json(compared.speedup);
    json["same_machine_code"] = compared.same_code;
    json["time"] = compared_time_json(compared.evaluation.time);
    json["limited_by"] = compared.evaluation.bottleneck;
    json["assumes"] = compared.assumes;
  }
  if (compared.measured) {
    json["hot"] = compared_speedup_json(compared.measured->hot);
    json["processes"] = compared.measured->processes;
  }
  json["original_time"] = compared_time_json(original.time);
  json["original_limited_by"] = original.bottleneck;
  if (!compared.notes.empty()) json["notes"] = compared.notes;
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace regraph

#include "fleet_worker/fleet_status.h"

#include "base/json_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace regraph::fleet {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMostWorkers = 1000;
constexpr std::size_t kMostFailures = 200;
constexpr std::size_t kMostLanes = 100;  // asked about: each is a question to the server

// What strangers wrote, on one line and without control characters.
std::string plain(const std::string& text) {
  std::string result = text;
  std::ranges::replace_if(
      result, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }, ' ');
  return result;
}

std::string duration(double seconds) {
  if (seconds < 120.0) return fmt::format("{:.0f} s", seconds);
  if (seconds < 7200.0) return fmt::format("{:.0f} min", seconds / 60.0);
  return fmt::format("{:.1f} h", seconds / 3600.0);
}

// Share of its places' time that a worker worked.
double busy_share(const WorkerPresence& worker) {
  const double whole = worker.up_seconds * worker.places;
  return whole > 0.0 ? std::min(1.0, worker.busy_seconds / whole) : 0.0;
}

double jobs_a_minute(const WorkerPresence& worker) {
  return worker.up_seconds > 0.0 ? 60.0 * static_cast<double>(worker.done) / worker.up_seconds
                                 : 0.0;
}

// A label's value as Prometheus wants it.
std::string label(const std::string& text) {
  std::string result;
  for (const char c : plain(text)) {
    if (c == '\\' || c == '"') result += '\\';
    result += c;
  }
  return result;
}

}  // namespace

Result<FleetStatus> read_status(Broker& broker) {
  FleetStatus status;
  const auto workers = broker.notices(Board::workers, kMostWorkers);
  if (!workers) return workers.error();
  const auto failures = broker.notices(Board::failures, kMostFailures);
  if (!failures) return failures.error();
  for (const auto& [name, text] : *workers) {
    auto worker = read_presence(text);
    if (!worker) {
      ++status.unreadable;
      continue;
    }
    for (const std::string& lane : worker->lanes)
      if (status.lanes.size() < kMostLanes) status.lanes.try_emplace(lane);
    status.workers.push_back(*std::move(worker));
  }
  for (const auto& [id, text] : *failures) {
    auto failure = read_failure(text);
    if (!failure) {
      ++status.unreadable;
      continue;
    }
    if (status.lanes.size() < kMostLanes) status.lanes.try_emplace(failure->lane);
    status.failures.emplace(id, *std::move(failure));
  }
  for (auto& [lane, state] : status.lanes) {
    if (auto now = broker.state(lane)) state = *now;
  }
  return status;
}

std::string status_text(const FleetStatus& status) {
  std::string text;
  const auto out = std::back_inserter(text);
  int places = 0;
  int busy = 0;
  for (const WorkerPresence& worker : status.workers) {
    places += worker.places;
    busy += worker.busy;
  }
  fmt::format_to(out, "{} workers, {} of {} places busy\n", status.workers.size(), busy, places);
  for (const WorkerPresence& worker : status.workers) {
    fmt::format_to(out,
                   "  {:<24} {:<14} {}/{} busy, {} done ({:.1f}/min), {} failed, {:.0f} % of {}",
                   plain(worker.name), worker.device.empty() ? "processors" : plain(worker.device),
                   worker.busy, worker.places, worker.done, jobs_a_minute(worker), worker.failed,
                   100.0 * busy_share(worker), duration(worker.up_seconds));
    if (worker.state != "working") fmt::format_to(out, ", {}", plain(worker.state));
    if (!worker.doing.empty()) fmt::format_to(out, "; {}", plain(worker.doing));
    text += "\n";
  }
  for (const auto& [lane, state] : status.lanes) {
    fmt::format_to(out, "lane {}: {} waiting, {} under way\n", plain(lane), state.waiting,
                   state.under_way);
  }
  for (const auto& [id, failure] : status.failures) {
    fmt::format_to(out, "job {}: {}\n", plain(id),
                   failure.given_up ? "given up" : "failed, to be tried again");
    for (const std::string& one : failure.tries)
      fmt::format_to(out, "  {}\n", plain(one));
  }
  if (status.unreadable > 0) fmt::format_to(out, "{} notices cannot be read\n", status.unreadable);
  return text;
}

std::string status_json(const FleetStatus& status) {
  Json json = Json::object();
  json["workers"] = Json::array();
  for (const WorkerPresence& worker : status.workers)
    json["workers"].push_back(Json::parse(presence_text(worker)));
  json["lanes"] = Json::object();
  for (const auto& [lane, state] : status.lanes)
    json["lanes"][lane] = {{"waiting", state.waiting}, {"under_way", state.under_way}};
  json["failures"] = Json::object();
  for (const auto& [id, failure] : status.failures)
    json["failures"][id] = Json::parse(failure_text(failure));
  json["unreadable"] = status.unreadable;
  return json_line(json) + "\n";
}

std::string status_metrics(const FleetStatus& status) {
  std::string text;
  const auto out = std::back_inserter(text);
  const auto family = [&](const char* name, const char* type, const char* help, auto value) {
    fmt::format_to(out, "# HELP regraph_{} {}\n# TYPE regraph_{} {}\n", name, help, name, type);
    for (const WorkerPresence& worker : status.workers)
      fmt::format_to(out, "regraph_{}{{worker=\"{}\",device=\"{}\"}} {}\n", name,
                     label(worker.name), label(worker.device), value(worker));
  };
  family("worker_places", "gauge", "Jobs a worker can do at once.",
         [](const WorkerPresence& worker) { return worker.places; });
  family("worker_busy", "gauge", "Jobs a worker does now.",
         [](const WorkerPresence& worker) { return worker.busy; });
  family("worker_jobs_total", "counter", "Jobs done since the worker started.",
         [](const WorkerPresence& worker) { return worker.done; });
  family("worker_failures_total", "counter", "Tries that came to nothing.",
         [](const WorkerPresence& worker) { return worker.failed; });
  family("worker_busy_seconds_total", "counter", "Seconds worked, of all places.",
         [](const WorkerPresence& worker) { return worker.busy_seconds; });
  family("worker_up_seconds", "gauge", "Seconds since the worker started.",
         [](const WorkerPresence& worker) { return worker.up_seconds; });
  const auto of_lanes = [&](const char* name, const char* help, auto value) {
    fmt::format_to(out, "# HELP regraph_{} {}\n# TYPE regraph_{} gauge\n", name, help, name);
    for (const auto& [lane, state] : status.lanes)
      fmt::format_to(out, "regraph_{}{{lane=\"{}\"}} {}\n", name, label(lane), value(state));
  };
  of_lanes("lane_waiting", "Jobs that nobody has.",
           [](const LaneState& state) { return state.waiting; });
  of_lanes("lane_under_way", "Jobs under a lease.",
           [](const LaneState& state) { return state.under_way; });
  const auto given_up = std::ranges::count_if(
      status.failures, [](const auto& failure) { return failure.second.given_up; });
  fmt::format_to(out,
                 "# HELP regraph_jobs_given_up Jobs answered for want of a better verdict, of the "
                 "last week.\n# TYPE regraph_jobs_given_up gauge\nregraph_jobs_given_up {}\n",
                 given_up);
  return text;
}

}  // namespace regraph::fleet

#include "fleet/presence.h"

#include "base/field_json.h"
#include "base/json_text.h"

#include <algorithm>

namespace regraph::fleet {
namespace {

using Json = nlohmann::ordered_json;

constexpr JsonLimits kPresence = {std::size_t{64} << 10, 3};
constexpr std::size_t kLongest = 1024;  // bytes of a text
constexpr std::size_t kMostLanes = 16;
constexpr int kMostPlaces = 4096;

template <typename Presence, typename Field>
void for_each_field(Presence& presence, Field& field) {
  field("name", presence.name);
  field("host", presence.host);
  field("version", presence.version);
  field("device", presence.device);
  field("memory_bytes", presence.memory_bytes);
  field("places", presence.places);
  field("busy", presence.busy);
  field("doing", presence.doing);
  field("done", presence.done);
  field("failed", presence.failed);
  field("busy_seconds", presence.busy_seconds);
  field("up_seconds", presence.up_seconds);
  field("state", presence.state);
}

template <typename Properties, typename Field>
void for_each_property(Properties& gpu, Field& field) {
  field("name", gpu.name);
  field("architecture", gpu.architecture);
  field("bus_id", gpu.bus_id);
  field("device_count", gpu.device_count);
  field("driver_version", gpu.driver_version);
  field("total_bytes", gpu.total_bytes);
  field("free_bytes", gpu.free_bytes);
  field("sm_count", gpu.sm_count);
  field("l2_bytes", gpu.l2_bytes);
  field("shared_bytes_per_block", gpu.shared_bytes_per_block);
  field("clock_hertz", gpu.clock_hertz);
  field("memory_clock_hertz", gpu.memory_clock_hertz);
  field("memory_bus_bits", gpu.memory_bus_bits);
  field("device_reads_host_memory", gpu.device_reads_host_memory);
}

}  // namespace

std::string presence_text(const WorkerPresence& presence) {
  Json json = Json::object();
  FieldWriter writer(json);
  for_each_field(presence, writer);
  Json all = Json::object();
  all["worker"] = std::move(json);
  all["lanes"] = presence.lanes;
  if (!presence.gpu.name.empty()) {
    Json gpu = Json::object();
    FieldWriter properties(gpu);
    for_each_property(presence.gpu, properties);
    all["gpu"] = std::move(gpu);
  }
  return json_line(all);
}

Result<WorkerPresence> read_presence(std::string_view text) {
  auto json = parse_json(text, kPresence);
  if (!json) return std::move(json).error();
  const Error odd = fail(ErrorCode::parse, "no worker's notice");
  if (!json->is_object() || !json->contains("worker") || !json->contains("lanes")) return odd;
  WorkerPresence presence;
  FieldReader reader((*json)["worker"]);
  for_each_field(presence, reader);
  if (!reader.whole()) return odd;
  const Json& lanes = (*json)["lanes"];
  if (!lanes.is_array() || lanes.size() > kMostLanes) return odd;
  for (const Json& lane : lanes) {
    if (!lane.is_string()) return odd;
    presence.lanes.push_back(lane.get<std::string>());
  }
  if (const auto gpu = json->find("gpu"); gpu != json->end()) {
    FieldReader properties(*gpu);
    for_each_property(presence.gpu, properties);
    if (!properties.whole() || presence.gpu.name.empty()) return odd;
  }
  const std::string* const texts[] = {
      &presence.name,      &presence.host,  &presence.version,  &presence.device,
      &presence.doing,     &presence.state, &presence.gpu.name, &presence.gpu.architecture,
      &presence.gpu.bus_id};
  const auto too_long = [](const std::string* one) { return one->size() > kLongest; };
  const bool sane = presence.places <= kMostPlaces && presence.busy <= kMostPlaces &&
                    presence.busy_seconds >= 0.0 && presence.up_seconds >= 0.0;
  if (!sane || std::ranges::any_of(texts, too_long)) return odd;
  return presence;
}

int places_of(const std::vector<WorkerPresence>& workers, std::string_view lane) {
  int places = 0;
  for (const WorkerPresence& worker : workers)
    places += std::ranges::find(worker.lanes, lane) != worker.lanes.end() ? worker.places : 0;
  return places;
}

}  // namespace regraph::fleet

#include "eval/gpu/driver/gpu_disturbances.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace regraph::gpu {
namespace {

constexpr double kMebibyte = 1024.0 * 1024.0;
constexpr double kMegahertz = 1e6;

void append(std::string& text, const std::string& part, const char* separator) {
  if (part.empty()) return;
  text += (text.empty() ? "" : separator) + part;
}

// "75 of 700 W", or what of it is known.
std::string of_most(std::optional<double> value, std::optional<double> most, double unit,
                    const char* name) {
  if (!value) return "";
  if (!most) return fmt::format("{:.0f} {}", *value / unit, name);
  return fmt::format("{:.0f} of {:.0f} {}", *value / unit, *most / unit, name);
}

std::string with_name(const char* name, const std::string& text) {
  return text.empty() ? "" : std::string(name) + " " + text;
}

}  // namespace

std::vector<std::string> disturbances(const GpuState& state, bool in_use) {
  std::vector<std::string> found;
  if (const std::uint64_t slowing = slowing_clock_events(state.clock_events.value_or(0));
      slowing != 0) {
    found.push_back(
        fmt::format("clocks are held down by {}", fmt::join(clock_event_words(slowing), ", ")));
  }
  if (!state.users) return found;
  for (const GpuUser& user : *state.users) {
    if (!user.visible && in_use) continue;
    found.push_back(user.bytes ? fmt::format("process {} uses the GPU ({:.0f} MiB)", user.process,
                                             static_cast<double>(*user.bytes) / kMebibyte)
                               : fmt::format("process {} uses the GPU", user.process));
  }
  return found;
}

std::string state_text(const GpuState& state) {
  std::string clocks =
      with_name("SM", of_most(state.sm_clock_hertz, state.most_sm_clock_hertz, kMegahertz, "MHz"));
  append(clocks,
         with_name("memory", of_most(state.memory_clock_hertz, state.most_memory_clock_hertz,
                                     kMegahertz, "MHz")),
         ", ");
  std::string text = clocks;
  if (state.clock_events) {
    const std::vector<std::string> words = clock_event_words(*state.clock_events);
    append(text,
           words.empty() ? "clocks not held down"
                         : fmt::format("clocks held by: {}", fmt::join(words, ", ")),
           "; ");
  }
  std::string heat = of_most(state.celsius, std::nullopt, 1.0, "C");
  append(heat, of_most(state.watts, state.most_watts, 1.0, "W"), ", ");
  append(text, heat, "; ");
  if (state.used_bytes) {
    append(text,
           fmt::format("{:.0f} MiB in use", static_cast<double>(*state.used_bytes) / kMebibyte),
           "; ");
  }
  if (state.persistent)
    append(text, *state.persistent ? "persistence mode on" : "persistence mode off", "; ");
  append(text, with_name("driver", state.driver.value_or("")), "; ");
  return text;
}

std::vector<std::string> DisturbanceLog::look(bool in_use) {
  std::vector<std::string> now;
  for (const std::string& bus_id : bus_ids_) {
    const Result<GpuState> state = read_gpu_state(bus_id, candidates_);
    if (!state.ok()) continue;
    for (std::string& one : disturbances(*state, in_use)) {
      if (bus_ids_.size() > 1) one = fmt::format("GPU {}: {}", bus_id, one);
      now.push_back(std::move(one));
    }
  }
  for (const std::string& one : now) {
    if (std::find(seen_.begin(), seen_.end(), one) == seen_.end()) seen_.push_back(one);
  }
  return now;
}

}  // namespace regraph::gpu

// What measuring on a worker's GPU came to, as a text.
#pragma once

#include "kernel/measurement.h"

#include <nlohmann/json_fwd.hpp>

#include <optional>

namespace regraph::fleet {

[[nodiscard]] nlohmann::ordered_json measurement_json(const Measurement& measurement);
// Strict: nothing where it is no measurement.
[[nodiscard]] std::optional<Measurement> read_measurement(const nlohmann::ordered_json& json);

[[nodiscard]] nlohmann::ordered_json trial_json(const AnswerTrial& trial);
[[nodiscard]] std::optional<AnswerTrial> read_trial(const nlohmann::ordered_json& json);

}  // namespace regraph::fleet

// Who can do a job, as the names of lanes.
#pragma once

#include <string>
#include <string_view>

namespace regraph::fleet {

// Predictions, of whatever device.
[[nodiscard]] std::string prediction_lane(const std::string& version);
// Measurements on a GPU called `device` ("NVIDIA H200"), on whichever of them.
[[nodiscard]] std::string measurement_lane(const std::string& version, std::string_view device);
// Measurements on one GPU alone: that with the bus id on the host.
[[nodiscard]] std::string gpu_lane(const std::string& version, std::string_view host,
                                   std::string_view bus_id);
// Answers of a language model, by its name as its server has it. They do not depend on a build,
// only on what is said of questions and answers (chat_job.h).
[[nodiscard]] std::string model_lane(std::string_view model);

}  // namespace regraph::fleet

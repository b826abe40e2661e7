// Policies as files, `NAME.regraph-policy`: the safetensors format (8 bytes of length, a JSON
// header, the numbers), so that other tools read the weights.
//
//   mean, scale                                   F32 [inputs]
//   network.K.first.weight, network.K.first.bias    F32 [inputs][hidden], [hidden]
//   network.K.second.weight, network.K.second.bias  F32 [hidden][outputs], [outputs]
//   __metadata__: format "regraph-policy/1", inputs and steps (one a line), and who made it of what
#pragma once

#include "base/result.h"
#include "policy/policy_model.h"

#include <filesystem>
#include <string>
#include <string_view>

namespace regraph::policy {

inline constexpr const char* kPolicyFormat = "regraph-policy/1";

// The file's bytes; equal models have equal bytes.
[[nodiscard]] std::string policy_bytes(const PolicyModel& model);

// Reads what policy_bytes wrote. Any bytes are safe to pass. Errors start with `name`: parse (not
// such a file, damaged, numbers that are not finite), unsupported (another version).
[[nodiscard]] Result<PolicyModel> parse_policy(std::string_view bytes, std::string_view name);

// Errors as parse_policy, not_found, io.
[[nodiscard]] Result<PolicyModel> load_policy(const std::filesystem::path& path);
// So that a reader never sees half of it. Error: io.
[[nodiscard]] Status save_policy(const PolicyModel& model, const std::filesystem::path& path);

}  // namespace regraph::policy

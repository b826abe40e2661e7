#include "session/session_policy.h"

#include "base/files.h"
#include "base/hash.h"
#include "policy/policy_file.h"

#include <algorithm>
#include <filesystem>

namespace regraph {

namespace {

constexpr const char* kShippedPolicy = "cuda.regraph-policy";
constexpr std::size_t kPolicyLimitBytes = std::size_t{64} << 20;
constexpr std::string_view kDigits = "0123456789abcdef";

}  // namespace

Result<PolicyBlob, SessionError> find_policy(const std::string& file,
                                             const Installation& installation) {
  if (file == kNoPolicy) return PolicyBlob{};
  const std::filesystem::path path =
      file.empty() ? installation.shipped(kShippedPolicy) : std::filesystem::path(file);
  std::error_code ignored;
  if (file.empty() && !std::filesystem::exists(path, ignored)) return PolicyBlob{};
  auto bytes = read_file(path, kPolicyLimitBytes);
  if (!bytes) return usage("--policy: " + bytes.error().message);
  return PolicyBlob{std::move(*bytes), path.string()};
}

std::string hexadecimal(const std::string& bytes) {
  std::string text;
  text.reserve(2 * bytes.size());
  for (const char byte : bytes) {
    const auto value = static_cast<unsigned char>(byte);
    text += kDigits[value >> 4];
    text += kDigits[value & 15];
  }
  return text;
}

std::string from_hexadecimal(const std::string& text) {
  if (text.size() % 2 != 0 || text.find_first_not_of(kDigits) != std::string::npos) return {};
  std::string bytes;
  bytes.reserve(text.size() / 2);
  for (std::size_t at = 0; at < text.size(); at += 2)
    bytes += static_cast<char>(kDigits.find(text[at]) * 16 + kDigits.find(text[at + 1]));
  return bytes;
}

SessionPolicy::SessionPolicy(std::string bytes, policy::PolicyReader reader, std::string label,
                             const StepGraph& graph, const OpenedProblem& opened)
    : bytes_(std::move(bytes)),
      rewriter_(opened.problem, limits_of(opened.device.device)),
      scorer_(std::move(reader), std::move(label), graph, opened.device.device.name, rewriter_) {}

Result<std::unique_ptr<SessionPolicy>, SessionError> SessionPolicy::make(
    PolicyBlob blob, const StepGraph& graph, const OpenedProblem& opened) {
  if (blob.bytes.empty()) return std::unique_ptr<SessionPolicy>();
  auto model = policy::parse_policy(blob.bytes, blob.name);
  if (!model) return usage("--policy: " + model.error().message);
  const auto known = std::ranges::count_if(
      model->steps, [&](const std::string& step) { return graph.find(step) != nullptr; });
  // All but the bucket for others, or the policy has learned other steps than these.
  if (2 * known < static_cast<std::ptrdiff_t>(model->steps.size())) {
    return usage("--policy: " + blob.name +
                 ": it was trained for another catalogue of steps: of the " +
                 std::to_string(model->steps.size() - 1) + " steps it knows, the ReGraph has " +
                 std::to_string(known) + "; train one with this graph, or use --policy none");
  }
  auto reader = policy::PolicyReader::make(std::move(*model));
  if (!reader) return usage("--policy: " + blob.name + ": " + reader.error().message);
  constexpr std::size_t kShown = 12;
  const std::string label = std::filesystem::path(blob.name).filename().string() + " " +
                            hash_text(blob.bytes).hex().substr(0, kShown);
  return std::unique_ptr<SessionPolicy>(
      new SessionPolicy(std::move(blob.bytes), std::move(*reader), label, graph, opened));
}

}  // namespace regraph

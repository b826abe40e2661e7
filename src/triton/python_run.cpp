#include "triton/python_run.h"

#include "base/child_process.h"

#include <utility>

namespace regraph::triton {
namespace {

constexpr double kWallSeconds = 20.0;
constexpr std::size_t kMemoryBytes = std::size_t{2} << 30;
constexpr int kRefused = 1;  // exit code of the scripts

}  // namespace

Result<std::string> run_python(const std::filesystem::path& python,
                               const std::filesystem::path& script,
                               const std::vector<std::string>& arguments, std::string_view input,
                               const Cancellation& cancellation) {
  ChildRequest child;
  child.program = python;
  child.arguments = {"-I", "-B", script.string()};
  child.arguments.insert(child.arguments.end(), arguments.begin(), arguments.end());
  child.environment = {"PATH=/usr/bin:/bin", "LC_ALL=C.UTF-8"};
  child.input = input;
  child.wall_seconds = kWallSeconds;
  child.limits.address_space_bytes = kMemoryBytes;
  child.limits.file_bytes = 1;
  auto outcome = run_child(child, cancellation);
  if (!outcome) return outcome.error();
  if (outcome->end == ChildEnd::cancelled) return fail(ErrorCode::cancelled, "cancelled");
  if (outcome->end == ChildEnd::exited && outcome->exit_code == kRefused) {
    std::string message = std::move(outcome->error);
    while (message.ends_with('\n'))
      message.pop_back();
    return fail(ErrorCode::compile, std::move(message));
  }
  if (!outcome->succeeded()) {
    return fail(ErrorCode::io, script.filename().string() + " failed: " + outcome->error);
  }
  return std::move(outcome->output);
}

}  // namespace regraph::triton

#include "cli/capture_build.h"

#include "base/files.h"
#include "session/recorded_build.h"

#include <fmt/format.h>

#include <string_view>

namespace regraph::cli {
namespace {

// The words as sh reads them back.
std::string quoted(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) {
    text += text.empty() ? "'" : " '";
    for (const char c : word)
      text += c == '\'' ? std::string("'\\''") : std::string(1, c);
    text += '\'';
  }
  return text;
}

}  // namespace

int capture_build(const Program& program, const CaptureBuildOptions& options) {
  const CapturePlace place =
      options.links_statically ? CapturePlace::gpu : CapturePlace::interpreter;
  const auto commands = run_recorded_build(quoted(options.command), place, program.interrupted());
  if (!commands) return program.fail(commands.error());
  if (commands->empty()) {
    program.say(
        "note: the build called no nvcc by way of PATH, so how files are compiled is not known "
        "(is all built already?)");
    return 0;
  }
  const Status written = write_file(options.output, compile_commands_text(*commands));
  if (!written) return program.fail({FailureCause::usage, written.error().message});
  program.say(fmt::format("{}: how {} files are compiled", options.output, commands->size()));
  return 0;
}

}  // namespace regraph::cli

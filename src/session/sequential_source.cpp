#include "session/sequential_source.h"

#include "loops/function_text.h"
#include "loops/lower_to_kernel.h"
#include "loops/sequential_function.h"
#include "source/extract.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <string_view>
#include <utility>

namespace regraph {
namespace {

// "line 4: ..." as "loops.cpp:4: ...".
std::string placed(const std::string& file, const std::string& message) {
  constexpr std::string_view kLine = "line ";
  if (message.starts_with(kLine)) {
    int line = 0;
    const char* const last = message.data() + message.size();
    const auto [end, error] = std::from_chars(message.data() + kLine.size(), last, line);
    if (error == std::errc() && end != last && *end == ':')
      return fmt::format("{}:{}{}", file, line, std::string_view(end, last));
  }
  return file + ": " + message;
}

class KernelMaker {
 public:
  KernelMaker(ProblemSource& source, const Toolchain& toolchain, std::string architecture,
              const Cancellation& cancellation)
      : source_(source),
        sequential_(*source.sequential),
        toolchain_(toolchain),
        architecture_(std::move(architecture)),
        cancellation_(cancellation) {}

  Result<void, SessionError> run() {
    auto text = loops::function_as_kernel(source_.file_text, sequential_.function);
    if (!text) return unusable(text.error());
    sequential_.function = text->name;
    sequential_.qualified_name = text->qualified_name;
    source::ExtractionRequest request;
    request.file_name = std::filesystem::path(source_.kernel_file).filename().string();
    request.kernels = {text->name};
    request.defines = source_.manifest.defines;
    auto device = source::extract_device_code(text->text, request);
    if (!device) return unusable(device.error());
    if (auto accepted = compile(device->text); !accepted) return std::move(accepted).error();
    auto function = loops::read_function(device->text, device->kernels.front(), request.file_name,
                                         toolchain_.front_end);
    if (!function) return unusable(function.error());
    for (const Parameter& parameter : function->signature.parameters) {
      if (!parameter.is_passed()) continue;
      sequential_.parameters.push_back(
          {parameter.name, parameter.type, parameter.is_pointer, parameter.name == text->result});
    }
    sequential_.defines = source_.manifest.defines;
    auto lowered = loops::lower_to_kernels(*function, source_.manifest);
    if (!lowered) return unusable(lowered.error());
    take(std::move(*lowered));
    return cut_out_kernels(source_);
  }

 private:
  [[nodiscard]] SessionError unusable(const Error& error) const {
    return {FailureCause::unusable_kernel, placed(source_.kernel_file, error.message)};
  }

  Result<void, SessionError> compile(const std::string& text) {
    CompileRequest request;
    request.source = text;
    request.architecture = architecture_;
    request.want_cubin = false;
    const auto compiled = toolchain_.compiler->compile(request, cancellation_);
    if (compiled) return {};
    const Error& error = compiled.error();
    if (error.code == ErrorCode::cancelled)
      return SessionError{FailureCause::interrupted, "interrupted"};
    if (error.code == ErrorCode::io || error.code == ErrorCode::not_found)
      return SessionError{FailureCause::internal, error.message};
    return SessionError{
        FailureCause::unusable_kernel,
        fmt::format("{}: '{}' does not compile as device code for {}:\n{}", source_.kernel_file,
                    sequential_.function, architecture_, error.message)};
  }

  void take(loops::LoweredFunction lowered) {
    source_.file_text = std::move(lowered.text);
    Manifest& manifest = source_.manifest;
    const auto is_made = [&](const std::string& name) {
      return std::ranges::any_of(lowered.launches,
                                 [&](const Launch& launch) { return launch.kernel == name; });
    };
    if (!manifest.kernel || !is_made(*manifest.kernel)) manifest.kernel = lowered.kernel;
    if (lowered.launches.size() == 1 && !manifest.launch) {
      manifest.launch = lowered.launches.front();
      manifest.launch->kernel.clear();
      if (source_.block) manifest.launch->block = *source_.block;
    }
    if (lowered.launches.size() > 1 && manifest.launches.empty()) {
      manifest.launch.reset();
      for (Launch& launch : lowered.launches) {
        if (source_.block && launch.kernel == manifest.kernel) launch.block = *source_.block;
        manifest.launches.push_back({std::move(launch), 0});
      }
    }
    for (auto& scratch : lowered.scratch) {
      const bool is_said = std::ranges::any_of(
          manifest.scratch, [&](const auto& said) { return said.first == scratch.first; });
      if (!is_said) manifest.scratch.push_back(std::move(scratch));
    }
    for (std::string& note : lowered.notes)
      source_.notes.push_back(placed(source_.kernel_file, note));
  }

  ProblemSource& source_;
  SequentialSource& sequential_;
  const Toolchain& toolchain_;
  const std::string architecture_;
  const Cancellation& cancellation_;
};

}  // namespace

Result<void, SessionError> make_kernels_of_function(ProblemSource& source,
                                                    const Toolchain& toolchain,
                                                    const std::string& architecture,
                                                    const Cancellation& cancellation) {
  return KernelMaker(source, toolchain, architecture, cancellation).run();
}

}  // namespace regraph

#include "session/installation.h"

#include <cstdlib>
#include <system_error>

namespace regraph {

namespace {

constexpr const char* kSharedFiles = "share/regraph";

}  // namespace

Installation Installation::of_program(const std::filesystem::path& program) {
  Installation installation = at(program.parent_path().parent_path());
  installation.programs = program.parent_path();
  std::error_code ignored;
  if (!std::filesystem::exists(installation.shipped("cuda.yaml"), ignored)) {
    installation.shared_files = std::filesystem::path(REGRAPH_SOURCE_DIRECTORY) / "graphs";
  }
  return installation;
}

Installation Installation::at(const std::filesystem::path& prefix) {
  return {prefix / "bin", prefix / kSharedFiles, default_cache_directory()};
}

std::filesystem::path Installation::compile_worker() const {
  return programs / "regraph-compile-worker";
}

std::filesystem::path Installation::gpu_worker() const {
  return programs / "regraph-eval";
}

std::filesystem::path Installation::capture_runtime() const {
  return programs.parent_path() / "lib" / "regraph-capture";
}

std::filesystem::path Installation::capture_injection() const {
  return capture_runtime() / "libregraph-injection.so";
}

std::filesystem::path Installation::shipped(std::string_view name) const {
  return shared_files / name;
}

std::filesystem::path Installation::python_script(std::string_view name) const {
  std::filesystem::path installed = shared_files / "python" / name;
  std::error_code ignored;
  if (std::filesystem::exists(installed, ignored)) return installed;
  return std::filesystem::path(REGRAPH_SOURCE_DIRECTORY) / "python" / name;
}

std::filesystem::path default_cache_directory() {
  if (const char* own = std::getenv("REGRAPH_CACHE_DIR")) return own;
  if (const char* xdg = std::getenv("XDG_CACHE_HOME"); xdg != nullptr && *xdg != '\0') {
    return std::filesystem::path(xdg) / "regraph";
  }
  if (const char* home = std::getenv("HOME"); home != nullptr && *home != '\0') {
    return std::filesystem::path(home) / ".cache" / "regraph";
  }
  return {};
}

}  // namespace regraph

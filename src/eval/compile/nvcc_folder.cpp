#include "eval/compile/nvcc_folder.h"

#include <chrono>
#include <filesystem>
#include <thread>

namespace regraph::compile_internal {

Result<NvccFolder> NvccFolder::make() {
  auto folder = TemporaryDirectory::create("regraph-nvcc-");
  if (!folder.ok()) return folder.error();
  return NvccFolder(std::move(*folder));
}

NvccFolder::~NvccFolder() {
  constexpr int kTries = 100;
  constexpr std::chrono::milliseconds kPause(10);
  std::error_code code;
  // What was killed a moment ago may still be making files.
  for (int i = 0; i < kTries; ++i) {
    std::filesystem::remove_all(folder_.path(), code);
    if (!code) return;
    std::this_thread::sleep_for(kPause);
  }
}

std::string NvccFolder::path() const {
  std::error_code code;
  return std::filesystem::canonical(folder_.path(), code).string();
}

}  // namespace regraph::compile_internal

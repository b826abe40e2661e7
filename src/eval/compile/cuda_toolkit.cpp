#include "eval/compile/compiler.h"

#include <fmt/format.h>

#include <charconv>
#include <cstdlib>
#include <optional>
#include <unistd.h>

namespace regraph {

namespace {

namespace fs = std::filesystem;

// NVRTC gained C++20 and stable library names with CUDA 12.
constexpr int kOldestMajor = 12;

struct NvrtcFile {
  fs::path path;
  int major = 0;
};

// The newest libnvrtc.so.<major> in the directories where toolkits and wheels keep it.
std::optional<NvrtcFile> find_nvrtc(const fs::path& root) {
  std::optional<NvrtcFile> best;
  for (const char* directory :
       {"lib64", "lib", "targets/x86_64-linux/lib", "lib/x86_64-linux-gnu"}) {
    std::error_code code;
    for (const auto& entry : fs::directory_iterator(root / directory, code)) {
      constexpr std::string_view kPrefix = "libnvrtc.so.";
      const std::string name = entry.path().filename().string();
      if (name.rfind(kPrefix, 0) != 0) continue;
      int major = 0;
      const char* const end = name.data() + name.size();
      const auto [stop, status] = std::from_chars(name.data() + kPrefix.size(), end, major);
      if (status != std::errc{} || stop != end)
        continue;  // "libnvrtc.so.13.0.88" has a shorter link
      if (!best || major > best->major) best = NvrtcFile{entry.path(), major};
    }
    if (best) break;
  }
  return best;
}

// nvcc runs the host's compiler and its own assembler.
fs::path find_nvcc(const fs::path& root) {
  fs::path nvcc = root / "bin" / "nvcc";
  for (const fs::path& program : {nvcc, root / "bin" / "ptxas", fs::path("/usr/bin/gcc")}) {
    if (::access(program.c_str(), X_OK) != 0) return {};
  }
  return nvcc;
}

// Examines one place. On failure adds to `tried` why it will not do.
std::optional<CudaToolkit> examine(const fs::path& root, const char* how, std::string& tried) {
  const auto refuse = [&](const std::string& why) {
    tried += fmt::format("\n  {} ({}): {}", root.string(), how, why);
    return std::nullopt;
  };
  std::error_code code;
  const fs::path real = fs::weakly_canonical(root, code);
  if (code || !fs::is_directory(real, code)) return refuse("no such directory");
  const fs::path include = real / "include";
  if (!fs::exists(include / "cuda_runtime.h", code) || !fs::exists(include / "nvrtc.h", code)) {
    return refuse("include/ lacks cuda_runtime.h or nvrtc.h");
  }
  const std::optional<NvrtcFile> nvrtc = find_nvrtc(real);
  if (!nvrtc) return refuse("libnvrtc.so is not there");
  if (nvrtc->major < kOldestMajor) {
    return refuse(
        fmt::format("CUDA {} is too old, {} or newer is needed", nvrtc->major, kOldestMajor));
  }
  return CudaToolkit{real, include, nvrtc->path, find_nvcc(real), how};
}

std::optional<fs::path> environment(const char* name) {
  const char* const value = std::getenv(name);
  if (value == nullptr || *value == '\0') return std::nullopt;
  return fs::path(value);
}

// The toolkit that the nvcc on PATH belongs to: its bin/ directory's parent.
std::optional<fs::path> beside_nvcc() {
  const char* const path = std::getenv("PATH");
  std::string_view rest = path == nullptr ? "" : path;
  while (!rest.empty()) {
    const std::size_t colon = rest.find(':');
    const fs::path directory(rest.substr(0, colon));
    rest.remove_prefix(colon == std::string_view::npos ? rest.size() : colon + 1);
    const fs::path nvcc = directory / "nvcc";
    if (directory.empty() || ::access(nvcc.c_str(), X_OK) != 0) continue;
    std::error_code code;
    const fs::path real = fs::canonical(nvcc, code);
    if (!code) return real.parent_path().parent_path();
  }
  return std::nullopt;
}

}  // namespace

Result<CudaToolkit> find_cuda_toolkit() {
  std::string tried;
  // REGRAPH_HIDE_CUDA=1 leaves the project's own wheels only, to test an installation without CUDA.
  const char* const hide = std::getenv("REGRAPH_HIDE_CUDA");
  if (hide == nullptr || std::string_view(hide) != "1") {
    for (const char* name : {"CUDA_HOME", "CUDA_PATH"}) {
      const std::optional<fs::path> root = environment(name);
      if (!root) continue;
      if (auto toolkit = examine(*root, name, tried)) return *toolkit;
    }
    if (const std::optional<fs::path> root = beside_nvcc()) {
      if (auto toolkit = examine(*root, "PATH", tried)) return *toolkit;
    }
    if (auto toolkit = examine("/usr/local/cuda", "/usr/local/cuda", tried)) return *toolkit;
  }
  const fs::path wheels = environment("REGRAPH_CUDA_WHEELS").value_or(REGRAPH_PROJECT_CUDA_WHEELS);
  if (auto toolkit = examine(wheels, "project wheels", tried)) return *toolkit;
  return fail(ErrorCode::not_found,
              fmt::format("no usable CUDA toolkit; tried:{}\nInstall CUDA 12.8 or newer and set "
                          "CUDA_HOME. NVIDIA's wheels will do, without a GPU and without root: "
                          "tools/setup fetches them for a checkout, else\n"
                          "  python3 -m pip install --no-deps --target ~/cuda "
                          "nvidia-{{cuda-nvrtc,cuda-runtime,cuda-crt,nvvm,cuda-nvcc,cuda-cccl}}"
                          "'==13.0.*'\n"
                          "  export CUDA_HOME=~/cuda/nvidia/cu13",
                          tried));
}

}  // namespace regraph

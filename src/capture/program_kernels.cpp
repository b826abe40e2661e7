#include "capture/program_kernels.h"

#include "base/files.h"
#include "capture/fat_binary.h"
#include "ptx/interpreter.h"
#include "sass/elf_image.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <span>
#include <string_view>
#include <utility>

namespace regraph::capture {
namespace {

constexpr std::size_t kLargestProgram = std::size_t{4} << 30;
// Of a program, and of what is linked relocatably (nvcc -rdc=true).
constexpr const char* kDeviceCode[] = {".nv_fatbin", "__nv_relfatbin"};
constexpr std::string_view kRuntime = "libcudart.so";

// Followed by their version, or by a part of the library ("libcublasLt.so.13").
constexpr std::string_view kGpuLibraries[] = {
    "libcublas",   "libcudnn",    "libcuda.so", "libcufft", "libcurand", "libcusolver",
    "libcusparse", "libcutensor", "libnccl",    "libnpp",   "libnvjpeg", "libtorch_cuda",
};

// The libraries that the program names as needed.
std::vector<std::string> needed_libraries(const sass::ElfImage& image) {
  std::vector<std::string> libraries;
  const Elf64_Shdr* dynamic = image.find(".dynamic");
  if (dynamic == nullptr || dynamic->sh_link >= image.sections().size()) return libraries;
  const std::string_view names = image.content(image.sections()[dynamic->sh_link]);
  for (const auto& entry : image.table<Elf64_Dyn>(*dynamic)) {
    if (entry.d_tag == DT_NEEDED)
      libraries.emplace_back(sass::ElfImage::text(names, entry.d_un.d_val));
  }
  return libraries;
}

// The kernels of PTX text, as they stand after ".entry".
std::set<std::string> entries_of(std::string_view ptx) {
  constexpr std::string_view kEntry = ".entry ";
  std::set<std::string> entries;
  for (std::size_t at = ptx.find(kEntry); at != std::string_view::npos; at = ptx.find(kEntry, at)) {
    at += kEntry.size();
    const std::string_view name = ptx.substr(at, ptx.find_first_of("( \t\r\n", at) - at);
    if (!name.empty()) entries.emplace(name);
  }
  return entries;
}

class Reader {
 public:
  Status take(const std::vector<DeviceImage>& images) {
    for (const DeviceImage& image : images) {
      ++found_.images;
      if (!image.not_read.empty()) {
        found_.notes.push_back(
            fmt::format("an image for sm_{} was not read: {}", image.architecture, image.not_read));
      } else if (image.kind == DeviceImage::Kind::ptx) {
        ptx_.push_back(&image.content);
      } else if (Status status = take_code(image); !status) {
        return status;
      }
    }
    for (const std::string* text : ptx_) {
      for (const std::string& symbol : entries_of(*text))
        take_entry(*text, symbol);
    }
    return {};
  }

  ProgramKernels result() && {
    for (auto& [symbol, kernel] : kernels_)
      found_.kernels.push_back(std::move(kernel));
    return std::move(found_);
  }

 private:
  Status take_code(const DeviceImage& image) {
    auto kernels = kernels_of_cubin(image.content);
    if (!kernels) return kernels.error();
    for (KernelImage& one : *kernels) {
      ProgramKernel& kernel = kernels_[one.symbol];
      const bool newest =
          kernel.architectures.empty() || image.architecture >= *kernel.architectures.rbegin();
      kernel.architectures.insert(image.architecture);
      if (newest) kernel.image = std::move(one);
    }
    return {};
  }

  // Of what has no machine code for any architecture, PTX tells the parameters.
  void take_entry(const std::string& ptx, const std::string& symbol) {
    const auto [place, is_new] = kernels_.try_emplace(symbol);
    ProgramKernel& kernel = place->second;
    kernel.has_ptx = true;
    if (!is_new) return;
    kernel.image.symbol = symbol;
    const auto program = ptx::Program::load(ptx, symbol);
    if (!program) {
      found_.notes.push_back(fmt::format("{}: {}", readable_name(symbol), program.error().message));
      return;
    }
    kernel.image.static_shared_bytes = program->static_shared_bytes();
    for (const auto& parameter : program->parameters())
      kernel.image.parameters.push_back({static_cast<std::uint32_t>(parameter.offset),
                                         static_cast<std::uint32_t>(parameter.bytes)});
  }

  ProgramKernels found_;
  std::map<std::string, ProgramKernel> kernels_;
  std::vector<const std::string*> ptx_;
};

}  // namespace

Result<ProgramKernels> read_program_kernels(const std::filesystem::path& program) {
  const auto content = read_file(program, kLargestProgram);
  if (!content) return content.error();
  const auto bytes = std::as_bytes(std::span(content->data(), content->size()));
  const auto image = sass::ElfImage::open(bytes);
  if (!image)
    return fail(ErrorCode::parse,
                fmt::format("'{}' is no program (no ELF file with sections)", program.string()));
  std::vector<DeviceImage> images;
  for (const char* name : kDeviceCode) {
    const Elf64_Shdr* section = image->find(name);
    if (section == nullptr) continue;
    const std::string_view code = image->content(*section);
    auto more = read_fat_binaries(std::as_bytes(std::span(code.data(), code.size())));
    if (!more)
      return fail(more.error().code,
                  fmt::format("'{}': {}", program.string(), more.error().message));
    std::ranges::move(*more, std::back_inserter(images));
  }
  if (images.empty()) {
    return fail(
        ErrorCode::unsupported,
        fmt::format("'{}' carries no device code; was it built by nvcc?", program.string()));
  }
  Reader reader;
  if (Status status = reader.take(images); !status)
    return fail(status.error().code,
                fmt::format("'{}': {}", program.string(), status.error().message));
  ProgramKernels found = std::move(reader).result();
  for (const std::string& library : needed_libraries(*image)) {
    found.shared_runtime = found.shared_runtime || library.starts_with(kRuntime);
    const bool of_gpu = std::ranges::any_of(
        kGpuLibraries, [&](std::string_view name) { return library.starts_with(name); });
    if (of_gpu) found.gpu_libraries.push_back(library);
  }
  return found;
}

}  // namespace regraph::capture

#include "capture/kernel_image.h"

#include "sass/elf_image.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <cxxabi.h>
#include <map>
#include <memory>
#include <span>
#include <utility>

namespace regraph::capture {
namespace {

constexpr std::string_view kInfo = ".nv.info";
constexpr std::string_view kKernelInfo = ".nv.info.";
constexpr std::string_view kShared = ".nv.shared.";
// Where this section is (from sm_90 on), a block's first bytes of shared memory are the system's,
// and are counted with the kernel's own.
constexpr std::string_view kReserved = ".nv.shared.reserved.0";
constexpr std::uint64_t kReservedBytes = 1024;

// Attributes stand one after the other: u8 format, u8 what, u16 bytes, and in this format alone so
// many bytes of content; in the others those 16 bits are the content.
constexpr std::uint8_t kSizedFormat = 4;
constexpr std::uint8_t kParameterInfo = 0x17;  // u32 index, u16 ordinal, u16 offset, u32 flags
constexpr std::uint8_t kRegisterCount = 0x2f;  // u32 symbol, u32 registers
constexpr int kParameterSizeShift = 18;        // of its flags

template <typename Number>
Number number_at(std::string_view bytes, std::size_t offset) {
  Number number;
  std::memcpy(&number, bytes.data() + offset, sizeof number);
  return number;
}

// Calls `visit` with what and content of each sized attribute.
template <typename Visit>
void for_each_attribute(std::string_view section, const Visit& visit) {
  while (section.size() >= 4) {
    const auto format = number_at<std::uint8_t>(section, 0);
    const auto what = number_at<std::uint8_t>(section, 1);
    const std::size_t bytes = format == kSizedFormat ? number_at<std::uint16_t>(section, 2) : 0;
    section.remove_prefix(4);
    if (bytes > section.size()) return;
    if (format == kSizedFormat) visit(what, section.substr(0, bytes));
    section.remove_prefix(bytes);
  }
}

std::vector<ParameterSlot> parameters_in(std::string_view section) {
  std::map<int, ParameterSlot> by_ordinal;
  for_each_attribute(section, [&](std::uint8_t what, std::string_view content) {
    if (what != kParameterInfo || content.size() < 12) return;
    by_ordinal[number_at<std::uint16_t>(content, 4)] = {
        number_at<std::uint16_t>(content, 6),
        number_at<std::uint32_t>(content, 8) >> kParameterSizeShift};
  });
  std::vector<ParameterSlot> parameters;
  parameters.reserve(by_ordinal.size());
  for (const auto& [ordinal, slot] : by_ordinal)
    parameters.push_back(slot);
  return parameters;
}

std::map<std::string, int> registers_in(const sass::ElfImage& image, std::string_view section) {
  std::map<std::string, int> registers;
  for_each_attribute(section, [&](std::uint8_t what, std::string_view content) {
    if (what != kRegisterCount || content.size() < 8) return;
    const auto index = number_at<std::uint32_t>(content, 0);
    if (index >= image.symbols().size()) return;
    registers[std::string(image.name(image.symbols()[index]))] =
        static_cast<int>(number_at<std::uint32_t>(content, 4));
  });
  return registers;
}

// Where __device__ and __constant__ variables lie.
bool holds_variables(std::string_view section) {
  return section == ".nv.global" || section == ".nv.global.init" || section == ".nv.constant3";
}

std::vector<std::string> variables_in(const sass::ElfImage& image) {
  std::vector<std::string> variables;
  for (const Elf64_Sym& symbol : image.symbols()) {
    if (ELF64_ST_TYPE(symbol.st_info) != STT_OBJECT || symbol.st_size == 0) continue;
    if (symbol.st_shndx >= image.sections().size()) continue;
    const std::string name(image.name(symbol));
    const bool is_own = !name.empty() && name.front() != '$';
    if (is_own && holds_variables(image.name(image.sections()[symbol.st_shndx])))
      variables.push_back(name);
  }
  return variables;
}

}  // namespace

Result<std::vector<KernelImage>> kernels_of_cubin(std::string_view elf) {
  const auto image = sass::ElfImage::open(std::as_bytes(std::span(elf.data(), elf.size())));
  if (!image) return fail(ErrorCode::parse, "the machine code is no ELF file");
  std::map<std::string, KernelImage> kernels;
  for (const Elf64_Sym& symbol : image->symbols()) {
    const bool is_kernel =
        ELF64_ST_TYPE(symbol.st_info) == STT_FUNC && (symbol.st_other & sass::kKernelFlag) != 0;
    const std::string name(image->name(symbol));
    if (is_kernel && !name.empty()) kernels[name].symbol = name;
  }
  const std::uint64_t reserved = image->find(kReserved) != nullptr ? kReservedBytes : 0;
  for (const Elf64_Shdr& section : image->sections()) {
    const std::string_view name = image->name(section);
    if (name == kInfo) {
      for (const auto& [symbol, registers] : registers_in(*image, image->content(section))) {
        const auto kernel = kernels.find(symbol);
        if (kernel != kernels.end()) kernel->second.registers = registers;
      }
    } else if (name.starts_with(kKernelInfo)) {
      const auto kernel = kernels.find(std::string(name.substr(kKernelInfo.size())));
      if (kernel != kernels.end())
        kernel->second.parameters = parameters_in(image->content(section));
    } else if (name.starts_with(kShared)) {
      const auto kernel = kernels.find(std::string(name.substr(kShared.size())));
      if (kernel != kernels.end())
        kernel->second.static_shared_bytes =
            section.sh_size - std::min<std::uint64_t>(reserved, section.sh_size);
    }
  }
  const std::vector<std::string> variables = variables_in(*image);
  std::vector<KernelImage> all;
  all.reserve(kernels.size());
  for (auto& [name, kernel] : kernels) {
    kernel.variables = variables;
    all.push_back(std::move(kernel));
  }
  return all;
}

std::string readable_name(const std::string& symbol) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status), &std::free);
  return status == 0 && text ? std::string(text.get()) : symbol;
}

}  // namespace regraph::capture

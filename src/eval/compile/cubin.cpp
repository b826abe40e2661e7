#include "eval/compile/cubin.h"

#include "sass/elf_image.h"

#include <algorithm>
#include <string>
#include <vector>

namespace regraph::compile_internal {

namespace {

using sass::ElfImage;

bool starts_with(std::string_view text, std::string_view start) {
  return text.substr(0, start.size()) == start;
}

}  // namespace

std::optional<Hash128> hash_machine_code(std::span<const std::byte> cubin, std::string_view entry) {
  const std::optional<ElfImage> opened = ElfImage::open(cubin);
  if (!opened) return std::nullopt;
  const ElfImage& image = *opened;
  const std::vector<Elf64_Sym>& symbols = image.symbols();
  const auto is_other_kernel = [&](std::string_view name) {
    return name != entry &&
           std::any_of(symbols.begin(), symbols.end(), [&](const Elf64_Sym& symbol) {
             return (symbol.st_other & sass::kKernelFlag) != 0 && image.name(symbol) == name;
           });
  };

  // Pieces without names, the kernel's own text first; the order of the others must not depend on
  // the names either.
  std::string own_text;
  std::vector<std::string> pieces;
  for (const Elf64_Shdr& section : image.sections()) {
    const std::string_view name = image.name(section);
    const std::string_view content = image.content(section);
    if (starts_with(name, ".text.")) {
      const std::string_view function = name.substr(6);
      if (function == entry) {
        own_text = content;
      } else if (!is_other_kernel(function)) {
        pieces.push_back("f" + std::string(content));
      }
    } else if (starts_with(name, ".rela.text.")) {
      if (is_other_kernel(name.substr(11))) continue;
      std::string piece = "r";
      for (const Elf64_Rela& relocation : image.table<Elf64_Rela>(section)) {
        const std::size_t index = ELF64_R_SYM(relocation.r_info);
        const Elf64_Sym symbol = index < symbols.size() ? symbols[index] : Elf64_Sym{};
        for (const std::uint64_t field :
             {relocation.r_offset, std::uint64_t{ELF64_R_TYPE(relocation.r_info)},
              static_cast<std::uint64_t>(relocation.r_addend), symbol.st_value, symbol.st_size}) {
          piece.append(reinterpret_cast<const char*>(&field), sizeof(field));
        }
      }
      if (piece.size() > 1) pieces.push_back(std::move(piece));
    } else if (starts_with(name, ".nv.global.init") ||
               // Bank 0 holds the parameters, which the launch fills in.
               (starts_with(name, ".nv.constant") && !starts_with(name, ".nv.constant0"))) {
      const std::size_t second_dot = name.find('.', 4);
      if (!starts_with(name, ".nv.global") && second_dot != std::string_view::npos &&
          is_other_kernel(name.substr(second_dot + 1))) {
        continue;
      }
      if (!content.empty()) pieces.push_back("c" + std::string(content));
    }
  }
  if (own_text.empty()) return std::nullopt;
  std::sort(pieces.begin(), pieces.end());
  Hasher hasher;
  hasher.add(own_text);
  for (const std::string& piece : pieces)
    hasher.add(piece);
  return hasher.finish();
}

}  // namespace regraph::compile_internal

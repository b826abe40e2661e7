#include "eval/compile/cubin.h"

#include <algorithm>
#include <cstring>
#include <elf.h>
#include <string>
#include <vector>

namespace regraph::compile_internal {

namespace {

// st_other bit that marks a symbol as a kernel and not a function kernels call.
constexpr unsigned char kEntryFlag = 0x10;

class Image {
 public:
  // Checks the header and reads the section table. Returns false when anything is out of range.
  bool open(std::span<const std::byte> bytes) {
    bytes_ = bytes;
    Elf64_Ehdr header;
    if (!copy(0, header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
        header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB ||
        header.e_shentsize != sizeof(Elf64_Shdr)) {
      return false;
    }
    for (std::size_t i = 0; i < header.e_shnum; ++i) {
      Elf64_Shdr section;
      if (!copy(header.e_shoff + i * sizeof(Elf64_Shdr), section)) return false;
      sections_.push_back(section);
    }
    if (header.e_shstrndx >= sections_.size()) return false;
    names_ = content(sections_[header.e_shstrndx]);
    return !names_.empty();
  }

  [[nodiscard]] const std::vector<Elf64_Shdr>& sections() const { return sections_; }

  [[nodiscard]] std::string_view name(const Elf64_Shdr& section) const {
    return text(names_, section.sh_name);
  }

  // Bytes of a section; empty for one without bytes in the file or out of range.
  [[nodiscard]] std::string_view content(const Elf64_Shdr& section) const {
    if (section.sh_type == SHT_NOBITS || section.sh_offset > bytes_.size() ||
        section.sh_size > bytes_.size() - section.sh_offset) {
      return {};
    }
    return {reinterpret_cast<const char*>(bytes_.data()) + section.sh_offset, section.sh_size};
  }

  [[nodiscard]] static std::string_view text(std::string_view table, std::size_t offset) {
    if (offset >= table.size()) return {};
    const std::string_view rest = table.substr(offset);
    return rest.substr(0, rest.find('\0'));
  }

  template <typename Entry>
  [[nodiscard]] std::vector<Entry> table(const Elf64_Shdr& section) const {
    const std::string_view bytes = content(section);
    std::vector<Entry> entries(bytes.size() / sizeof(Entry));
    if (!entries.empty()) std::memcpy(entries.data(), bytes.data(), entries.size() * sizeof(Entry));
    return entries;
  }

 private:
  template <typename Structure>
  bool copy(std::uint64_t offset, Structure& into) const {
    if (offset > bytes_.size() || sizeof(Structure) > bytes_.size() - offset) return false;
    std::memcpy(&into, bytes_.data() + offset, sizeof(Structure));
    return true;
  }

  std::span<const std::byte> bytes_;
  std::vector<Elf64_Shdr> sections_;
  std::string_view names_;
};

bool starts_with(std::string_view text, std::string_view start) {
  return text.substr(0, start.size()) == start;
}

}  // namespace

std::optional<Hash128> hash_machine_code(std::span<const std::byte> cubin, std::string_view entry) {
  Image image;
  if (!image.open(cubin)) return std::nullopt;

  std::vector<Elf64_Sym> symbols;
  std::string_view symbol_names;
  for (const Elf64_Shdr& section : image.sections()) {
    if (section.sh_type != SHT_SYMTAB || section.sh_link >= image.sections().size()) continue;
    symbols = image.table<Elf64_Sym>(section);
    symbol_names = image.content(image.sections()[section.sh_link]);
  }
  const auto is_other_kernel = [&](std::string_view name) {
    return name != entry &&
           std::any_of(symbols.begin(), symbols.end(), [&](const Elf64_Sym& symbol) {
             return (symbol.st_other & kEntryFlag) != 0 &&
                    Image::text(symbol_names, symbol.st_name) == name;
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

#include "sass/elf_image.h"

namespace regraph::sass {

template <typename Structure>
bool ElfImage::copy(std::uint64_t offset, Structure& into) const {
  if (offset > bytes_.size() || sizeof(Structure) > bytes_.size() - offset) return false;
  std::memcpy(&into, bytes_.data() + offset, sizeof(Structure));
  return true;
}

std::optional<ElfImage> ElfImage::open(std::span<const std::byte> bytes) {
  ElfImage image;
  image.bytes_ = bytes;
  Elf64_Ehdr header;
  if (!image.copy(0, header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
      header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB ||
      header.e_shentsize != sizeof(Elf64_Shdr) || header.e_shoff > bytes.size()) {
    return std::nullopt;
  }
  image.flags_ = header.e_flags;
  for (std::size_t i = 0; i < header.e_shnum; ++i) {
    Elf64_Shdr section;
    if (!image.copy(header.e_shoff + i * sizeof(Elf64_Shdr), section)) return std::nullopt;
    image.sections_.push_back(section);
  }
  if (header.e_shstrndx >= image.sections_.size()) return std::nullopt;
  image.section_names_ = image.content(image.sections_[header.e_shstrndx]);
  if (image.section_names_.empty()) return std::nullopt;
  for (const Elf64_Shdr& section : image.sections_) {
    if (section.sh_type != SHT_SYMTAB || section.sh_link >= image.sections_.size()) continue;
    image.symbols_ = image.table<Elf64_Sym>(section);
    image.symbol_names_ = image.content(image.sections_[section.sh_link]);
  }
  return image;
}

std::string_view ElfImage::name(const Elf64_Shdr& section) const {
  return text(section_names_, section.sh_name);
}

std::string_view ElfImage::name(const Elf64_Sym& symbol) const {
  return text(symbol_names_, symbol.st_name);
}

const Elf64_Shdr* ElfImage::find(std::string_view wanted) const {
  for (const Elf64_Shdr& section : sections_) {
    if (name(section) == wanted) return &section;
  }
  return nullptr;
}

std::string_view ElfImage::content(const Elf64_Shdr& section) const {
  if (section.sh_type == SHT_NOBITS || section.sh_offset > bytes_.size() ||
      section.sh_size > bytes_.size() - section.sh_offset) {
    return {};
  }
  return {reinterpret_cast<const char*>(bytes_.data()) + section.sh_offset, section.sh_size};
}

std::string_view ElfImage::text(std::string_view table, std::size_t offset) {
  if (offset >= table.size()) return {};
  const std::string_view rest = table.substr(offset);
  return rest.substr(0, rest.find('\0'));
}

}  // namespace regraph::sass

// Reads the ELF file that holds compiled device code. Its bytes are foreign: a compiler that has
// read a hostile source wrote them, or a damaged cache.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <elf.h>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace regraph::sass {

// The section table of a 64-bit little-endian ELF file. Views the bytes it was opened on, which
// must outlive it. No access goes outside them, whatever they hold.
class ElfImage {
 public:
  // Nothing when the header or a section header lies outside the file.
  [[nodiscard]] static std::optional<ElfImage> open(std::span<const std::byte> bytes);

  [[nodiscard]] const std::vector<Elf64_Shdr>& sections() const { return sections_; }
  [[nodiscard]] std::uint32_t flags() const { return flags_; }  // e_flags: the architecture

  [[nodiscard]] std::string_view name(const Elf64_Shdr& section) const;
  // The first section called `wanted`, null when there is none.
  [[nodiscard]] const Elf64_Shdr* find(std::string_view wanted) const;
  // Bytes of a section; empty for one without bytes in the file or out of range.
  [[nodiscard]] std::string_view content(const Elf64_Shdr& section) const;

  // A section as fixed-size entries; a torn last one is left out.
  template <typename Entry>
  [[nodiscard]] std::vector<Entry> table(const Elf64_Shdr& section) const {
    const std::string_view bytes = content(section);
    std::vector<Entry> entries(bytes.size() / sizeof(Entry));
    if (!entries.empty()) std::memcpy(entries.data(), bytes.data(), entries.size() * sizeof(Entry));
    return entries;
  }

  // The symbol table, of several the last; empty without one.
  [[nodiscard]] const std::vector<Elf64_Sym>& symbols() const { return symbols_; }
  [[nodiscard]] std::string_view name(const Elf64_Sym& symbol) const;

  // The zero-terminated text at `offset` of a string table; empty when out of range.
  [[nodiscard]] static std::string_view text(std::string_view table, std::size_t offset);

 private:
  template <typename Structure>
  bool copy(std::uint64_t offset, Structure& into) const;

  std::span<const std::byte> bytes_;
  std::vector<Elf64_Shdr> sections_;
  std::string_view section_names_;
  std::vector<Elf64_Sym> symbols_;
  std::string_view symbol_names_;
  std::uint32_t flags_ = 0;
};

// Bit of st_other that marks a symbol as a kernel and not a function that kernels call.
inline constexpr unsigned char kKernelFlag = 0x10;

}  // namespace regraph::sass

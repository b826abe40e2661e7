// Which PTX line a machine instruction was made from.
//
// With -lineinfo ptxas writes the section .nv_debug_line_sass: line programs in DWARF version 2's
// format (DWARF Debugging Information Format 2.0.0, section 6.2), one a function, that map
// addresses within a code section to lines of the PTX text. The format was found out by comparing,
// not from documentation; machine_code_check.h is what notices when it changes.
#pragma once

#include "sass/elf_image.h"

#include <cstdint>
#include <vector>

namespace regraph::sass {

struct LineRow {
  std::uint32_t section = 0;  // index of the code section
  std::uint64_t address = 0;  // offset in it; the row holds up to the next one
  int line = 0;               // 1-based; 0: from here on nothing is known
};

// Rows of all functions, in order of section and address. Empty when the file has no such table or
// it is damaged; every bound is checked.
[[nodiscard]] std::vector<LineRow> read_line_table(const ElfImage& image);

// The PTX line of the instruction at `address` of `section`; 0: unknown.
[[nodiscard]] int line_at(const std::vector<LineRow>& rows, std::uint32_t section,
                          std::uint64_t address);

}  // namespace regraph::sass

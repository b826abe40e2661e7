#include "sass/line_table.h"

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>

namespace regraph::sass {
namespace {

// More rows than instructions make no sense; this bounds what hostile bytes can make us store.
constexpr std::size_t kMostRows = std::size_t{1} << 24;

// Reads numbers from bytes; past the end everything is 0 and `good` is false.
class Cursor {
 public:
  Cursor(std::string_view bytes, std::uint64_t base) : bytes_(bytes), base_(base) {}

  [[nodiscard]] bool good() const { return good_; }
  [[nodiscard]] bool at_end() const { return at_ >= bytes_.size(); }
  [[nodiscard]] std::uint64_t position() const { return base_ + at_; }  // in the section

  template <typename Number>
  Number number() {
    Number value{};
    if (bytes_.size() - at_ < sizeof(Number)) return spoil<Number>();
    std::memcpy(&value, bytes_.data() + at_, sizeof(Number));
    at_ += sizeof(Number);
    return value;
  }

  std::uint64_t unsigned_leb() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; good_; shift += 7) {
      const auto byte = number<std::uint8_t>();
      if (shift < 64) value |= std::uint64_t{byte & 0x7fU} << shift;
      if ((byte & 0x80U) == 0) break;
    }
    return value;
  }

  std::int64_t signed_leb() {
    std::uint64_t value = 0;
    unsigned shift = 0;
    std::uint8_t byte = 0x80;
    while (good_ && (byte & 0x80U) != 0) {
      byte = number<std::uint8_t>();
      if (shift < 64) value |= std::uint64_t{byte & 0x7fU} << shift;
      shift += 7;
    }
    if (shift < 64 && (byte & 0x40U) != 0) value |= ~std::uint64_t{0} << shift;
    return static_cast<std::int64_t>(value);
  }

  void skip(std::uint64_t count) {
    if (count > bytes_.size() - at_) {
      spoil<int>();
    } else {
      at_ += count;
    }
  }
  Cursor part(std::uint64_t count) {
    const std::uint64_t begin = at_;
    skip(count);
    return good_ ? Cursor(bytes_.substr(begin, count), base_ + begin) : Cursor({}, 0);
  }

 private:
  template <typename Number>
  Number spoil() {
    good_ = false;
    at_ = bytes_.size();
    return {};
  }

  std::string_view bytes_;
  std::uint64_t base_;
  std::size_t at_ = 0;
  bool good_ = true;
};

struct Place {
  std::uint32_t section = 0;
  std::uint64_t address = 0;
};

// Addresses that the linker fills in: offset in the line section -> code section and offset there.
std::map<std::uint64_t, Place> relocated_addresses(const ElfImage& image) {
  std::map<std::uint64_t, Place> places;
  const auto add = [&](std::uint64_t offset, std::uint64_t symbol, std::int64_t addend) {
    if (symbol >= image.symbols().size()) return;
    const Elf64_Sym& target = image.symbols()[symbol];
    places[offset] = {target.st_shndx, target.st_value + static_cast<std::uint64_t>(addend)};
  };
  if (const Elf64_Shdr* rela = image.find(".rela.nv_debug_line_sass")) {
    for (const auto& one : image.table<Elf64_Rela>(*rela))
      add(one.r_offset, ELF64_R_SYM(one.r_info), one.r_addend);
  }
  if (const Elf64_Shdr* rel = image.find(".rel.nv_debug_line_sass")) {
    for (const auto& one : image.table<Elf64_Rel>(*rel))
      add(one.r_offset, ELF64_R_SYM(one.r_info), 0);
  }
  return places;
}

struct Header {
  std::uint8_t minimum_instruction_length = 1;
  std::int8_t line_base = 0;
  std::uint8_t line_range = 1;
  std::uint8_t opcode_base = 1;
  std::vector<std::uint8_t> operand_counts;  // of standard opcodes, from 1
};

std::optional<Header> read_header(Cursor& unit) {
  Header header;
  const auto version = unit.number<std::uint16_t>();
  const auto length = unit.number<std::uint32_t>();
  if (version < 2 || version > 4) return std::nullopt;
  Cursor rest = unit.part(length);
  header.minimum_instruction_length = rest.number<std::uint8_t>();
  if (version >= 4) rest.skip(1);  // operations an instruction
  rest.skip(1);                    // is_stmt
  header.line_base = rest.number<std::int8_t>();
  header.line_range = rest.number<std::uint8_t>();
  header.opcode_base = rest.number<std::uint8_t>();
  if (!unit.good() || !rest.good() || header.line_range == 0 || header.opcode_base == 0)
    return std::nullopt;
  for (int i = 1; i < header.opcode_base; ++i)
    header.operand_counts.push_back(rest.number<std::uint8_t>());
  if (!rest.good()) return std::nullopt;
  return header;
}

// DWARF's line number state machine.
class Program {
 public:
  Program(const Header& header, const std::map<std::uint64_t, Place>& places,
          std::vector<LineRow>& rows)
      : header_(header), places_(places), rows_(rows) {}

  // Returns false when the program is damaged.
  bool run(Cursor unit) {
    while (!unit.at_end() && rows_.size() < kMostRows) {
      const auto opcode = unit.number<std::uint8_t>();
      if (opcode >= header_.opcode_base) {
        const unsigned adjusted = opcode - header_.opcode_base;
        advance(adjusted / header_.line_range);
        line_ += static_cast<std::uint64_t>(std::int64_t{header_.line_base}) +
                 adjusted % header_.line_range;
        emit();
      } else if (opcode == 0) {
        extended(unit);
      } else {
        standard(opcode, unit);
      }
      if (!unit.good()) return false;
    }
    return unit.good();
  }

 private:
  void advance(std::uint64_t operations) {
    address_ += operations * header_.minimum_instruction_length;
  }

  void emit() {
    const bool sane = line_ <= static_cast<std::uint64_t>(std::numeric_limits<int>::max());
    if (known_) rows_.push_back({section_, address_, sane ? static_cast<int>(line_) : 0});
  }

  void extended(Cursor& unit) {
    Cursor body = unit.part(unit.unsigned_leb());
    if (!unit.good() || body.at_end()) return;
    switch (body.number<std::uint8_t>()) {
      case 1:  // end of sequence
        if (known_) rows_.push_back({section_, address_, 0});
        line_ = 1;
        address_ = 0;
        known_ = false;
        break;
      case 2: {  // set address; the value in the file is what a relocation adds to
        const auto place = places_.find(body.position());
        known_ = place != places_.end();
        if (known_) {
          section_ = place->second.section;
          address_ = place->second.address;
        }
        break;
      }
      default:
        break;
    }
  }

  void standard(std::uint8_t opcode, Cursor& unit) {
    switch (opcode) {
      case 1:  // copy
        emit();
        break;
      case 2:  // advance address
        advance(unit.unsigned_leb());
        break;
      case 3:  // advance line
        line_ += static_cast<std::uint64_t>(unit.signed_leb());
        break;
      case 8:  // add the address part of special opcode 255
        advance((255U - header_.opcode_base) / header_.line_range);
        break;
      case 9:  // add a fixed amount
        address_ += unit.number<std::uint16_t>();
        break;
      default:
        for (int i = 0; i < header_.operand_counts[opcode - 1U]; ++i)
          unit.unsigned_leb();
        break;
    }
  }

  const Header& header_;
  const std::map<std::uint64_t, Place>& places_;
  std::vector<LineRow>& rows_;
  std::uint32_t section_ = 0;
  std::uint64_t address_ = 0;
  std::uint64_t line_ = 1;  // unsigned: sums of hostile numbers may wrap
  bool known_ = false;      // an address was set
};

}  // namespace

std::vector<LineRow> read_line_table(const ElfImage& image) {
  std::vector<LineRow> rows;
  const Elf64_Shdr* section = image.find(".nv_debug_line_sass");
  if (section == nullptr) return rows;
  const auto places = relocated_addresses(image);
  Cursor units(image.content(*section), 0);
  while (!units.at_end()) {
    Cursor unit = units.part(units.number<std::uint32_t>());
    if (!units.good()) return {};
    const auto header = read_header(unit);
    if (!header || !Program(*header, places, rows).run(unit)) return {};
  }
  std::stable_sort(rows.begin(), rows.end(), [](const LineRow& a, const LineRow& b) {
    return std::tie(a.section, a.address) < std::tie(b.section, b.address);
  });
  return rows;
}

int line_at(const std::vector<LineRow>& rows, std::uint32_t section, std::uint64_t address) {
  const auto after = std::upper_bound(rows.begin(), rows.end(), std::pair(section, address),
                                      [](const auto& wanted, const LineRow& row) {
                                        return wanted < std::pair(row.section, row.address);
                                      });
  if (after == rows.begin() || std::prev(after)->section != section) return 0;
  return std::prev(after)->line;
}

}  // namespace regraph::sass

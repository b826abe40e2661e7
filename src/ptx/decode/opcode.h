// A mnemonic taken apart: ld.global.nc.v4.f32 -> "ld", {global, nc, v4, f32}.
#pragma once

#include "ptx/decode/bytecode.h"
#include "ptx/parse/data_type.h"

#include <array>
#include <optional>
#include <string_view>

namespace regraph::ptx {

class Opcode {
 public:
  explicit Opcode(std::string_view mnemonic);

  [[nodiscard]] std::string_view name() const { return name_; }
  [[nodiscard]] bool has(std::string_view modifier) const;
  [[nodiscard]] std::size_t modifier_count() const { return count_; }
  // Empty beyond the last one.
  [[nodiscard]] std::string_view modifier(std::size_t index) const {
    return index < count_ ? modifiers_[index] : std::string_view();
  }
  // The data types among the modifiers, in order.
  [[nodiscard]] std::size_t type_count() const { return type_count_; }
  [[nodiscard]] std::optional<DataType> type(std::size_t index) const {
    if (index >= type_count_) return std::nullopt;
    return types_[index];
  }
  // The last type: what a load, store or arithmetic instruction works on.
  [[nodiscard]] std::optional<DataType> last_type() const {
    return type_count_ == 0 ? std::nullopt : type(type_count_ - 1);
  }
  // From .rn .rz .rm .rp and .rni ...; nearest when there is none.
  [[nodiscard]] RoundingMode rounding() const;
  [[nodiscard]] bool rounds_to_integer() const;
  // 1, 2, 4 or 8 by .v2, .v4, .v8.
  [[nodiscard]] int vector_length() const;

 private:
  static constexpr std::size_t kMost = 12;
  std::string_view name_;
  std::array<std::string_view, kMost> modifiers_;
  std::size_t count_ = 0;
  std::array<DataType, 4> types_ = {};
  std::size_t type_count_ = 0;
};

}  // namespace regraph::ptx

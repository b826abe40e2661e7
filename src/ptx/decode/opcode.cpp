#include "ptx/decode/opcode.h"

#include <algorithm>

namespace regraph::ptx {

Opcode::Opcode(std::string_view mnemonic) {
  const std::size_t dot = mnemonic.find('.');
  name_ = mnemonic.substr(0, dot);
  while (!mnemonic.empty()) {
    const std::size_t next = mnemonic.find('.');
    if (next == std::string_view::npos) break;
    mnemonic.remove_prefix(next + 1);
    const std::string_view word = mnemonic.substr(0, mnemonic.find('.'));
    if (count_ < kMost) modifiers_[count_++] = word;
    if (const auto type = data_type_from_name(word); type.has_value()) {
      if (type_count_ < types_.size()) types_[type_count_++] = *type;
    }
  }
}

bool Opcode::has(std::string_view modifier) const {
  const auto end = modifiers_.begin() + static_cast<std::ptrdiff_t>(count_);
  return std::find(modifiers_.begin(), end, modifier) != end;
}

RoundingMode Opcode::rounding() const {
  if (has("rz") || has("rzi")) return RoundingMode::zero;
  if (has("rm") || has("rmi")) return RoundingMode::down;
  if (has("rp") || has("rpi")) return RoundingMode::up;
  return RoundingMode::nearest;
}

bool Opcode::rounds_to_integer() const {
  return has("rni") || has("rzi") || has("rmi") || has("rpi");
}

int Opcode::vector_length() const {
  if (has("v2")) return 2;
  if (has("v4")) return 4;
  return has("v8") ? 8 : 1;
}

}  // namespace regraph::ptx

#include "ptx/parse/parser.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace regraph::ptx {

// .align 4 .b8, .u64 .ptr .global .align 1, .v4 .f32
bool Parser::parse_declarator_words(Variable& variable) {
  bool typed = false;
  bool pointer = false;
  std::uint64_t lanes = 1;
  while (token_.kind == Token::Kind::word && token_.text[0] == '.') {
    const std::string_view word = token_.text;
    advance();
    if (word == ".align") {
      if (token_.kind != Token::Kind::integer || !std::has_single_bit(token_.bits) ||
          token_.bits > 4096) {
        return fail("bad alignment");
      }
      // After .ptr the alignment is that of what the pointer points to.
      if (!pointer) variable.alignment = token_.bits;
      advance();
    } else if (word == ".v2") {
      lanes = 2;
    } else if (word == ".v4") {
      lanes = 4;
    } else if (word == ".ptr") {
      pointer = true;
    } else if (const auto type = data_type_from_name(word.substr(1)); type.has_value()) {
      variable.type = *type;
      typed = true;
    }
    // Others (.attribute, .managed, the space after .ptr) change nothing here.
  }
  if (!typed) return fail("a declaration without a type");
  variable.bytes = lanes * size_in_bytes(variable.type);
  variable.alignment = std::max<std::uint64_t>(variable.alignment, variable.bytes);
  return true;
}

bool Parser::parse_array(Variable& variable) {
  while (accept('[')) {
    if (accept(']')) {
      variable.bytes = 0;  // the size follows from the initialiser or the launch
      continue;
    }
    if (token_.kind != Token::Kind::integer) return fail("expected an array length");
    if (token_.bits != 0 && variable.bytes > kMaximumVariableBytes / token_.bits) {
      return fail("the array is too large");
    }
    variable.bytes *= token_.bits;
    advance();
    if (!expect(']')) return false;
  }
  return true;
}

bool Parser::parse_initialiser(Variable& variable) {
  const std::size_t element = size_in_bytes(variable.type);
  std::uint64_t depth = 0;
  do {
    if (accept('{')) {
      ++depth;
      continue;
    }
    if (accept('}')) {
      if (depth == 0) return fail("unbalanced '}'");
      --depth;
      if (depth > 0) accept(',');
      continue;
    }
    if (token_.kind == Token::Kind::word) {
      if (!parse_address_initialiser(variable)) return false;
      if (depth > 0) accept(',');
      continue;
    }
    const bool negative = accept('-');
    std::uint64_t bits = token_.bits;
    if (token_.kind == Token::Kind::real64 && element == 4) {
      bits = std::bit_cast<std::uint32_t>(static_cast<float>(std::bit_cast<double>(bits)));
    } else if (token_.kind != Token::Kind::integer && token_.kind != Token::Kind::real32 &&
               token_.kind != Token::Kind::real64) {
      return fail("only numbers are supported in an initialiser");
    }
    if (negative) bits = 0 - bits;
    for (std::size_t i = 0; i < element; ++i) {
      variable.initial.push_back(static_cast<std::byte>(i < 8 ? bits >> (8 * i) : 0));
    }
    advance();
    if (depth > 0) accept(',');
    if (variable.initial.size() > kMaximumPtxBytes) return fail("the initialiser is too large");
  } while (depth > 0);
  if (variable.bytes == 0) variable.bytes = variable.initial.size();
  if (variable.initial.size() > variable.bytes) return fail("more initial values than elements");
  return true;
}

// x, x+8, generic(x)+8: eight bytes that hold an address.
bool Parser::parse_address_initialiser(Variable& variable) {
  AddressInitialiser initialiser;
  initialiser.generic = token_.is_word("generic");
  if (initialiser.generic) {
    advance();
    if (!expect('(')) return false;
  }
  const auto binding = scopes_.find(token_.text);
  if (token_.kind != Token::Kind::word || !binding.has_value() ||
      binding->kind == NameBinding::Kind::reg) {
    return fail("only numbers and addresses are supported in an initialiser");
  }
  initialiser.of_function = binding->kind == NameBinding::Kind::function;
  initialiser.variable = binding->index;
  advance();
  if (initialiser.generic && !expect(')')) return false;
  if (token_.is('+') || token_.is('-')) {
    const bool minus = token_.is('-');
    advance();
    if (token_.kind != Token::Kind::integer) return fail("expected an offset");
    initialiser.addend = static_cast<std::int64_t>(minus ? 0 - token_.bits : token_.bits);
    advance();
  }
  if (size_in_bytes(variable.type) != sizeof(std::uint64_t)) {
    return fail("an address needs an initialiser of 8-byte elements");
  }
  initialiser.offset = variable.initial.size();
  variable.initial.resize(variable.initial.size() + sizeof(std::uint64_t));
  variable.addresses.push_back(initialiser);
  return true;
}

bool Parser::parse_variables(StateSpace space, bool is_extern) {
  Variable pattern;
  pattern.space = space;
  pattern.is_extern = is_extern;
  if (!parse_declarator_words(pattern)) return false;
  do {
    if (token_.kind != Token::Kind::word) return fail("expected a variable name");
    Variable variable = pattern;
    variable.name = token_.text;
    advance();
    if (!parse_array(variable)) return false;
    if (accept('=') && !parse_initialiser(variable)) return false;
    scopes_.declare(variable.name, {NameBinding::Kind::variable,
                                    static_cast<std::uint32_t>(module_.variables.size())});
    module_.variables.push_back(std::move(variable));
  } while (accept(','));
  return expect(';');
}

bool Parser::parse_registers(Function& function) {
  Variable pattern;
  if (!parse_declarator_words(pattern)) return false;
  if (pattern.bytes != size_in_bytes(pattern.type)) return fail("vector registers are unsupported");
  do {
    if (token_.kind != Token::Kind::word) return fail("expected a register name");
    const std::string_view name = token_.text;
    advance();
    std::uint64_t count = 1;
    const auto first = static_cast<std::uint32_t>(function.registers.size());
    if (accept('<')) {
      count = token_.bits;
      if (token_.kind != Token::Kind::integer ||
          count > kMaximumRegisters - function.registers.size()) {
        return fail("too many registers");
      }
      advance();
      if (!expect('>')) return false;
      scopes_.declare_range(name, static_cast<std::uint32_t>(count), first);
    } else {
      if (function.registers.size() >= kMaximumRegisters) return fail("too many registers");
      scopes_.declare(name, {NameBinding::Kind::reg, first});
    }
    function.registers.resize(function.registers.size() + count, pattern.type);
  } while (accept(','));
  return expect(';');
}

}  // namespace regraph::ptx

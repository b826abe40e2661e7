#include "ptx/parse/parser.h"

#include <fmt/format.h>

#include <algorithm>

namespace regraph::ptx {

bool Parser::parse_statement(Function& function) {
  if (accept(';')) return true;
  if (token_.is('@')) return parse_instruction(function);
  if (token_.kind != Token::Kind::word) return fail("expected a statement");
  if (token_.text[0] == '.') return parse_directive(function);
  return parse_instruction(function);
}

bool Parser::parse_directive(Function& function) {
  const std::string_view word = token_.text;
  if (word == ".loc") return parse_location(function);
  if (word == ".file" || word == ".section") return skip_line();
  if (word == ".pragma" || word == ".branchtargets" || word == ".callprototype") {
    return skip_statement();
  }
  advance();
  if (word == ".reg") return parse_registers(function);
  if (word == ".shared") return parse_variables(StateSpace::shared, false);
  if (word == ".local") return parse_variables(StateSpace::local, false);
  if (word == ".param") return parse_variables(StateSpace::parameter, false);
  if (word == ".global") return parse_variables(StateSpace::global, false);
  if (word == ".const") return parse_variables(StateSpace::constant, false);
  if (word == ".extern" && token_.is_word(".shared")) {
    advance();
    return parse_variables(StateSpace::shared, true);
  }
  return fail(fmt::format("unknown directive '{}'", word.substr(0, 40)));
}

// .loc file line column [, function_name label [+ offset], inlined_at file line column]
bool Parser::parse_location(Function& /*function*/) {
  const int text_line = token_.line;
  std::uint64_t numbers[2] = {0, 0};
  int count = 0;
  bool in_call_site = false;
  std::uint64_t call_site[2] = {0, 0};
  int call_site_count = 0;
  advance();
  while (token_.line == text_line && token_.kind != Token::Kind::end) {
    if (token_.is_word("inlined_at")) {
      in_call_site = true;
      call_site_count = 0;
    } else if (token_.kind == Token::Kind::integer) {
      if (in_call_site) {
        if (call_site_count < 2) call_site[call_site_count] = token_.bits;
        ++call_site_count;
      } else {
        if (count < 2) numbers[count] = token_.bits;
        ++count;
      }
    }
    advance();
  }
  if (main_file_ == 0) main_file_ = numbers[0];
  constexpr std::uint64_t kLargestLine = 1U << 30;
  // A line of a header says nothing to the kernel's author: name the call site instead.
  const bool own = numbers[0] == main_file_ || call_site[0] != main_file_;
  const std::uint64_t line = own ? numbers[1] : call_site[1];
  if (numbers[0] == main_file_ || call_site[0] == main_file_) {
    source_line_ = static_cast<int>(std::min(line, kLargestLine));
  }
  return true;
}

bool Parser::parse_label(Function& function, std::string_view name) {
  // A branch target table is a label followed by its directive.
  if (token_.is_word(".branchtargets")) {
    advance();
    std::vector<std::string_view> targets;
    do {
      if (token_.kind != Token::Kind::word) return fail("expected a label");
      targets.push_back(token_.text);
      advance();
    } while (accept(','));
    function.branch_targets.push_back({name, std::move(targets), 0});
    return expect(';');
  }
  function.labels.push_back(
      {name, 0, static_cast<std::uint32_t>(function.instructions.size()), false});
  return true;
}

bool Parser::parse_instruction(Function& function) {
  Instruction instruction;
  instruction.line = token_.line;
  instruction.source_line = source_line_;
  if (accept('@')) {
    instruction.guard_negated = accept('!');
    const auto binding = scopes_.find(token_.text);
    if (token_.kind != Token::Kind::word || !binding.has_value() ||
        binding->kind != NameBinding::Kind::reg ||
        function.registers[binding->index] != DataType::predicate) {
      return fail("expected a predicate register after '@'");
    }
    instruction.guard = static_cast<std::int32_t>(binding->index);
    advance();
  }
  if (token_.kind != Token::Kind::word) return fail("expected an instruction");
  instruction.mnemonic = token_.text;
  advance();
  if (instruction.guard < 0 && accept(':')) return parse_label(function, instruction.mnemonic);
  if (!parse_operands(function, instruction)) return false;
  function.instructions.push_back(instruction);
  return true;
}

bool Parser::parse_operands(Function& function, Instruction& instruction) {
  // Operands of one instruction lie together; lists keep theirs in Function::elements.
  instruction.first_operand = static_cast<std::uint32_t>(function.operands.size());
  while (!token_.is(';')) {
    Operand operand;
    if (!parse_operand(function, operand)) return false;
    function.operands.push_back(operand);
    if (!accept(',')) break;
  }
  instruction.operand_count =
      static_cast<std::uint32_t>(function.operands.size()) - instruction.first_operand;
  return expect(';');
}

bool Parser::parse_operand(Function& function, Operand& operand) {
  if (accept('{')) return parse_list(function, operand, '}');
  if (accept('(')) return parse_list(function, operand, ')');
  if (accept('[')) return parse_address(function, operand);
  if (!parse_simple_operand(function, operand)) return false;
  if (accept('|')) {
    Operand second;
    if (!parse_simple_operand(function, second)) return false;
    if (second.kind == Operand::Kind::sink) {
      operand.second = -2;
    } else if (second.kind == Operand::Kind::reg) {
      operand.second = static_cast<std::int32_t>(second.index);
    } else {
      return fail("expected a register after '|'");
    }
  }
  return true;
}

bool Parser::parse_simple_operand(Function& function, Operand& operand) {
  const bool negative = accept('-');
  if (accept('!')) operand.negated = true;
  switch (token_.kind) {
    case Token::Kind::integer:
      operand.kind = Operand::Kind::integer;
      operand.bits = negative ? 0 - token_.bits : token_.bits;
      break;
    case Token::Kind::real32:
      operand.kind = Operand::Kind::real32;
      operand.bits = token_.bits ^ (negative ? 0x80000000U : 0U);
      break;
    case Token::Kind::real64:
      operand.kind = Operand::Kind::real64;
      operand.bits = token_.bits ^ (negative ? 1ULL << 63 : 0);
      break;
    case Token::Kind::word: {
      operand.text = token_.text;
      const auto binding = scopes_.find(token_.text);
      if (token_.text == "_") {
        operand.kind = Operand::Kind::sink;
      } else if (binding.has_value()) {
        operand.index = binding->index;
        operand.kind = binding->kind == NameBinding::Kind::reg        ? Operand::Kind::reg
                       : binding->kind == NameBinding::Kind::variable ? Operand::Kind::variable
                                                                      : Operand::Kind::function;
      } else if (token_.text[0] == '%' || token_.text == "WARP_SZ") {
        operand.kind = Operand::Kind::special;
      } else {
        operand.kind = Operand::Kind::label;
      }
      if (negative) return fail("a name cannot be negated with '-'");
      break;
    }
    default:
      return fail(fmt::format("expected an operand but found '{}'", token_.text.substr(0, 40)));
  }
  advance();
  if (operand.kind == Operand::Kind::variable && accept('+')) {
    const bool minus = accept('-');
    if (token_.kind != Token::Kind::integer) return fail("expected an offset");
    operand.offset = static_cast<std::int64_t>(minus ? 0 - token_.bits : token_.bits);
    advance();
  }
  static_cast<void>(function);
  return true;
}

bool Parser::parse_list(Function& function, Operand& operand, char close) {
  operand.kind = Operand::Kind::list;
  operand.index = static_cast<std::uint32_t>(function.elements.size());
  while (!token_.is(close)) {
    Operand element;
    if (!parse_simple_operand(function, element)) return false;
    function.elements.push_back(element);
    ++operand.count;
    if (!accept(',')) break;
  }
  return expect(close);
}

bool Parser::parse_address(Function& function, Operand& operand) {
  operand.kind = Operand::Kind::address;
  operand.index = static_cast<std::uint32_t>(function.elements.size());
  operand.count = 1;
  Operand base;
  if (!parse_simple_operand(function, base)) return false;
  operand.offset = base.offset;
  base.offset = 0;
  while (token_.is('+') || token_.is('-')) {
    bool negative = token_.is('-');
    advance();
    if (accept('-')) negative = !negative;
    if (token_.kind != Token::Kind::integer) return fail("expected an offset");
    const std::uint64_t magnitude = negative ? 0 - token_.bits : token_.bits;
    operand.offset =
        static_cast<std::int64_t>(static_cast<std::uint64_t>(operand.offset) + magnitude);
    advance();
  }
  function.elements.push_back(base);
  // Coordinates of a tensor: [map, {column, row}].
  if (accept(',')) {
    if (!accept('{')) return fail("expected the coordinates of a tensor");
    do {
      Operand coordinate;
      if (!parse_simple_operand(function, coordinate)) return false;
      function.elements.push_back(coordinate);
      ++operand.count;
    } while (accept(','));
    if (!expect('}')) return false;
  }
  return expect(']');
}

}  // namespace regraph::ptx

// Recursive-descent without the recursion: scopes are an explicit stack, so depth costs no C++
// stack.
#pragma once

#include "ptx/parse/lexer.h"
#include "ptx/parse/module.h"
#include "ptx/parse/scope.h"

#include <memory>
#include <string>
#include <string_view>

namespace regraph::ptx {

// One pass over the text of a module; used through parse_module.
class Parser {
 public:
  explicit Parser(Module& module) : module_(module), lexer_(module.text) { advance(); }
  // Fills the module. On failure error() says why.
  [[nodiscard]] bool parse();
  [[nodiscard]] const std::string& error() const { return error_; }

 private:
  // Token helpers.
  void advance() { token_ = lexer_.next(); }
  bool accept(char c);
  bool expect(char c);
  bool fail(std::string_view message);
  bool skip_statement();  // up to and including ';'
  bool skip_braces();     // a balanced { } group
  bool skip_line();       // debugging data, which ends with its line

  // Module level.
  bool parse_top_level();
  bool parse_linkage(bool* is_extern);
  bool parse_function(bool is_entry);
  bool parse_parameters(Function& function, bool results);
  bool parse_body(Function& function);

  // Declarations.
  bool parse_variables(StateSpace space, bool is_extern);
  bool parse_declarator_words(Variable& variable);
  bool parse_array(Variable& variable);
  bool parse_initialiser(Variable& variable);
  bool parse_address_initialiser(Variable& variable);
  bool parse_registers(Function& function);

  // Statements (statement_parser.cpp).
  bool parse_statement(Function& function);
  bool parse_directive(Function& function);
  bool parse_location(Function& function);
  bool parse_instruction(Function& function);
  bool parse_operands(Function& function, Instruction& instruction);
  bool parse_operand(Function& function, Operand& operand);
  bool parse_simple_operand(Function& function, Operand& operand);
  bool parse_list(Function& function, Operand& operand, char close);
  bool parse_address(Function& function, Operand& operand);
  bool parse_label(Function& function, std::string_view name);
  // Where braces within a body began.
  struct LabelScope {
    std::size_t first_label;
    std::size_t first_operand;
    std::size_t first_table;
  };
  void close_labels(Function& function, const LabelScope& scope);
  void finish_labels(Function& function);

  Module& module_;
  Lexer lexer_;
  Token token_;
  ScopeStack scopes_;
  std::string error_;
  int source_line_ = 0;
  std::uint64_t main_file_ = 0;  // .loc file of the function itself, 0 until known
};

}  // namespace regraph::ptx

#include "ptx/parse/parser.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace regraph::ptx {

bool Parser::fail(std::string_view message) {
  if (error_.empty()) error_ = fmt::format("PTX line {}: {}", token_.line, message);
  return false;
}

bool Parser::accept(char c) {
  if (!token_.is(c)) return false;
  advance();
  return true;
}

bool Parser::expect(char c) {
  if (accept(c)) return true;
  return fail(
      fmt::format("expected '{}' but found '{}'", c,
                  token_.kind == Token::Kind::end ? "end of text" : token_.text.substr(0, 40)));
}

bool Parser::skip_statement() {
  while (!token_.is(';')) {
    if (token_.kind == Token::Kind::end) return fail("unexpected end of text");
    advance();
  }
  advance();
  return true;
}

bool Parser::skip_braces() {
  std::uint64_t depth = 0;
  do {
    if (token_.is('{')) ++depth;
    if (token_.is('}')) --depth;
    if (token_.kind == Token::Kind::end) return fail("unexpected end of text, a '}' is missing");
    advance();
  } while (depth > 0);
  return true;
}

bool Parser::skip_line() {
  const int line = token_.line;
  while (token_.line == line && token_.kind != Token::Kind::end)
    advance();
  return true;
}

bool Parser::parse() {
  scopes_.push();
  while (token_.kind != Token::Kind::end) {
    if (!parse_top_level()) return false;
  }
  return true;
}

bool Parser::parse_linkage(bool* is_extern) {
  while (token_.is_word(".visible") || token_.is_word(".weak") || token_.is_word(".extern") ||
         token_.is_word(".common")) {
    if (token_.text == ".extern") *is_extern = true;
    advance();
  }
  return true;
}

bool Parser::parse_top_level() {
  if (accept(';')) return true;
  if (token_.kind != Token::Kind::word) return fail("expected a directive");
  const std::string_view word = token_.text;
  if (word == ".version" || word == ".target" || word == ".address_size") {
    advance();
    if (word == ".version") module_.version = token_.text;
    if (word == ".target") module_.target = token_.text;
    if (word == ".address_size" && token_.bits != 64) return fail("only .address_size 64 is known");
    return skip_line();
  }
  if (word == ".file" || word == ".loc" || word == ".b8" || word == ".pragma") return skip_line();
  if (word == ".section") {
    while (!token_.is('{')) {
      if (token_.kind == Token::Kind::end) return fail("unexpected end of text");
      advance();
    }
    return skip_braces();
  }
  if (word == ".alias") return skip_statement();
  bool is_extern = false;
  if (!parse_linkage(&is_extern)) return false;
  if (token_.is_word(".entry") || token_.is_word(".func")) {
    const bool is_entry = token_.text == ".entry";
    advance();
    return parse_function(is_entry);
  }
  StateSpace space = StateSpace::global;
  if (token_.is_word(".const")) {
    space = StateSpace::constant;
  } else if (token_.is_word(".shared")) {
    space = StateSpace::shared;
  } else if (!token_.is_word(".global")) {
    return fail(fmt::format("unknown directive '{}'", token_.text.substr(0, 40)));
  }
  advance();
  return parse_variables(space, is_extern);
}

bool Parser::parse_function(bool is_entry) {
  Function function;
  function.is_entry = is_entry;
  function.line = token_.line;
  source_line_ = 0;
  main_file_ = 0;
  scopes_.push();
  bool ok = true;
  if (token_.is('(')) ok = parse_parameters(function, true);
  if (ok && token_.kind != Token::Kind::word) ok = fail("expected a function name");
  if (!ok) return false;
  function.name = token_.text;
  advance();
  // A function may call itself.
  const NameBinding binding{NameBinding::Kind::function,
                            static_cast<std::uint32_t>(module_.functions.size())};
  scopes_.declare(function.name, binding);
  if (token_.is('(') && !parse_parameters(function, false)) return false;
  std::size_t cluster_axis = function.cluster.size();  // the next to be sized
  while (!token_.is('{') && !token_.is(';')) {         // .maxntid 256, 1, 1  .noreturn ...
    if (token_.kind == Token::Kind::end) return fail("unexpected end of text");
    if (token_.kind == Token::Kind::word)
      cluster_axis = token_.text == ".reqnctapercluster" ? 0 : function.cluster.size();
    if (token_.kind == Token::Kind::integer && cluster_axis < function.cluster.size()) {
      // The largest cluster that any device has is 16 blocks.
      constexpr std::uint64_t kMostBlocks = 16;
      if (token_.bits == 0 || token_.bits > kMostBlocks)
        return fail(".reqnctapercluster wants 1 to 16 blocks along an axis");
      function.cluster[cluster_axis++] = static_cast<std::uint32_t>(token_.bits);
    }
    advance();
  }
  if (token_.is('{')) {
    function.has_body = true;
    if (!parse_body(function)) return false;
  } else {
    advance();
  }
  scopes_.pop();
  finish_labels(function);
  scopes_.declare(function.name, binding);
  module_.functions.push_back(std::move(function));
  return true;
}

bool Parser::parse_parameters(Function& function, bool results) {
  if (!expect('(')) return false;
  while (!token_.is(')')) {
    if (!token_.is_word(".param") && !token_.is_word(".reg")) return fail("expected .param");
    advance();
    Variable variable;
    variable.space = StateSpace::parameter;
    if (!parse_declarator_words(variable)) return false;
    if (token_.kind != Token::Kind::word) return fail("expected a parameter name");
    variable.name = token_.text;
    advance();
    if (!parse_array(variable)) return false;
    const auto index = static_cast<std::uint32_t>(module_.variables.size());
    scopes_.declare(variable.name, {NameBinding::Kind::variable, index});
    (results ? function.results : function.parameters).push_back(index);
    module_.variables.push_back(std::move(variable));
    if (!accept(',')) break;
  }
  return expect(')');
}

bool Parser::parse_body(Function& function) {
  advance();  // {
  const std::size_t outer = scopes_.depth();
  scopes_.push();
  std::vector<LabelScope> inner;  // braces within the body that are open
  while (scopes_.depth() > outer) {
    if (token_.kind == Token::Kind::end) return fail("unexpected end of text, a '}' is missing");
    if (accept('}')) {
      scopes_.pop();
      if (inner.empty()) continue;
      close_labels(function, inner.back());
      inner.pop_back();
    } else if (token_.is('{')) {
      if (scopes_.depth() >= kMaximumScopeDepth) return fail("scopes nest too deeply");
      advance();
      scopes_.push();
      inner.push_back(
          {function.labels.size(), function.operands.size(), function.branch_targets.size()});
    } else if (!parse_statement(function)) {
      return false;
    }
  }
  return true;
}

// Labels within braces are known there alone: inline assembly that is used twice names the same
// ones twice. Each gets a name of its own.
void Parser::close_labels(Function& function, const LabelScope& scope) {
  std::unordered_map<std::string_view, std::string_view> own;
  for (std::size_t i = scope.first_label; i < function.labels.size(); ++i) {
    Label& label = function.labels[i];
    if (label.is_closed) continue;
    label.is_closed = true;
    const std::string_view name =
        module_.own_names.emplace_back(fmt::format("{}@{}", label.name, module_.own_names.size()));
    own.emplace(label.name, name);
    label.name = name;
  }
  if (own.empty()) return;
  const auto rename = [&](std::string_view& name) {
    if (const auto found = own.find(name); found != own.end()) name = found->second;
  };
  for (std::size_t i = scope.first_operand; i < function.operands.size(); ++i) {
    if (function.operands[i].kind == Operand::Kind::label) rename(function.operands[i].text);
  }
  for (std::size_t i = scope.first_table; i < function.branch_targets.size(); ++i) {
    for (std::string_view& target : function.branch_targets[i].targets)
      rename(target);
  }
}

void Parser::finish_labels(Function& function) {
  std::stable_sort(function.labels.begin(), function.labels.end(),
                   [](const Label& a, const Label& b) { return a.name < b.name; });
}

Result<std::shared_ptr<const Module>> parse_module(std::string_view text) {
  if (text.size() > kMaximumPtxBytes) {
    return regraph::fail(ErrorCode::parse, fmt::format("the PTX text has {} bytes, the limit is {}",
                                                       text.size(), kMaximumPtxBytes));
  }
  const auto module = std::make_shared<Module>();
  module->text = text.substr(0, text.find('\0'));
  Parser parser(*module);
  if (!parser.parse()) return regraph::fail(ErrorCode::parse, parser.error());
  return std::shared_ptr<const Module>(module);
}

}  // namespace regraph::ptx

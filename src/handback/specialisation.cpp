#include "handback/specialisation.h"

#include "handback/kernel_change.h"
#include "kernel/scalar_type.h"
#include "source/top_level.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace regraph::handback {
namespace {

using source::Token;
using source::TokenKind;

// The words of a text, one blank between two, and none in qualified names.
std::string normal(std::string_view text) {
  std::string result;
  for (const Token& token : source::tokenize(text)) {
    const std::string_view word = token.in(text);
    const bool joined = result.empty() || word == "::" || result.ends_with("::");
    result += joined ? "" : " ";
    result += word;
  }
  return result;
}

// The parts between commas outside of brackets and angles, as they are written.
std::vector<std::string_view> pieces_of(std::string_view text) {
  std::vector<std::string_view> parts;
  int depth = 0;
  std::size_t begin = 0;
  for (const Token& token : source::tokenize(text)) {
    const std::string_view word = token.in(text);
    if (word == "(" || word == "[" || word == "{" || word == "<") ++depth;
    if (word == ")" || word == "]" || word == "}" || word == ">") --depth;
    if (word != "," || depth > 0) continue;
    parts.push_back(text.substr(begin, token.begin - begin));
    begin = token.end;
  }
  parts.push_back(text.substr(begin));
  return parts;
}

std::vector<std::string> parts_of(std::string_view text) {
  std::vector<std::string> parts;
  for (const std::string_view piece : pieces_of(text))
    parts.push_back(normal(piece));
  return parts;
}

// PyTorch's half types, which are no other ones, under their first name; else empty.
std::string pytorch_type(std::string value) {
  if (value.starts_with("::")) value.erase(0, 2);
  for (const std::string_view space : {"c10::", "at::", "torch::"}) {
    if (!value.starts_with(space)) continue;
    const std::string name = value.substr(space.size());
    if (name == "Half" || name == "BFloat16") return "c10::" + name;
  }
  return {};
}

// Literals and known types: what differs in words differs.
bool is_definite(const std::string& value) {
  const bool number = !value.empty() && std::isdigit(static_cast<unsigned char>(value[0])) != 0;
  return number || value == "true" || value == "false" || !pytorch_type(value).empty() ||
         scalar_type_from_cuda_name(value).has_value();
}

// Whether both name one type, as "uint" and "unsigned int".
bool same_value(const std::string& a, const std::string& b) {
  if (a == b) return true;
  const std::string ours = pytorch_type(a);
  if (!ours.empty() || !pytorch_type(b).empty()) return ours == pytorch_type(b);
  const auto left = scalar_type_from_cuda_name(a);
  return left && left == scalar_type_from_cuda_name(b);
}

std::string replaced_words(std::string_view text, const std::vector<BoundParameter>& parameters) {
  std::string result;
  std::size_t copied = 0;
  for (const Token& token : source::tokenize(text)) {
    if (token.kind != TokenKind::identifier) continue;
    const auto bound = std::ranges::find(parameters, token.in(text), &BoundParameter::name);
    if (bound == parameters.end()) continue;
    result += text.substr(copied, token.begin - copied);
    result += bound->value;
    copied = token.end;
  }
  result += text.substr(copied);
  return result;
}

// "const float* in": the type, the name and "[4]", "" of what is no array. Without comments around
// it and without a default, which a specialisation may not repeat.
struct Parameter {
  std::string_view type;
  std::string_view name;
  std::string_view extents;
};

std::optional<Parameter> parameter_of(std::string_view piece) {
  const std::vector<Token> tokens = source::tokenize(piece);
  std::size_t name = 0;
  std::size_t end = 0;
  for (int depth = 0; end < tokens.size(); ++end) {
    const std::string_view word = tokens[end].in(piece);
    if (word == "=" && depth == 0) break;
    if (word == "(" || word == "[" || word == "<") ++depth;
    if (word == ")" || word == "]" || word == ">") --depth;
    if (depth == 0 && tokens[end].kind == TokenKind::identifier) name = end;
  }
  if (name == 0) return std::nullopt;
  Parameter one;
  one.name = tokens[name].in(piece);
  one.type = piece.substr(tokens[0].begin, tokens[name].begin - tokens[0].begin);
  const std::size_t after = tokens[name].end;
  one.extents = piece.substr(after, tokens[end - 1].end - after);
  const bool is_array = name + 1 < end && tokens[name + 1].in(piece) == "[";
  if (!one.extents.empty() && !is_array) return std::nullopt;
  return one;
}

// What a specialisation's parentheses and the beginning of its body hold.
struct Parameters {
  std::string list;
  std::string variables;
};

// Where `own`, the definition's parameters, are the template's too, they stay as they are.
Result<Parameters> specialised_parameters(std::string_view own, std::string_view declared,
                                          const std::string& definition) {
  const std::vector<std::string_view> ours = pieces_of(own);
  const std::vector<std::string_view> theirs = pieces_of(declared);
  if (ours.size() != theirs.size())
    return fail(ErrorCode::unsupported, "the winner has other parameters than the template");
  Parameters result;
  for (std::size_t i = 0; i < ours.size(); ++i) {
    const auto our = parameter_of(ours[i]);
    const auto their = parameter_of(theirs[i]);
    result.list += i == 0 ? "" : ",";
    if (!our || !their) {
      if (normal(ours[i]) != normal(theirs[i]))
        return fail(ErrorCode::unsupported, "the template's parameters cannot be read");
      result.list += ours[i];
      continue;
    }
    result.list += ours[i].substr(0, ours[i].find_first_not_of(" \t\r\n"));
    const std::string variable = fmt::format("{}{}{}", our->type, our->name, our->extents);
    if (normal(our->type) == normal(their->type) && our->extents == their->extents) {
      result.list += variable;
      continue;
    }
    std::string argument = std::string(our->name) + "_argument";
    while (definition.find(argument) != std::string::npos)
      argument += "_";
    result.list += fmt::format("{}{}{}", their->type, argument, their->extents);
    result.variables += fmt::format("\n  {} = {};", variable, argument);
  }
  return result;
}

}  // namespace

Result<std::vector<BoundParameter>> bound_parameters(std::string_view list, std::string_view code) {
  std::vector<BoundParameter> bound;
  const std::size_t open = list.find('<');
  const std::size_t close = list.rfind('>');
  if (open == std::string_view::npos || close <= open)
    return fail(ErrorCode::unsupported, "the template's parameters cannot be read");
  for (const std::string& part : parts_of(list.substr(open + 1, close - open - 1))) {
    BoundParameter one;
    const std::size_t equals = part.find(" = ");
    const std::string head = part.substr(0, equals);
    if (equals != std::string::npos) one.standard = part.substr(equals + 3);
    one.name = head.substr(head.rfind(' ') + 1);
    one.value = one.name;
    bound.push_back(std::move(one));
  }
  const std::vector<Token> tokens = source::tokenize(code);
  for (const auto& declaration : source::split_top_level(code, tokens)) {
    if (declaration.names.size() != 1) continue;
    const auto one = std::ranges::find(bound, declaration.names.front(), &BoundParameter::name);
    if (one == bound.end()) continue;
    const std::size_t begin = tokens[declaration.first].begin;
    one->binding = normal(code.substr(begin, tokens[declaration.last - 1].end - begin));
    const std::size_t equals = one->binding.find(" = ");
    if (equals == std::string::npos || !one->binding.ends_with(" ;"))
      return fail(ErrorCode::unsupported,
                  fmt::format("what '{}' is in the instance cannot be read", one->name));
    one->value = one->binding.substr(equals + 3, one->binding.size() - equals - 5);
  }
  for (BoundParameter& one : bound) {
    // "a name of the file that is called like the parameter" needs no binding.
    if (one.binding.empty() && code.find(one.name) == std::string_view::npos)
      return fail(ErrorCode::unsupported,
                  fmt::format("nothing says what '{}' is in the instance", one.name));
    if (one.binding.ends_with(" ;")) one.binding.replace(one.binding.size() - 2, 2, ";");
  }
  return bound;
}

Result<std::string> as_specialisation(const std::string& definition, const std::string& kernel,
                                      std::string_view declared,
                                      const std::vector<BoundParameter>& parameters) {
  const auto found = find_definitions(definition, kernel);
  const std::size_t brace =
      found.size() == 1 ? definition.find('{', found.front().parameters_end) : std::string::npos;
  if (brace == std::string::npos)
    return fail(ErrorCode::unsupported, "the winner's kernel cannot be taken apart");
  const KernelDefinition& one = found.front();
  const std::size_t name = one.head.rfind(kernel);
  std::string text =
      "template <>\n" + one.head.substr(0, name) + instance_name(kernel, parameters) + "(";
  const std::string own =
      replaced_words(std::string_view(definition)
                         .substr(one.parameters_begin, one.parameters_end - one.parameters_begin),
                     parameters);
  const auto changed =
      specialised_parameters(own, replaced_words(declared, parameters), definition);
  if (!changed) return changed.error();
  text += changed->list;
  text += definition.substr(one.parameters_end, brace + 1 - one.parameters_end);
  for (const BoundParameter& bound : parameters) {
    if (!bound.binding.empty()) text += "\n  " + bound.binding;
  }
  text += changed->variables;
  return text + definition.substr(brace + 1);
}

std::string instance_name(const std::string& kernel,
                          const std::vector<BoundParameter>& parameters) {
  std::string text = kernel + "<";
  for (std::size_t i = 0; i < parameters.size(); ++i)
    text += (i == 0 ? "" : ", ") + parameters[i].value;
  return text + ">";
}

std::optional<bool> is_instance(const std::string& arguments,
                                const std::vector<BoundParameter>& parameters) {
  if (arguments.empty()) return std::nullopt;
  const std::vector<std::string> given = parts_of(arguments);
  bool certain = true;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const std::string value = i < given.size() ? given[i] : normal(parameters[i].standard);
    const std::string own = normal(parameters[i].value);
    if (same_value(value, own)) continue;
    if (is_definite(value) && is_definite(own)) return false;
    certain = false;
  }
  return certain ? std::optional(true) : std::nullopt;
}

}  // namespace regraph::handback

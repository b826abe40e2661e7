#include "source/template_instance.h"

#include <fmt/format.h>

#include <set>

namespace regraph::source {
namespace {

struct TemplateParameter {
  std::string type;  // "typename", or the type of a value
  std::string name;
  std::string standard;  // default argument, empty for none
};

// Text of tokens [first, last), one space between words.
std::string text_of(std::string_view text, const std::vector<Token>& tokens, std::size_t first,
                    std::size_t last) {
  std::string result;
  for (std::size_t token = first; token < last; ++token) {
    const bool spaced = token > first && tokens[token].kind != TokenKind::punctuation &&
                        tokens[token - 1].kind != TokenKind::punctuation;
    if (spaced) result += ' ';
    result += tokens[token].in(text);
  }
  return result;
}

// Splits the list between the "<" at `open` and the token before `after` at its commas.
std::vector<std::pair<std::size_t, std::size_t>> split_list(std::string_view text,
                                                            const std::vector<Token>& tokens,
                                                            std::size_t open, std::size_t after) {
  std::vector<std::pair<std::size_t, std::size_t>> parts;
  std::size_t begin = open + 1;
  for (std::size_t token = begin; token + 1 < after; ++token) {
    const std::string_view word = tokens[token].in(text);
    if (word == "(" || word == "[" || word == "{") {
      token = after_bracket(text, tokens, token) - 1;
    } else if (word == "<") {
      token = after_angle(text, tokens, token) - 1;
    } else if (word == ",") {
      parts.emplace_back(begin, token);
      begin = token + 1;
    }
  }
  if (begin + 1 < after) parts.emplace_back(begin, after - 1);
  return parts;
}

std::vector<std::string> arguments_of(std::string_view text, const std::vector<Token>& tokens,
                                      std::size_t open, std::size_t after) {
  std::vector<std::string> arguments;
  for (const auto& [first, last] : split_list(text, tokens, open, after))
    arguments.push_back(text_of(text, tokens, first, last));
  return arguments;
}

Result<std::vector<TemplateParameter>> parameters_of(std::string_view text,
                                                     const std::vector<Token>& tokens,
                                                     const TopLevelDeclaration& kernel) {
  std::vector<TemplateParameter> parameters;
  const std::size_t open = kernel.first + 1;
  for (const auto& [first, last] : split_list(text, tokens, open, *kernel.template_closer + 1)) {
    std::size_t end = first;
    while (end < last && tokens[end].in(text) != "=")
      ++end;
    TemplateParameter parameter;
    for (std::size_t token = first; token < end; ++token) {
      if (tokens[token].in(text) == "." || tokens[token].in(text) == "template") {
        return fail(ErrorCode::unsupported,
                    "parameter packs and templates as template parameters are not supported; "
                    "write the instance as a plain __global__ function");
      }
    }
    if (end - first < 2) {
      return fail(ErrorCode::unsupported, "a template parameter without a name cannot be bound");
    }
    parameter.name = tokens[end - 1].in(text);
    const std::string type = text_of(text, tokens, first, end - 1);
    parameter.type = type == "class" ? "typename" : type;
    if (end < last) parameter.standard = text_of(text, tokens, end + 1, last);
    parameters.push_back(std::move(parameter));
  }
  return parameters;
}

// Argument lists with which the file itself instantiates or launches the template.
std::set<std::vector<std::string>> instances_in_file(std::string_view text,
                                                     const std::vector<Token>& tokens,
                                                     const TopLevelDeclaration& kernel) {
  std::set<std::vector<std::string>> instances;
  for (std::size_t token = 0; token + 1 < tokens.size(); ++token) {
    const bool inside = token >= kernel.first && token < kernel.last;
    if (inside || tokens[token].in(text) != kernel.names.front()) continue;
    if (tokens[token + 1].in(text) != "<") continue;
    const std::size_t after = after_angle(text, tokens, token + 1);
    if (after >= tokens.size()) continue;
    const std::string_view next = tokens[after].in(text);
    if (next == "<<<" || next == "(" || next == ",") {
      instances.insert(arguments_of(text, tokens, token + 1, after));
    }
  }
  return instances;
}

std::string list(const std::vector<std::string>& arguments) {
  std::string result;
  for (const std::string& argument : arguments)
    result += (result.empty() ? "" : ", ") + argument;
  return result;
}

}  // namespace

Result<TemplateInstance> instantiate_template(std::string_view text,
                                              const std::vector<Token>& tokens,
                                              const TopLevelDeclaration& kernel,
                                              const std::string& wanted) {
  auto parameters = parameters_of(text, tokens, kernel);
  if (!parameters) return std::move(parameters).error();
  const std::string& name = kernel.names.front();
  TemplateInstance instance;
  std::vector<std::string> arguments;
  if (const std::size_t open = wanted.find('<'); open != std::string::npos) {
    const std::vector<Token> words = tokenize(wanted);
    std::size_t first = 0;
    while (first < words.size() && words[first].in(wanted) != "<")
      ++first;
    arguments = arguments_of(wanted, words, first, words.size());
    if (arguments.size() > parameters->size()) {
      return fail(ErrorCode::invalid_argument,
                  fmt::format("kernel template '{}' takes {} arguments, '{}' gives {}", name,
                              parameters->size(), wanted, arguments.size()));
    }
  } else {
    const auto found = instances_in_file(text, tokens, kernel);
    if (found.size() > 1) {
      std::string choices;
      for (const auto& one : found)
        choices += fmt::format("{}{}<{}>", choices.empty() ? "" : ", ", name, list(one));
      return fail(ErrorCode::unsupported,
                  fmt::format("kernel '{}' is a template with several instances ({}); name one "
                              "with --kernel or with 'kernel:' in the manifest",
                              name, choices));
    }
    if (!found.empty()) arguments = *found.begin();
    instance.note =
        fmt::format("kernel template '{0}': the instance {0}<{1}> is taken", name, list(arguments));
  }
  for (std::size_t i = 0; i < parameters->size(); ++i) {
    const TemplateParameter& parameter = (*parameters)[i];
    const std::string& value = i < arguments.size() ? arguments[i] : parameter.standard;
    if (value.empty()) {
      return fail(ErrorCode::unsupported,
                  fmt::format("kernel '{0}' is a template and nothing says what '{1}' is; name an "
                              "instance, e.g. --kernel '{0}<{2}>'",
                              name, parameter.name, parameter.type == "typename" ? "float" : "16"));
    }
    instance.bindings +=
        parameter.type == "typename"
            ? fmt::format("using {} = {}; ", parameter.name, value)
            : fmt::format("constexpr {} {} = {}; ", parameter.type, parameter.name, value);
  }
  return instance;
}

}  // namespace regraph::source

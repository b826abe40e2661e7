#include "source/template_instance.h"

#include "source/template_deduction.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <initializer_list>
#include <optional>
#include <set>

namespace regraph::source {
namespace {

struct TemplateParameter {
  // "typename", "template", the type of a value, or the declaration of a pointer to a function.
  std::string type;
  std::string name;
  bool is_function = false;
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

// float (*apply)(float): the name of a parameter that is a function; nothing for others.
std::optional<std::string_view> name_of_function(std::string_view text,
                                                 const std::vector<Token>& tokens,
                                                 std::size_t first, std::size_t end) {
  for (std::size_t token = first; token + 3 < end; ++token) {
    const std::string_view sign = tokens[token + 1].in(text);
    if (tokens[token].in(text) == "(" && (sign == "*" || sign == "&") &&
        tokens[token + 2].kind == TokenKind::identifier && tokens[token + 3].in(text) == ")") {
      return tokens[token + 2].in(text);
    }
  }
  return std::nullopt;
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
      if (tokens[token].in(text) == ".") {
        return fail(ErrorCode::unsupported,
                    "parameter packs are not supported; write the instance as a plain __global__ "
                    "function");
      }
    }
    if (end - first < 2) {
      return fail(ErrorCode::unsupported, "a template parameter without a name cannot be bound");
    }
    if (const auto name = name_of_function(text, tokens, first, end)) {
      parameter.is_function = true;
      parameter.name = *name;
      parameter.type = text_of(text, tokens, first, end);
    } else {
      parameter.name = tokens[end - 1].in(text);
      const std::string type = text_of(text, tokens, first, end - 1);
      parameter.type = type == "class" ? "typename" : type;
      if (type.starts_with("template")) parameter.type = "template";
    }
    if (end < last) parameter.standard = text_of(text, tokens, end + 1, last);
    parameters.push_back(std::move(parameter));
  }
  return parameters;
}

using Arguments = std::vector<std::string>;

constexpr int kDeepestCaller = 4;

// Finds the argument lists with which the file itself instantiates or launches a template.
// Arguments that have a meaning only where they stand, in the function that launches, are replaced
// by what they stand for there.
class InstanceFinder {
 public:
  InstanceFinder(std::string_view text, const std::vector<Token>& tokens,
                 const std::vector<TopLevelDeclaration>& declarations)
      : text_(text), tokens_(tokens), declarations_(declarations) {}

  [[nodiscard]] std::set<Arguments> of(const TopLevelDeclaration& function, int depth) const {
    std::set<Arguments> instances;
    if (depth == 0 || function.names.empty() || !function.template_closer) return instances;
    const auto parameters = parameters_of(text_, tokens_, function);
    if (!parameters) return instances;
    for (std::size_t token = 0; token + 1 < tokens_.size(); ++token) {
      const bool inside = token >= function.first && token < function.last;
      if (inside || word(token) != function.names.front()) continue;
      // A member of something else.
      if (token > 0 && (word(token - 1) == "." || word(token - 1) == "->")) continue;
      Arguments given;
      std::size_t after = token + 1;
      if (word(after) == "<") {
        after = after_angle(text_, tokens_, token + 1);
        given = arguments_of(text_, tokens_, token + 1, after);
      }
      if (after >= tokens_.size()) continue;
      const bool said = after > token + 1;
      const std::string_view next = word(after);
      const bool called = next == "<<<" || (next == "(" && is_in_body(token));
      if (!called && !(said && (next == "(" || next == ","))) continue;
      if (called) deduce(function, *parameters, token, after, given);
      if (given.empty()) continue;
      for (Arguments instance : resolved(std::move(given), token, depth))
        instances.insert(with_defaults(std::move(instance), *parameters));
    }
    return instances;
  }

 private:
  [[nodiscard]] std::string_view word(std::size_t token) const { return tokens_[token].in(text_); }

  [[nodiscard]] const TopLevelDeclaration* declaration_at(std::size_t token) const {
    const auto found = std::ranges::find_if(declarations_, [&](const auto& declaration) {
      return declaration.first <= token && token < declaration.last;
    });
    return found == declarations_.end() ? nullptr : &*found;
  }

  [[nodiscard]] bool is_in_body(std::size_t token) const {
    const TopLevelDeclaration* const caller = declaration_at(token);
    return caller != nullptr && caller->body && *caller->body < token;
  }

  // Adds what is not said to the arguments of the call or launch whose "(" or "<<<" stands at
  // `next`.
  void deduce(const TopLevelDeclaration& function, const std::vector<TemplateParameter>& parameters,
              std::size_t at, std::size_t next, Arguments& given) const {
    if (given.size() >= parameters.size()) return;
    std::size_t open = next;
    if (word(next) == "<<<") {
      while (open < tokens_.size() && word(open) != ">>>")
        ++open;
      ++open;
    }
    if (open >= tokens_.size() || word(open) != "(") return;
    std::vector<std::string> names;
    names.reserve(parameters.size());
    for (const TemplateParameter& parameter : parameters)
      names.push_back(parameter.name);
    const TypesAt types(text_, tokens_, declarations_, declaration_at(at), at);
    const std::vector<std::string> found = deduce_template_arguments(
        text_, tokens_, function, names, split_arguments(text_, tokens_, open), types);
    std::size_t known = found.size();
    while (known > given.size() && found[known - 1].empty())
      --known;
    for (std::size_t i = given.size(); i < known; ++i)
      given.push_back(found[i]);
  }

  // So that an instance has one spelling.
  static Arguments with_defaults(Arguments arguments,
                                 const std::vector<TemplateParameter>& parameters) {
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      if (i == arguments.size()) {
        if (parameters[i].standard.empty()) break;
        arguments.emplace_back();
      }
      if (arguments[i].empty()) arguments[i] = parameters[i].standard;
    }
    return arguments;
  }

  // What the arguments at a token mean to the whole file; none when it cannot be said.
  [[nodiscard]] std::set<Arguments> resolved(Arguments arguments, std::size_t at, int depth) const {
    const TopLevelDeclaration* const caller = declaration_at(at);
    if (caller == nullptr || !caller->body || *caller->body > at) return {arguments};
    for (std::string& argument : arguments)
      argument = with_dispatched(with_locals(argument, *caller->body, at), *caller->body, at);
    if (!caller->template_closer) return {arguments};
    const auto parameters = parameters_of(text_, tokens_, *caller);
    if (!parameters) return {arguments};
    const auto is_used = [&](const TemplateParameter& parameter) {
      return std::ranges::any_of(arguments, [&](const std::string& argument) {
        return replaced(argument, parameter.name, "") != argument;
      });
    };
    if (std::ranges::none_of(*parameters, is_used)) return {arguments};
    std::set<Arguments> instances;
    for (const Arguments& outer : of(*caller, depth - 1)) {
      Arguments inner = arguments;
      for (std::size_t i = 0; i < parameters->size(); ++i) {
        const TemplateParameter& parameter = (*parameters)[i];
        const std::string& value = i < outer.size() ? outer[i] : parameter.standard;
        for (std::string& argument : inner) {
          const std::string known = replaced(argument, parameter.name, value);
          if (known != argument) argument = value.empty() ? "" : known;
        }
      }
      instances.insert(std::move(inner));
    }
    if (!instances.empty()) return instances;
    // Nobody says what the caller is: what does not follow from that is known.
    for (std::string& argument : arguments) {
      const bool follows = std::ranges::any_of(*parameters, [&](const auto& parameter) {
        return replaced(argument, parameter.name, "") != argument;
      });
      if (follows) argument.clear();
    }
    return {arguments};
  }

  // Constants and aliases of the calling function, "const int size = 256;" and "using T = float;",
  // put in. Those that are computed from others need several rounds.
  [[nodiscard]] std::string with_locals(std::string argument, std::size_t body,
                                        std::size_t at) const {
    for (int round = 0; round < kDeepestCaller; ++round) {
      const std::string before = argument;
      for (std::size_t token = body; token + 2 < at; ++token) {
        if (tokens_[token + 1].kind != TokenKind::punctuation || word(token + 1) != "=") continue;
        const std::size_t start = start_of_statement(token, body);
        const bool is_alias = word(start) == "using";
        if (!is_alias && word(start) != "const" && word(start) != "constexpr" &&
            word(start) != "static")
          continue;
        const std::size_t end = end_of_value(token + 2, at, is_alias);
        std::string value = text_of(text_, tokens_, token + 2, end);
        if (!is_alias && end - token > 3) value = fmt::format("({})", value);
        argument = replaced(argument, word(token), value);
      }
      if (argument == before) break;
    }
    return argument;
  }

  // Types that a macro around the launch chooses while the program runs, as
  // AT_DISPATCH_FLOATING_TYPES does: one of them.
  [[nodiscard]] std::string with_dispatched(std::string argument, std::size_t body,
                                            std::size_t at) const {
    for (std::size_t token = at; token > body; --token) {
      const std::string_view macro = word(token);
      if (tokens_[token].kind != TokenKind::identifier || word(token + 1) != "(" ||
          macro.find("DISPATCH") == std::string_view::npos)
        continue;
      const bool is_narrow = macro.find("REDUCED") != std::string_view::npos;
      const bool is_integer = macro.find("INTEGRAL") != std::string_view::npos;
      // Macros of one's own have several: scalar_t_in, accscalar_t.
      const std::string before = argument;
      for (const Token& one : tokenize(before)) {
        const std::string name(one.in(before));
        if (one.kind != TokenKind::identifier || name.find("scalar_t") == std::string::npos)
          continue;
        const bool accumulates = name.starts_with("acc");
        argument = replaced(argument, name,
                            is_narrow && !accumulates ? "c10::BFloat16"
                            : is_integer              ? "int"
                                                      : "float");
      }
      if (macro.find("INDEX") != std::string_view::npos)
        argument = replaced(argument, "index_t", "int");
    }
    return argument;
  }

  // Of an alias' type or of a constant's initial value, behind which other constants may come.
  [[nodiscard]] std::size_t end_of_value(std::size_t from, std::size_t at, bool is_alias) const {
    std::size_t end = from;
    while (end < at && word(end) != ";" && (is_alias || word(end) != ",")) {
      const bool opens = word(end) == "(" || word(end) == "[" || word(end) == "{";
      end = opens ? after_bracket(text_, tokens_, end) : end + 1;
    }
    return std::min(end, at);
  }

  [[nodiscard]] std::size_t start_of_statement(std::size_t token, std::size_t body) const {
    while (token > body + 1 && word(token - 1) != ";" && word(token - 1) != "{" &&
           word(token - 1) != "}" && tokens_[token - 1].kind != TokenKind::directive)
      --token;
    return token;
  }

  // The text with every use of a name replaced.
  static std::string replaced(const std::string& argument, std::string_view name,
                              std::string_view value) {
    std::string result;
    std::size_t copied = 0;
    for (const Token& token : tokenize(argument)) {
      if (token.kind != TokenKind::identifier || token.in(argument) != name) continue;
      result += argument.substr(copied, token.begin - copied);
      result += value;
      copied = token.end;
    }
    return result + argument.substr(copied);
  }

  std::string_view text_;
  const std::vector<Token>& tokens_;
  const std::vector<TopLevelDeclaration>& declarations_;
};

std::string list(const std::vector<std::string>& arguments) {
  std::string result;
  for (const std::string& argument : arguments)
    result += (result.empty() ? "" : ", ") + argument;
  return result;
}

bool has_word(const std::string& name, std::initializer_list<std::string_view> words) {
  std::string lower;
  for (const char letter : name)
    lower += static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  return std::ranges::any_of(
      words, [&](std::string_view word) { return lower.find(word) != std::string::npos; });
}

// What is taken where nothing says it: what such a parameter is most often; empty where that is
// nothing in particular.
std::string usual_argument(const TemplateParameter& parameter) {
  if (parameter.is_function || parameter.type == "template") return "";
  if (parameter.type == "typename")
    return has_word(parameter.name, {"index", "idx", "offset", "int"}) ? "int" : "float";
  if (parameter.type == "bool") return "false";
  if (!has_word(parameter.type, {"int", "unsigned", "size_t", "long", "short", "auto"}))
    return fmt::format("static_cast<{}>(0)", parameter.type);
  if (has_word(parameter.name, {"block", "thread"})) return "256";
  return has_word(parameter.name, {"vec", "unroll", "items"}) ? "4" : "16";
}

}  // namespace

std::vector<std::string> template_arguments(std::string_view text, const std::vector<Token>& tokens,
                                            std::size_t open) {
  return arguments_of(text, tokens, open, after_angle(text, tokens, open));
}

Result<TemplateInstance> instantiate_template(std::string_view text,
                                              const std::vector<Token>& tokens,
                                              const std::vector<TopLevelDeclaration>& declarations,
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
    auto found = InstanceFinder(text, tokens, declarations).of(kernel, kDeepestCaller);
    const auto is_partly_said = [](const auto& one) {
      return std::ranges::any_of(one, [](const std::string& each) { return each.empty(); });
    };
    // Callers that nobody calls tell less than others.
    if (!std::ranges::all_of(found, is_partly_said)) std::erase_if(found, is_partly_said);
    if (found.size() > 1) {
      std::set<std::vector<std::string>> whole;
      for (std::vector<std::string> one : found) {
        for (std::size_t i = 0; i < one.size() && i < parameters->size(); ++i) {
          if (one[i].empty()) one[i] = usual_argument((*parameters)[i]);
        }
        whole.insert(std::move(one));
      }
      found = std::move(whole);
    }
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
  std::string unsaid;
  for (std::size_t i = 0; i < parameters->size(); ++i) {
    const TemplateParameter& parameter = (*parameters)[i];
    const bool given = i < arguments.size() && !arguments[i].empty();
    std::string value = given ? arguments[i] : parameter.standard;
    if (value.empty() && (parameter.is_function || parameter.type == "template")) {
      return fail(
          ErrorCode::unsupported,
          fmt::format("kernel template '{0}': nothing says which {1} its parameter '{2}' is; name "
                      "one with all arguments by --kernel '{0}<...>'",
                      name, parameter.is_function ? "function" : "template", parameter.name));
    }
    if (value.empty()) {
      value = usual_argument(parameter);
      unsaid += fmt::format("{}'{}' is {}", unsaid.empty() ? "" : ", ", parameter.name, value);
    }
    instance.arguments.push_back(value);
    // A constant or type of the file that is called like the parameter.
    if (value == parameter.name) continue;
    if (parameter.type == "typename") {
      instance.bindings += fmt::format("using {} = {}; ", parameter.name, value);
    } else if (parameter.type == "template") {
      instance.bindings += fmt::format(
          "template <typename... Arguments> using {} = {}<Arguments...>; ", parameter.name, value);
    } else if (parameter.is_function) {
      instance.bindings += fmt::format("constexpr {} = {}; ", parameter.type, value);
    } else {
      instance.bindings +=
          fmt::format("constexpr {} {} = {}; ", parameter.type, parameter.name, value);
    }
  }
  if (!unsaid.empty()) {
    instance.note = fmt::format(
        "kernel template '{0}': nothing says what instance is used, so that {1}; name another by "
        "--kernel '{0}<...>'",
        name, unsaid);
  }
  return instance;
}

}  // namespace regraph::source

#include "source/template_specialisation.h"

#include "source/template_instance.h"

namespace regraph::source {

bool is_specialisation(const TopLevelDeclaration& declaration) {
  return declaration.is_global && declaration.template_closer == declaration.first + 2;
}

std::size_t arguments_begin(std::string_view text, const std::vector<Token>& tokens,
                            const TopLevelDeclaration& specialisation) {
  for (std::size_t token = specialisation.first; token < *specialisation.parameters; ++token) {
    if (tokens[token].in(text) == specialisation.names.front() && tokens[token + 1].in(text) == "<")
      return token + 1;
  }
  return *specialisation.parameters;
}

const TopLevelDeclaration* specialisation_for(std::string_view text,
                                              const std::vector<Token>& tokens,
                                              const std::vector<TopLevelDeclaration>& declarations,
                                              const std::string& name,
                                              const std::vector<std::string>& arguments) {
  for (const TopLevelDeclaration& declaration : declarations) {
    if (!declaration.is_kernel() || !is_specialisation(declaration) ||
        declaration.names.front() != name)
      continue;
    const std::size_t open = arguments_begin(text, tokens, declaration);
    if (open < *declaration.parameters && template_arguments(text, tokens, open) == arguments)
      return &declaration;
  }
  return nullptr;
}

}  // namespace regraph::source

#include "dataset/generate/canonical_text.h"

#include "source/lexer.h"
#include "source/reserved_names.h"

#include <map>

namespace regraph::dataset {

Hash128 canonical_identity(std::string_view source) {
  std::map<std::string_view, std::uint64_t> names;
  Hasher hasher;
  for (const source::Token& token : source::tokenize(source)) {
    const std::string_view text = token.in(source);
    if (token.kind != source::TokenKind::identifier || source::is_reserved_name(text)) {
      hasher.add(text);
      continue;
    }
    hasher.add(names.try_emplace(text, names.size()).first->second);
  }
  return hasher.finish();
}

}  // namespace regraph::dataset

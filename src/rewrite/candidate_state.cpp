#include "rewrite/candidate_state.h"

#include "source/lexer.h"
#include "source/printer.h"
#include "source/top_level.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

namespace regraph::rewrite {

namespace {

bool mentions_cub(std::string_view text) {
  for (const Token& token : tokenize(text)) {
    const std::string_view word = token.in(text);
    const bool is_include = token.kind == TokenKind::directive && directive_name(word) == "include";
    const bool is_mention = token.kind == TokenKind::directive
                                ? !is_include && word.find("cub") != std::string_view::npos
                                : word == "cub";
    if (is_mention) return true;
  }
  return false;
}

// cub's headers take the compiler seconds; once what was theirs is written out, nobody needs them.
void drop_unused_cub(Unit& unit) {
  if (unit.before.find("<cub/") == std::string::npos) return;
  if (mentions_cub(print(unit))) return;
  std::string kept;
  for (std::size_t begin = 0; begin < unit.before.size();) {
    const std::size_t end = std::min(unit.before.find('\n', begin), unit.before.size() - 1) + 1;
    const std::string_view line = std::string_view(unit.before).substr(begin, end - begin);
    const bool goes = line.starts_with("#include") && line.find("<cub/") != std::string_view::npos;
    if (!goes) kept += line;
    begin = end;
  }
  unit.before = std::move(kept);
}

}  // namespace

Result<KernelState> state_of(const Candidate& candidate, const LaunchView& view) {
  const auto* form = dynamic_cast<const UnitForm*>(candidate.form.get());
  if (form == nullptr) return refuse("the kernel is opaque to the rewriter");
  auto plan = view.out_of(candidate.plan);
  if (!plan) return std::move(plan).error();
  return KernelState{form->unit(), std::move(*plan), candidate.assumptions};
}

Candidate candidate_of(KernelState state, const Candidate& from, const LaunchView& view) {
  drop_unused_cub(state.unit);
  Candidate result = make_candidate(std::move(state.unit), view.back_into(from.plan, state.plan));
  result.assumptions = std::move(state.assumptions);
  return result;
}

}  // namespace regraph::rewrite

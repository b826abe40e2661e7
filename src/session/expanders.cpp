#include "session/expanders.h"

#include "regraph/step_list.h"

#include <algorithm>
#include <utility>

namespace regraph {
namespace {

constexpr ExpanderKind kExpanders[] = {
    {"rewriter", "the built-in rewriter", false, true},
    {"llm", "a language model", true, false, true},
    {"both", "the rewriter where it can, the model where it refuses", true, true, true},
    {"advised", "the rewriter; a language model says which steps pay", true, true},
};

}  // namespace

std::span<const ExpanderKind> expander_kinds() {
  return kExpanders;
}

const ExpanderKind* find_expander_kind(std::string_view name) {
  const auto* const found = std::ranges::find(kExpanders, name, &ExpanderKind::name);
  return found == std::end(kExpanders) ? nullptr : found;
}

Result<std::shared_ptr<const SessionExpander>, SessionError> make_expander(
    const LanguageModelOptions& options, const ExpanderPlace& place, bool ask) {
  const ExpanderKind* kind = find_expander_kind(options.expander);
  if (kind == nullptr) return usage("--expander: '" + options.expander + "' is not known");
  auto made = std::make_shared<SessionExpander>();
  std::vector<const Expander*> members;
  made->evaluator_ = &place.evaluator;
  if (kind->rewrites && place.opened.triton) {
    made->triton_ = std::make_unique<triton::TritonExpander>(
        *place.toolchain.compiler, place.opened.device.device.architecture,
        place.toolchain.triton->python, place.toolchain.triton_scripts / "rewrite.py",
        triton::Permissions{place.opened.problem.assume.lets_precision_go(),
                            place.opened.problem.assume.reassociate});
    members.push_back(made->triton_.get());
  } else if (kind->rewrites) {
    made->rewriter_ = std::make_unique<rewrite::AstRewriter>(place.opened.problem,
                                                             limits_of(place.opened.device.device));
    members.push_back(made->rewriter_.get());
  }
  if (kind->asks_model) {
    auto model = set_up_language_model(options, place, ask);
    if (!model) return std::move(model).error();
    made->model_ = std::move(*model);
    made->evaluator_ = &made->model_->evaluator();
    members.push_back(&made->model_->expander());
  }
  if (members.empty()) {
    return SessionError{FailureCause::internal,
                        "--expander " + options.expander + " is listed, and nothing makes it"};
  }
  if (members.size() > 1) {
    made->composite_ = std::make_unique<CompositeExpander>(members);
    members = {made->composite_.get()};
  }
  if (!options.steps.empty()) {
    auto path = parse_step_list(options.steps);
    if (!path) return usage("--steps: " + path.error().message);
    made->path_ = std::make_unique<FixedPathExpander>(*members.front(), std::move(*path));
    members = {made->path_.get()};
  }
  made->expander_ = members.front();
  return std::shared_ptr<const SessionExpander>(std::move(made));
}

void configure_for(const LanguageModelOptions& options, SearchConfig& config) {
  config.expander_settings = settings_of(options);
  if (!options.asks()) return;
  config.extra_workers = options.in_flight;
  config.window = std::max(config.window, options.in_flight);
  config.expansions_first = false;
}

}  // namespace regraph

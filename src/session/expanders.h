// Who applies the steps of a session. An expander is added here and in expanders.cpp: options and
// help texts follow the list.
#pragma once

#include "regraph/composite_expander.h"
#include "regraph/expander.h"
#include "regraph/fixed_path_expander.h"
#include "rewrite/ast_rewriter.h"
#include "search/config.h"
#include "session/language_model.h"
#include "triton_expander/triton_expander.h"

#include <memory>
#include <span>
#include <string_view>

namespace regraph {

struct ExpanderKind {
  std::string_view name;         // of --expander
  std::string_view description;  // after the name, in the help text
  bool asks_model = false;
  bool rewrites = false;       // the rewriter, of CUDA C++ or of Triton, applies steps
  bool model_applies = false;  // the model does; else it only names them
};

// In the order they are listed to users.
[[nodiscard]] std::span<const ExpanderKind> expander_kinds();
// Null for an unknown name.
[[nodiscard]] const ExpanderKind* find_expander_kind(std::string_view name);

// An expander, and what evaluates what it makes: one that asks a model evaluates, too, and the
// search is to profit from what it found out.
class SessionExpander {
 public:
  [[nodiscard]] const Expander& expander() const { return *expander_; }
  [[nodiscard]] Evaluator& evaluator() const { return *evaluator_; }
  // Null where the rewriter of CUDA C++ has no part in it.
  [[nodiscard]] const rewrite::AstRewriter* rewriter() const { return rewriter_.get(); }
  // Null where it is searched.
  [[nodiscard]] const FixedPathExpander* path() const { return path_.get(); }
  // Null where none is asked.
  [[nodiscard]] const LanguageModel* model() const { return model_.get(); }

 private:
  friend Result<std::shared_ptr<const SessionExpander>, SessionError> make_expander(
      const LanguageModelOptions& options, const ExpanderPlace& place, bool ask);

  std::unique_ptr<rewrite::AstRewriter> rewriter_;
  std::unique_ptr<triton::TritonExpander> triton_;
  std::unique_ptr<LanguageModel> model_;
  std::unique_ptr<CompositeExpander> composite_;
  std::unique_ptr<FixedPathExpander> path_;
  const Expander* expander_ = nullptr;  // one of them
  Evaluator* evaluator_ = nullptr;
};

// The expander that `options` name. `place` and what it refers to must outlive it. With `ask` false
// (a dry run) nobody is asked. Errors as set_up_language_model, usage for an unknown name
// or for steps that cannot be read.
[[nodiscard]] Result<std::shared_ptr<const SessionExpander>, SessionError> make_expander(
    const LanguageModelOptions& options, const ExpanderPlace& place, bool ask);

// What a search needs that asks a model: room for calls that mostly wait.
void configure_for(const LanguageModelOptions& options, SearchConfig& config);

}  // namespace regraph

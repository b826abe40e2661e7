#include "rewrite/analysis/kernel_analysis.h"

#include "rewrite/forms/block_extents.h"
#include "rewrite/forms/dead_guards.h"
#include "rewrite/forms/early_exits.h"
#include "rewrite/forms/if_conversion.h"
#include "rewrite/forms/local_pointers.h"
#include "rewrite/forms/named_conditions.h"
#include "rewrite/forms/normal_form.h"
#include "source/lexer.h"

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace regraph::rewrite {

namespace {

using Form = std::unique_ptr<const KernelForm>;

Result<Form> made_of(Result<Kernel> kernel) {
  if (!kernel) return std::move(kernel).error();
  return Form(std::make_unique<const KernelForm>(std::move(*kernel)));
}

Result<const KernelForm*> view(const Result<Form>& form) {
  if (!form) return form.error();
  return form->get();
}

// Whether the code says `name`; comments and literals do not count, macros do.
bool mentions(std::string_view text, std::string_view name) {
  if (text.find(name) == std::string_view::npos) return false;
  for (const Token& token : tokenize(text)) {
    const std::string_view word = token.in(text);
    if (token.kind == TokenKind::identifier && word == name) return true;
    if (token.kind == TokenKind::directive && word.find(name) != std::string_view::npos)
      return true;
  }
  return false;
}

// Whether the grid is written in the block's extents along y or z: then they are not for a step to
// change that takes the kernel to know nothing of them.
bool counts_by_other_axes(const Launch& launch) {
  return std::any_of(launch.grid.begin(), launch.grid.end(), [](const IntegerExpression& extent) {
    const std::set<std::string> symbols = extent.symbols();
    return symbols.contains("by") || symbols.contains("bz");
  });
}

Status require_transparent(const Unit& unit, const Analysis& analysis) {
  if (const auto opaque = analysis.opaque()) {
    const std::string& what = unit.not_opened.empty() ? *opaque : unit.not_opened;
    return refuse("the kernel holds code the rewriter has no form for, " + what);
  }
  if (!analysis.calls_with_threads().empty()) {
    const std::string call = "the kernel calls '" + *analysis.calls_with_threads().begin() +
                             "', which asks for its thread, works with others or keeps state, and ";
    return refuse(call + (unit.not_opened.empty()
                              ? "the rewriter does not follow that"
                              : "what it does could not be written out: " + unit.not_opened));
  }
  if (analysis.boundless_calls().empty()) return {};
  for (const char* index : {"threadIdx", "blockIdx", "blockDim", "gridDim", "__syncthreads"}) {
    if (mentions(unit.before, index) || mentions(unit.after, index)) {
      return refuse("the kernel calls '" + *analysis.boundless_calls().begin() +
                    "' and functions of the file use " + index +
                    ", which the rewriter does not follow");
    }
  }
  return {};
}

}  // namespace

const PlainForm& KernelAnalysis::plain() const {
  if (!plain_) {
    Kernel opened = state_.unit.opened_kernel();
    if (const auto only = launch(); only && !(*only)->block_follows_sizes()) {
      if (!counts_by_other_axes(**only))
        opened.body = without_unit_axes(opened.body, (*only)->block);
      opened.body = with_named_block_extents(opened.body, (*only)->block);
    }
    plain_.emplace(plain_form(opened, {problem_.assume.noalias, problem_.check.benign_races,
                                       problem_.assume.reassociate}));
  }
  return *plain_;
}

// A state with its analysis, which refers to it.
struct KernelAnalysis::Changed {
  Changed(KernelState made, const KernelAnalysis& before)
      : state(std::move(made)), analysis(state, before.problem(), before.limits()) {}
  const KernelState state;
  const KernelAnalysis analysis;
};

Result<const KernelAnalysis*> KernelAnalysis::after(
    std::string_view step,
    const std::function<Result<KernelState>(const KernelAnalysis&)>& apply) const {
  auto found = changed_.find(step);
  if (found == changed_.end()) {
    using Shared = std::shared_ptr<const Changed>;
    auto state = apply(*this);
    Result<Shared> changed =
        state ? Result<Shared>(std::make_shared<const Changed>(std::move(*state), *this))
              : Result<Shared>(std::move(state).error());
    found = changed_.emplace(step, std::move(changed)).first;
  }
  if (!found->second) return found->second.error();
  return &(*found->second)->analysis;
}

void KernelAnalysis::note_reliance(KernelState& made) const {
  const bool is_rewritten = made.unit.kernel.body != state_.unit.kernel.body;
  if (is_rewritten && plain().needs_distinct_buffers) rely_on(made, kNeedsDistinctBuffers);
  if (is_rewritten && plain().reorders_sums) rely_on(made, kReordersSums);
}

const Analysis& KernelAnalysis::analysis() const {
  if (!analysis_) analysis_.emplace(kernel());
  return *analysis_;
}

Result<const Launch*> KernelAnalysis::launch() const {
  if (state_.plan.launches.size() != 1) return refuse("the launch plan has several launches");
  return &state_.plan.launches.front();
}

const Status& KernelAnalysis::transparent() const {
  if (!transparent_) transparent_ = require_transparent(state_.unit, analysis());
  return *transparent_;
}

const KernelForm* KernelAnalysis::direct() const {
  if (!direct_) direct_ = std::make_unique<const KernelForm>(without_local_pointers(kernel()));
  return direct_.get();
}

Result<const KernelForm*> KernelAnalysis::single_exit() const {
  if (!single_exit_) {
    Kernel kernel = direct()->kernel;
    auto body = without_early_returns(kernel.body);
    if (body) {
      kernel.body = *body;
      kernel.body = with_conditions_written_out(kernel);
      if (kernel.body != *body) kernel.body = without_dead_guards(kernel);
      kernel.body = if_converted(kernel);
    }
    single_exit_ = body ? made_of(std::move(kernel)) : Result<Form>(std::move(body).error());
  }
  return view(*single_exit_);
}

Result<const KernelForm*> KernelAnalysis::normal() const {
  if (!normal_) normal_ = made_of(normalised(kernel()));
  return view(*normal_);
}

Result<const KernelForm*> KernelAnalysis::direct_normal() const {
  if (!direct_normal_) direct_normal_ = made_of(normalised(direct()->kernel));
  return view(*direct_normal_);
}

const Result<Block>& KernelAnalysis::body_without_returns() const {
  if (!body_without_returns_) body_without_returns_ = without_early_returns(kernel().body);
  return *body_without_returns_;
}

}  // namespace regraph::rewrite

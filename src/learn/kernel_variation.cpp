#include "learn/kernel_variation.h"

#include "base/files.h"
#include "base/hash.h"
#include "kernel/manifest.h"
#include "learn/path_ablation.h"
#include "rewrite/inverse_rewriter.h"
#include "search/final_selection.h"
#include "session/opened_problem.h"
#include "session/session_policy.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cctype>
#include <memory>
#include <set>
#include <utility>

namespace regraph::learn {

namespace {

// A kernel that variants are made from.
struct FastKernel {
  Candidate candidate;
  Evaluation evaluation;
  std::string prefix;  // of labels
  std::string words;
};

std::string machine_key(const Candidate& candidate, const Evaluation& evaluation) {
  if (evaluation.machine_code == Hash128{}) return {};
  return Hasher().add(evaluation.machine_code.hex()).add(candidate.plan.text()).finish().hex();
}

std::string step_name(const std::string& text) {
  return text.substr(0, text.find('('));
}

// One kernel, open.
class Variation {
 public:
  Variation(const VariationRequest& request, const Installation& installation,
            const Cancellation& cancellation)
      : request_(request), installation_(installation), cancellation_(cancellation) {}

  [[nodiscard]] Result<VariationReport, SessionError> run() {
    auto opened = StudiedKernel::open(request_.place, installation_, cancellation_);
    if (!opened) return std::move(opened).error();
    kernel_ = std::move(*opened);
    const Session& session = kernel_->session();
    FastKernel original{session.original(), judge(session.original()), "", "the kernel"};
    if (!original.evaluation.correct()) {
      return SessionError{
          cancellation_.requested() ? FailureCause::interrupted : FailureCause::unusable_kernel,
          request_.place.kernel.string() + ": " + original.evaluation.message};
    }
    report_.key = variation_key(request_);
    report_.device = kernel_->config().device;
    report_.method = original.evaluation.time.method;
    report_.identity = original.candidate.identity.hex();
    note(original);
    fast_.push_back(std::move(original));
    for (const auto& path : request_.paths)
      ablate(path);
    take_away();
    if (cancellation_.requested()) return SessionError{FailureCause::interrupted, "interrupted"};
    return std::move(report_);
  }

 private:
  [[nodiscard]] Evaluation judge(const Candidate& candidate) {
    // As searches ask, so that what they found out is known.
    return kernel_->evaluator().evaluate(candidate, first_look(kernel_->config()), cancellation_);
  }

  void note(const FastKernel& fast) {
    known_.insert(fast.candidate.identity.hex());
    machine_codes_.insert(machine_key(fast.candidate, fast.evaluation));
  }

  void drop(const std::string& reason) { ++report_.dropped[reason]; }

  void ablate(const std::vector<std::string>& path) {
    auto ablated = ablate_path(kernel_->session().original(), kernel_->expander().expander(), path,
                               cancellation_);
    if (!ablated) return drop("path that cannot be done again");
    for (const Candidate& state : ablated->states)
      known_.insert(state.identity.hex());
    FastKernel end{ablated->states.back(), judge(ablated->states.back()), "best_",
                   fmt::format("the end of the path {}", fmt::join(path, " > "))};
    if (!end.evaluation.correct()) return drop("path that does not end well");
    note(end);
    for (std::size_t skipped = 0; skipped < ablated->skipped.size(); ++skipped) {
      ++report_.tried;
      drop("step that others need");
    }
    for (const Ablation& ablation : ablated->ablations) {
      consider(end, ablation.candidate, "without_" + step_name(ablation.step),
               fmt::format("from {}: the step {}", end.words, ablation.step));
    }
    fast_.push_back(std::move(end));
  }

  void take_away() {
    const Session& session = kernel_->session();
    const rewrite::InverseRewriter rewriter(session.problem(), limits_of(session.device()));
    for (const FastKernel& fast : fast_) {
      for (const rewrite::InverseRewrite& inverse : rewrite::inverse_rewrites()) {
        const auto slower = rewriter.apply(inverse, fast.candidate);
        if (!slower) continue;
        consider(fast, *slower, fast.prefix + inverse.id,
                 fmt::format("from {}: {}", fast.words, inverse.taken_away));
      }
    }
  }

  void consider(const FastKernel& fast, const Candidate& candidate, const std::string& label,
                const std::string& taken_away) {
    if (cancellation_.requested()) return;
    ++report_.tried;
    if (!known_.insert(candidate.identity.hex()).second) return drop("known already");
    const Evaluation evaluation = judge(candidate);
    if (!evaluation.correct()) return drop(name(evaluation.verdict));
    const std::string machine = machine_key(candidate, evaluation);
    if (!machine.empty() && !machine_codes_.insert(machine).second) return drop("known already");
    const auto slowdown = slowdown_of(evaluation, fast.evaluation);
    if (!slowdown) return drop("not slower");
    const std::string manifest = write_manifest(kernel_->session().problem(), candidate.plan);
    if (!is_kernel(candidate.source, manifest)) return drop("no kernel that can be rewritten");
    report_.variants.push_back({free_label(label), taken_away, *slowdown, candidate.source,
                                manifest, candidate.identity.hex(), machine});
  }

  // Whether a search could start from it: it must be read back, pass every check of an original,
  // and be no closed book to the rewriter.
  [[nodiscard]] bool is_kernel(const std::string& source, const std::string& manifest) const {
    const auto folder = TemporaryDirectory::create("regraph-variant-");
    if (!folder) return false;
    const std::filesystem::path file = folder->path() / "variant.cu";
    if (!write_file(file, source) || !write_file(folder->path() / "variant.regraph.yaml", manifest))
      return false;
    SessionOptions options;
    options.problem.kernel_file = file.string();
    options.device = request_.place.device;
    options.evaluator = "model";
    options.policy = kNoPolicy;
    const auto session = Session::open(options, installation_, cancellation_);
    return session && (*session)->opened().rewritable;
  }

  [[nodiscard]] std::string free_label(std::string label) {
    for (char& c : label) {
      if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
    }
    std::string unique = label;
    for (int number = 2; !labels_.insert(unique).second; ++number)
      unique = fmt::format("{}_{}", label, number);
    return unique;
  }

  const VariationRequest& request_;
  const Installation& installation_;
  const Cancellation& cancellation_;
  std::unique_ptr<StudiedKernel> kernel_;
  std::vector<FastKernel> fast_;
  std::set<std::string> known_;  // identities
  std::set<std::string> machine_codes_;
  std::set<std::string> labels_;
  VariationReport report_;
};

}  // namespace

std::optional<double> slowdown_of(const Evaluation& variant, const Evaluation& fast) {
  if (!variant.correct() || !fast.correct()) return std::nullopt;
  const double slowdown = variant.time.median_seconds / fast.time.median_seconds;
  if (!(slowdown >= kLeastSlowdown)) return std::nullopt;
  // Predictions are wrong by more than that, but by the same for both.
  const bool measured = variant.time.method == TimeMethod::measured;
  if (measured && variant.time.low_seconds <= fast.time.high_seconds) return std::nullopt;
  return slowdown;
}

Result<void, SessionError> vary_kernel(const VariationRequest& request,
                                       const Installation& installation,
                                       const Cancellation& cancellation) {
  auto report = Variation(request, installation, cancellation).run();
  if (!report) return std::move(report).error();
  if (Status written = write_file(variation_path(request), report_text(*report)); !written)
    return SessionError{FailureCause::internal, written.error().message};
  return {};
}

}  // namespace regraph::learn

// A kernel's file opened to collect from: its session, the rewriter and what makes prompts.
#pragma once

#include "base/cancellation.h"
#include "dataset/data_items.h"
#include "dataset/prompt_maker.h"
#include "kernel/evaluation.h"
#include "session/expanders.h"
#include "session/installation.h"
#include "session/session.h"

#include <filesystem>
#include <memory>
#include <string>

namespace regraph::dataset {

// A kernel that pairs are made from.
struct KernelSource {
  std::filesystem::path kernel;  // file
  std::string name;              // "FAMILY/NAME"
  std::string family;
  std::string device;
  std::string evaluator = "model";
  std::filesystem::path prompts;  // empty: the shipped ones
  FleetAccess fleet = {};         // who evaluates, where it is not this process
};

struct OpenedKernel {
  std::unique_ptr<Session> session;
  std::shared_ptr<const SessionExpander> expander;
  PromptMaker prompts;

  [[nodiscard]] const Expander& rewriter() const { return expander->expander(); }
};

// Errors: as Session::open.
[[nodiscard]] Result<OpenedKernel, SessionError> open_kernel(const KernelSource& source,
                                                             const Installation& installation,
                                                             const Cancellation& cancellation);

// What became of an answer, beside its parent.
void put_judgement(const Evaluation& parent, const Evaluation& child, AnswerItem& answer);

}  // namespace regraph::dataset

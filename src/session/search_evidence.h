// How a GPU and a language model took part in a search.
#pragma once

#include "report/hand_back_report.h"
#include "report/program_run.h"
#include "report/run_report.h"

#include <optional>

namespace regraph {

struct SearchEvidence {
  std::optional<Measurement> measurement;   // none: times are predicted
  std::optional<ModelUse> model_use;        // none: no language model was asked
  std::optional<ProgramRunReport> program;  // none: there is no program, or no winner
  std::optional<HandBackReport> hand_back;  // none: there is no winner
  std::optional<CheckReport> check;         // none: none was asked for, or there is no winner
};

}  // namespace regraph

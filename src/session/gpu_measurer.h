// What is done on this machine's GPU once a search is over, before its claim stands.
#pragma once

#include "eval/gpu/driver/gpu_disturbances.h"
#include "eval/gpu/gpu_evaluator.h"
#include "eval/measurer.h"

#include <filesystem>

namespace regraph {

class GpuMeasurer final : public Measurer {
 public:
  // All but the folder must outlive it. `cuda_root`: where compute-sanitizer may be.
  GpuMeasurer(gpu::GpuEvaluator& evaluator, const gpu::DeviceProperties& properties,
              gpu::DisturbanceLog& disturbances, std::filesystem::path cuda_root);

  [[nodiscard]] Measurement measurement() const override;
  [[nodiscard]] AnswerTrial try_answer(const Candidate* answer, bool sanitize,
                                       const Cancellation& cancellation) override;

 private:
  void time_once_more(const Candidate& best, AnswerTrial& trial,
                      const Cancellation& interrupted) const;
  void sanitize_once(const Candidate& best, AnswerTrial& trial,
                     const Cancellation& interrupted) const;

  gpu::GpuEvaluator& evaluator_;
  const gpu::DeviceProperties& properties_;
  gpu::DisturbanceLog& disturbances_;
  const std::filesystem::path cuda_root_;
};

}  // namespace regraph

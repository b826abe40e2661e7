// A worker process furnished for timing: the problem in its memory at every bench size, what the
// original computes there, and kernels that samples are taken of.
#pragma once

#include "base/cancellation.h"
#include "eval/gpu/timing/bench_memory.h"
#include "eval/gpu/timing/bench_reference.h"
#include "eval/gpu/timing/double_reference.h"
#include "eval/gpu/timing/exact_sums.h"
#include "eval/gpu/timing/race.h"
#include "eval/verify/prepared_candidate.h"

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace regraph::gpu {

struct TimingConfig {
  GpuWorkerConfiguration worker;
  std::uint64_t seed = 0;         // of inputs and poison
  verify::Arithmetic arithmetic;  // of the original at the largest test size
  Symbols test;                   // that size
  // The original in double, for a GPU; may be empty. Called when it is needed, by one thread.
  std::function<Result<verify::DoubleShadow>(const Cancellation&)> make_double_shadow;
  RaceConfig race;
  int candidates_per_process = 500;  // then the worker is replaced
};

// A kernel in the memory of a bench's process.
struct ResidentKernel {
  std::shared_ptr<const PreparedCandidate> kernel;
  GpuPlan loaded;
  // [bench size][side][input set]
  std::vector<std::array<std::vector<TimedPlan>, 2>> plans;
};

// Which samples to take.
struct SampleRequest {
  std::size_t bench = 0;
  std::vector<RaceSide> sides;  // of each sample, in order
  bool as_graph = false;        // for short kernels
  bool cold = true;             // the L2 is swept before each; else one input set serves all
};

// Not thread-safe.
class TimingBench {
 public:
  // `problem` must outlive the bench. Nothing is started yet.
  TimingBench(const Problem& problem, std::shared_ptr<const PreparedCandidate> original,
              const TimingConfig& config);

  [[nodiscard]] bool usable() const { return process_ && process_->alive(); }

  // Starts a new process and furnishes it. What was resident is gone.
  [[nodiscard]] Result<void, Failure> start(const Cancellation& stop);

  // The original, while the bench is usable.
  [[nodiscard]] const ResidentKernel& original() const { return *original_; }

  [[nodiscard]] Result<ResidentKernel, Failure> load(
      const std::shared_ptr<const PreparedCandidate>& kernel, const Cancellation& stop);
  void unload(const ResidentKernel& kernel, const Cancellation& stop);

  // One time a side of the request, in seconds, none below the timer's unit. `other` is what the
  // incumbent's side runs; may be null when that side takes no samples.
  [[nodiscard]] Result<TimeResponse, Failure> sample(const SampleRequest& request,
                                                     const ResidentKernel& candidate,
                                                     const ResidentKernel* other,
                                                     const Cancellation& stop);

  // One launch more, as the candidate's are timed: how its outputs differ from the original's, in
  // words; empty when they do not. Where the original's own sums are rough, inputs decide whose
  // sums are exact. Where there are none, or the original is off for another reason, it decides in
  // double precision.
  [[nodiscard]] Result<std::string, Failure> look(std::size_t bench,
                                                  const ResidentKernel& candidate,
                                                  const Cancellation& stop);

  // Known once it was timed; until then launches get more time.
  void set_original_seconds(std::size_t bench, double seconds) {
    original_seconds_[bench] = seconds;
  }

  [[nodiscard]] double median_clock() const { return median(clocks_); }
  [[nodiscard]] int processes() const { return processes_; }
  [[nodiscard]] int blocks() const { return blocks_; }
  // Spent on starting processes and filling their memory.
  [[nodiscard]] double furnishing_seconds() const { return furnishing_seconds_; }
  // Launches whose outputs were judged on exact sums, and by the original in double precision.
  [[nodiscard]] int exact_looks() const { return exact_looks_; }
  [[nodiscard]] int double_looks() const { return double_looks_; }
  [[nodiscard]] const DeviceProperties* device() const { return device_ ? &*device_ : nullptr; }

 private:
  struct Size {
    std::optional<BenchMemory> memory;
    std::optional<BenchReference> reference;
    bool rough = false;                          // the original's sums
    bool asked_for_exact = false;                // whether `exact` was made where it can be
    std::unique_ptr<ExactSums> exact;            // or none
    std::unique_ptr<DoubleReference> in_double;  // or none, or not made yet
  };

  void drop();
  [[nodiscard]] Result<void, Failure> furnish(const Cancellation& stop);
  [[nodiscard]] double timeout(std::size_t bench, std::size_t samples) const;
  // What one more launch of a candidate on an input set leaves.
  [[nodiscard]] Result<verify::Buffers, Failure> outputs_of(std::size_t bench,
                                                            const ResidentKernel& candidate,
                                                            int set, std::uint64_t poison_seed,
                                                            const Cancellation& stop);
  // Makes what look_in_double compares with, where it can be had.
  [[nodiscard]] Result<void, Failure> run_in_double(std::size_t bench, const Cancellation& stop);
  // By the original in double; `difference` where it cannot be had.
  [[nodiscard]] Result<std::string, Failure> look_in_double(std::size_t bench,
                                                            const ResidentKernel& candidate,
                                                            const std::string& difference,
                                                            const Cancellation& stop);
  // On exact sums, or in double where there are none.
  [[nodiscard]] Result<std::string, Failure> look_at_exact_sums(std::size_t bench,
                                                                const ResidentKernel& candidate,
                                                                const std::string& difference,
                                                                const Cancellation& stop);

  const Problem& problem_;
  const std::shared_ptr<const PreparedCandidate> original_kernel_;
  const TimingConfig& config_;
  std::unique_ptr<GpuProcess> process_;
  std::optional<DeviceProperties> device_;
  std::vector<Size> sizes_;
  std::optional<ResidentKernel> original_;
  std::vector<bool> tried_in_double_;     // per size: in some process, which may have died of it
  std::vector<double> original_seconds_;  // medians, 0 before it was timed
  std::vector<double> clocks_;            // hertz, a block
  int processes_ = 0;
  int blocks_ = 0;
  int exact_looks_ = 0;
  int double_looks_ = 0;
  double furnishing_seconds_ = 0.0;
  int batches_ = 0;  // of samples, ever; numbers poison and rotates sets
};

}  // namespace regraph::gpu

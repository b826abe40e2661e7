// Whether a worker's GPU is fit to measure.
#pragma once

#include "base/result.h"

#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

namespace regraph::fleet {

// Thread-safe.
class GpuHealth {
 public:
  // Looks in a row that find the clocks held down before that is no moment's matter.
  static constexpr int kSlowLooks = 3;

  // `probe` starts something on the GPU and says what is wrong with it; `slowed` says what holds
  // its clocks down, in words, if anything does.
  GpuHealth(std::function<Status()> probe, std::function<std::string()> slowed)
      : probe_(std::move(probe)), slowed_(std::move(slowed)) {}

  // Why times taken on it are worth nothing; empty: they are. With `suspected` it is probed.
  [[nodiscard]] std::string trouble(bool suspected);

 private:
  const std::function<Status()> probe_;
  const std::function<std::string()> slowed_;
  std::mutex mutex_;
  int slow_looks_ = 0;
};

// That of the GPU with this ordinal and bus id; `program` is regraph-eval.
[[nodiscard]] std::shared_ptr<GpuHealth> health_of_gpu(const std::filesystem::path& program,
                                                       int device, const std::string& bus_id);

}  // namespace regraph::fleet

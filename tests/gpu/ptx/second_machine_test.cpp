// The interpreter's own tests with a GPU beside it: what a launch leaves in memory must be the
// same, bit for bit. REGRAPH_SECOND_MACHINE=FILE keeps what the GPU found there; with a FILE that
// exists and without a GPU that is what everything is compared with.
#include "gpu/ptx/recorded_machine.h"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>

namespace regraph::ptx::second_machine_test {
namespace {

class Machines : public testing::Environment {
 public:
  void SetUp() override {
    const char* const file = std::getenv("REGRAPH_SECOND_MACHINE");
    auto gpu = std::make_unique<GpuSecondMachine>();
    const std::string missing = gpu->open();
    if (missing.empty()) {
      if (file != nullptr) gpu->record(file);
      machine_ = std::move(gpu);
    } else if (file != nullptr && std::filesystem::exists(file)) {
      machine_ = std::make_unique<RecordedMachine>(file);
    } else {
      std::printf("[  SKIPPED ] %s\n", missing.c_str());  // ctest looks for it
      GTEST_SKIP() << missing;
    }
    second_machine() = machine_.get();
  }
  void TearDown() override { second_machine() = nullptr; }

 private:
  std::unique_ptr<SecondMachine> machine_;
};

[[maybe_unused]] const testing::Environment* const kMachines =
    testing::AddGlobalTestEnvironment(new Machines);

}  // namespace
}  // namespace regraph::ptx::second_machine_test

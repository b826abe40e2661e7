// Shared by the tests of this room: loading kernels, packing parameters, filling buffers.
#pragma once

#include "base/random.h"
#include "ptx/interpreter.h"
#include "ptx/second_machine.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <type_traits>
#include <vector>

namespace regraph::ptx {

// Of this folder, wherever the program was carried: REGRAPH_TESTS names the folder above.
inline std::string test_file(const std::string& name) {
  const char* const carried = std::getenv("REGRAPH_TESTS");
  return (carried != nullptr ? carried : std::string(REGRAPH_SOURCE_DIR) + "/tests") + "/ptx/" +
         name;
}

inline std::string read_kernel(const std::string& name) {
  std::ifstream file(test_file("kernels/" + name + ".ptx"));
  EXPECT_TRUE(file.good()) << name;
  return {std::istreambuf_iterator<char>(file), {}};
}

inline Program load_or_die(const std::string& ptx, const std::string& entry) {
  auto program = Program::load(ptx, entry);
  if (!program.ok()) {
    ADD_FAILURE() << program.error().message;
    std::abort();
  }
  if (SecondMachine* other = second_machine(); other != nullptr)
    other->loaded(*program, ptx, entry);
  return *program;
}

// Packs arguments with their natural alignment, as the driver does.
class Parameters {
 public:
  template <typename T>
  Parameters& add(T value) {
    static_assert(std::is_trivially_copyable_v<T>);
    bytes_.resize((bytes_.size() + sizeof(T) - 1) / sizeof(T) * sizeof(T));
    const std::size_t at = bytes_.size();
    bytes_.resize(at + sizeof(T));
    std::memcpy(bytes_.data() + at, &value, sizeof(T));
    return *this;
  }
  [[nodiscard]] const std::vector<std::byte>& bytes() const { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
};

template <typename T>
std::uint64_t make_buffer(DeviceMemory& memory, const std::string& name,
                          const std::vector<T>& values,
                          BufferAccess access = BufferAccess::read_write) {
  const auto address = memory.allocate(name, values.size() * sizeof(T), access);
  EXPECT_TRUE(address.ok());
  std::memcpy(memory.view(*address).data(), values.data(), values.size() * sizeof(T));
  return *address;
}
template <typename T>
std::vector<T> read_buffer(const DeviceMemory& memory, std::uint64_t address) {
  const auto view = memory.view(address);
  std::vector<T> values(view.size() / sizeof(T));
  std::memcpy(values.data(), view.data(), view.size());
  return values;
}

// Values in [-1, 1) that depend on the seed and the position only.
inline std::vector<float> random_floats(std::size_t count, std::uint64_t seed) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) {
    values[i] = static_cast<float>(2.0 * to_unit_interval(random_bits(seed, i)) - 1.0);
  }
  return values;
}

inline RunResult run_kernel(const Program& program, DeviceMemory& memory, Dim3 grid, Dim3 block,
                            const Parameters& parameters, const RunOptions& options = {},
                            std::uint32_t dynamic_shared = 0) {
  LaunchArguments arguments;
  arguments.grid = grid;
  arguments.block = block;
  arguments.dynamic_shared_bytes = dynamic_shared;
  arguments.parameters = parameters.bytes();
  SecondMachine* other = second_machine();
  const MemoryContents before = other == nullptr ? MemoryContents() : contents_of(memory);
  RunResult result = run(program, arguments, memory, options, Cancellation());
  // What only some blocks did, or with variables that outlive the launch, it cannot repeat.
  if (other != nullptr && result.ok() && options.blocks.empty() && options.variables == nullptr)
    other->expect_same(program, arguments, memory, before);
  return result;
}

}  // namespace regraph::ptx

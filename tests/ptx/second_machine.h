// A machine that repeats what these tests run on the interpreter and must find the same, bit for
// bit: a GPU (tests/gpu/ptx). There is none elsewhere.
#pragma once

#include "ptx/interpreter.h"

#include <cstddef>
#include <string>
#include <vector>

namespace regraph::ptx {

// Of all buffers, in the order of DeviceMemory::regions().
using MemoryContents = std::vector<std::vector<std::byte>>;

inline MemoryContents contents_of(const DeviceMemory& memory) {
  MemoryContents contents;
  for (const DeviceMemory::Region& region : memory.regions())
    contents.emplace_back(region.host, region.host + (region.end - region.begin));
  return contents;
}

class SecondMachine {
 public:
  virtual ~SecondMachine() = default;
  // `program` is what was made of the kernel `entry` of that text.
  virtual void loaded(const Program& program, const std::string& ptx, const std::string& entry) = 0;
  // Launches it on buffers that hold what they held `before`. A failure of the test that runs when
  // they then hold anything else than `after` does.
  virtual void expect_same(const Program& program, const LaunchArguments& arguments,
                           const DeviceMemory& after, const MemoryContents& before) = 0;
};

// Null: nobody repeats anything.
inline SecondMachine*& second_machine() {
  static SecondMachine* machine = nullptr;
  return machine;
}

}  // namespace regraph::ptx

// A GPU that repeats launches of the interpreter, and what one found, kept in a file.
#pragma once

#include "gpu/local_context.h"
#include "ptx/second_machine.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <map>
#include <string>
#include <vector>

namespace regraph::ptx {

// What a launch depends on: text, arguments and buffers, without the buffers' addresses.
class LaunchKey {
 public:
  LaunchKey(const std::string& ptx, const std::string& entry, const LaunchArguments& arguments,
            const MemoryContents& before) {
    add(ptx.data(), ptx.size());
    add(entry.data(), entry.size());
    const Dim3 shape[] = {arguments.grid, arguments.block};
    add(shape, sizeof(shape));
    for (const auto& buffer : before)
      add(buffer.data(), buffer.size());
  }
  [[nodiscard]] std::uint64_t value() const { return hash_; }

 private:
  void add(const void* data, std::size_t bytes) {  // FNV-1a
    const auto* const from = static_cast<const unsigned char*>(data);
    for (std::size_t i = 0; i < bytes; ++i)
      hash_ = (hash_ ^ from[i]) * 0x100000001b3ULL;
    hash_ = (hash_ ^ bytes) * 0x100000001b3ULL;
  }
  std::uint64_t hash_ = 0xcbf29ce484222325ULL;
};

// Knows the text of programs.
class TextMachine : public SecondMachine {
 public:
  void loaded(const Program& program, const std::string& ptx, const std::string& entry) override {
    texts_.insert_or_assign(&program.code(), Text{program, ptx, entry});
  }

 protected:
  struct Text {
    Program program;  // keeps its address
    std::string ptx;
    std::string entry;
  };
  // Null when it was not loaded by load_or_die.
  [[nodiscard]] const Text* text_of(const Program& program) const {
    const auto found = texts_.find(&program.code());
    return found == texts_.end() ? nullptr : &found->second;
  }

  static void expect_equal(const DeviceMemory& memory, const MemoryContents& theirs) {
    std::size_t index = 0;
    for (const DeviceMemory::Region& region : memory.regions()) {
      const std::vector<std::byte>& other = theirs[index++];
      ASSERT_EQ(other.size(), region.end - region.begin) << region.name;
      constexpr std::size_t kWord = 4;
      std::size_t different = 0;
      std::string first;
      for (std::size_t at = 0; at < other.size(); at += kWord) {
        std::uint32_t mine = 0;
        std::uint32_t yours = 0;
        const std::size_t bytes = std::min(kWord, other.size() - at);
        std::memcpy(&mine, region.host + at, bytes);
        std::memcpy(&yours, other.data() + at, bytes);
        if (mine == yours) continue;
        ++different;
        if (first.size() > 400) continue;
        char text[80];
        std::snprintf(text, sizeof(text), " %zu: %08x, GPU %08x;", at / kWord, mine, yours);
        first += text;
      }
      EXPECT_EQ(different, 0U) << region.name << " differs in " << different << " of "
                               << other.size() / kWord << " words:" << first;
    }
  }

 private:
  std::map<const Program::Code*, Text> texts_;
};

class GpuSecondMachine : public TextMachine {
 public:
  // Empty on success, else why there is none.
  std::string open() { return context_.open(); }
  void record(const std::string& file) { record_.open(file, std::ios::binary); }

  void expect_same(const Program& program, const LaunchArguments& arguments,
                   const DeviceMemory& after, const MemoryContents& before) override {
    const Text* text = text_of(program);
    if (text == nullptr) return;
    ASSERT_TRUE(trouble_.empty()) << "the GPU is lost: " << trouble_;
    const MemoryContents found = run(*text, program, arguments, after, before);
    if (!trouble_.empty()) {
      FAIL() << trouble_;
      return;
    }
    if (found.empty()) return;
    if (record_.is_open()) write(LaunchKey(text->ptx, text->entry, arguments, before), found);
    expect_equal(after, found);
  }

 private:
  MemoryContents run(const Text& text, const Program& program, const LaunchArguments& arguments,
                     const DeviceMemory& after, const MemoryContents& before) {
    const gpu::Driver& driver = context_.driver();
    CUmodule module = nullptr;
    CUfunction function = nullptr;
    if (const auto known = functions_.find(&program.code()); known != functions_.end()) {
      function = known->second;
    } else {
      if (const CUresult loaded = driver.cuModuleLoadData(&module, text.ptx.c_str());
          loaded != CUDA_SUCCESS) {
        ADD_FAILURE() << "the driver does not take the PTX: " << context_.failed(loaded);
        return {};
      }
      if (!ok(driver.cuModuleGetFunction(&function, module, text.entry.c_str()))) return {};
      functions_[&program.code()] = function;
    }
    std::vector<CUdeviceptr> addresses;
    for (const auto& buffer : before) {
      addresses.push_back(0);
      if (!ok(driver.cuMemAlloc(&addresses.back(), std::max<std::size_t>(buffer.size(), 16))) ||
          !ok(driver.cuMemcpyHtoD(addresses.back(), buffer.data(), buffer.size())))
        return {};
    }
    std::vector<std::byte> parameters = arguments.parameters;
    std::vector<void*> pointers;
    for (const Program::ParameterLayout& layout : program.parameters()) {
      std::byte* const at = parameters.data() + layout.offset;
      pointers.push_back(at);
      if (layout.is_pointer_sized) translate(at, after, addresses);
    }
    if (arguments.dynamic_shared_bytes > 48 * 1024 &&
        !ok(driver.cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                      static_cast<int>(arguments.dynamic_shared_bytes))))
      return {};
    const Dim3& grid = arguments.grid;
    const Dim3& block = arguments.block;
    if (!ok(driver.cuLaunchKernel(function, grid.x, grid.y, grid.z, block.x, block.y, block.z,
                                  arguments.dynamic_shared_bytes, nullptr, pointers.data(),
                                  nullptr)) ||
        !ok(driver.cuCtxSynchronize()))
      return {};
    MemoryContents found = before;
    for (std::size_t i = 0; i < found.size(); ++i) {
      if (!ok(driver.cuMemcpyDtoH(found[i].data(), addresses[i], found[i].size()))) return {};
      driver.cuMemFree(addresses[i]);
    }
    return found;
  }

  // A pointer into one of the buffers becomes one into the GPU's.
  static void translate(std::byte* parameter, const DeviceMemory& memory,
                        const std::vector<CUdeviceptr>& addresses) {
    std::uint64_t value = 0;
    std::memcpy(&value, parameter, sizeof(value));
    std::size_t index = 0;
    for (const DeviceMemory::Region& region : memory.regions()) {
      if (value >= region.begin && value < region.end) {
        value = addresses[index] + (value - region.begin);
        std::memcpy(parameter, &value, sizeof(value));
        return;
      }
      ++index;
    }
  }

  void write(const LaunchKey& key, const MemoryContents& found) {
    const auto put = [&](std::uint64_t value) {
      record_.write(reinterpret_cast<const char*>(&value), sizeof(value));
    };
    put(key.value());
    put(found.size());
    for (const auto& buffer : found) {
      put(buffer.size());
      record_.write(reinterpret_cast<const char*>(buffer.data()),
                    static_cast<std::streamsize>(buffer.size()));
    }
    record_.flush();
  }

  bool ok(CUresult result) {
    if (result != CUDA_SUCCESS) trouble_ = context_.failed(result);
    return trouble_.empty();
  }

  gpu::test::LocalContext context_;
  std::map<const Program::Code*, CUfunction> functions_;
  std::string trouble_;
  std::ofstream record_;
};

// What a GPU found before, from the file of GpuSecondMachine::record.
class RecordedMachine : public TextMachine {
 public:
  explicit RecordedMachine(const std::string& file) {
    std::ifstream in(file, std::ios::binary);
    const auto get = [&] {
      std::uint64_t value = 0;
      in.read(reinterpret_cast<char*>(&value), sizeof(value));
      return value;
    };
    for (std::uint64_t key = get(); in.good(); key = get()) {
      MemoryContents& contents = contents_[key];
      contents.resize(get());
      for (auto& buffer : contents) {
        buffer.resize(get());
        in.read(reinterpret_cast<char*>(buffer.data()),
                static_cast<std::streamsize>(buffer.size()));
      }
    }
  }

  void expect_same(const Program& program, const LaunchArguments& arguments,
                   const DeviceMemory& after, const MemoryContents& before) override {
    const Text* text = text_of(program);
    if (text == nullptr) return;
    const auto found = contents_.find(LaunchKey(text->ptx, text->entry, arguments, before).value());
    if (found == contents_.end()) return;  // another test
    expect_equal(after, found->second);
  }

 private:
  std::map<std::uint64_t, MemoryContents> contents_;
};

}  // namespace regraph::ptx

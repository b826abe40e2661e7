#include "capture/problem/derive_manifest.h"

#include "base/files.h"
#include "kernel/captured_data.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

namespace regraph::capture::derive_manifest_test {
namespace {

// k(const int* index, float* y, int n, float factor), launched with n elements.
class DeriveManifest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(directory.ok());
    kernel.symbol = "_Z1kPKiPfif";
    kernel.slots = {{0, 8}, {8, 8}, {16, 4}, {20, 4}};
    signature.name = "k";
    signature.parameters = {{"index", ScalarType::i32, true, true},
                            {"y", ScalarType::f32, true},
                            {"n", ScalarType::i32},
                            {"factor", ScalarType::f32}};
  }

  KeptLaunch launch(std::int32_t n, std::uint64_t y_allocation = 1, std::uint64_t y_offset = 0) {
    KeptLaunch one;
    one.grid = {static_cast<std::uint32_t>((n + 127) / 128), 1, 1};
    one.block = {128, 1, 1};
    one.thread_instructions = 1000;
    one.parameters.resize(24);
    const float factor = 2.5f;
    std::memcpy(one.parameters.data() + 16, &n, sizeof n);
    std::memcpy(one.parameters.data() + 20, &factor, sizeof factor);
    std::vector<std::int32_t> index(static_cast<std::size_t>(n));
    for (std::int32_t i = 0; i < n; ++i)
      index[static_cast<std::size_t>(i)] = n - 1 - i;
    const auto file =
        store_captured(directory->path() / kCapturedData, std::as_bytes(std::span(index)));
    EXPECT_TRUE(file.ok());
    const auto bytes = static_cast<std::uint64_t>(n) * 4;
    one.pointers = {{0, 0, 0, 0, bytes, *file},
                    {1, 0, y_allocation, y_offset, bytes - y_offset, *file}};
    return one;
  }

  DerivedManifest derive() {
    auto derived = derive_manifest(kernel, signature, directory->path());
    EXPECT_TRUE(derived.ok()) << derived.error().message;
    return derived.ok() ? std::move(*derived) : DerivedManifest{};
  }
  static const ManifestArgument& argument(const Manifest& manifest, const std::string& name) {
    const auto found =
        std::ranges::find(manifest.arguments, name, [](const auto& one) { return one.first; });
    EXPECT_NE(found, manifest.arguments.end()) << name;
    return found->second;
  }

  Result<TemporaryDirectory> directory = TemporaryDirectory::create("regraph-derive-");
  CapturedKernel kernel;
  KernelSignature signature;
};

TEST_F(DeriveManifest, OneLaunchGivesSizesShapesAndGrid) {
  kernel.kept = {launch(1000)};
  const Manifest manifest = derive().manifest;
  EXPECT_EQ(manifest.sizes, (Symbols{{"n", 1000}}));
  EXPECT_EQ(argument(manifest, "index").shape->front().text(), "n");
  EXPECT_EQ(argument(manifest, "index").init, (BufferInit{BufferInit::Kind::integers, 0, 999}));
  EXPECT_EQ(argument(manifest, "factor").value, 2.5);
  EXPECT_EQ(manifest.launch->grid[0].text(), "cdiv(n, bx)");
  EXPECT_TRUE(manifest.assume.noalias);
  ASSERT_EQ(manifest.captured.size(), 1u);
  EXPECT_TRUE(manifest.captured[0].is_test);
  // It makes a problem whose data can be loaded.
  auto problem = make_problem(manifest, signature, "k.cu", "");
  ASSERT_TRUE(problem.ok()) << problem.error().message;
  ASSERT_TRUE(load_captured(*problem, "").ok());
  EXPECT_EQ(problem->captured_content({{"n", 1000}}, "index")->bytes->size(), 4000u);
  EXPECT_EQ(problem->captured_content({{"n", 1021}}, "index"), nullptr);
  // What a run writes of it is the same problem.
  const auto again = parse_manifest(write_manifest(*problem, problem->launch), "k.yaml");
  ASSERT_TRUE(again.ok()) << again.error().message;
  auto reread = make_problem(*again, signature, "k.cu", "");
  ASSERT_TRUE(reread.ok()) << reread.error().message;
  EXPECT_EQ(reread->tests, problem->tests);
  ASSERT_TRUE(load_captured(*reread, "/elsewhere").ok());
  EXPECT_EQ(*reread->captured_content({{"n", 1000}}, "y")->bytes,
            *problem->captured_content({{"n", 1000}}, "y")->bytes);
}

TEST_F(DeriveManifest, WhatDiffersBetweenRunsIsASize) {
  kernel.kept = {launch(5000), launch(20)};
  kernel.kept[1].run = 1;
  const Manifest manifest = derive().manifest;
  EXPECT_EQ(manifest.sizes, (Symbols{{"n", 5000}}));
  ASSERT_EQ(manifest.captured.size(), 2u);
  EXPECT_EQ(manifest.captured[1].sizes, (Symbols{{"n", 20}}));
}

TEST_F(DeriveManifest, OneAllocationTwiceOverlaps) {
  kernel.overlapping = true;
  kernel.kept = {launch(1000, 0)};
  const Manifest manifest = derive().manifest;
  EXPECT_FALSE(manifest.assume.noalias);
  EXPECT_EQ(argument(manifest, "y").overlaps, "index");
  EXPECT_EQ(argument(manifest, "y").overlap_bytes->text(), "0");
  EXPECT_EQ(argument(manifest, "index").overlaps, "");
}

TEST_F(DeriveManifest, NullPointersAreNull) {
  kernel.kept = {launch(1000)};
  kernel.kept[0].pointers.pop_back();
  EXPECT_TRUE(argument(derive().manifest, "y").is_null);
  // Something else that is no address of the device is not.
  kernel.kept[0].parameters[8] = std::byte{1};
  EXPECT_EQ(derive_manifest(kernel, signature, directory->path()).error().code,
            ErrorCode::unsupported);
}

TEST_F(DeriveManifest, RefusesAnotherSignature) {
  kernel.kept = {launch(1000)};
  signature.parameters.pop_back();
  EXPECT_EQ(derive_manifest(kernel, signature, directory->path()).error().code,
            ErrorCode::invalid_argument);
}

TEST_F(DeriveManifest, DataThatAreNotThoseCapturedAreRefused) {
  kernel.kept = {launch(1000)};
  auto problem = make_problem(derive().manifest, signature, "k.cu", "");
  ASSERT_TRUE(problem.ok());
  const std::filesystem::path file = problem->captured[0].contents.at("y").file;
  const auto good = read_file(file, 1 << 20);
  ASSERT_TRUE(good.ok());
  const auto other = store_captured(directory->path(), std::vector<std::byte>(4000));
  ASSERT_TRUE(other.ok());
  for (const std::string& bad : {std::string("no data"), good->substr(0, good->size() / 2),
                                 *read_file(directory->path() / *other, 1 << 20)}) {
    ASSERT_TRUE(write_file(file, bad).ok());
    const Status status = load_captured(*problem, "");
    ASSERT_FALSE(status.ok());
    EXPECT_NE(status.error().message.find(file.filename().string()), std::string::npos);
  }
}

}  // namespace
}  // namespace regraph::capture::derive_manifest_test

#include "kernel/input_files.h"

#include "base/files.h"
#include "kernel/manifest.h"

#include <gtest/gtest.h>

#include <cstring>

namespace regraph::input_files_test {
namespace {

std::string npy(const std::string& type, const std::string& shape, const std::string& data,
                bool fortran = false) {
  std::string dictionary = "{'descr': '" + type +
                           "', 'fortran_order': " + (fortran ? "True" : "False") +
                           ", 'shape': " + shape + ", }\n";
  std::string text("\x93NUMPY\x01\x00", 8);
  text += static_cast<char>(dictionary.size() & 0xff);
  text += static_cast<char>(dictionary.size() >> 8);
  return text + dictionary + data;
}

std::string floats(int count) {
  std::string bytes(static_cast<std::size_t>(count) * sizeof(float), '\0');
  for (int i = 0; i < count; ++i) {
    const auto value = static_cast<float>(i);
    std::memcpy(bytes.data() + static_cast<std::size_t>(i) * sizeof value, &value, sizeof value);
  }
  return bytes;
}

// A kernel of x (float), flags (bool) and y at 12 elements, in a folder of its own.
class InputFiles : public ::testing::Test {
 protected:
  Result<Problem> load(const std::string& x_init, const std::string& more = "") {
    const std::string yaml =
        "sizes: {n: 3, m: 4}\n"
        "args:\n  x: {dir: in, shape: [n, m], init: " +
        x_init +
        "}\n"
        "  flags: {dir: in, shape: [m]}\n"
        "  y: {dir: out, shape: [n * m]}\n"
        "launch: {block: 32, grid: [1]}\n"
        "tests: [{n: 2, m: 4}, {n: 1, m: 1}]\n" +
        more;
    return load_manifest(yaml);
  }

  Result<Problem> load_manifest(const std::string& yaml) {
    const KernelSignature signature = {
        "k",
        {{.name = "x", .type = ScalarType::f32, .is_pointer = true, .points_to_const = true},
         {.name = "flags",
          .type = ScalarType::boolean,
          .is_pointer = true,
          .points_to_const = true},
         {.name = "y", .type = ScalarType::f32, .is_pointer = true}}};
    const auto manifest = parse_manifest(yaml, "k.yaml");
    if (!manifest.ok()) return manifest.error();
    auto problem = make_problem(*manifest, signature, "k.cu", "");
    if (!problem.ok()) return problem;
    if (Status status = load_input_files(*problem, folder.path()); !status.ok())
      return status.error();
    return problem;
  }

  void write(const std::string& name, const std::string& content) {
    ASSERT_TRUE(write_file(folder.path() / name, content).ok());
  }

  std::string error_of(const std::string& x_init, const std::string& more = "") {
    const auto problem = load(x_init, more);
    EXPECT_FALSE(problem.ok()) << x_init;
    return problem.ok() ? "" : problem.error().message;
  }

  const TemporaryDirectory folder = *TemporaryDirectory::create("regraph-input-files-");
};

TEST_F(InputFiles, NumPyAndRawBytesHoldTheSame) {
  write("x.npy", npy("<f4", "(3, 4)", floats(12)));
  write("flat.npy", npy("<f4", "(12,)", floats(12)));
  write("x.bin", floats(12));
  for (const char* init : {"x.npy", "{file: x.npy}", "flat.npy", "{file: x.bin}"}) {
    const auto problem = load(init);
    ASSERT_TRUE(problem.ok()) << problem.error().message;
    for (const Symbols& symbols : {problem->bench.front(), problem->tests.front()}) {
      const CapturedContent* content = problem->captured_content(symbols, "x");
      ASSERT_NE(content, nullptr);
      EXPECT_EQ(std::memcmp(content->bytes->data(), floats(12).data(), 48), 0);
      EXPECT_EQ(problem->captured_content(symbols, "y"), nullptr);
    }
    EXPECT_TRUE(problem->has_files());
    EXPECT_TRUE(std::filesystem::path(problem->arguments[0].init.content.file).is_absolute());
  }
}

TEST_F(InputFiles, WhatIsWrittenNamesTheFileWhereverItIsRead) {
  write("x.npy", npy("<f4", "(3, 4)", floats(12)));
  const auto problem = load("x.npy");
  ASSERT_TRUE(problem.ok()) << problem.error().message;
  const std::string written = write_manifest(*problem, problem->launch);
  const auto again = load_manifest(written);
  ASSERT_TRUE(again.ok()) << again.error().message << written;
  EXPECT_EQ(again->arguments[0].init, problem->arguments[0].init);
  EXPECT_EQ(write_manifest(*again, again->launch), written);
  // Another file in its place is noticed.
  write("x.npy", npy("<f4", "(3, 4)", std::string(48, '\1')));
  const auto changed = load_manifest(written);
  ASSERT_FALSE(changed.ok());
  EXPECT_NE(changed.error().message.find("'hash'"), std::string::npos) << changed.error().message;
}

TEST_F(InputFiles, ErrorsNameArgumentFileAndReason) {
  const std::string data = floats(12);
  write("double.npy", npy("<f8", "(3, 4)", data + data));
  write("big.npy", npy(">f4", "(3, 4)", data));
  write("fortran.npy", npy("<f4", "(3, 4)", data, true));
  write("turned.npy", npy("<f4", "(4, 3)", data));
  write("short.npy", npy("<f4", "(3, 3)", floats(9)));
  write("cut.npy", npy("<f4", "(3, 4)", data.substr(1)));
  write("more.npy", npy("<f4", "(3, 4)", data + "x"));
  write("none.npy", data);
  write("short.bin", floats(11));
  const std::pair<const char*, const char*> cases[] = {
      {"double.npy", "'<f8', those of the buffer are float ('<f4')"},
      {"big.npy", "'>f4'"},
      {"fortran.npy", "Fortran order"},
      {"turned.npy", "shape is [4, 3], that of the buffer is [3, 4]"},
      {"short.npy", "9 elements (shape [3, 3]), the buffer has 12"},
      {"cut.npy", "47 bytes"},
      {"more.npy", "49 bytes"},
      {"none.npy", "no .npy file"},
      {"short.bin", "44 bytes"},
      {"absent.bin", "absent.bin"},
  };
  for (const auto& [file, reason] : cases) {
    const std::string message = error_of("{file: " + std::string(file) + "}");
    EXPECT_NE(message.find(reason), std::string::npos) << message;
    EXPECT_NE(message.find("args.x.init: "), std::string::npos) << message;
    EXPECT_NE(message.find(file), std::string::npos) << message;
  }
  write("x.bin", data);
  const std::string larger = error_of("{file: x.bin}", "bench: [{n: 1}]\n");
  EXPECT_NE(larger.find("a test needs 8 elements"), std::string::npos) << larger;
  const std::string huge = error_of("{file: x.bin}", "bench: [{n: 1000000000}]\n");
  EXPECT_NE(huge.find("2 GiB"), std::string::npos) << huge;
  const auto flags = load_manifest(
      "sizes: {n: 48}\nargs: {x: {shape: [n]}, flags: {shape: [n], init: {file: x.bin}}, y: "
      "{shape: "
      "[n]}}\nlaunch: {block: 32, grid: 1}\n");
  ASSERT_FALSE(flags.ok());
  EXPECT_NE(flags.error().message.find("bool"), std::string::npos) << flags.error().message;
}

TEST_F(InputFiles, AtSeveralBenchSizesTheLargestTellsTheLength) {
  write("x.bin", floats(12));
  EXPECT_TRUE(load("{file: x.bin}", "bench: [{n: 2}, {n: 3}]\n").ok());
  EXPECT_FALSE(load("{file: x.bin}", "bench: [{n: 3}, {n: 4}]\n").ok());
}

}  // namespace
}  // namespace regraph::input_files_test

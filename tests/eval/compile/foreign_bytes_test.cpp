// Everything that reads bytes another process wrote: the worker's protocol, cubins, cache entries.
#include "base/random.h"
#include "eval/compile/compile_cache.h"
#include "eval/compile/cubin.h"
#include "eval/compile/worker_protocol.h"
#include "eval/real_compiler.h"

#include <gtest/gtest.h>

#include <cstring>

namespace regraph::compile_internal::foreign_bytes_test {
namespace {

std::string mutate(const std::string& original, std::uint64_t round) {
  std::string text = original;
  if (round % 4 == 0) text.resize(random_bits(round, 9) % (text.size() + 1));
  for (std::uint64_t edit = 0; edit < 1 + round % 12 && !text.empty(); ++edit) {
    text[random_bits(round, edit, 1) % text.size()] =
        static_cast<char>(random_bits(round, edit, 2));
  }
  return text;
}

TEST(WorkerProtocol, RoundTripsAndSurvivesGarbage) {
  WorkerRequest request;
  request.nvrtc_library = "/lib/x";
  request.include_directories = {"/a", "/b"};
  request.headers = {{"x.h", "text"}, {"y.h", ""}};
  request.file_name = "k.cu";
  request.source = std::string("a\0b", 3);
  request.kernel = "k<3>";
  request.options = {"-O3"};
  request.want_cubin = false;
  const std::string bytes = encode(request);
  const auto back = decode_request(bytes);
  ASSERT_TRUE(back.has_value());
  EXPECT_EQ(back->headers, request.headers);
  EXPECT_EQ(back->source, request.source);
  EXPECT_EQ(back->options, request.options);
  EXPECT_FALSE(back->want_cubin);

  const WorkerResponse response = {
      WorkerResponse::Status::rejected, "log", "ptx", "cubin", "e", "s"};
  const std::string answer = encode(response);
  const auto read = decode_response(answer);
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(read->status, WorkerResponse::Status::rejected);
  EXPECT_EQ(read->cubin, "cubin");
  EXPECT_EQ(read->sandbox, "s");
  EXPECT_FALSE(decode_response(answer + "x").has_value());
  EXPECT_FALSE(decode_response("").has_value());
  for (std::uint64_t round = 0; round < 20000; ++round) {
    (void)decode_request(mutate(bytes, round));
    (void)decode_response(mutate(answer, round));
  }
}

CompiledKernel compiled() {
  Compiler compiler(test::real_configuration());
  const Cancellation never;
  const auto kernel = compiler.compile(
      test::request_for(
          "__constant__ float t[3];\n__global__ void k(float* p) { *p = t[threadIdx.x % 3]; }"),
      never);
  EXPECT_TRUE(kernel.ok()) << kernel.error().message;
  return kernel.ok() ? *kernel : CompiledKernel{};
}

TEST(Cubin, SurvivesGarbage) {
  const CompiledKernel kernel = compiled();
  const std::string original(reinterpret_cast<const char*>(kernel.cubin.data()),
                             kernel.cubin.size());
  const auto hash = [&](const std::string& bytes) {
    return hash_machine_code(std::as_bytes(std::span(bytes.data(), bytes.size())), kernel.entry);
  };
  ASSERT_TRUE(hash(original).has_value());
  EXPECT_EQ(*hash(original), kernel.machine_code);
  EXPECT_FALSE(hash("").has_value());
  EXPECT_FALSE(hash_machine_code(kernel.cubin, "no_such_kernel").has_value());
  for (std::uint64_t round = 0; round < 5000; ++round) {
    std::string text = mutate(original, round);
    // The header and the section table are where offsets and counts stand.
    if (round % 2 == 0 && text.size() > 64)
      text[random_bits(round, 77) % 64] = static_cast<char>(round);
    (void)hash(text);
  }
}

TEST(CompileCache, DamagedEntriesAreNotEntries) {
  CacheEntry entry;
  entry.kernel = compiled();
  const std::string bytes = encode(entry);
  const auto back = decode_cache_entry(bytes);
  ASSERT_TRUE(back.has_value() && back->kernel.has_value());
  EXPECT_EQ(back->kernel->ptx, entry.kernel->ptx);
  EXPECT_EQ(back->kernel->machine_code, entry.kernel->machine_code);
  for (std::uint64_t round = 0; round < 2000; ++round) {
    const std::string damaged = mutate(bytes, round);
    if (damaged == bytes) continue;
    EXPECT_FALSE(decode_cache_entry(damaged).has_value());
  }
}

}  // namespace
}  // namespace regraph::compile_internal::foreign_bytes_test

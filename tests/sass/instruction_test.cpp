#include "sass/instruction.h"

#include "sass/sass_test_support.h"

#include <gtest/gtest.h>

namespace regraph::sass::instruction_test {
namespace {

// Encodings as NVIDIA's disassembler of CUDA 13 explains them.
TEST(Instruction, DecodesWhatTheDisassemblerSays) {
  // LDG.E.128 with write barrier 2 and a stall of 4, sm_90.
  const Instruction load = decode(0x0000000402087981, 0x000ea8000c1e1d00, 90, 0);
  EXPECT_EQ(load.operation_class, OperationClass::load_global);
  EXPECT_EQ(load.access_bytes, 16);
  EXPECT_FALSE(load.guarded());
  EXPECT_EQ(load.write_barrier, 2);
  EXPECT_EQ(load.read_barrier, kNoBarrier);
  EXPECT_EQ(load.stall, 4);
  EXPECT_EQ(load.wait_mask, 0);
  EXPECT_TRUE(load.falls_through);
  // @!P0 BRA +0x180 bytes... as of sm_90, whose offsets lie in two pieces.
  const Instruction branch = decode(0x0000000800108947, 0x000fea0003800000, 90, 0xf0);
  EXPECT_EQ(branch.operation_class, OperationClass::branch);
  EXPECT_TRUE(branch.guarded());
  EXPECT_TRUE(branch.guard_negated);
  EXPECT_TRUE(branch.falls_through);
  ASSERT_TRUE(branch.has_target);
  EXPECT_EQ(branch.target, 0x940);
  // The branch to itself that ends every kernel, on both kinds of offsets.
  for (const auto& [low, architecture] :
       {std::pair{0xfffffff000007947ULL, 80}, std::pair{0xfffffffc00fc7947ULL, 90}}) {
    const Instruction self = decode(low, 0x000fc0000383ffff, architecture, 0x500);
    EXPECT_FALSE(self.falls_through);
    EXPECT_EQ(self.target, 0x500) << architecture;
  }
  // BRA.DIV is only taken by diverged warps; BRA.U UP0 depends on a predicate of the warp.
  const Instruction if_diverged = decode(0x0000000204507947, 0x000fea000b800000, 90, 0);
  EXPECT_FALSE(if_diverged.has_target);
  EXPECT_TRUE(if_diverged.falls_through);
  const Instruction uniform = decode(0xfffffff500387547, 0x000fec000b83ffff, 100, 0x1000);
  EXPECT_TRUE(uniform.has_target);
  EXPECT_TRUE(uniform.falls_through);
  EXPECT_LT(uniform.target, 0x1000);
  // BRA P1: a second predicate, no guard.
  EXPECT_TRUE(decode(0x0000000000200947, 0x000fea0000800000, 100, 0).falls_through);
  // DEPBAR.LE SB0, 0x2.
  const Instruction depbar = decode(0x000080800000791a, 0x000fc80000000000, 90, 0);
  EXPECT_EQ(depbar.operation, kDepbar);
  EXPECT_EQ(depbar.pending_copies, 2u);
  // EXIT, and @P0 EXIT.
  EXPECT_FALSE(decode(0x000000000000794d, 0x000fea0003800000, 90, 0).falls_through);
  EXPECT_TRUE(decode(0x000000000000094d, 0x000fea0003800000, 90, 0).falls_through);
}

// Of kernels with wgmma, whose warps copy boxes of tensors and hand registers over.
TEST(Instruction, KnowsWhatWarpgroupsDo) {
  const auto kind = [](std::uint64_t low, std::uint64_t high) {
    return decode(low, high, 90, 0).operation_class;
  };
  // HGMMA.64x256x16.F32, UTMALDG.2D, UTMACCTL.IV, USETMAXREG.TRY_ALLOC, ARRIVES.LDGSTSBAR,
  // UIADD3.64.
  EXPECT_EQ(kind(0x43e00000101879f0, 0x000fe20008700818), OperationClass::tensor);
  EXPECT_EQ(kind(0x00000004080075b4, 0x0003d80008008000), OperationClass::copy_to_shared);
  EXPECT_EQ(kind(0x00000000040079b9, 0x0005e20008000000), OperationClass::fence);
  EXPECT_EQ(kind(0x000000e0000079c8, 0x000e640008000600), OperationClass::control);
  EXPECT_EQ(kind(0x00000000ff0079b0, 0x000fe20008000a46), OperationClass::control);
  EXPECT_EQ(kind(0x0000008012167897, 0x000fe4000fffe03f), OperationClass::uniform);
}

TEST(Instruction, KnowsPlacesOnTheStack) {
  // LDL R26, [R1+0x4a8]; LDL.LU R26, [R1+0x758]; STL.64 [R1+0x750], R24; the first with -0x8.
  const Instruction load = decode(0x0004a800011a7983, 0x000ea80000100800, 90, 0);
  EXPECT_EQ(load.operation_class, OperationClass::load_local);
  EXPECT_EQ(load.local_base, kStackPointer);
  EXPECT_EQ(load.local_offset, 0x4a8);
  EXPECT_FALSE(load.last_use);
  const Instruction last = decode(0x00075800011a7983, 0x001ea80000300800, 90, 0);
  EXPECT_EQ(last.local_offset, 0x758);
  EXPECT_TRUE(last.last_use);
  const Instruction store = decode(0x0007501801007387, 0x0081e20000100a00, 90, 0);
  EXPECT_EQ(store.operation_class, OperationClass::store_local);
  EXPECT_EQ(store.access_bytes, 8);
  EXPECT_EQ(store.local_base, kStackPointer);
  EXPECT_EQ(store.local_offset, 0x750);
  EXPECT_FALSE(store.last_use);
  EXPECT_EQ(decode(0xfffff800011a7983, 0x000ea80000100800, 90, 0).local_offset, -8);
}

struct Expectation {
  const char* body;
  OperationClass kind;
  int bytes;
};

TEST(Instruction, ClassesAndWidthsAreThoseOfTheSource) {
  const Expectation expectations[] = {
      {"out[threadIdx.x] = in[threadIdx.x] * in[n] + 1.5f;", OperationClass::fp32, 0},
      {"((int*)out)[threadIdx.x] = ((int*)in)[threadIdx.x] * n;", OperationClass::integer_multiply,
       0},
      {"((double*)out)[threadIdx.x] = ((double*)in)[threadIdx.x] * 1.5;", OperationClass::fp64, 0},
      {"out[threadIdx.x] = __expf(in[threadIdx.x]);", OperationClass::special_function, 0},
      {"out[threadIdx.x] = __shfl_down_sync(~0u, in[threadIdx.x], 3);", OperationClass::shuffle, 0},
      {"((char*)out)[threadIdx.x] = ((char*)in)[threadIdx.x + n];", OperationClass::load_global, 1},
      {"((short*)out)[threadIdx.x] = ((short*)in)[threadIdx.x + n];", OperationClass::store_global,
       2},
      {"out[threadIdx.x] = in[threadIdx.x];", OperationClass::load_global, 4},
      {"((float2*)out)[threadIdx.x] = ((float2*)in)[threadIdx.x];", OperationClass::store_global,
       8},
      {"((float4*)out)[threadIdx.x] = ((float4*)in)[threadIdx.x];", OperationClass::load_global,
       16},
      {"__shared__ float4 s[64]; s[threadIdx.x] = ((float4*)in)[threadIdx.x]; __syncthreads();"
       "((float4*)out)[threadIdx.x] = s[63 - threadIdx.x];",
       OperationClass::load_shared, 16},
      {"atomicAdd((int*)out + n, (int)threadIdx.x * 3 + n);", OperationClass::atomic_global, 0},
      {"__shared__ int s[64]; s[threadIdx.x] = 0; __syncthreads();"
       "atomicMax(s + ((int*)in)[threadIdx.x] % 64, n); __syncthreads();"
       "((int*)out)[threadIdx.x] = s[threadIdx.x];",
       OperationClass::atomic_shared, 0},
  };
  for (const char* architecture : test::kArchitectures) {
    for (const Expectation& expected : expectations) {
      const MachineCode code =
          test::machine_code(test::compiled(test::kernel_with(expected.body), architecture));
      int found = 0;
      for (const CodeInstruction& one : code.instructions) {
        EXPECT_NE(one.what.operation_class, OperationClass::unknown)
            << architecture << " " << std::hex << one.what.operation << "\n"
            << expected.body;
        if (one.what.operation_class != expected.kind) continue;
        ++found;
        if (expected.bytes != 0) {
          EXPECT_EQ(one.what.access_bytes, expected.bytes) << expected.body;
        }
      }
      EXPECT_GT(found, 0) << architecture << "\n" << expected.body;
    }
  }
}

// Every bit pattern is some instruction.
TEST(Instruction, AnyBitsDecode) {
  for (std::uint64_t round = 0; round < 200'000; ++round) {
    const Instruction one = decode(random_bits(round, 1), random_bits(round, 2),
                                   round % 2 == 0 ? 80 : 90, (round % 4096) * kInstructionBytes);
    EXPECT_LE(one.guard, 7);
    EXPECT_LE(one.stall, 15);
    EXPECT_LE(one.wait_mask, 63);
  }
}

}  // namespace
}  // namespace regraph::sass::instruction_test

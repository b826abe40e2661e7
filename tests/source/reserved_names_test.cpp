#include "source/reserved_names.h"

#include <gtest/gtest.h>

namespace regraph::source::reserved_names_test {
namespace {

TEST(ReservedNames, AreTheLanguagesCudasAndTheCompilers) {
  for (const char* name : {"for", "float", "threadIdx", "warpSize", "__syncthreads", "_Bool"})
    EXPECT_TRUE(is_reserved_name(name)) << name;
  for (const char* name : {"", "_", "_row", "row", "forward", "float4", "threadidx", "x"})
    EXPECT_FALSE(is_reserved_name(name)) << name;
}

}  // namespace
}  // namespace regraph::source::reserved_names_test

#include "base/symbol_resolver.h"

#include <gtest/gtest.h>

#include <cmath>

namespace regraph::symbol_resolver_test {
namespace {

TEST(SymbolResolver, FindsFunctionsAndNamesTheFirstThatIsMissing) {
  void* const library = ::dlopen("libm.so.6", RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(library, nullptr);
  double (*root)(double) = nullptr;
  double (*none)(double) = nullptr;
  SymbolResolver symbol(library);
  symbol("sqrt", root);
  ASSERT_NE(root, nullptr);
  EXPECT_EQ(root(9.0), 3.0);
  EXPECT_EQ(symbol.missing(), "");
  symbol("no_such_root", none);
  symbol("nor_this_one", none);
  EXPECT_EQ(none, nullptr);
  EXPECT_EQ(symbol.missing(), "no_such_root");
  ::dlclose(library);
}

}  // namespace
}  // namespace regraph::symbol_resolver_test

#include "learn/name_groups.h"

#include <gtest/gtest.h>

namespace regraph::learn::name_groups_test {
namespace {

TEST(NameGroups, AreJoinedOverOthers) {
  NameGroups groups;
  groups.join({});
  groups.join({"d", "c"});
  groups.join({"f", "e"});
  groups.join({"b", "a"});
  EXPECT_TRUE(groups.together("c", "d"));
  EXPECT_FALSE(groups.together("a", "c"));
  groups.join({"x", "d", "f"});
  EXPECT_TRUE(groups.together("c", "e"));
  EXPECT_TRUE(groups.together("x", "f"));
  EXPECT_FALSE(groups.together("e", "b"));
  groups.join({"e", "b"});
  for (const char* name : {"a", "b", "c", "d", "e", "f", "x"})
    EXPECT_EQ(groups.leader(name), "a") << name;
}

TEST(NameGroups, ANameThatIsNotKnownIsAlone) {
  NameGroups groups;
  groups.join({"a"});
  EXPECT_EQ(groups.leader("a"), "a");
  EXPECT_EQ(groups.leader("b"), "b");
  EXPECT_FALSE(groups.together("a", "b"));
  EXPECT_TRUE(groups.together("b", "b"));
}

}  // namespace
}  // namespace regraph::learn::name_groups_test

#include "learn/family_tells.h"

#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <string>
#include <vector>

namespace regraph::learn::family_tells_test {
namespace {

class FamilyTells : public ::testing::Test {
 protected:
  // An original with two edges; all inputs 0 but those that are given.
  SiblingGroup& add(const std::string& family, const std::string& kernel) {
    SiblingGroup group{family, kernel, "s", true, {}};
    group.edges.resize(2);
    for (SiblingEdge& edge : group.edges)
      edge.row.assign(layout_.size(), 0.0F);
    groups_.push_back(std::move(group));
    return groups_.back();
  }
  void set(SiblingGroup& group, const std::string& name, float value) const {
    for (SiblingEdge& edge : group.edges)
      edge.row[*layout_.place(name)] = value;
  }
  [[nodiscard]] FamilyTell of(const std::string& inputs) const {
    for (const FamilyTell& tell : family_tells(groups_, layout_)) {
      if (tell.inputs == inputs) return tell;
    }
    ADD_FAILURE() << inputs;
    return {};
  }

  policy::FeatureLayout layout_{{"swap", "tile"}};
  std::vector<SiblingGroup> groups_;
};

TEST_F(FamilyTells, InputsThatNameTheFamilyAreFound) {
  std::mt19937_64 random(3);
  for (int family = 0; family < 5; ++family) {
    for (int style = 0; style < 4; ++style) {
      const std::string name(1, static_cast<char>('a' + family));
      SiblingGroup& group = add(name, name + std::to_string(style));
      set(group, "shape.loops", static_cast<float>(family) + 0.01F * static_cast<float>(style));
      set(group, "fact.occupancy", static_cast<float>(random() % 1000));
      // Of an edge's inputs the mean counts.
      group.edges[0].row[*layout_.place("setting.factor")] = 100.0F;
      group.edges[1].row[*layout_.place("setting.factor")] =
          static_cast<float>(2 * family) - 100.0F;
    }
  }
  EXPECT_DOUBLE_EQ(of("shape").found, 1.0);
  EXPECT_EQ(of("shape").varied, 1U);
  EXPECT_EQ(of("shape").kernels, 20U);
  EXPECT_DOUBLE_EQ(of("shape").chance, 3.0 / 19.0);
  EXPECT_DOUBLE_EQ(of("setting").found, 1.0);
  EXPECT_LT(of("fact").found, 0.5);
  // What is the same everywhere tells nothing: all others are equally near.
  EXPECT_EQ(of("graph").varied, 0U);
  EXPECT_DOUBLE_EQ(of("graph").found, of("graph").chance);
  EXPECT_EQ(of("all").varied, 3U);
  EXPECT_GT(of("all").found, 0.9);

  const std::string text = tells_text(family_tells(groups_, layout_));
  EXPECT_NE(text.find("(20 kernels)"), std::string::npos) << text;
  EXPECT_NE(text.find("shape           1   1.00    0.16\n"), std::string::npos) << text;
}

// Inputs of different size count alike.
TEST_F(FamilyTells, InputsAreStandardised) {
  for (int family = 0; family < 2; ++family) {
    for (int style = 0; style < 2; ++style) {
      SiblingGroup& group =
          add(std::string(1, static_cast<char>('a' + family)), std::to_string(2 * family + style));
      set(group, "shape.loops", static_cast<float>(family));
      set(group, "shape.branches", static_cast<float>(family));
      set(group, "shape.block_x", 1000.0F * static_cast<float>(style));
    }
  }
  EXPECT_DOUBLE_EQ(of("shape").found, 1.0);
}

TEST_F(FamilyTells, WhatIsNotKnownIsTheMean) {
  const float unknown = std::numeric_limits<float>::quiet_NaN();
  set(add("a", "1"), "fact.occupancy", 10.0F);
  set(add("a", "2"), "fact.occupancy", unknown);
  set(add("b", "3"), "fact.occupancy", -10.0F);
  set(add("b", "4"), "fact.occupancy", unknown);
  // The nearest of 1 are 2 and 4, so are those of 3; of 2 it is 4.
  EXPECT_DOUBLE_EQ(of("fact").found, 0.25);
  for (SiblingGroup& group : groups_)
    set(group, "fact.occupancy", unknown);
  EXPECT_EQ(of("fact").varied, 0U);
}

TEST_F(FamilyTells, OnlyOriginalsWithRelativesAreAskedFor) {
  EXPECT_TRUE(family_tells(groups_, layout_).empty());
  EXPECT_EQ(tells_text({}), "");
  set(add("a", "1"), "shape.loops", 1.0F);
  add("alone", "2");
  // A kernel is no relative of its own.
  set(add("a", "1"), "shape.loops", 1.0F);
  EXPECT_TRUE(family_tells(groups_, layout_).empty());
  set(add("a", "3"), "shape.loops", 1.0F);
  groups_.back().at_original = false;
  EXPECT_TRUE(family_tells(groups_, layout_).empty());
  groups_.back().at_original = true;
  EXPECT_EQ(of("shape").kernels, 3U);
  EXPECT_DOUBLE_EQ(of("shape").found, 1.0);
}

}  // namespace
}  // namespace regraph::learn::family_tells_test

#include "learn/table_lines.h"

#include <gtest/gtest.h>

#include <vector>

namespace regraph::learn::table_lines_test {
namespace {

struct Reading {
  std::string error;
  std::vector<std::string> rows;
};

Reading read(std::string_view text) {
  Reading reading;
  const Status done =
      read_table_lines(text, "t", {"things/1", "things"}, [&](std::string_view line) {
        reading.rows.emplace_back(line);
        return line == "bad" ? std::string("a bad row") : std::string();
      });
  if (!done) reading.error = done.error().message;
  return reading;
}

TEST(TableLines, GiveEachRowAfterTheHeader) {
  const Reading reading = read("things/1\na\n\nb\n");
  EXPECT_EQ(reading.error, "");
  EXPECT_EQ(reading.rows, (std::vector<std::string>{"a", "", "b"}));
  EXPECT_TRUE(read("things/1\n").rows.empty());
}

TEST(TableLines, StopAtWhatIsWrongAndSayWhere) {
  EXPECT_EQ(read("").error, "t:1: the file is empty");
  EXPECT_EQ(read("things/2\n").error,
            "t:1: not a table of things, or another version's (its first line is not 'things/1')");
  const Reading bad = read("things/1\na\nbad\nb\n");
  EXPECT_EQ(bad.error, "t:3: a bad row");
  EXPECT_EQ(bad.rows.size(), 2U);
  const Reading cut = read("things/1\na\nb");
  EXPECT_EQ(cut.error, "t:3: the line is cut off");
  EXPECT_EQ(cut.rows, std::vector<std::string>{"a"});
}

}  // namespace
}  // namespace regraph::learn::table_lines_test

#include "bench/flags.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/units.h"

namespace shoal::bench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

struct Values {
  int64_t begin = 8;
  int64_t repeat = 5;
  bool checksum = true;
  std::string address;
  std::vector<std::string> ops = {"echo"};
};

FlagSet MakeSet(Values* values) {
  FlagSet set("sweep", "sizes.", "  example\n");
  set.AddBytes({"begin", 'b', "SIZE", "The smallest."}, &values->begin);
  set.AddInt({"repeat", '\0', "N", "Bursts."}, &values->repeat);
  set.AddSwitch({"checksum", '\0', "", "Sums."}, &values->checksum);
  set.AddText({"address", '\0', "HOST:PORT", "Server."}, &values->address);
  set.AddChoices({"op", '\0', "", "Calls."}, {"echo", "put", "get"}, &values->ops);
  return set;
}

absl::StatusOr<std::vector<std::string>> Parse(const std::vector<std::string>& words,
                                               Values* values) {
  FlagSet set = MakeSet(values);
  return set.Parse(words);
}

TEST(FlagSetTest, TakesEverySpelling) {
  Values values;
  const auto rest = Parse(
      {"-b", "1KiB", "--repeat=7", "--no-checksum", "--op", "put,get", "--address", "localhost:1"},
      &values);
  ASSERT_TRUE(rest.ok()) << rest.status();
  EXPECT_THAT(*rest, IsEmpty());
  EXPECT_EQ(values.begin, kKiB);
  EXPECT_EQ(values.repeat, 7);
  EXPECT_FALSE(values.checksum);
  EXPECT_EQ(values.address, "localhost:1");
  EXPECT_THAT(values.ops, ElementsAre("put", "get"));
}

TEST(FlagSetTest, TakesALetterWithItsValue) {
  Values values;
  ASSERT_TRUE(Parse({"-b64MiB"}, &values).ok());
  EXPECT_EQ(values.begin, 64 * kMiB);
}

TEST(FlagSetTest, ReturnsWhatIsNoFlag) {
  Values values;
  EXPECT_THAT(*Parse({"a.json", "-", "--", "--op"}, &values), ElementsAre("a.json", "-", "--op"));
}

TEST(FlagSetTest, KeepsDefaultsAndTellsWhatIsInForce) {
  Values values;
  FlagSet set = MakeSet(&values);
  ASSERT_TRUE(set.Parse({"--repeat", "3"}).ok());
  EXPECT_EQ(set.values().at("begin"), "8");
  EXPECT_EQ(set.values().at("repeat"), "3");
  EXPECT_EQ(set.values().at("op"), "echo");
}

TEST(FlagSetTest, NamesTheFlagThatIsWrong) {
  const std::vector<std::vector<std::string>> bad = {{"--begin", "12 apples"},
                                                     {"--repeat", "-1"},
                                                     {"--op", "echo,fly"},
                                                     {"--nosuch", "1"},
                                                     {"--repeat"},
                                                     {"--checksum=perhaps"},
                                                     {"-x"},
                                                     {"--no-repeat"}};
  for (const auto& words : bad) {
    Values values;
    const auto rest = Parse(words, &values);
    EXPECT_EQ(rest.status().code(), absl::StatusCode::kInvalidArgument) << words[0];
    const std::string name = words[0].substr(words[0].find_first_not_of('-'), 5);
    EXPECT_THAT(std::string(rest.status().message()), HasSubstr(name));
  }
}

TEST(FlagSetTest, HelpIsAskedForAndNamesDefaultsChoicesAndExamples) {
  Values values;
  FlagSet set = MakeSet(&values);
  EXPECT_EQ(set.Parse({"--help"}).status().code(), absl::StatusCode::kCancelled);
  const std::string help = set.Help();
  for (const char* part : {"shoal-bench sweep", "-b, --begin SIZE", "(8)", "echo|put|get",
                           "--no-checksum", "Examples:\n  example"}) {
    EXPECT_THAT(help, HasSubstr(part));
  }
}

}  // namespace
}  // namespace shoal::bench

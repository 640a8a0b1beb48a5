#include "client/cli/arguments.h"

#include <gtest/gtest.h>

#include "client/cli/exit_code.h"

namespace shoal::cli {
namespace {

template <typename T>
bool IsUsageError(const absl::StatusOr<T>& parsed) {
  return !parsed.ok() && ExitCodeOf(parsed.status()) == ExitCode::kUsage;
}

TEST(ParseInputTest, PathsReferencesAndNames) {
  struct Case {
    std::string text, name, path, array;
    uint64_t id;
  };
  for (const Case& each :
       {Case{"x=x.npy", "x", "x.npy", "", 0}, Case{"x.npy", "", "x.npy", "", 0},
        Case{"-", "", "-", "", 0}, Case{"x=-", "x", "-", "", 0}, Case{"@x", "", "", "x", 0},
        Case{"a=@run/7", "a", "", "run/7", 0}, Case{"@#12", "", "", "", 12},
        Case{"b_2=@#12", "b_2", "", "", 12}, Case{"./a=b.npy", "", "./a=b.npy", "", 0},
        Case{"2x=b.npy", "", "2x=b.npy", "", 0}, Case{"x=a=b.npy", "x", "a=b.npy", "", 0}}) {
    const absl::StatusOr<InputArgument> input = ParseInput(each.text);
    ASSERT_TRUE(input.ok()) << each.text << input.status();
    EXPECT_EQ(input->name, each.name) << each.text;
    if (const auto* reference = std::get_if<ArrayRef>(&input->value)) {
      EXPECT_EQ(reference->name, each.array) << each.text;
      EXPECT_EQ(reference->id, each.id) << each.text;
      EXPECT_TRUE(each.path.empty()) << each.text;
    } else {
      EXPECT_EQ(std::get<std::string>(input->value), each.path) << each.text;
    }
  }
  for (const char* text : {"", "x=", "@", "@#", "@#x", "x=@#0", "@#-1"}) {
    EXPECT_TRUE(IsUsageError(ParseInput(text))) << text;
  }
}

TEST(ParseArrayRefTest, NamesAndIdsWithOrWithoutAt) {
  EXPECT_EQ(ParseArrayRef("x")->name, "x");
  EXPECT_EQ(ParseArrayRef("@x")->name, "x");
  EXPECT_EQ(ParseArrayRef("#7")->id, 7u);
  EXPECT_EQ(ParseArrayRef("@#18446744073709551615")->id, UINT64_MAX);
  EXPECT_TRUE(IsUsageError(ParseArrayRef("#18446744073709551616")));
  EXPECT_TRUE(IsUsageError(ParseArrayRef("")));
}

TEST(ParseParamTest, TheNarrowestTypeThatHoldsTheValue) {
  EXPECT_EQ(std::get<int64_t>(ParseParam("a=2")->value), 2);
  EXPECT_EQ(std::get<int64_t>(ParseParam("a=-9223372036854775808")->value), INT64_MIN);
  EXPECT_EQ(std::get<uint64_t>(ParseParam("a=18446744073709551615")->value), UINT64_MAX);
  EXPECT_EQ(std::get<double>(ParseParam("a=2.0")->value), 2.0);
  EXPECT_EQ(std::get<double>(ParseParam("alpha=-1e-3")->value), -1e-3);
  EXPECT_EQ(std::get<bool>(ParseParam("a=true")->value), true);
  EXPECT_EQ(std::get<bool>(ParseParam("a=false")->value), false);
  EXPECT_EQ(ParseParam("alpha=1")->name, "alpha");
  for (const char* text : {"", "a", "=1", "a=", "a=two", "a=1x"}) {
    EXPECT_TRUE(IsUsageError(ParseParam(text))) << text;
  }
}

TEST(ParseDistributionTest, KindsAndWorkers) {
  using Kind = Distribution::Kind;
  EXPECT_EQ(*ParseDistribution("block"), (Distribution{Kind::kBlock, {}}));
  EXPECT_EQ(*ParseDistribution("replicated"), (Distribution{Kind::kReplicated, {}}));
  EXPECT_EQ(*ParseDistribution("single"), (Distribution{Kind::kSingle, {}}));
  EXPECT_EQ(*ParseDistribution("single:3"), (Distribution{Kind::kSingle, {3}}));
  EXPECT_EQ(*ParseDistribution("block:0,2"), (Distribution{Kind::kBlock, {0, 2}}));
  for (const char* text :
       {"", "blok", "single:", "single:x", "single:-1", "single:1,2", "block:1,", "Block", ":1"}) {
    EXPECT_TRUE(IsUsageError(ParseDistribution(text))) << text;
  }
}

}  // namespace
}  // namespace shoal::cli

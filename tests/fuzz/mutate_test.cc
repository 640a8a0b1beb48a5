#include "tests/fuzz/mutate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

namespace shoal::fuzz {
namespace {

TEST(MutatorTest, SameSeedGivesTheSameInputs) {
  Mutator one({"abc", "0123456789"}, 7, 100);
  Mutator two({"abc", "0123456789"}, 7, 100);
  Mutator other({"abc", "0123456789"}, 8, 100);
  int differing = 0;
  for (int i = 0; i < 1000; ++i) {
    const std::string input = one.Next();
    ASSERT_EQ(input, two.Next());
    if (input != other.Next()) ++differing;
  }
  EXPECT_GT(differing, 500);
}

TEST(MutatorTest, InputsStayWithinTheLimit) {
  Mutator mutator({"", std::string(90, 'x')}, 1, 100);
  size_t longest = 0;
  for (int i = 0; i < 10'000; ++i) longest = std::max(longest, mutator.Next().size());
  EXPECT_LE(longest, 100U);
  EXPECT_GT(longest, 95U) << "it should reach for the limit";
}

TEST(MutatorTest, InputsAreCutGrownAndChanged) {
  const std::string seed = "header, body";
  Mutator mutator({seed}, 1, 100);
  std::set<std::string> inputs;
  int shorter = 0;
  int longer = 0;
  for (int i = 0; i < 1000; ++i) {
    const std::string& input = mutator.Next();
    inputs.insert(input);
    shorter += input.size() < seed.size() ? 1 : 0;
    longer += input.size() > seed.size() ? 1 : 0;
  }
  EXPECT_GT(inputs.size(), 800U);
  EXPECT_GT(shorter, 100);
  EXPECT_GT(longer, 100);
}

TEST(MutatorTest, EmptySeedIsASeed) {
  Mutator mutator({""}, 1, 8);
  bool grew = false;
  for (int i = 0; i < 100; ++i) grew = grew || !mutator.Next().empty();
  EXPECT_TRUE(grew);
}

}  // namespace
}  // namespace shoal::fuzz

#include "base/suggest.h"

#include <gtest/gtest.h>

#include <vector>

namespace shoal {
namespace {

const std::vector<std::string> kWords = {"sort", "sum", "axpy", "multiply", "drain-timeout"};

TEST(SuggestTest, OneSlipIsForgiven) {
  EXPECT_EQ(NearestWord("sotr", kWords), "sort");     // swapped
  EXPECT_EQ(NearestWord("sot", kWords), "sort");      // dropped
  EXPECT_EQ(NearestWord("summ", kWords), "sum");      // inserted
  EXPECT_EQ(NearestWord("axpi", kWords), "axpy");     // changed
  EXPECT_EQ(NearestWord("mul", kWords), "multiply");  // begun
  EXPECT_EQ(NearestWord("drain_timout", kWords), "drain-timeout");
}

TEST(SuggestTest, NothingIsGuessedFromAfar) {
  EXPECT_EQ(NearestWord("convolve", kWords), "");
  EXPECT_EQ(NearestWord("", kWords), "");
  EXPECT_EQ(NearestWord("x", {}), "");
  EXPECT_EQ(NearestWord(std::string(10000, 's'), kWords), "");
}

TEST(SuggestTest, TheMessageEndsInAQuestionOrNotAtAll) {
  EXPECT_EQ(DidYouMean("sotr", kWords), "; did you mean 'sort'?");
  EXPECT_EQ(DidYouMean("zzz", kWords), "");
}

}  // namespace
}  // namespace shoal

#include "client/cli/progress_bar.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

namespace shoal::cli {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr int64_t kMiB = 1 << 20;

TEST(RenderProgressTest, ShowsShareBytesRateAndTimeLeft) {
  EXPECT_EQ(RenderProgress({"put x", 256 * kMiB, 1024 * kMiB, seconds(2)}, {.columns = 90}),
            "put x  [########--------------------------]   25%  256 MiB of 1 GiB  "
            "128 MiB/s  0:06 left");
}

TEST(RenderProgressTest, NeverWiderThanTheTerminal) {
  for (int columns = 2; columns < 120; ++columns) {
    const std::string line =
        RenderProgress({"put a-rather-long-name.npy", 5, 10, seconds(1)}, {.columns = columns});
    EXPECT_LT(line.size(), static_cast<size_t>(columns));
  }
}

TEST(RenderProgressTest, StrangeFiguresStaySane) {
  EXPECT_THAT(RenderProgress({"x", 0, 0, seconds(0)}, {}), HasSubstr("0%"));
  EXPECT_THAT(RenderProgress({"x", 20, 10, seconds(1)}, {}), HasSubstr("100%"));
  EXPECT_THAT(RenderProgress({"x\x1b[2J", 1, 10, seconds(1)}, {}), Not(HasSubstr("\x1b")));
}

TEST(RenderProgressTest, ColourAndBlocksOnlyOnRequest) {
  const ProgressState state = {"x", 5, 10, seconds(1)};
  EXPECT_THAT(RenderProgress(state, {}), Not(HasSubstr("\x1b")));
  EXPECT_THAT(RenderProgress(state, {.color = true}), HasSubstr("\x1b[36m#"));
  EXPECT_THAT(RenderProgress(state, {.unicode = true}), HasSubstr("\u2588\u2591"));
}

class ProgressBarTest : public ::testing::Test {
 protected:
  ProgressBar::Options Options(bool enabled) {
    return {.enabled = enabled, .style = {}, .label = "x", .now = [this] { return now_; }};
  }

  std::ostringstream out_;
  std::chrono::steady_clock::time_point now_;
};

TEST_F(ProgressBarTest, ShortTransfersShowNothing) {
  {
    ProgressBar bar(out_, Options(true));
    now_ += milliseconds(499);
    bar.Update(5, 10);
  }
  EXPECT_EQ(out_.str(), "");
}

TEST_F(ProgressBarTest, LongOnesAreRedrawnTenTimesASecondAndWipedAtTheEnd) {
  {
    ProgressBar bar(out_, Options(true));
    const Progress progress = bar.Callback();
    for (int i = 0; i < 1000; ++i) {
      now_ += milliseconds(1);
      progress(i, 1000);
    }
    EXPECT_EQ(std::ranges::count(out_.str(), '\r'), 6) << "at 500, 600 ... 1000 ms";
  }
  EXPECT_TRUE(out_.str().ends_with("\r\x1b[K"));
}

TEST_F(ProgressBarTest, NoTerminalNoBar) {
  {
    ProgressBar bar(out_, Options(false));
    EXPECT_EQ(bar.Callback(), nullptr);
    now_ += seconds(10);
    bar.Update(5, 10);
  }
  EXPECT_EQ(out_.str(), "");
}

}  // namespace
}  // namespace shoal::cli

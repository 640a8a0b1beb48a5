#include "client/cli/exit_code.h"

#include <gtest/gtest.h>

namespace shoal::cli {
namespace {

TEST(ExitCodeTest, ScriptsCanTellWhatToDo) {
  EXPECT_EQ(ExitCodeOf(absl::OkStatus()), ExitCode::kOk);
  EXPECT_EQ(ExitCodeOf(absl::InternalError("")), ExitCode::kFailure);
  EXPECT_EQ(ExitCodeOf(absl::InvalidArgumentError("")), ExitCode::kFailure);
  EXPECT_EQ(ExitCodeOf(absl::CancelledError("")), ExitCode::kFailure);
  EXPECT_EQ(ExitCodeOf(UsageError("")), ExitCode::kUsage);
  EXPECT_EQ(ExitCodeOf(absl::NotFoundError("")), ExitCode::kNotFound);
  EXPECT_EQ(ExitCodeOf(absl::UnavailableError("")), ExitCode::kUnavailable);
  EXPECT_EQ(ExitCodeOf(absl::DeadlineExceededError("")), ExitCode::kUnavailable);
  EXPECT_EQ(static_cast<int>(ExitCode::kUnavailable), 4) << "scripts test the numbers";
}

}  // namespace
}  // namespace shoal::cli

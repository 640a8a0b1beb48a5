#include "server/runtime/outcome_status.h"

#include <gtest/gtest.h>

#include "server/memory/budget.h"
#include "tests/support/details.h"

namespace shoal::runtime {
namespace {

using absl::StatusCode;
using scheduler::Outcome;
using support::DetailOf;
using support::ReasonOf;

absl::Status Of(Outcome outcome) {
  scheduler::Finished finished;
  finished.outcome = outcome;
  finished.worker = WorkerId{3};
  finished.needed_bytes = 10;
  finished.limit_bytes = 7;
  finished.retry_after = std::chrono::milliseconds(100);
  return StatusOf(finished);
}

TEST(StatusOfTest, EveryOutcomeHasItsCodeAndReason) {
  struct Row {
    Outcome outcome;
    StatusCode code;
    const char* reason;
  };
  for (const Row& row : {
           Row{Outcome::kFailed, StatusCode::kInternal, ""},
           {Outcome::kOutOfMemory, StatusCode::kResourceExhausted, "OUT_OF_MEMORY"},
           {Outcome::kNeverFits, StatusCode::kResourceExhausted, "OUT_OF_MEMORY"},
           {Outcome::kMemoryFull, StatusCode::kResourceExhausted, "OUT_OF_MEMORY"},
           {Outcome::kCancelled, StatusCode::kCancelled, ""},
           {Outcome::kDeadlineExceeded, StatusCode::kDeadlineExceeded, ""},
           {Outcome::kQueueFull, StatusCode::kResourceExhausted, "QUEUE_FULL"},
           {Outcome::kDraining, StatusCode::kUnavailable, "DRAINING"},
           {Outcome::kNoWorker, StatusCode::kUnavailable, "NO_WORKER"},
           {Outcome::kWorkerLost, StatusCode::kAborted, "WORKER_LOST"},
           {Outcome::kShardLost, StatusCode::kDataLoss, "SHARD_LOST"},
       }) {
    const absl::Status status = Of(row.outcome);
    EXPECT_EQ(status.code(), row.code) << status;
    EXPECT_EQ(ReasonOf(status), row.reason) << status;
    // Exactly those that may pass say when.
    const bool passes = row.outcome == Outcome::kQueueFull || row.outcome == Outcome::kDraining ||
                        row.outcome == Outcome::kNoWorker;
    EXPECT_EQ(DetailOf<v1::RetryInfo>(status).has_value(), passes) << status;
  }
  EXPECT_TRUE(Of(Outcome::kOk).ok());
}

TEST(StatusOfTest, MemoryNamesItsNumbers) {
  const auto info = DetailOf<v1::ErrorInfo>(Of(Outcome::kNeverFits));
  EXPECT_EQ(info->metadata().at("needed_bytes"), "10");
  EXPECT_EQ(info->metadata().at("available_bytes"), "7");
  EXPECT_EQ(DetailOf<v1::QuotaFailure>(Of(Outcome::kQueueFull))->violations(0).subject(),
            "queued tasks");
}

TEST(ForClientTest, AShortageCarriesItsNumbersAndOthersStayAsTheyAre) {
  memory::Budget budget("worker 0", 100);
  const absl::Status status = ForClient(budget.Reserve(150).status());
  EXPECT_EQ(status.code(), StatusCode::kResourceExhausted);
  const auto info = DetailOf<v1::ErrorInfo>(status);
  ASSERT_TRUE(info.has_value());
  EXPECT_EQ(info->metadata().at("needed_bytes"), "150");
  EXPECT_EQ(info->metadata().at("limit_bytes"), "100");
  EXPECT_EQ(ForClient(absl::AbortedError("x")), absl::AbortedError("x"));
  EXPECT_TRUE(ForClient(absl::OkStatus()).ok());
}

}  // namespace
}  // namespace shoal::runtime

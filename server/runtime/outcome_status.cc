#include "server/runtime/outcome_status.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "server/memory/shortage.h"
#include "server/wire/status_details.h"

namespace shoal::runtime {
namespace {

absl::Status NoMemory(const scheduler::Finished& finished) {
  return wire::WithReason(absl::ResourceExhaustedError(
                              absl::StrCat("needs ", finished.needed_bytes, " bytes on a worker; ",
                                           finished.limit_bytes, " is the most that one can give")),
                          "OUT_OF_MEMORY",
                          {{"needed_bytes", absl::StrCat(finished.needed_bytes)},
                           {"available_bytes", absl::StrCat(finished.limit_bytes)}});
}

absl::Status RetryLater(absl::Status status, absl::string_view reason, Duration delay) {
  return wire::WithRetryAfter(wire::WithReason(std::move(status), reason), delay);
}

}  // namespace

absl::Status StatusOf(const scheduler::Finished& finished) {
  using scheduler::Outcome;
  switch (finished.outcome) {
    case Outcome::kOk:
      return absl::OkStatus();
    case Outcome::kFailed:
      return absl::InternalError("the op failed");
    case Outcome::kOutOfMemory:
    case Outcome::kNeverFits:
    case Outcome::kMemoryFull:
      return NoMemory(finished);
    case Outcome::kCancelled:
      return absl::CancelledError("cancelled by the caller");
    case Outcome::kDeadlineExceeded:
      return absl::DeadlineExceededError("the deadline passed before the task ended");
    case Outcome::kQueueFull:
      return wire::WithQuota(RetryLater(absl::ResourceExhaustedError("the queue is full"),
                                        "QUEUE_FULL", finished.retry_after),
                             "queued tasks");
    case Outcome::kDraining:
      return RetryLater(absl::UnavailableError("the server is draining"), "DRAINING",
                        finished.retry_after);
    case Outcome::kNoWorker:
      return RetryLater(absl::UnavailableError("no worker yet"), "NO_WORKER", finished.retry_after);
    case Outcome::kWorkerLost:
      return wire::WithReason(
          absl::AbortedError(absl::StrCat("worker ", finished.worker.value, " was lost")),
          "WORKER_LOST");
    case Outcome::kShardLost:
      return wire::WithReason(
          absl::DataLossError(absl::StrCat("worker ", finished.worker.value,
                                           " was lost with a shard of the array")),
          "SHARD_LOST");
  }
  SHOAL_UNREACHABLE("outcome out of range");
}

absl::Status ForClient(absl::Status status) {
  const auto shortage = memory::ShortageOf(status);
  if (!shortage.has_value()) return status;
  return wire::WithReason(std::move(status), "OUT_OF_MEMORY",
                          {{"needed_bytes", absl::StrCat(shortage->needed_bytes)},
                           {"available_bytes", absl::StrCat(shortage->available_bytes)},
                           {"limit_bytes", absl::StrCat(shortage->limit_bytes)}});
}

}  // namespace shoal::runtime

// A session's requests by our hand-made decoder and by protobuf: who both take them for valid see
// the same tasks.

#include <cstdint>
#include <string>
#include <vector>

#include "base/check.h"
#include "server/service/session_codec.h"
#include "shoal/v1/compute.pb.h"

namespace shoal::service {
namespace {

void CheckSame(const SessionBatch& batch, const v1::SessionRequest& parsed) {
  SHOAL_CHECK(batch.ordered == parsed.open().ordered());
  SHOAL_CHECK(static_cast<int>(batch.tasks.size()) == parsed.tasks_size());
  for (int i = 0; i < parsed.tasks_size(); ++i) {
    const SessionTaskView& task = batch.tasks[static_cast<size_t>(i)];
    SHOAL_CHECK(task.id == parsed.tasks(i).id());
    SHOAL_CHECK(task.timeout_us == parsed.tasks(i).timeout_us());
    v1::ApplyRequest call;
    SHOAL_CHECK(call.ParseFromArray(task.call.data(), static_cast<int>(task.call.size())));
  }
  SHOAL_CHECK(std::vector<uint64_t>(parsed.cancel().begin(), parsed.cancel().end()) ==
              std::vector<uint64_t>(batch.cancel.begin(), batch.cancel.end()));
}

/// Ids that came in go out again as done, calls as results.
void CheckResponse(const SessionBatch& batch) {
  std::string results;
  for (const SessionTaskView& task : batch.tasks) {
    v1::SessionResult result;
    result.set_id(task.id);
    AppendResult(result.SerializeAsString(), &results);
  }
  const auto credits = static_cast<int64_t>(batch.tasks.size());
  v1::SessionResponse response;
  SHOAL_CHECK(response.ParseFromString(EncodeSessionResponse(credits, batch.cancel, results)));
  SHOAL_CHECK(response.credits() == credits);
  SHOAL_CHECK(static_cast<size_t>(response.done_size()) == batch.cancel.size());
  SHOAL_CHECK(static_cast<size_t>(response.results_size()) == batch.tasks.size());
  for (int i = 0; i < response.results_size(); ++i) {
    SHOAL_CHECK(response.results(i).id() == batch.tasks[static_cast<size_t>(i)].id);
  }
}

}  // namespace
}  // namespace shoal::service

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace shoal::service;  // NOLINT(google-build-using-namespace): only this function.
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  SessionBatch batch;
  const absl::Status decoded = DecodeSessionRequest(bytes, &batch);
  if (!decoded.ok()) {
    SHOAL_CHECK(decoded.code() == absl::StatusCode::kInvalidArgument);
    return 0;
  }
  shoal::v1::SessionRequest parsed;
  // Protobuf looks into the calls as well, so it refuses more.
  if (parsed.ParseFromString(bytes)) CheckSame(batch, parsed);
  CheckResponse(batch);
  return 0;
}

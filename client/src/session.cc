#include "shoal/session.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "client/src/call_codec.h"
#include "client/src/session_core.h"
#include "shoal/v1/compute.pb.h"

namespace shoal {
namespace {

constexpr uint32_t kTaskCall = v1::SessionTask::kCallFieldNumber;
constexpr uint32_t kTaskTimeout = v1::SessionTask::kTimeoutUsFieldNumber;

/// All arrays inside the request, all outputs inside the reply or stored.
internal::CallPlan InlinePlan(const Call& call) {
  internal::CallPlan plan;
  for (const Argument& argument : call.arguments) {
    internal::CallPlan::Input input;
    if (const auto* array = std::get_if<Array>(&argument.value)) {
      input.array = *array;
    } else {
      input.way = internal::CallPlan::Way::kStored;
    }
    plan.inputs.push_back(std::move(input));
  }
  plan.targets.resize(call.destinations.size());
  return plan;
}

}  // namespace

PreparedCall::PreparedCall(std::string encoded)
    : encoded_(std::make_shared<const std::string>(std::move(encoded))) {}

absl::StatusOr<PreparedCall> PreparedCall::Make(const Call& call) {
  SHOAL_RETURN_IF_ERROR(internal::CheckFunction(call));
  for (const Destination& destination : call.destinations) {
    if (std::holds_alternative<WriteTo>(destination)) {
      return absl::InvalidArgumentError("a session does not write into arrays of the caller's");
    }
  }
  internal::MessageBuilder builder(internal::MessageBuilder::Payload::kCopied);
  internal::EncodeCall(call, InlinePlan(call), &builder);
  const std::string request = builder.BuildString();
  std::string encoded;
  internal::AppendFieldStart(&encoded, kTaskCall, request.size());
  encoded += request;
  if (call.timeout.has_value()) {
    // 0 would mean none. What is over already is over in a microsecond too.
    const int64_t timeout_us = std::chrono::ceil<std::chrono::microseconds>(*call.timeout).count();
    internal::AppendVarint(&encoded, kTaskTimeout << 3);
    internal::AppendVarint(&encoded, static_cast<uint64_t>(std::max<int64_t>(timeout_us, 1)));
  }
  return PreparedCall(std::move(encoded));
}

Session::Session(std::unique_ptr<internal::SessionCore> core) : core_(std::move(core)) {}
Session::~Session() = default;

absl::StatusOr<uint64_t> Session::Submit(const PreparedCall& call, TaskCallback on_end) {
  return core_->Submit(call, std::move(on_end));
}

absl::StatusOr<uint64_t> Session::Submit(const Call& call, TaskCallback on_end) {
  absl::StatusOr<PreparedCall> prepared = PreparedCall::Make(call);
  if (!prepared.ok()) return prepared.status();
  return core_->Submit(*prepared, std::move(on_end));
}

absl::StatusOr<TaskRange> Session::SubmitBatch(absl::Span<const PreparedCall> calls,
                                               BulkCallback on_report) {
  return core_->SubmitBatch(calls, std::move(on_report));
}

absl::StatusOr<FloodReport> Session::Flood(const PreparedCall& call, int64_t count,
                                           BulkCallback on_report) {
  return core_->Flood(call, count, std::move(on_report));
}

void Session::Cancel(uint64_t id) { core_->Cancel(id); }
absl::Status Session::Wait() { return core_->Wait(); }
absl::Status Session::Close() { return core_->Close(); }
int64_t Session::pending_count() const { return core_->pending_count(); }
Session::Counters Session::counters() const { return core_->counters(); }

}  // namespace shoal

#include "server/service/reply.h"

#include <chrono>

#include "absl/strings/str_cat.h"
#include "server/runtime/outcome_status.h"

namespace shoal::service {
namespace {

telemetry::LogLevel LevelOf(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kOk:
      return telemetry::LogLevel::kDebug;
    case absl::StatusCode::kInternal:
    case absl::StatusCode::kUnknown:
    case absl::StatusCode::kDataLoss:
      return telemetry::LogLevel::kError;
    default:
      return telemetry::LogLevel::kInfo;
  }
}

}  // namespace

absl::Status Parse(const transport::Message& bytes, google::protobuf::MessageLite* message) {
  const wire::Pieces& pieces = bytes.pieces();
  bool parsed = false;
  if (pieces.size() == 1) {
    parsed = message->ParseFromArray(pieces[0].data(), static_cast<int>(pieces[0].size()));
  } else {
    std::string flat(static_cast<size_t>(wire::TotalBytes(pieces)), '\0');
    wire::GatherPieces(pieces, {reinterpret_cast<std::byte*>(flat.data())}, nullptr);
    parsed = message->ParseFromString(flat);
  }
  if (parsed) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("the request is not a valid ", message->GetTypeName()));
}

Instant DeadlineOf(const transport::Call& call) {
  const auto left = call.TimeLeft();
  return left.has_value() ? runtime::After(runtime::Now(), *left) : kNever;
}

void LogCall(runtime::Engine& engine, const CallLine& line, const absl::Status& status) {
  const telemetry::LogLevel level = LevelOf(status);
  if (!engine.logger->Enabled(level)) return;
  const auto elapsed =
      std::chrono::duration_cast<std::chrono::microseconds>(runtime::Now() - line.begun);
  const std::string code = absl::StatusCodeToString(status.code());
  const std::string message(status.message());
  engine.logger->Log(level, status.ok() ? "call" : "call failed",
                     {{"method", line.method},
                      {"peer", line.call->Peer()},
                      {"code", code},
                      {"reason", message},
                      {"us", static_cast<int64_t>(elapsed.count())}});
}

void Reply::Send(const google::protobuf::MessageLite& message) const {
  Send(transport::FrameOf(message.SerializeAsString()));
}

void Reply::Send(transport::Frame frame) const {
  LogCall(*engine_, {method_, call_.get(), begun_}, absl::OkStatus());
  call_->Reply(std::move(frame));
}

void Reply::Fail(const absl::Status& status) const {
  const absl::Status told = runtime::ForClient(status);
  LogCall(*engine_, {method_, call_.get(), begun_}, told);
  call_->Finish(told);
}

}  // namespace shoal::service

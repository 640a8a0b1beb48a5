#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "server/transport/call.h"
#include "tests/support/stream.h"

namespace shoal::support {

/// A unary call whose caller is the test. A second answer fails the test.
///
/// Thread-safety: all calls from any thread.
class TestUnary final : public transport::UnaryCall {
 public:
  explicit TestUnary(std::string request, std::optional<Duration> time_left = std::nullopt)
      : time_left_(time_left), request_(MakeMessage(std::move(request))) {}

  std::optional<Duration> TimeLeft() const override { return time_left_; }
  std::string Peer() const override { return "test"; }
  bool IsCancelled() const override;
  void Finish(const absl::Status& status) override;
  const transport::Message& Request() const override { return request_; }
  void Reply(transport::Frame frame) override;
  void OnCancel(absl::AnyInvocable<void() &&> cancelled) override;

  void Cancel();

  /// Waits for the answer: the reply's bytes, or the error.
  absl::StatusOr<std::string> Answer();
  bool IsAnswered() const;

 private:
  void End(absl::StatusOr<std::string> answer);

  const std::optional<Duration> time_left_;
  const transport::Message request_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool cancelled_ = false;
  absl::AnyInvocable<void() &&> cancel_action_;
  std::optional<absl::StatusOr<std::string>> answer_;
};

/// The method of that name. It must be there.
const transport::Method& FindMethod(const transport::ServiceTable& table, const std::string& name);

/// Calls a unary method and waits for its answer.
template <typename Response, typename Request>
absl::StatusOr<Response> CallUnary(const transport::ServiceTable& table, const std::string& method,
                                   const Request& request) {
  const auto call = std::make_shared<TestUnary>(request.SerializeAsString());
  FindMethod(table, method).unary(call);
  const auto answer = call->Answer();
  if (!answer.ok()) return answer.status();
  Response response;
  if (!response.ParseFromString(*answer)) return absl::InternalError("a reply that does not parse");
  return response;
}

}  // namespace shoal::support

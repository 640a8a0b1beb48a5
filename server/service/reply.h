#pragma once

#include <google/protobuf/message_lite.h>

#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "base/time.h"
#include "server/runtime/clock.h"
#include "server/runtime/engine.h"
#include "server/transport/call.h"

namespace shoal::service {

/// Decodes a message from the pieces it came in.
///
/// Errors: INVALID_ARGUMENT  the bytes are not a valid message of that type.
absl::Status Parse(const transport::Message& bytes, google::protobuf::MessageLite* message);

/// The moment a call has to be done by.
Instant DeadlineOf(const transport::Call& call);

/// Which call a log line is about.
struct CallLine {
  const char* method;
  const transport::Call* call;
  Instant begun;
};

/// Writes the line of a call that has ended: at debug; with the reason at info if it failed, or at
/// error where the fault is ours (INTERNAL, UNKNOWN, DATA_LOSS).
void LogCall(runtime::Engine& engine, const CallLine& line, const absl::Status& status);

/// The answer to one unary call: logs it and sends it.
///
/// Copyable: its owners are whatever may still have to answer; the first answer counts, and there
/// must be one.
class Reply {
 public:
  Reply(runtime::Engine* engine, const char* method, std::shared_ptr<transport::UnaryCall> call)
      : engine_(engine), method_(method), call_(std::move(call)), begun_(runtime::Now()) {}

  void Send(const google::protobuf::MessageLite& message) const;
  void Send(transport::Frame frame) const;
  void Fail(const absl::Status& status) const;

  const std::shared_ptr<transport::UnaryCall>& call() const { return call_; }
  Instant begun() const { return begun_; }

 private:
  runtime::Engine* engine_;
  const char* method_;
  std::shared_ptr<transport::UnaryCall> call_;
  Instant begun_;
};

/// A unary method whose request is a protobuf message and whose answer may come later.
///
/// `handle(engine, std::shared_ptr<Request>, Reply)`: the request lives as long as it is held.
template <typename Request, typename Handle>
transport::Method UnaryMethod(runtime::Engine* engine, const char* name, Handle handle) {
  return {name,
          [engine, name, handle](std::shared_ptr<transport::UnaryCall> call) {
            auto request = std::make_shared<Request>();
            const absl::Status parsed = Parse(call->Request(), request.get());
            const Reply reply(engine, name, std::move(call));
            if (!parsed.ok()) return reply.Fail(parsed);
            handle(*engine, std::move(request), reply);
          },
          nullptr};
}

}  // namespace shoal::service

#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "base/time.h"
#include "transport/message.h"

// Calls as the service sees them: bytes in, bytes out, a deadline, and a status at the end. The
// service knows nothing of gRPC, and a transport knows nothing of what the bytes mean.

namespace shoal::transport {

/// One call, whatever its shape.
///
/// Lifetime: valid until the handler has called `Finish` (or `Reply`), which it does exactly
///   once, also after the caller cancelled.
/// Thread-safety: all calls from any thread, but nothing after the finish.
class Call {
 public:
  virtual ~Call() = default;

  /// Time left until the caller's deadline; nothing when it set none. May be negative.
  virtual std::optional<Duration> TimeLeft() const = 0;
  /// For logs: "ipv4:127.0.0.1:4711", "unix:".
  virtual std::string Peer() const = 0;
  /// The caller went away or cancelled, or its deadline passed.
  virtual bool IsCancelled() const = 0;
  /// Ends the call. Details that hang on `status` as payloads reach the caller.
  virtual void Finish(const absl::Status& status) = 0;
};

/// One request, one reply.
class UnaryCall : public Call {
 public:
  virtual const Message& Request() const = 0;
  /// Sends the reply and finishes with OK.
  virtual void Reply(Frame frame) = 0;
  /// Sets what to do when the caller cancels; runs at most once, at once if that has happened. It
  /// does not begin after the finish, but may overlap it. It must not block; may finish the call.
  virtual void OnCancel(absl::AnyInvocable<void() &&> cancelled) = 0;
};

/// Messages both ways. At most one Read and one Write are outstanding.
class StreamCall : public Call {
 public:
  /// Asks for the next message: answered by OnMessage or OnHalfClose.
  virtual void Read() = 0;
  /// Sends a message: answered by OnWritten.
  virtual void Write(Frame frame) = 0;
  /// Sends a last message and finishes with OK, which travel together. Not answered by OnWritten.
  virtual void WriteAndFinish(Frame frame) = 0;
};

/// What the service does with one stream; made for it, and destroyed after OnDone.
///
/// The transport may call OnMessage (or OnHalfClose), OnWritten and OnCancelled at the same time
/// from different threads, but none of them twice at once. None may block.
class StreamHandler {
 public:
  virtual ~StreamHandler() = default;

  /// Called first, before the constructor's caller returns to the transport.
  virtual void OnStart() = 0;
  virtual void OnMessage(Message message) = 0;
  /// The caller will send no more.
  virtual void OnHalfClose() = 0;
  /// The write has left for the transport's own buffers. False: the stream is broken.
  virtual void OnWritten(bool ok) = 0;
  /// The handler still has to finish the call.
  virtual void OnCancelled() = 0;
  /// After the finish: nothing else will be called. The last call.
  virtual void OnDone() = 0;
};

using UnaryHandler = std::function<void(std::shared_ptr<UnaryCall>)>;
using StreamHandlerFactory = std::function<std::unique_ptr<StreamHandler>(StreamCall*)>;

/// A method of a service: one of the two is set.
struct Method {
  std::string name;  ///< "Apply".
  UnaryHandler unary;
  StreamHandlerFactory stream;
};

/// What is offered under one name.
struct ServiceTable {
  std::string name;  ///< "shoal.v1.ComputeService".
  std::vector<Method> methods;
  bool built = true;  ///< False: every method refuses, and health does not know the name.
};

}  // namespace shoal::transport

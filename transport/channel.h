#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "transport/cancellation.h"
#include "transport/message.h"
#include "transport/tls.h"
#include "wire/keepalive.h"

// How calls leave a process, whatever they mean. Each implementation is a folder below this one;
// whoever makes channels has the table of those that it uses (client/src/transports.cc).
namespace shoal::transport {

struct ChannelOptions {
  std::string target = {};  ///< "host:port" or "unix:/path".
  /// What can be called, as paths ("/package.Service/Method"): a call names one by its place here.
  /// Outlives the channel.
  absl::Span<const char* const> methods = {};
  int64_t message_bytes_max = 0;  ///< The largest message the server sends.
  wire::Keepalive keepalive = {};
  std::optional<TlsMaterial> tls = {};  ///< Nothing: in the clear. Never on a Unix socket.
};

/// What one call runs under.
struct CallTerms {
  std::optional<std::chrono::steady_clock::time_point> deadline = {};
  Cancellation* cancellation = nullptr;  ///< Null: nothing cancels the call. Else it outlives it.
  bool wait_for_ready = false;  ///< Waits for a server that is not there, instead of failing.
};

/// One call with messages both ways. The first Send begins it.
///
/// No thread belongs to it: the one that waits does the work. At most one message is being sent at
/// a time; reading goes on by itself.
/// Thread-safety: `Wait`, `message` and `Finish` are for one thread; `Send` and `CloseSend` for any
///   one at a time, once the Send before has been answered by kSent; `Cancel` for all.
/// Lifetime: ends before its Channel. The destructor cancels what is under way, and when it returns
///   nothing refers to payload that was sent without an owner.
class Stream {
 public:
  virtual ~Stream() = default;

  /// True: another Send may follow. Of the waiting thread, while no other one sends.
  virtual bool can_send() const = 0;
  /// Sends a message; with `last`, closes this direction after it. Answered by kSent.
  virtual void Send(const Frame& frame, bool last) = 0;
  /// Closes this direction without a message; a Send came before. Answered by kSent.
  virtual void CloseSend() = 0;

  enum class Event {
    kMessage,  ///< One has come: `message()` until the next Wait.
    kSent,     ///< The last Send is over: another may follow, if `can_send`.
    kEnded,    ///< The server has ended the call, or it broke: see `Finish`.
  };
  /// Blocks until there is one; a Send came before. After kEnded only for the kSent of a Send that
  /// another thread had begun.
  virtual Event Wait() = 0;
  virtual const wire::Pieces& message() const = 0;

  /// How the call ended. Once, after kEnded, with no Send under way.
  virtual absl::Status Finish() = 0;
  /// Makes the call end soon.
  virtual void Cancel() = 0;
};

/// Unary calls that nobody waits for. One thread takes all answers; it starts when first needed.
///
/// Thread-safety: all methods. Lifetime: ends before its Channel; the destructor waits for all
///   answers.
class AsyncCalls {
 public:
  using Done = absl::AnyInvocable<void(absl::StatusOr<Message>) &&>;

  virtual ~AsyncCalls() = default;

  /// `done` runs in this object's thread; in the calling one, before Start returns, with
  /// RESOURCE_EXHAUSTED where no thread can be had.
  virtual void Start(size_t method, const Frame& request, const CallTerms& terms, Done done) = 0;
};

/// A connection of its own, made at its first call.
///
/// Once a stream of it has ended with UNAVAILABLE, or was destroyed while its peer did not read, it
/// is broken: its user asks `Reusable` after each stream, and makes no further calls where it is
/// not.
///
/// Thread-safety: all methods, but `Reusable`: that is for the user of the only stream. `method` is
///   one of those that the channel was made with (checked).
class Channel {
 public:
  virtual ~Channel() = default;

  /// One unary call, made by the calling thread, so that no other thread is woken.
  ///
  /// Errors: the server's, any code; the transport's:
  ///   UNAVAILABLE        no connection, or it broke.
  ///   DEADLINE_EXCEEDED  the terms' deadline passed.
  ///   CANCELLED          the terms' cancellation was raised.
  virtual absl::StatusOr<Message> Call(size_t method, const Frame& request,
                                       const CallTerms& terms) = 0;
  virtual std::unique_ptr<AsyncCalls> MakeAsyncCalls() = 0;
  /// A call that has not begun. Payload without an owner is for a stream that has the channel to
  /// itself: a peer that does not take it costs the connection.
  virtual std::unique_ptr<Stream> MakeStream(size_t method, const CallTerms& terms) = 0;

  /// False: a stream broke the connection, or had to; nothing can be called any more.
  virtual bool Reusable() const = 0;
};

}  // namespace shoal::transport

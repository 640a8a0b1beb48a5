#pragma once

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "server/device/span.h"
#include "server/device/work.h"

namespace shoal::device {

/// Told once how queued work ended.
///
/// Runs on a thread of the device, or on the calling thread before the call that queued the work
/// returns: a caller holds no lock that its Done takes. It must not block and must not destroy the
/// stream; it may queue more, which never recurses.
using Done = absl::AnyInvocable<void(absl::Status) &&>;

/// Lets a paused stream go on; to be invoked exactly once, from any thread.
using Resume = absl::AnyInvocable<void() &&>;

/// An in-order queue of work on one device.
///
/// Order: pieces start in the order they were queued, and each sees the memory effects of those
///   before it. Dones come in that order too. Streams are not ordered among themselves.
/// Failure: a piece that fails tells its own Done; those behind it run all the same, unless the
///   device is lost, when everything queued ends with the device's error.
/// Lifetime: every span and argument stays alive and, where it is written, untouched until Done.
///   The destructor waits for everything queued.
/// Thread-safety: all calls from any thread; concurrent calls queue in some order.
class Stream {
 public:
  virtual ~Stream() = default;

  /// Copies pageable or pinned host bytes to the device. Sizes are equal; 0 is legal.
  virtual void CopyIn(ConstSpan host, Span device, Done done) = 0;

  /// Copies device bytes to the host.
  virtual void CopyOut(ConstSpan device, Span host, Done done) = 0;

  /// Copies between two places of this device that do not overlap, or are the same.
  virtual void Copy(ConstSpan source, Span target, Done done) = 0;

  /// Computes `work`. `cancelled` is looked at before the start and between chunks.
  ///
  /// Errors, told to `done`:
  ///   UNIMPLEMENTED  the op is not built for that dtype on this device; nothing was written.
  ///   CANCELLED      `cancelled` was raised in time; outputs are undefined.
  virtual void Launch(Work work, CancelFlag cancelled, Done done) = 0;

  /// Calls `reached` once everything queued before has finished, and runs nothing more until the
  /// Resume it was given is invoked. This is how ranks of a collective meet on their streams.
  ///
  /// `reached` runs where a Done would, under the same rules.
  virtual void Pause(absl::AnyInvocable<void(Resume) &&> reached) = 0;

  /// Whether nothing is queued, running or paused. True after the last Done has returned, or, on a
  /// device thread, may lag behind it by a moment.
  virtual bool Idle() const = 0;
};

}  // namespace shoal::device

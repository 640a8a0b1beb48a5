#pragma once

#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/slice.h>

#include <condition_variable>
#include <cstdint>
#include <mutex>

#include "base/time.h"
#include "transport/message.h"

namespace shoal::transport {

/// Counts the slices that refer to memory which nobody but the caller keeps alive.
///
/// Thread-safety: all methods.
class SliceGuard {
 public:
  grpc::Slice Reference(wire::ConstBytes bytes);
  /// True: gRPC has let go of all of them. Waits that long for it.
  bool WaitIdle(Duration patience);

 private:
  static void Drop(void* guard);

  std::mutex mutex_;
  std::condition_variable idle_;
  int64_t count_ = 0;
};

/// A buffer that owns the heads of `frame` and references its payload, which gRPC may hold longer
/// than the call. Payload without an owner is counted by `guard`, or copied if that is null.
grpc::ByteBuffer ToByteBuffer(const Frame& frame, SliceGuard* guard);

/// The message that `buffer` holds, without copying it.
Message ToMessage(const grpc::ByteBuffer& buffer);

/// The bytes of `slice`, as long as it lives where it lies: short ones are inside it.
inline wire::ConstBytes BytesOf(const grpc::Slice& slice) {
  return {reinterpret_cast<const std::byte*>(slice.begin()), slice.size()};
}

}  // namespace shoal::transport

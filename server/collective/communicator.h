#pragma once

#include <cstdint>
#include <string_view>
#include <utility>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/types/span.h"
#include "base/time.h"
#include "kernels/dtype.h"
#include "server/device/span.h"
#include "server/device/stream.h"

namespace shoal::collective {

enum class ReduceOp : uint8_t { kSum, kProduct, kMin, kMax };
std::string_view Name(ReduceOp op);  ///< "sum".

enum class Operation : uint8_t {
  kScatter,
  kGather,
  kBroadcast,
  kAllGather,
  kReduce,
  kAllReduce,
  kReduceScatter,
  kAllToAll,
  kSendRecv,
  kBarrier,
};
std::string_view Name(Operation operation);  ///< "all-reduce".

/// Whether elements of `dtype` can be combined by `op`: complex numbers have no minimum.
/// Booleans add as "or" and multiply as "and".
bool IsDefined(ReduceOp op, kernels::DType dtype);

/// What all ranks say alike about one call. Fields that an operation does not name are ignored.
struct Args {
  kernels::DType dtype = kernels::DType::kUint8;
  /// Elements, >= 0. Its meaning and length are the operation's; borrowed for the call only.
  absl::Span<const int64_t> counts;
  int root = 0;
  ReduceOp op = ReduceOp::kSum;
  Duration timeout = std::chrono::seconds(30);
};

/// One local rank's part in a call. A side that the operation does not use on that rank is ignored.
struct RankBuffers {
  device::ConstSpan send;
  device::Span recv;
  device::Stream* stream = nullptr;  ///< The call takes its turn on it, after what is queued.
};

/// A message from one rank to another. This process fills in the side of each rank it owns.
struct Transfer {
  int source = 0;
  int destination = 0;
  device::ConstSpan send;                 ///< Where `source` is local.
  device::Span recv;                      ///< Where `destination` is local.
  device::Stream* send_stream = nullptr;  ///< Where `source` is local.
  device::Stream* recv_stream = nullptr;  ///< Where `destination` is local.
};

/// This process's part of a fixed group of ranks that move data together.
///
/// A process owns one or more ranks of the group, and one call speaks for all of them, with one
/// RankBuffers per local rank in the order of `LocalRanks()`. So one interface fits one process
/// with all GPUs, one GPU per process, and workers that are threads.
///
/// Order: every process makes the group's calls in the same order (SendRecv apart: see there).
///   A count of 0 moves nothing but still takes its turn. Calls of different groups over the same
///   streams are made one after the other, in one order everywhere.
/// Blocks: where `counts` has one entry per rank, blocks are ragged as it says and lie in rank
///   order without gaps. Buffers hold exactly what the operation says: another size is an error.
/// In place: a rank's send and recv may be the same memory exactly where the operation says so.
///   Any other overlap between what is written and anything else in the call is an error.
/// Result: done once the local buffers are filled and free to be reused; every later piece of work
///   on the local streams comes after it.
/// Failure: an error other than INVALID_ARGUMENT breaks the group: pending calls end with it, every
///   later call returns it, and the owner makes a new group. Data half moved stays half moved.
///
/// Errors, told to `done`:
///   INVALID_ARGUMENT   sizes do not fit `counts`, buffers overlap, a root or count is out of
///                      range, `op` is not defined for the dtype, or processes disagree; the
///                      message names the rank. Nothing was moved and the group is still whole.
///   DEADLINE_EXCEEDED  a rank did not come, or data did not move, within `timeout`.
///   UNAVAILABLE        a peer left or aborted, or the link to it failed.
///   ABORTED            `Abort` was called here.
///
/// Ownership: borrows spans and streams until `done`.
/// Thread-safety: calls from one thread at a time, except `Abort`, which any thread may make at any
///   moment. `done` runs where a stream's Done would (device/stream.h), under the same rules.
/// Costs below: p ranks; a step is one message time; bytes are what the busiest rank sends; S is
///   the whole payload. Ranks of one process need one copy of what is not yet in its place.
class Communicator {
 public:
  using Ranks = absl::Span<const RankBuffers>;
  using Done = device::Done;

  virtual ~Communicator() = default;

  /// The number of ranks in the group, at least 1.
  virtual int Size() const = 0;

  /// The ranks this process owns, ascending.
  virtual absl::Span<const int> LocalRanks() const = 0;

  /// Block r of `send` at the root goes to `recv` of rank r. `counts`: one per rank.
  ///
  /// In place: at the root, where `recv` is block `root` of `send`.
  /// Cost: p - 1 messages from the root in one step; S (p - 1) / p bytes.
  void Scatter(const Args& args, Ranks ranks, Done done) {
    Start(Operation::kScatter, args, ranks, std::move(done));
  }

  /// `send` of rank r goes to block r of `recv` at the root. `counts`: one per rank.
  ///
  /// In place: at the root, where `send` is block `root` of `recv`.
  /// Cost: one step; the root receives S (p - 1) / p bytes.
  void Gather(const Args& args, Ranks ranks, Done done) {
    Start(Operation::kGather, args, ranks, std::move(done));
  }

  /// `send` of the root goes to `recv` of every rank. `counts`: one number.
  ///
  /// In place: at the root, `send` is `recv`.
  /// Cost: log2(p) steps or a chain of chunks; S bytes a hop.
  void Broadcast(const Args& args, Ranks ranks, Done done) {
    Start(Operation::kBroadcast, args, ranks, std::move(done));
  }

  /// `send` of rank r goes to block r of `recv` on every rank. `counts`: one per rank.
  ///
  /// In place: where `send` is block r of `recv`.
  /// Cost: p - 1 steps around a ring; S (p - 1) / p bytes.
  void AllGather(const Args& args, Ranks ranks, Done done) {
    Start(Operation::kAllGather, args, ranks, std::move(done));
  }

  /// `recv` at the root becomes the element-wise reduction of all `send`. `counts`: one number.
  ///
  /// Result: the same bits in each run. The order of floating-point operations is the backend's
  ///   and part of its contract; `local` goes in rank order, 16-bit floats in float32, rounded
  ///   once.
  /// In place: at the root, `send` is `recv`.
  /// Cost: about 2 (p - 1) steps; 2 S (p - 1) / p bytes.
  void Reduce(const Args& args, Ranks ranks, Done done) {
    Start(Operation::kReduce, args, ranks, std::move(done));
  }

  /// As Reduce, with the same bits in `recv` of every rank. `counts`: one number.
  ///
  /// In place: `send` is `recv`.
  /// Cost: 2 (p - 1) steps; 2 S (p - 1) / p bytes.
  void AllReduce(const Args& args, Ranks ranks, Done done) {
    Start(Operation::kAllReduce, args, ranks, std::move(done));
  }

  /// Block r of the element-wise reduction of all `send` goes to `recv` of rank r. `counts`: one
  /// per rank. Bits as in AllReduce.
  ///
  /// In place: where `recv` is block r of `send`; the rest of `send` is kept.
  /// Cost: p - 1 steps; S (p - 1) / p bytes.
  void ReduceScatter(const Args& args, Ranks ranks, Done done) {
    Start(Operation::kReduceScatter, args, ranks, std::move(done));
  }

  /// Rank s sends counts[s * p + d] elements to rank d; `send` holds them by d, `recv` by s.
  /// `counts`: p * p.
  ///
  /// In place: never.
  /// Cost: p - 1 messages per rank in one step; S (p - 1) / p bytes.
  void AllToAll(const Args& args, Ranks ranks, Done done) {
    Start(Operation::kAllToAll, args, ranks, std::move(done));
  }

  /// Every rank's stream waits until all ranks have come. `counts` is ignored.
  ///
  /// Cost: log2(p) steps, no bytes.
  void Barrier(const Args& args, Ranks ranks, Done done) {
    Start(Operation::kBarrier, args, ranks, std::move(done));
  }

  /// Sends and receives, all progressing together; done when all of them are.
  ///
  /// Order: stands outside the group's order. The n-th send from a to b meets the n-th receive at b
  ///   from a. Both sides name the same dtype and the same bytes: else both end with
  ///   INVALID_ARGUMENT, and that pair counts as met. A rank may send to itself.
  /// Cost: one step; the bytes of the transfers.
  virtual void SendRecv(const Args& args, absl::Span<const Transfer> transfers, Done done) = 0;

  /// Ends pending and later calls here with ABORTED, and those of peers with UNAVAILABLE.
  ///
  /// Does not wait: a call whose bytes are moving ends a little later. May be repeated.
  virtual void Abort() noexcept = 0;

 protected:
  /// Every operation but SendRecv.
  virtual void Start(Operation operation, const Args& args, Ranks ranks, Done done) = 0;
};

}  // namespace shoal::collective

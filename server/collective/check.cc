#include "server/collective/check.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <string>

#include "absl/strings/str_cat.h"

namespace shoal::collective {
namespace {

bool IsReduction(Operation operation) {
  return operation == Operation::kReduce || operation == Operation::kAllReduce ||
         operation == Operation::kReduceScatter;
}

bool HasRoot(Operation operation) {
  return operation == Operation::kScatter || operation == Operation::kGather ||
         operation == Operation::kBroadcast || operation == Operation::kReduce;
}

/// Entries of `counts` that an operation reads.
size_t CountEntries(Operation operation, int size) {
  const auto ranks = static_cast<size_t>(size);
  switch (operation) {
    case Operation::kScatter:
    case Operation::kGather:
    case Operation::kAllGather:
    case Operation::kReduceScatter:
      return ranks;
    case Operation::kBroadcast:
    case Operation::kReduce:
    case Operation::kAllReduce:
      return 1;
    case Operation::kAllToAll:
      return ranks * ranks;
    case Operation::kSendRecv:
    case Operation::kBarrier:
      return 0;
  }
  return 0;
}

/// What is wrong with one side of a rank, or nothing.
std::string FaultOf(const char* side, int64_t expected_bytes, device::ConstSpan span) {
  if (span.bytes != expected_bytes) {
    return absl::StrCat(side, " has ", span.bytes, " bytes, the counts say ", expected_bytes);
  }
  if (span.bytes > 0 && span.data == nullptr) return absl::StrCat(side, " is null");
  return "";
}

bool Overlap(device::ConstSpan a, device::ConstSpan b) {
  const std::less<> before;  // Total over unrelated pointers, unlike `<`.
  return a.bytes > 0 && b.bytes > 0 && before(a.data, b.data + b.bytes) &&
         before(b.data, a.data + a.bytes);
}

bool IsInPlace(const RankLayout& layout, device::ConstSpan send, device::ConstSpan recv) {
  if (layout.in_place_offset < 0) return false;
  return send.bytes <= recv.bytes ? send.data == recv.data + layout.in_place_offset
                                  : recv.data == send.data + layout.in_place_offset;
}

/// Bytes before block `rank` of ragged `counts`.
int64_t BlockOffset(const Args& args, int rank) {
  return std::accumulate(args.counts.begin(), args.counts.begin() + rank, int64_t{0}) *
         kernels::ItemBytes(args.dtype);
}

}  // namespace

RankLayout LayoutOf(const CallView& call, int rank) {
  const Args& args = *call.args;
  const int size = call.size;
  const int64_t item = kernels::ItemBytes(args.dtype);
  const bool at_root = rank == args.root;
  const auto block = [&] { return args.counts[static_cast<size_t>(rank)] * item; };
  const auto whole = [&] { return BlockOffset(args, size); };
  switch (call.operation) {
    case Operation::kScatter:
      return {at_root, true, whole(), block(), at_root ? BlockOffset(args, rank) : -1};
    case Operation::kGather:
      return {true, at_root, block(), whole(), at_root ? BlockOffset(args, rank) : -1};
    case Operation::kBroadcast:
      return {at_root, true, args.counts[0] * item, args.counts[0] * item, at_root ? 0 : -1};
    case Operation::kAllGather:
      return {true, true, block(), whole(), BlockOffset(args, rank)};
    case Operation::kReduce:
      return {true, at_root, args.counts[0] * item, args.counts[0] * item, at_root ? 0 : -1};
    case Operation::kAllReduce:
      return {true, true, args.counts[0] * item, args.counts[0] * item, 0};
    case Operation::kReduceScatter:
      return {true, true, whole(), block(), BlockOffset(args, rank)};
    case Operation::kAllToAll: {
      RankLayout layout{true, true, 0, 0, -1};
      const auto ranks = static_cast<size_t>(size);
      const auto self = static_cast<size_t>(rank);
      for (size_t peer = 0; peer < ranks; ++peer) {
        layout.send_bytes += args.counts[self * ranks + peer] * item;
        layout.recv_bytes += args.counts[peer * ranks + self] * item;
      }
      return layout;
    }
    case Operation::kSendRecv:
    case Operation::kBarrier:
      return {};
  }
  return {};
}

absl::Status CheckArgs(const CallView& call) {
  const auto& [operation, args_pointer, size] = call;
  const Args& args = *args_pointer;
  const std::string name(Name(operation));
  const size_t entries = CountEntries(operation, size);
  if (entries == 0) return absl::OkStatus();
  if (args.counts.size() != entries) {
    return absl::InvalidArgumentError(absl::StrCat(name, " of ", size, " ranks needs ", entries,
                                                   " counts, not ", args.counts.size()));
  }
  int64_t elements = 0;
  int64_t bytes = 0;
  for (const int64_t count : args.counts) {
    if (count < 0) {
      return absl::InvalidArgumentError(absl::StrCat(name, ": count ", count, " is negative"));
    }
    if (__builtin_add_overflow(elements, count, &elements) ||
        __builtin_mul_overflow(elements, kernels::ItemBytes(args.dtype), &bytes)) {
      return absl::InvalidArgumentError(absl::StrCat(name, ": 2^63 bytes or more"));
    }
  }
  if (HasRoot(operation) && (args.root < 0 || args.root >= size)) {
    return absl::InvalidArgumentError(
        absl::StrCat(name, ": root ", args.root, " is not in [0, ", size, ")"));
  }
  if (IsReduction(operation) && !IsDefined(args.op, args.dtype)) {
    return absl::InvalidArgumentError(absl::StrCat(name, ": ", std::string(Name(args.op)),
                                                   " is not defined for ",
                                                   std::string(kernels::Name(args.dtype))));
  }
  return absl::OkStatus();
}

absl::Status CheckRank(const CallView& call, int rank, const RankBuffers& buffers) {
  const RankLayout layout = LayoutOf(call, rank);
  std::string fault;
  if (layout.uses_send) fault = FaultOf("send", layout.send_bytes, buffers.send);
  if (layout.uses_recv && fault.empty()) fault = FaultOf("recv", layout.recv_bytes, buffers.recv);
  if (fault.empty() && layout.uses_send && layout.uses_recv &&
      Overlap(buffers.send, buffers.recv) && !IsInPlace(layout, buffers.send, buffers.recv)) {
    fault = "send and recv overlap, but not as in place";
  }
  if (fault.empty() && IsReduction(call.operation)) {
    const auto mask = static_cast<uintptr_t>(kernels::ItemAlignment(call.args->dtype)) - 1;
    const auto address = (layout.uses_send ? reinterpret_cast<uintptr_t>(buffers.send.data) : 0) |
                         (layout.uses_recv ? reinterpret_cast<uintptr_t>(buffers.recv.data) : 0);
    if ((address & mask) != 0) {
      fault = absl::StrCat("data is not aligned to ", mask + 1, " bytes, as ",
                           std::string(kernels::Name(call.args->dtype)), " needs");
    }
  }
  if (fault.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(std::string(Name(call.operation)), ", rank ", rank, ": ", fault));
}

absl::Status CheckSame(const CallView& first_call, const CallView& other_call, int rank) {
  const Operation operation = first_call.operation;
  const Args& first = *first_call.args;
  const Args& other = *other_call.args;
  const auto differs = [&](absl::string_view what, const std::string& here,
                           const std::string& there) {
    return absl::InvalidArgumentError(absl::StrCat(std::string(Name(operation)), ": rank ", rank,
                                                   " has ", what, " ", there, ", but rank 0 has ",
                                                   here));
  };
  if (operation != other_call.operation) {
    return differs("operation", std::string(Name(operation)),
                   std::string(Name(other_call.operation)));
  }
  if (CountEntries(operation, 1) == 0) return absl::OkStatus();
  if (first.dtype != other.dtype) {
    return differs("dtype", std::string(kernels::Name(first.dtype)),
                   std::string(kernels::Name(other.dtype)));
  }
  if (first.counts != other.counts) {
    const auto join = [](absl::Span<const int64_t> counts) {
      std::string text = "(";
      for (const int64_t count : counts) absl::StrAppend(&text, count, ",");
      return text + ")";
    };
    return differs("counts", join(first.counts), join(other.counts));
  }
  if (HasRoot(operation) && first.root != other.root) {
    return differs("root", absl::StrCat(first.root), absl::StrCat(other.root));
  }
  if (IsReduction(operation) && first.op != other.op) {
    return differs("reduction", std::string(Name(first.op)), std::string(Name(other.op)));
  }
  return absl::OkStatus();
}

}  // namespace shoal::collective

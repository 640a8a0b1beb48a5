#include "bench/collectives/layout.h"

#include "base/check.h"

namespace shoal::bench {
namespace {

using collective::Operation;

bool IsRooted(Operation operation) {
  return operation == Operation::kScatter || operation == Operation::kGather ||
         operation == Operation::kBroadcast || operation == Operation::kReduce;
}

// Elements of a rank's sending and receiving side when nothing is in place.
int64_t SendCount(const CollectiveCase& which, int rank) {
  switch (which.operation) {
    case Operation::kScatter:
      return rank == kRoot ? which.count * which.ranks : 0;
    case Operation::kBroadcast:
      return rank == kRoot ? which.count : 0;
    case Operation::kReduceScatter:
    case Operation::kAllToAll:
      return which.count * which.ranks;
    case Operation::kGather:
    case Operation::kAllGather:
    case Operation::kReduce:
    case Operation::kAllReduce:
    case Operation::kSendRecv:
      return which.count;
    case Operation::kBarrier:
      return 0;
  }
  SHOAL_UNREACHABLE("operation out of range");
}

int64_t RecvCount(const CollectiveCase& which, int rank) {
  switch (which.operation) {
    case Operation::kGather:
      return rank == kRoot ? which.count * which.ranks : 0;
    case Operation::kAllGather:
    case Operation::kAllToAll:
      return which.count * which.ranks;
    case Operation::kReduce:
      return rank == kRoot ? which.count : 0;
    case Operation::kScatter:
    case Operation::kBroadcast:
    case Operation::kAllReduce:
    case Operation::kReduceScatter:
    case Operation::kSendRecv:
      return which.count;
    case Operation::kBarrier:
      return 0;
  }
  SHOAL_UNREACHABLE("operation out of range");
}

// Puts the smaller side of `rank` into the larger one of `home`: its block if that has one a rank.
void Overlay(const CollectiveCase& which, int rank, int home, Sides* sides) {
  const auto at = static_cast<size_t>(rank);
  const auto home_at = static_cast<size_t>(home);
  const bool recv_moves =
      which.operation == Operation::kScatter || which.operation == Operation::kReduceScatter;
  Range& moved = recv_moves ? sides->recv[at] : sides->send[at];
  const Range& whole = recv_moves ? sides->send[home_at] : sides->recv[home_at];
  const bool blocks = whole.count > moved.count;
  moved = {whole.rank, whole.region, blocks ? which.count * rank : 0, moved.count};
}

void AddMove(const Range& from, const Range& to, std::vector<Move>* moves) {
  const bool same = from.rank == to.rank && from.region == to.region && from.begin == to.begin;
  if (!same && from.count > 0) moves->push_back({from, to});
}

Range BlockOf(const Range& whole, int block, int64_t count) {
  return {whole.rank, whole.region, whole.begin + block * count, count};
}

}  // namespace

std::string Name(Place place) {
  switch (place) {
    case Place::kOut:
      return "out";
    case Place::kIn:
      return "in";
    case Place::kView:
      return "view";
  }
  SHOAL_UNREACHABLE("place out of range");
}

std::vector<Operation> AllOperations() {
  return {Operation::kScatter,   Operation::kGather,        Operation::kBroadcast,
          Operation::kAllGather, Operation::kReduce,        Operation::kAllReduce,
          Operation::kAllToAll,  Operation::kReduceScatter, Operation::kSendRecv,
          Operation::kBarrier};
}

bool Allows(Operation operation, Place place) {
  if (place == Place::kOut) return true;
  if (place == Place::kView) {
    return operation == Operation::kScatter || operation == Operation::kGather;
  }
  return operation != Operation::kAllToAll && operation != Operation::kSendRecv &&
         operation != Operation::kBarrier;
}

bool Reduces(Operation operation) {
  return operation == Operation::kReduce || operation == Operation::kAllReduce ||
         operation == Operation::kReduceScatter;
}

Sides SidesOf(const CollectiveCase& which) {
  Sides sides;
  for (int rank = 0; rank < which.ranks; ++rank) {
    sides.send.push_back({rank, 0, 0, SendCount(which, rank)});
    sides.recv.push_back({rank, 1, 0, RecvCount(which, rank)});
  }
  if (which.place == Place::kOut) return sides;
  for (int rank = 0; rank < which.ranks; ++rank) {
    const bool viewed = which.place == Place::kView;
    if (!viewed && IsRooted(which.operation) && rank != kRoot) continue;
    Overlay(which, rank, viewed ? kRoot : rank, &sides);
  }
  return sides;
}

std::vector<int64_t> CountsOf(const CollectiveCase& which) {
  const auto ranks = static_cast<size_t>(which.ranks);
  switch (which.operation) {
    case Operation::kScatter:
    case Operation::kGather:
    case Operation::kAllGather:
    case Operation::kReduceScatter:
      return std::vector<int64_t>(ranks, which.count);
    case Operation::kAllToAll:
      return std::vector<int64_t>(ranks * ranks, which.count);
    case Operation::kBroadcast:
    case Operation::kReduce:
    case Operation::kAllReduce:
      return {which.count};
    case Operation::kSendRecv:
    case Operation::kBarrier:
      return {};
  }
  SHOAL_UNREACHABLE("operation out of range");
}

std::vector<Move> MovesOf(const CollectiveCase& which) {
  std::vector<Move> moves;
  if (Reduces(which.operation)) return moves;
  const Sides sides = SidesOf(which);
  for (int to = 0; to < which.ranks; ++to) {
    const Range& recv = sides.recv[static_cast<size_t>(to)];
    for (int from = 0; from < which.ranks; ++from) {
      const Range& send = sides.send[static_cast<size_t>(from)];
      if (send.count == 0 || recv.count == 0) continue;
      if (which.operation == Operation::kSendRecv && to != (from + 1) % which.ranks) continue;
      const bool cut_send = send.count > which.count;
      const bool cut_recv = recv.count > which.count;
      AddMove(cut_send ? BlockOf(send, to, which.count) : send,
              cut_recv ? BlockOf(recv, from, which.count) : recv, &moves);
    }
  }
  return moves;
}

int64_t TotalBytes(const CollectiveCase& which) {
  const int64_t block = which.count * kernels::ItemBytes(which.dtype);
  switch (which.operation) {
    case Operation::kBroadcast:
    case Operation::kReduce:
    case Operation::kAllReduce:
    case Operation::kSendRecv:
      return block;
    case Operation::kScatter:
    case Operation::kGather:
    case Operation::kAllGather:
    case Operation::kReduceScatter:
    case Operation::kAllToAll:
      return block * which.ranks;
    case Operation::kBarrier:
      return 0;
  }
  SHOAL_UNREACHABLE("operation out of range");
}

double BusFactor(const CollectiveCase& which) {
  const double ranks = which.ranks;
  switch (which.operation) {
    case Operation::kBroadcast:
    case Operation::kReduce:
    case Operation::kSendRecv:
      return 1;
    case Operation::kAllReduce:
      return 2 * (ranks - 1) / ranks;
    case Operation::kScatter:
    case Operation::kGather:
    case Operation::kAllGather:
    case Operation::kReduceScatter:
    case Operation::kAllToAll:
      return (ranks - 1) / ranks;
    case Operation::kBarrier:
      return 0;
  }
  SHOAL_UNREACHABLE("operation out of range");
}

int SentValue(int rank, int64_t index) {
  // An odd multiplier scatters neighbours; 4 bits of it stay far below what float16 sums exactly.
  const auto mixed = static_cast<uint64_t>(index) * 0x9E3779B97F4A7C15U +
                     static_cast<uint64_t>(rank) * 0xD1B54A32D192ED03U;
  return static_cast<int>(mixed >> 60);
}

int ExpectedValue(const CollectiveCase& which, int rank, int64_t index) {
  const int64_t block = which.count == 0 ? 0 : index / which.count;
  const int64_t within = which.count == 0 ? 0 : index % which.count;
  switch (which.operation) {
    case Operation::kScatter:
      return SentValue(kRoot, rank * which.count + index);
    case Operation::kBroadcast:
      return SentValue(kRoot, index);
    case Operation::kGather:
    case Operation::kAllGather:
      return SentValue(static_cast<int>(block), within);
    case Operation::kAllToAll:
      return SentValue(static_cast<int>(block), rank * which.count + within);
    case Operation::kSendRecv:
      return SentValue((rank + which.ranks - 1) % which.ranks, index);
    case Operation::kReduce:
    case Operation::kAllReduce:
    case Operation::kReduceScatter: {
      const bool scattered = which.operation == Operation::kReduceScatter;
      int sum = 0;
      for (int from = 0; from < which.ranks; ++from) {
        sum += SentValue(from, scattered ? rank * which.count + index : index);
      }
      return sum;
    }
    case Operation::kBarrier:
      return 0;
  }
  SHOAL_UNREACHABLE("operation out of range");
}

}  // namespace shoal::bench

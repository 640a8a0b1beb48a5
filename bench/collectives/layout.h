#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/dtype.h"
#include "server/collective/communicator.h"

namespace shoal::bench {

/// Where the two sides of a collective lie.
enum class Place : uint8_t {
  kOut,   ///< Every rank receives into memory of its own.
  kIn,    ///< In place where the operation allows it: the root's block, or every rank's.
  kView,  ///< Scatter and gather: every rank's block is a view of the root's memory.
};
std::string Name(Place place);

/// One collective to be run: what, over how many ranks, how large.
struct CollectiveCase {
  collective::Operation operation = collective::Operation::kBroadcast;
  Place place = Place::kOut;
  int ranks = 2;
  kernels::DType dtype = kernels::DType::kFloat32;
  int64_t count = 0;  ///< Elements of one block: a rank's share, or what is broadcast or reduced.
};

/// A range of one rank's memory, in elements. Each rank has two regions, 0 and 1.
struct Range {
  int rank = 0;
  int region = 0;
  int64_t begin = 0;
  int64_t count = 0;
};

/// Where each rank's sides are.
struct Sides {
  std::vector<Range> send;  ///< One a rank; of 0 elements where the rank sends nothing.
  std::vector<Range> recv;
};

/// A block that must come from one place to another, for operations that only move.
struct Move {
  Range from;
  Range to;
};

inline constexpr int kRoot = 0;

/// All ten, in the order in which they are printed.
std::vector<collective::Operation> AllOperations();

/// Whether the operation has such a place.
bool Allows(collective::Operation operation, Place place);

/// Whether values are combined, not only moved.
bool Reduces(collective::Operation operation);

Sides SidesOf(const CollectiveCase& which);

/// The counts that Args wants.
std::vector<int64_t> CountsOf(const CollectiveCase& which);

/// Every copy that the case cannot do without: what a single thread's memcpy is timed with. Empty
/// for operations that reduce.
std::vector<Move> MovesOf(const CollectiveCase& which);

/// Bytes as nccl-tests counts them: one rank's buffer for broadcast, reduce and all-reduce, all
/// blocks together for the others.
int64_t TotalBytes(const CollectiveCase& which);

/// What turns total bytes over time into bus bandwidth, so that it compares with what the memory
/// or the link can do whatever the number of ranks (docs/benchmarks.md).
double BusFactor(const CollectiveCase& which);

/// The value that rank `rank` sends at element `index` of its buffer: a small integer, so that
/// sums are exact in every dtype and every order.
int SentValue(int rank, int64_t index);

/// The value that must arrive at element `index` of rank `rank`'s receiving side.
int ExpectedValue(const CollectiveCase& which, int rank, int64_t index);

}  // namespace shoal::bench

#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "server/collective/communicator.h"
#include "server/device/device.h"

// The tests that every Communicator passes. An implementation has one small file that builds
// Worlds and instantiates CollectiveSuite with them.
namespace shoal::collective {

/// A group under test, all of whose members this process can drive.
class World {
 public:
  virtual ~World() = default;

  virtual int Size() const = 0;
  /// In rank order; together they own every rank.
  virtual std::vector<Communicator*> Members() = 0;
  virtual device::Device& DeviceOf(int rank) = 0;
  virtual device::Stream& StreamOf(int rank) = 0;
};

struct WorldParam {
  std::string name;
  std::function<std::unique_ptr<World>()> make;
};
inline void PrintTo(const WorldParam& param, std::ostream* os) { *os << param.name; }

/// One rank's buffers of one call, with what is to be in `recv` afterwards.
struct RankCase {
  std::vector<std::byte> send;
  std::vector<std::byte> expected;
  /// >= 0: the smaller side lies at this offset of the larger one, and `expected` is of `recv`.
  int64_t in_place_offset = -1;
};

enum class Placement : uint8_t { kSeparate, kInPlace };

inline constexpr int64_t kSuiteCounts[] = {0, 1, 2, 31, 32, 33, 1000, 65537};
/// Dtypes of several widths, for operations that do not look at the elements.
inline constexpr kernels::DType kSuiteWidths[] = {kernels::DType::kUint8, kernels::DType::kFloat16,
                                                  kernels::DType::kComplex128};

class CollectiveSuite : public testing::TestWithParam<WorldParam> {
 protected:
  using Call = std::function<void(Communicator&, Communicator::Ranks, Communicator::Done)>;

  CollectiveSuite() : world_(GetParam().make()) {}

  int size() const { return world_->Size(); }
  World& world() { return *world_; }

  using Body = std::function<void(const Args&, Placement)>;

  /// Runs `body` over widths, counts, raggedness, roots and placements, for operations with one
  /// block a rank, and for those with one count. Large counts are not combined with everything.
  void ForBlocks(const Body& body);
  void ForWhole(const Body& body);
  /// The same for given counts: all roots worth trying, and both placements.
  void ForPlacements(Args args, const Body& body);

  /// Lays out the buffers, queues copies in, the call on every member, and copies out, waits for
  /// everything, and compares `recv`, what lies around it, and (unless in place) `send`.
  void Check(const std::vector<RankCase>& ranks, const Call& call);

  /// Makes the call on every member and waits; one status a member.
  std::vector<absl::Status> CallAll(const std::vector<RankBuffers>& ranks, const Call& call);

  /// Buffers of those sizes on every rank's device, kept until the test ends; null spans of 0.
  std::vector<RankBuffers> MakeBuffers(const std::vector<int64_t>& send_bytes,
                                       const std::vector<int64_t>& recv_bytes);

  using Starter = std::function<void(Communicator::Done)>;
  /// Starts something and waits for it; or starts two things and waits for both.
  static absl::Status Await(const Starter& start);
  static std::vector<absl::Status> AwaitBoth(const Starter& first, const Starter& second);

  void CopyInNow(const std::byte* host, device::Span span, int rank);
  std::vector<std::byte> CopyOutNow(device::ConstSpan span, int rank);

  /// A small all-reduce works: the group is whole.
  void ExpectWhole();

  std::unique_ptr<World> world_;
  std::vector<device::Buffer> buffers_;  ///< After the world: released before it goes.
};

/// Pseudorandom bytes that differ by rank and position.
std::vector<std::byte> PatternBytes(int rank, int64_t bytes);

/// Ragged block sizes to try: equal, with empty ones, and all on the last rank.
std::vector<std::vector<int64_t>> BlockCounts(int size, int64_t count);

/// [begin, begin + bytes) of `from`.
std::vector<std::byte> Slice(const std::vector<std::byte>& from, int64_t begin, int64_t bytes);
void Append(std::vector<std::byte>& to, const std::vector<std::byte>& bytes);

}  // namespace shoal::collective

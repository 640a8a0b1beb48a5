#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "bench/collectives/layout.h"
#include "server/collective/communicator.h"
#include "server/device/device.h"
#include "server/memory/arena.h"
#include "server/threads/team.h"

namespace shoal::bench {

/// The embedded workers of one process as ranks: CPU devices, the local communicator, and two
/// regions of memory a rank.
///
/// Thread-safety: one thread at a time.
class LocalRanks {
 public:
  /// `region_bytes`: of each of a rank's two regions.
  ///
  /// Errors: RESOURCE_EXHAUSTED.
  static absl::StatusOr<std::unique_ptr<LocalRanks>> Create(int ranks, int64_t region_bytes);
  ~LocalRanks();

  /// Fills what is sent with SentValue, and what is received with something else, which must then
  /// be overwritten.
  void Fill(const CollectiveCase& which);

  /// Runs it once and waits for its end.
  absl::Status Run(const CollectiveCase& which);

  /// Queues, on every rank, the dot product of what it has received with itself, and waits.
  ///
  /// Errors: UNIMPLEMENTED  there is no dot product of this dtype.
  absl::Status Dot(const CollectiveCase& which);

  /// Received elements that are not what they must be.
  int64_t CountWrong(const CollectiveCase& which) const;

  /// The memory of a range.
  device::Span SpanOf(const Range& range, int64_t item_bytes) const;

 private:
  LocalRanks(int ranks, std::unique_ptr<memory::Arena> arena);

  const int ranks_;
  std::unique_ptr<memory::Arena> arena_;
  threads::Team team_;
  std::vector<std::unique_ptr<device::Device>> devices_;
  std::vector<std::unique_ptr<device::Stream>> streams_;
  std::vector<device::Buffer> regions_;  ///< Two a rank.
  std::unique_ptr<collective::Communicator> communicator_;
};

}  // namespace shoal::bench

#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "bench/kernels/array_peer.h"
#include "bench/kernels/cases.h"
#include "bench/kernels/limits.h"
#include "bench/kernels/prepared_program.h"
#include "bench/kernels/rounds.h"
#include "server/device/device.h"
#include "server/memory/arena.h"
#include "server/threads/team.h"

namespace shoal::bench {

/// What one row is about.
struct CasePoint {
  const KernelCase* which = nullptr;
  kernels::DType dtype = kernels::DType::kFloat32;
  int64_t elements = 0;  ///< At least 1.
  int64_t threads = 1;
};

/// How one subject did.
struct SubjectFigures {
  std::string name;
  double call_s = 0;
  double spread = 0;  ///< RelativeSpread of call_s over the rounds.
  double gb_per_s = 0;
  std::optional<double> of_limit;         ///< Of Shoal and peers: the share of the fastest limit.
  std::optional<double> ulps;             ///< Of Shoal: the largest error.
  std::optional<double> ulps_from_shoal;  ///< Of peers: the largest difference from Shoal's.
  int64_t wrong = 0;
  std::map<std::string, double> ratio;  ///< How many times faster than each other.
};

/// A row: all subjects at one point, Shoal first.
struct CaseFigures {
  std::string not_built;  ///< Why the program cannot be run; nothing else is set then. Else "".
  double first_s = 0;     ///< From the text to the result, at the first time of this row.
  double again_s = 0;     ///< The same later: the median of a few.
  std::vector<SubjectFigures> subjects;
};

/// The limits that a case is held against.
std::vector<Limit> LimitsOf(const KernelCase& which);

/// Runs cases on arrays from one arena, as a worker has it.
///
/// Thread-safety: one thread at a time.
class KernelMeasuring {
 public:
  /// Room for arrays of `elements_max` of 8 bytes each.
  ///
  /// Errors: RESOURCE_EXHAUSTED.
  static absl::StatusOr<std::unique_ptr<KernelMeasuring>> Create(int64_t elements_max);

  /// Measures one row. `peer` may be null; else it has the row's threads.
  ///
  /// Errors: of a program that is not optional and cannot be run; of a contender.
  absl::StatusOr<CaseFigures> Measure(const CasePoint& point, const RoundOptions& options,
                                      ArrayPeer* peer);

 private:
  struct Row;
  KernelMeasuring(std::unique_ptr<memory::Arena> arena, std::unique_ptr<device::Device> device);

  absl::Status PlaceArrays(const CasePoint& point);
  void FillInputs(const CasePoint& point);
  std::vector<Elements> Inputs(const CasePoint& point) const;
  Traffic TrafficOf(const CasePoint& point, const kernels::ArrayType& output) const;
  absl::Status TimeFirstCalls(Row* row);
  absl::StatusOr<std::unique_ptr<PreparedProgram>> MakeAndRun(const Row& row);
  absl::Status MeasureSubjects(const RoundOptions& options, ArrayPeer* peer, Row* row);
  absl::Status JudgeAll(ArrayPeer* peer, Row* row);
  device::CpuContext ContextOf(int64_t threads);

  const std::unique_ptr<memory::Arena> arena_;
  const std::unique_ptr<device::Device> device_;
  std::array<device::Buffer, 2> inputs_;
  device::Buffer output_;
  std::map<int64_t, std::unique_ptr<threads::Team>> teams_;  // By threads.
};

}  // namespace shoal::bench

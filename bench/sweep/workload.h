#pragma once

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "bench/subject.h"
#include "kernels/dtype.h"

namespace shoal::bench {

struct WorkloadOptions {
  Op op = Op::kEcho;
  /// kApply: "echo", "add", "multiply", "axpy" (a = 2), "sum", "sort".
  std::string function = "axpy";
  kernels::DType dtype = kernels::DType::kUint8;
  int64_t bytes = 0;  ///< Of one array; rounded up to whole elements.
  uint64_t seed = 1;
};

/// Makes random requests of one size and knows what must come back.
///
/// Functions get numbers whose results are exact in every order of operations, so that a reply has
/// one right value (small integers, as nccl-tests has them); everything else gets random bytes.
///
/// Thread-safety: immutable.
class Workload {
 public:
  /// Errors:
  ///   INVALID_ARGUMENT  no such function, or it is not checked for this dtype.
  static absl::StatusOr<Workload> Create(WorkloadOptions options);

  const WorkloadOptions& options() const { return options_; }
  /// Of one array, whole elements.
  int64_t bytes() const { return options_.bytes; }
  int64_t request_bytes() const { return options_.bytes * argument_count_; }
  int64_t reply_bytes() const { return reply_bytes_; }
  /// Arrays in a request, each of `bytes`: 1 or 2.
  int argument_count() const { return argument_count_; }

  /// Fills an argument: never with the same for two numbers.
  void Fill(uint64_t number, Bytes argument) const;

  /// How many elements of `reply` (bytes, for kEcho, kPut and kGet) are not what
  /// `arguments` must give.
  int64_t CountWrong(const wire::Pieces& arguments, ConstBytes reply) const;

  /// The same for a subject that only moves bytes (Subject::Computes): wrong bytes.
  int64_t CountWrongMoved(const wire::Pieces& arguments, ConstBytes reply) const;

 private:
  explicit Workload(WorkloadOptions options) : options_(std::move(options)) {}

  WorkloadOptions options_;
  bool computes_ = false;  ///< The reply is not just the request.
  int argument_count_ = 1;
  int64_t reply_bytes_ = 0;
};

/// Fills `bytes` with bits of a generator at `state`: a new state, other bits.
void FillRandom(uint64_t state, Bytes bytes);

}  // namespace shoal::bench

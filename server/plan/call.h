#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"
#include "base/ids.h"
#include "kernels/map.h"
#include "kernels/registry.h"
#include "kernels/scalar.h"
#include "server/plan/distribution.h"
#include "server/plan/shape.h"

namespace shoal::plan {

/// What an array is, without where it lies.
struct ArrayType {
  kernels::DType dtype = kernels::DType::kFloat32;
  Shape shape;

  friend bool operator==(const ArrayType&, const ArrayType&) = default;
};

/// An array that the server holds, by id or, if the id is none, by name.
struct StoredRef {
  ArrayId id;
  std::string name;
};

/// A place in a lease. `token` is what the client says; whoever resolves it compares.
struct LeasePlace {
  LeaseId lease;
  uint64_t token = 0;
  int64_t offset = 0;  ///< In bytes, from the start of the lease; unchecked.
};

/// Bytes in the request itself; borrowed from it.
struct InlineBytes {
  ArrayType type;
  absl::Span<const std::byte> bytes;  ///< Exactly as many as the type has.
};

struct LeasedBytes {
  ArrayType type;
  LeasePlace place;
};

/// Bytes that follow the call as chunks.
struct StreamedBytes {
  ArrayType type;
};

struct Argument {
  std::string name;
  std::variant<InlineBytes, StoredRef, LeasedBytes, StreamedBytes> value;
};

/// Into the reply: inline, or as chunks where the call streams.
struct ReturnToCaller {};

struct StoreAs {
  std::string name;  ///< Empty: none.
  bool replace = false;
  bool has_distribution = false;  ///< False: as the inputs lie.
  Distribution distribution;      ///< `workers` empty: all, or for kSingle the emptiest.
};

using Destination = std::variant<ReturnToCaller, StoreAs, LeasePlace>;

/// How far an echo's bytes go; the numbers are the wire's.
enum class Route : uint8_t { kFront = 1, kWorker = 2, kDevice = 3 };

/// One application of an op, decoded and valid as far as it can be judged without looking at
/// stored arrays: arity, parameters, sizes of inline bytes.
struct Call {
  const kernels::OpInfo* op = nullptr;
  std::array<kernels::Scalar, kernels::kParamsMax> params = {};
  absl::InlinedVector<Argument, 2> arguments;
  absl::InlinedVector<Destination, 1> destinations;
  Route route = Route::kWorker;
  bool want_timing = false;
};

}  // namespace shoal::plan

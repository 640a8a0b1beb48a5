#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"
#include "base/ids.h"
#include "kernels/language/syntax.h"
#include "kernels/map.h"
#include "kernels/program/typing.h"
#include "kernels/registry.h"
#include "kernels/scalar.h"
#include "kernels/shape.h"
#include "server/plan/distribution.h"

namespace shoal::plan {

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
  std::string name;  ///< What a program knows it by; ops take them by position.
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

/// A program, parsed, and what it is called with beside the arguments.
struct ProgramCall {
  kernels::language::Syntax syntax;
  std::vector<kernels::program::Parameter> parameters;
  std::vector<std::string> outputs;  ///< Names that are asked for; none: the program's own.
};

/// One application of an op or a program, decoded and valid as far as it can be judged without
/// looking at stored arrays: arity, parameters, sizes of inline bytes.
struct Call {
  const kernels::OpInfo* op = nullptr;                           ///< Null: a program.
  std::array<kernels::Scalar, kernels::kParamsMax> params = {};  ///< Of the op.
  std::shared_ptr<const ProgramCall> program;                    ///< Null: an op.
  absl::InlinedVector<Argument, 2> arguments;
  absl::InlinedVector<Destination, 1> destinations;
  Route route = Route::kWorker;
  bool want_timing = false;

  /// Whether its outputs are its arguments: an echo.
  bool Moves() const { return op != nullptr && op->form == kernels::OpForm::kMove; }
};

}  // namespace shoal::plan

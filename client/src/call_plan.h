#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "client/src/lease_arena.h"
#include "shoal/call.h"
#include "shoal/info.h"

namespace shoal::internal {

/// How each argument of a call travels, where each output goes, and by which RPC.
struct CallPlan {
  enum class Way : uint8_t {
    kInline,    ///< In the request.
    kLeased,    ///< As a reference into a lease.
    kStreamed,  ///< As chunks after the request.
    kStored,    ///< The server has it.
  };
  struct Input {
    Way way = Way::kInline;
    Array array = {};  ///< What is sent; with kLeased possibly a copy of what was given.
    const LeasePlace* place = nullptr;  ///< With kLeased; lives as long as `array`.
  };
  struct Target {
    Array array = {};                   ///< Where the caller wants the output, if `given`.
    bool given = false;                 ///< WriteTo.
    Array landing = {};                 ///< With `place`: where the server writes. Maybe `array`.
    const LeasePlace* place = nullptr;  ///< Lives as long as `landing`.
  };

  std::vector<Input> inputs;    ///< One an argument.
  std::vector<Target> targets;  ///< One a destination; the plan may add some.
  bool stream = false;          ///< ApplyStream instead of Apply.
  bool stores = false;          ///< A new array results: must not be repeated blindly.
  bool echo = false;            ///< Output i is argument i.
};

/// What each op of the server gives, by its name.
using OpOutputs = absl::flat_hash_map<std::string, OpOutput>;

struct PlanContext {
  ServerLimits limits;
  const OpOutputs* outputs;     ///< Not null. An op that is not in it gives nobody knows what.
  LeaseArena* arena = nullptr;  ///< Null: no plane A.
};

/// Decides it. Copies plain arrays into leases where that is the plane; if the server lends no
/// memory, falls back to streaming.
///
/// Errors:
///   INVALID_ARGUMENT  no op; more arguments than the server takes; a target that is not writable.
absl::StatusOr<CallPlan> PlanCall(const Call& call, const PlanContext& context);

/// Errors: INVALID_ARGUMENT  the call has neither an op nor a program, or both.
absl::Status CheckFunction(const Call& call);

}  // namespace shoal::internal

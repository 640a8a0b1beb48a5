#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "shoal/array.h"

namespace shoal {

/// Names an array that the server holds: by id if `id` is not 0, else by name.
struct ArrayRef {
  uint64_t id = 0;
  std::string name = {};

  static ArrayRef ById(uint64_t id) { return {.id = id, .name = {}}; }
  static ArrayRef ByName(std::string name) { return {.id = 0, .name = std::move(name)}; }
};

/// How an array lies over workers.
struct Distribution {
  enum class Kind : uint8_t {
    kBlock,       ///< Axis 0 is cut into one range of rows a worker.
    kReplicated,  ///< Every worker holds the whole array.
    kSingle,      ///< One worker does.
  };
  Kind kind = Kind::kBlock;
  /// kSingle: the worker, or empty: the server chooses. Otherwise empty means all workers.
  std::vector<int32_t> workers = {};

  friend bool operator==(const Distribution&, const Distribution&) = default;
};

/// How far an echo's bytes go.
enum class Route : uint8_t {
  kDefault,  ///< As kWorker.
  kFront,    ///< The front end returns them.
  kWorker,   ///< Scattered over the workers' memory and gathered back.
  kDevice,   ///< Also passed through a kernel, every byte.
};

/// A named scalar that an op takes.
struct Param {
  std::string name = {};
  std::variant<double, int64_t, uint64_t, bool> value;
};

/// An array given to an op: bytes of this process, or an array that the server holds.
struct Argument {
  // Both are meant to convert: arguments are listed in braces.
  Argument(Array array) : value(std::move(array)) {}  // NOLINT(google-explicit-constructor)
  // NOLINTNEXTLINE(google-explicit-constructor)
  Argument(ArrayRef reference) : value(std::move(reference)) {}
  Argument(std::string argument_name, Array array)
      : name(std::move(argument_name)), value(std::move(array)) {}
  Argument(std::string argument_name, ArrayRef reference)
      : name(std::move(argument_name)), value(std::move(reference)) {}

  std::string name = {};  ///< What a program knows it by. Ops take arguments by position.
  std::variant<Array, ArrayRef> value;
};

/// The output comes back in `Output::array`. The default.
struct ReturnToCaller {};

/// The output stays with the server, under a new id and perhaps a name.
struct Store {
  std::string name = {};                          ///< Empty: only the id.
  std::optional<Distribution> distribution = {};  ///< Absent: as the inputs lie.
  bool replace = false;  ///< True: an array of that name is freed once this one is complete.
};

/// The output is written into `array`, which must be writable and exactly as large.
///
/// A leased array is written in place by the server; others are filled as the bytes arrive. If the
/// call fails, the contents are unspecified; if it fails with DEADLINE_EXCEEDED or CANCELLED, the
/// server may write into a leased array for a while longer.
struct WriteTo {
  Array array = {};
};

using Destination = std::variant<ReturnToCaller, Store, WriteTo>;

/// An op, or a program in Shoal's language (docs/language.md), applied to arrays.
///
///     shoal::Call call{.op = "axpy", .params = {{"a", 2.0}}, .arguments = {x, y}};
///     shoal::Call length{.program = "sqrt(x*x + y*y)", .arguments = {x, y}};
struct Call {
  std::string op = {};       ///< Empty: a program.
  std::string program = {};  ///< Empty: an op. One of the two.
  /// Of a program: the names whose values come back, in this order; none: its own outputs.
  std::vector<std::string> outputs = {};
  std::vector<Param> params = {};
  std::vector<Argument> arguments = {};
  /// By position; fewer than the outputs, or none: the rest return to the caller.
  std::vector<Destination> destinations = {};
  Route route = Route::kDefault;  ///< For op "echo" only.
  bool want_timing = false;
  /// From now to the reply. Absent: ClientOptions.timeout (in a session: none).
  std::optional<std::chrono::nanoseconds> timeout = std::nullopt;
};

/// One output of a call.
struct Output {
  std::string name = {};
  Dtype dtype = Dtype::kUint8;
  Shape shape = {};
  Array array = {};       ///< Its bytes, unless it was stored.
  uint64_t array_id = 0;  ///< Not 0: it was stored under this id.
};

/// Where a call's time went on the server. Phases overlap where data was still arriving.
struct Timing {
  std::chrono::nanoseconds queue{0};
  std::chrono::nanoseconds transfer_in{0};
  std::chrono::nanoseconds compute{0};
  std::chrono::nanoseconds collective{0};
  std::chrono::nanoseconds transfer_out{0};
};

struct Result {
  std::vector<Output> outputs = {};
  std::string backend = {};  ///< "cpu" or "cuda"; empty: nothing had to run.
  int32_t worker_count = 0;
  std::optional<Timing> timing = {};  ///< If `Call::want_timing`.
};

}  // namespace shoal

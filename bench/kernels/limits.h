#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "bench/kernels/rounds.h"
#include "server/threads/team.h"

namespace shoal::bench {

/// What a machine can do at best with the bytes that a case moves.
enum class Limit : uint8_t {
  kStream,    ///< Reads the inputs, writes the output with ordinary stores.
  kStreamNt,  ///< The same with stores around the caches.
  kRead,      ///< Reads the inputs.
  kCopy,      ///< memcpy of the first input to the output, which has its size.
};

/// "stream", "stream_nt", "read", "copy".
const std::string& NameOf(Limit limit);

/// The memory that a case reads and writes.
struct Traffic {
  int inputs = 1;  ///< 1 or 2.
  std::array<const std::byte*, 2> input = {};
  int64_t input_item_bytes = 4;
  std::byte* output = nullptr;    ///< Null: only reads.
  int64_t output_item_bytes = 0;  ///< One is a multiple of the other.
  int64_t count = 0;              ///< Elements of each.

  /// What is read and written, each byte once.
  int64_t Bytes() const { return count * (inputs * input_item_bytes + output_item_bytes); }
};

/// Moves these bytes on the threads of the team, cut as device::RunWork cuts work of this size.
/// The output then holds nothing that means anything.
///
/// Requires: an output for all but kRead; of the input's size for kCopy.
void RunLimit(Limit limit, const Traffic& traffic, threads::Team& team);

/// The limit as one that takes its turn in rounds. Borrows the team and what the traffic names.
std::unique_ptr<Contender> NewLimitContender(Limit limit, const Traffic& traffic,
                                             threads::Team* team);

}  // namespace shoal::bench

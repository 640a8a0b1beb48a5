#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "absl/status/statusor.h"
#include "bench/subject.h"

namespace shoal::bench {

/// What a ceiling's server is asked to do with a payload.
enum class Verb : uint8_t {
  kReflect = 1,  ///< Return the bytes as they come, keeping none (Shoal's route "front").
  kEcho = 2,     ///< Gather them into the slot, and return them from there as they land.
  kPut = 3,      ///< Gather them into the slot; answer with two bytes.
  kGet = 4,      ///< Return what the slot holds.
  kReset = 5,    ///< Forget all slots; answer with two bytes.
};

/// Stands before the payload of each call. A stream's later chunks have only the chunk header.
struct CallHeader {
  Verb verb = Verb::kEcho;
  int slot = 0;
  int64_t request_bytes = 0;
  int64_t reply_bytes = 0;  ///< kEcho: the first of the request's; otherwise as the verb has it.
};

inline constexpr size_t kCallHeaderBytes = 24;
/// As long as the protobuf framing (tag and length) of a chunk would be.
inline constexpr size_t kChunkHeaderBytes = 7;
inline constexpr int64_t kChunkBytes = int64_t{1} << 20;
inline constexpr int64_t kAnswerBytes = 2;

/// The header that asks a ceiling's server for `call`.
CallHeader HeaderOf(const Call& call);

std::array<std::byte, kCallHeaderBytes> EncodeHeader(const CallHeader& header);

/// Errors:
///   INVALID_ARGUMENT  unknown verb, a negative number, more than 16 GiB, or more to return than
///                     there is.
absl::StatusOr<CallHeader> DecodeHeader(const std::array<std::byte, kCallHeaderBytes>& bytes);

}  // namespace shoal::bench

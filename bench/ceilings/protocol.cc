#include "bench/ceilings/protocol.h"

#include <cstring>

#include "base/check.h"

namespace shoal::bench {
namespace {

constexpr int64_t kBytesMax = int64_t{1} << 34;
constexpr int kSlotsMax = 1 << 24;

// As it goes over the wire: both ends are this program on this machine.
struct Packed {
  uint8_t verb = 0;
  uint8_t unused[3] = {};
  int32_t slot = 0;
  int64_t request_bytes = 0;
  int64_t reply_bytes = 0;
};
static_assert(sizeof(Packed) == kCallHeaderBytes);

bool IsVerb(uint8_t value) {
  return value >= static_cast<uint8_t>(Verb::kReflect) &&
         value <= static_cast<uint8_t>(Verb::kReset);
}

Verb VerbOf(const Call& call) {
  switch (call.op) {
    case Op::kEcho:
      return call.keep ? Verb::kEcho : Verb::kReflect;
    case Op::kApply:
      return Verb::kEcho;
    case Op::kPut:
      return Verb::kPut;
    case Op::kGet:
      return Verb::kGet;
  }
  SHOAL_UNREACHABLE("op out of range");
}

}  // namespace

CallHeader HeaderOf(const Call& call) {
  return {VerbOf(call), call.slot, call.request_bytes(), call.reply_bytes()};
}

std::array<std::byte, kCallHeaderBytes> EncodeHeader(const CallHeader& header) {
  const Packed packed = {
      static_cast<uint8_t>(header.verb), {}, header.slot, header.request_bytes, header.reply_bytes};
  std::array<std::byte, kCallHeaderBytes> bytes;
  std::memcpy(bytes.data(), &packed, sizeof(packed));
  return bytes;
}

absl::StatusOr<CallHeader> DecodeHeader(const std::array<std::byte, kCallHeaderBytes>& bytes) {
  Packed packed;
  std::memcpy(&packed, bytes.data(), sizeof(packed));
  const bool sizes = packed.request_bytes >= 0 && packed.request_bytes <= kBytesMax &&
                     packed.reply_bytes >= 0 && packed.reply_bytes <= kBytesMax;
  if (!IsVerb(packed.verb) || !sizes || packed.slot < 0 || packed.slot >= kSlotsMax) {
    return absl::InvalidArgumentError("not a call of the ceilings' protocol");
  }
  const auto verb = static_cast<Verb>(packed.verb);
  const bool returns_request = verb == Verb::kEcho || verb == Verb::kReflect;
  if (returns_request && packed.reply_bytes > packed.request_bytes) {
    return absl::InvalidArgumentError("more to return than was sent");
  }
  return CallHeader{verb, packed.slot, packed.request_bytes, packed.reply_bytes};
}

}  // namespace shoal::bench

// What a server sends to our client, from a server that is none: results of calls and of sessions,
// chunks. The client ends with an error or with arrays that are whole.

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "base/check.h"
#include "client/src/call_codec.h"
#include "client/src/chunk_receiver.h"
#include "client/src/session_codec.h"
#include "wire/chunk.h"

namespace shoal::internal {
namespace {

/// A message in pieces, each in memory of its own, so that who reads on is caught.
class Message {
 public:
  Message(const std::string& bytes, size_t step) {
    for (size_t at = 0; at < bytes.size(); at += step) {
      parts_.emplace_back(
          bytes.begin() + static_cast<ptrdiff_t>(at),
          bytes.begin() + static_cast<ptrdiff_t>(std::min(at + step, bytes.size())));
    }
    for (const std::vector<char>& part : parts_) {
      pieces_.emplace_back(reinterpret_cast<const std::byte*>(part.data()), part.size());
    }
  }

  const wire::Pieces& pieces() const { return pieces_; }

 private:
  std::vector<std::vector<char>> parts_;
  wire::Pieces pieces_;
};

void CheckOutput(const Output& output) {
  SHOAL_CHECK(output.array.data().size() == static_cast<size_t>(output.array.byte_count()));
  uint8_t sum = 0;
  for (const std::byte byte : output.array.data()) sum ^= static_cast<uint8_t>(byte);
  SHOAL_CHECK(sum >= 0);  // All bytes are there to be read.
}

void CheckCall(const std::string& bytes, size_t step) {
  const Message message(bytes, step);
  const auto call = DecodeCall(message.pieces(), nullptr);
  if (!call.ok()) return;
  for (const ReceivedOutput& output : call->outputs) {
    SHOAL_CHECK(output.bytes >= 0);
    if (output.has_data) CheckOutput(output.output);
  }
}

void CheckSession(const std::string& bytes, size_t step) {
  const Message message(bytes, step);
  SessionReply reply;
  if (!DecodeSessionReply(message.pieces(), nullptr, &reply).ok()) return;
  for (const TaskResult& result : reply.results) {
    for (const Output& output : result.outputs) CheckOutput(output);
  }
}

void CheckChunk(const std::string& bytes) {
  wire::Pieces pieces;
  pieces.emplace_back(reinterpret_cast<const std::byte*>(bytes.data()), bytes.size());
  const auto message = wire::DecodeChunkMessage(pieces);
  if (!message.ok() || !message->has_chunk) return;
  std::vector<std::byte> memory(64);
  ChunkReceiver receiver(/*checksum=*/true);
  receiver.Add(memory.data(), 40);
  receiver.Add(memory.data() + 40, 24, 8);
  const absl::Status accepted = receiver.Accept(*message);
  const int64_t received = receiver.received_bytes(0) + receiver.received_bytes(1) - 8;
  SHOAL_CHECK(received == (accepted.ok() ? message->data_bytes : 0));
}

}  // namespace
}  // namespace shoal::internal

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const size_t step = 1 + data[0] % 97U;
  shoal::internal::CheckCall(bytes, step);
  shoal::internal::CheckSession(bytes, step);
  shoal::internal::CheckChunk(bytes);
  return 0;
}

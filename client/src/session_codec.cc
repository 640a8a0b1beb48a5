#include "client/src/session_codec.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <utility>

#include "base/check.h"
#include "base/status.h"
#include "client/src/call_codec.h"
#include "client/src/nested.h"
#include "client/src/pieces_stream.h"
#include "shoal/v1/compute.pb.h"
#include "transport/peer_status.h"

namespace shoal::internal {
namespace {

using google::protobuf::internal::WireFormatLite;
using google::protobuf::io::CodedInputStream;
using google::protobuf::io::CodedOutputStream;

constexpr uint8_t VarintTag(int field) { return static_cast<uint8_t>(field << 3); }
constexpr uint8_t LengthTag(int field) { return static_cast<uint8_t>(field << 3 | 2); }

// Tags, all of one byte: their fields' numbers are below 16.
constexpr uint8_t kRequestOpen = LengthTag(v1::SessionRequest::kOpenFieldNumber);
constexpr uint8_t kRequestTasks = LengthTag(v1::SessionRequest::kTasksFieldNumber);
constexpr uint8_t kRequestCancel = LengthTag(v1::SessionRequest::kCancelFieldNumber);
constexpr uint8_t kOpenOrdered = VarintTag(v1::SessionOpen::kOrderedFieldNumber);
constexpr uint8_t kTaskId = VarintTag(v1::SessionTask::kIdFieldNumber);
constexpr uint32_t kReplyCredits = VarintTag(v1::SessionResponse::kCreditsFieldNumber);
constexpr uint32_t kReplyDone = VarintTag(v1::SessionResponse::kDoneFieldNumber);
constexpr uint32_t kReplyDonePacked = LengthTag(v1::SessionResponse::kDoneFieldNumber);
constexpr uint32_t kReplyResults = LengthTag(v1::SessionResponse::kResultsFieldNumber);
constexpr uint32_t kResultId = VarintTag(v1::SessionResult::kIdFieldNumber);
constexpr uint32_t kResultStatus = LengthTag(v1::SessionResult::kStatusFieldNumber);
constexpr uint32_t kResultOutputs = LengthTag(v1::SessionResult::kOutputsFieldNumber);

constexpr size_t kVarintMax = 10;

absl::Status Malformed() {
  return absl::InternalError("the server sent a malformed session message");
}

uint8_t* PutVarint(uint8_t* at, uint64_t value) {
  while (value >= 0x80) {
    *at++ = static_cast<uint8_t>(value | 0x80);
    value >>= 7;
  }
  *at++ = static_cast<uint8_t>(value);
  return at;
}

/// Decodes varints that surely end before `end`; stops where that is no longer sure. Returns where
/// it stopped, or null at a varint that never ends.
const uint8_t* TakeVarints(const uint8_t* at, const uint8_t* end, std::vector<uint64_t>* values) {
  while (end - at >= static_cast<ptrdiff_t>(kVarintMax)) {
    uint64_t value = 0;
    unsigned shift = 0;
    while ((*at & 0x80) != 0) {
      value |= static_cast<uint64_t>(*at & 0x7F) << shift;
      shift += 7;
      ++at;
      if (shift >= 70) return nullptr;
    }
    if (shift < 64) value |= static_cast<uint64_t>(*at) << shift;
    ++at;
    values->push_back(value);
  }
  return at;
}

bool ReadPacked(CodedInputStream* input, std::vector<uint64_t>* values) {
  CodedInputStream::Limit outer = 0;
  if (!EnterNested(input, &outer)) return false;
  while (input->BytesUntilLimit() > 0) {
    const void* data = nullptr;
    int size = 0;
    if (!input->GetDirectBufferPointer(&data, &size)) return false;
    const auto* at = static_cast<const uint8_t*>(data);
    const uint8_t* stopped = TakeVarints(at, at + size, values);
    if (stopped == nullptr) return false;
    if (!input->Skip(static_cast<int>(stopped - at))) return false;
    if (input->BytesUntilLimit() == 0) break;
    // The last few of a slice, one of which may go on in the next slice.
    uint64_t value = 0;
    if (!input->ReadVarint64(&value)) return false;
    values->push_back(value);
  }
  LeaveNested(input, outer);
  return true;
}

absl::Status ReadResult(CodedInputStream* input, BufferPool* pool, TaskResult* result) {
  while (const uint32_t tag = input->ReadTag()) {
    if (tag == kResultId) {
      if (!input->ReadVarint64(&result->id)) return Malformed();
      continue;
    }
    if (tag != kResultStatus && tag != kResultOutputs) {
      if (!WireFormatLite::SkipField(input, tag)) return Malformed();
      continue;
    }
    CodedInputStream::Limit outer = 0;
    if (!EnterNested(input, &outer)) return Malformed();
    if (tag == kResultStatus) {
      v1::TaskStatus status;
      if (!status.MergeFromCodedStream(input) || !input->ConsumedEntireMessage()) {
        return Malformed();
      }
      result->status = transport::FromTaskStatus(status);
    } else {
      SHOAL_ASSIGN_OR_RETURN(ReceivedOutput output, DecodeOutput(input, pool));
      result->outputs.push_back(std::move(output.output));
    }
    LeaveNested(input, outer);
  }
  return input->ConsumedEntireMessage() ? absl::OkStatus() : Malformed();
}

absl::Status ReadResults(CodedInputStream* input, BufferPool* pool, SessionReply* reply) {
  CodedInputStream::Limit outer = 0;
  if (!EnterNested(input, &outer)) return Malformed();
  TaskResult result;
  SHOAL_RETURN_IF_ERROR(ReadResult(input, pool, &result));
  reply->results.push_back(std::move(result));
  LeaveNested(input, outer);
  return absl::OkStatus();
}

}  // namespace

SessionWriter::~SessionWriter() { std::free(data_); }

uint8_t* SessionWriter::Reserve(size_t bytes) {
  if (size_ + bytes > capacity_) {
    capacity_ = std::max({size_ + bytes, 2 * capacity_, size_t{256}});
    auto* grown = static_cast<uint8_t*>(std::realloc(data_, capacity_));
    SHOAL_CHECK(grown != nullptr);
    data_ = grown;
  }
  return data_ + size_;
}

void SessionWriter::Open(bool ordered) {
  uint8_t* at = Reserve(4);
  *at++ = kRequestOpen;
  *at++ = ordered ? 2 : 0;
  if (ordered) {
    *at++ = kOpenOrdered;
    *at++ = 1;
  }
  size_ = static_cast<size_t>(at - data_);
}

void SessionWriter::Tasks(uint64_t first, int64_t count, const std::string& encoded) {
  uint8_t* at = Reserve(static_cast<size_t>(count * TaskBytes(encoded)));
  const char* rest = encoded.data();
  const size_t rest_bytes = encoded.size();
  const uint64_t end = first + static_cast<uint64_t>(count);
  for (uint64_t id = first; id < end;) {
    // Neighbouring ids have varints of one length nearly always.
    const size_t id_bytes = CodedOutputStream::VarintSize64(id);
    const uint64_t longer = id_bytes < 9 ? uint64_t{1} << (7 * id_bytes) : UINT64_MAX;
    for (const uint64_t stop = std::min(end, longer); id < stop; ++id) {
      *at++ = kRequestTasks;
      at = PutVarint(at, 1 + id_bytes + rest_bytes);
      *at++ = kTaskId;
      at = PutVarint(at, id);
      std::memcpy(at, rest, rest_bytes);
      at += rest_bytes;
    }
    if (id_bytes >= 9) break;
  }
  size_ = static_cast<size_t>(at - data_);
}

void SessionWriter::Cancel(absl::Span<const uint64_t> ids) {
  if (ids.empty()) return;
  size_t bytes = 0;
  for (const uint64_t id : ids) bytes += CodedOutputStream::VarintSize64(id);
  uint8_t* at = Reserve(1 + kVarintMax + bytes);
  *at++ = kRequestCancel;
  at = PutVarint(at, bytes);
  for (const uint64_t id : ids) at = PutVarint(at, id);
  size_ = static_cast<size_t>(at - data_);
}

transport::Frame SessionWriter::Take() {
  // The frame takes the memory over.
  const std::shared_ptr<const void> owner(std::exchange(data_, nullptr), std::free);
  const wire::ConstBytes bytes(static_cast<const std::byte*>(owner.get()), std::exchange(size_, 0));
  capacity_ = 0;
  transport::Frame frame;
  frame.parts.push_back({{}, {bytes, owner}});
  return frame;
}

absl::Status DecodeSessionReply(const wire::Pieces& message, BufferPool* pool,
                                SessionReply* reply) {
  reply->credits.reset();
  reply->done.clear();
  reply->results.clear();
  PiecesStream stream(message);
  CodedInputStream input(&stream);
  const auto whole = input.PushLimit(static_cast<int>(wire::TotalBytes(message)));
  while (const uint32_t tag = input.ReadTag()) {
    uint64_t value = 0;
    if (tag == kReplyDonePacked) {
      if (!ReadPacked(&input, &reply->done)) return Malformed();
    } else if (tag == kReplyDone) {
      if (!input.ReadVarint64(&value)) return Malformed();
      reply->done.push_back(value);
    } else if (tag == kReplyCredits) {
      if (!input.ReadVarint64(&value)) return Malformed();
      reply->credits = static_cast<int64_t>(value);
    } else if (tag == kReplyResults) {
      SHOAL_RETURN_IF_ERROR(ReadResults(&input, pool, reply));
    } else if (!WireFormatLite::SkipField(&input, tag)) {
      return Malformed();
    }
  }
  const bool complete = input.ConsumedEntireMessage();
  input.PopLimit(whole);
  return complete ? absl::OkStatus() : Malformed();
}

}  // namespace shoal::internal

#include "server/service/session_codec.h"

#include <google/protobuf/io/coded_stream.h>

#include "wire/field.h"

namespace shoal::service {
namespace {

using google::protobuf::io::CodedOutputStream;

using wire::FieldTag;
using wire::kFixed32;
using wire::kFixed64;
using wire::kLengthDelimited;
using wire::kVarint;

constexpr size_t kVarintBytesMax = 10;

/// Reads fields from a view. A read that would pass the end fails.
class FieldReader {
 public:
  explicit FieldReader(absl::string_view bytes) : at_(bytes.data()), end_(at_ + bytes.size()) {}

  bool done() const { return at_ == end_; }

  bool Varint(uint64_t* value) {
    if (at_ < end_ && static_cast<uint8_t>(*at_) < 0x80) {  // Most are one byte.
      *value = static_cast<uint8_t>(*at_++);
      return true;
    }
    *value = 0;
    for (unsigned shift = 0; shift < 64 && at_ < end_; shift += 7) {
      const auto byte = static_cast<uint8_t>(*at_++);
      *value |= static_cast<uint64_t>(byte & 0x7FU) << shift;
      if (byte < 0x80) return true;
    }
    return false;
  }

  bool Bytes(absl::string_view* value) {
    uint64_t length = 0;
    if (!Varint(&length) || length > static_cast<uint64_t>(end_ - at_)) return false;
    *value = {at_, length};
    at_ += length;
    return true;
  }

  bool Skip(uint64_t tag) {
    uint64_t number = 0;
    absl::string_view bytes;
    switch (tag & 7U) {
      case kVarint:
        return Varint(&number);
      case kLengthDelimited:
        return Bytes(&bytes);
      case kFixed64:
        return Advance(8);
      case kFixed32:
        return Advance(4);
      default:
        return false;
    }
  }

 private:
  bool Advance(ptrdiff_t bytes) {
    if (end_ - at_ < bytes) return false;
    at_ += bytes;
    return true;
  }

  const char* at_;
  const char* end_;
};

bool DecodeTask(absl::string_view bytes, SessionTaskView* task) {
  FieldReader reader(bytes);
  while (!reader.done()) {
    uint64_t tag = 0;
    uint64_t number = 0;
    if (!reader.Varint(&tag)) return false;
    if (tag == FieldTag(1, kVarint)) {
      if (!reader.Varint(&task->id)) return false;
    } else if (tag == FieldTag(2, kLengthDelimited)) {
      if (!reader.Bytes(&task->call)) return false;
    } else if (tag == FieldTag(3, kVarint)) {
      if (!reader.Varint(&number)) return false;
      task->timeout_us = static_cast<int64_t>(number);
    } else if (!reader.Skip(tag)) {
      return false;
    }
  }
  return true;
}

bool DecodeOpen(absl::string_view bytes, bool* ordered) {
  FieldReader reader(bytes);
  while (!reader.done()) {
    uint64_t tag = 0;
    uint64_t number = 0;
    if (!reader.Varint(&tag)) return false;
    if (tag != FieldTag(1, kVarint)) {
      if (!reader.Skip(tag)) return false;
      continue;
    }
    if (!reader.Varint(&number)) return false;
    *ordered = number != 0;
  }
  return true;
}

bool DecodeField(uint64_t tag, FieldReader* reader, SessionBatch* batch) {
  uint64_t number = 0;
  absl::string_view bytes;
  switch (tag) {
    case FieldTag(1, kLengthDelimited):
      batch->has_open = true;
      return reader->Bytes(&bytes) && DecodeOpen(bytes, &batch->ordered);
    case FieldTag(2, kLengthDelimited):
      return reader->Bytes(&bytes) && DecodeTask(bytes, &batch->tasks.emplace_back());
    case FieldTag(3, kVarint):
      if (!reader->Varint(&number)) return false;
      batch->cancel.push_back(number);
      return true;
    case FieldTag(3, kLengthDelimited): {
      if (!reader->Bytes(&bytes)) return false;
      FieldReader packed(bytes);
      while (!packed.done()) {
        if (!packed.Varint(&number)) return false;
        batch->cancel.push_back(number);
      }
      return true;
    }
    default:
      return reader->Skip(tag);
  }
}

uint8_t* Write(uint64_t value, uint8_t* at) {
  return CodedOutputStream::WriteVarint64ToArray(value, at);
}

}  // namespace

absl::Status DecodeSessionRequest(absl::string_view bytes, SessionBatch* batch) {
  FieldReader reader(bytes);
  while (!reader.done()) {
    uint64_t tag = 0;
    if (!reader.Varint(&tag) || !DecodeField(tag, &reader, batch)) {
      return absl::InvalidArgumentError("the message is not a valid SessionRequest");
    }
  }
  return absl::OkStatus();
}

std::string EncodeSessionResponse(int64_t credits, absl::Span<const uint64_t> done,
                                  absl::string_view results) {
  size_t done_bytes = 0;
  for (const uint64_t id : done) done_bytes += CodedOutputStream::VarintSize64(id);
  // The tags of both fields and their two varints.
  constexpr size_t kHeadBytesMax = 2 * (1 + kVarintBytesMax);
  std::string response(kHeadBytesMax + done_bytes + results.size(), '\0');
  auto* const begin = reinterpret_cast<uint8_t*>(response.data());
  uint8_t* at = begin;
  if (credits != 0) {
    at = Write(FieldTag(1, kVarint), at);
    at = Write(static_cast<uint64_t>(credits), at);
  }
  if (!done.empty()) {
    at = Write(FieldTag(2, kLengthDelimited), at);
    at = Write(done_bytes, at);
    for (const uint64_t id : done) at = Write(id, at);
  }
  response.replace(static_cast<size_t>(at - begin), std::string::npos, results.data(),
                   results.size());
  return response;
}

void AppendResult(absl::string_view result, std::string* results) {
  uint8_t head[1 + kVarintBytesMax];
  uint8_t* end = Write(result.size(), Write(FieldTag(3, kLengthDelimited), head));
  results->append(reinterpret_cast<const char*>(head), static_cast<size_t>(end - head));
  results->append(result.data(), result.size());
}

}  // namespace shoal::service

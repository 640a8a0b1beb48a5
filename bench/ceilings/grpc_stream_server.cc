#include "bench/ceilings/grpc_stream_server.h"

#include <algorithm>
#include <array>
#include <deque>
#include <mutex>
#include <utility>

#include "absl/status/status.h"
#include "base/hand_over.h"
#include "base/status.h"
#include "bench/ceilings/grpc_bytes.h"
#include "bench/ceilings/protocol.h"

namespace shoal::bench {
namespace {

constexpr std::array<std::byte, kAnswerBytes> kAnswer = {std::byte{'o'}, std::byte{'k'}};
constexpr std::array<std::byte, kChunkHeaderBytes> kChunkHeader = {};
// As many chunks as Shoal's credits let a client have under way.
constexpr size_t kReflectedMax = 8;
constexpr size_t kMessagesMax = 1024;

class PayloadStream final : public ByteStreamReactor {
 public:
  explicit PayloadStream(Slots* slots) : slots_(slots) {
    order_.Give();
    StartRead(&incoming_);
  }

  void OnReadDone(bool ok) override {
    const HandOver::Turn turn(&order_);
    const std::lock_guard<std::mutex> lock(mutex_);
    reading_ = false;
    if (finished_) return;
    const absl::Status status = ok ? TakeMessage() : absl::InvalidArgumentError("cut short");
    if (!status.ok()) return Fail(status);
    ReadOn();
    WriteOn();
  }

  void OnWriteDone(bool ok) override {
    const HandOver::Turn turn(&order_);
    const std::lock_guard<std::mutex> lock(mutex_);
    writing_ = false;
    if (finished_) return;
    if (!ok) return Fail(absl::CancelledError("the client went"));
    ReadOn();
    WriteOn();
  }

  void OnDone() override {
    order_.Take();
    delete this;
  }

 private:
  bool received_all() const { return started_ && received_ == header_.request_bytes; }

  absl::Status TakeMessage() {
    MessageReader reader(incoming_);
    if (!started_) {
      std::array<std::byte, kCallHeaderBytes> bytes;
      if (!reader.Read(absl::MakeSpan(bytes))) return absl::InvalidArgumentError("no header");
      SHOAL_ASSIGN_OR_RETURN(header_, DecodeHeader(bytes));
      if (header_.verb != Verb::kReflect) {
        SHOAL_ASSIGN_OR_RETURN(
            slot_, slots_->Get(header_.slot, std::max(header_.request_bytes, header_.reply_bytes)));
      }
      started_ = true;
    } else {
      std::array<std::byte, kChunkHeaderBytes> bytes;
      if (!reader.Read(absl::MakeSpan(bytes))) return absl::InvalidArgumentError("no header");
    }
    const int64_t count = reader.left();
    if (count > header_.request_bytes - received_) return absl::InvalidArgumentError("too long");
    if (header_.verb == Verb::kReflect) {
      reflected_.push_back(reader.Rest(kChunkHeader));
    } else {
      reader.Read(slot_.subspan(static_cast<size_t>(received_), static_cast<size_t>(count)));
    }
    received_ += count;
    return absl::OkStatus();
  }

  void ReadOn() {
    if (reading_ || finished_ || received_all() || reflected_.size() >= kReflectedMax) return;
    reading_ = true;
    StartRead(&incoming_);
  }

  // Takes the next message to send to `outgoing_`, and says whether it is the last.
  // False: there is nothing to send yet.
  bool NextMessage(bool* last) {
    if (header_.verb == Verb::kReflect) {
      if (reflected_.empty()) return false;
      outgoing_ = std::move(reflected_.front());
      reflected_.pop_front();
      *last = received_all() && reflected_.empty();
      return true;
    }
    const bool answer = header_.verb == Verb::kPut || header_.verb == Verb::kReset;
    if (answer) {
      *last = true;
      outgoing_ = MessageOf({}, {kAnswer});
      return received_all();
    }
    const int64_t landed = header_.verb == Verb::kGet ? header_.reply_bytes : received_;
    const int64_t count = std::min({landed, header_.reply_bytes, sent_ + kChunkBytes}) - sent_;
    *last = sent_ + count == header_.reply_bytes;
    // The last one also ends the call, which must not happen before all has come.
    if (*last ? !received_all() : count == 0) return false;
    const Bytes chunk = slot_.subspan(static_cast<size_t>(sent_), static_cast<size_t>(count));
    outgoing_ = MessageOf(kChunkHeader, {chunk});
    sent_ += count;
    return true;
  }

  void WriteOn() {
    bool last = false;
    if (writing_ || finished_ || !started_ || !NextMessage(&last)) return;
    writing_ = true;
    finished_ = last;
    const OverlookReads of_the_buffer;
    if (last) return StartWriteAndFinish(&outgoing_, grpc::WriteOptions(), grpc::Status::OK);
    StartWrite(&outgoing_);
  }

  void Fail(const absl::Status& status) {
    finished_ = true;
    Finish({static_cast<grpc::StatusCode>(status.code()), std::string(status.message())});
  }

  Slots* const slots_;
  // Reads and writes end on different threads.
  std::mutex mutex_;
  HandOver order_;
  grpc::ByteBuffer incoming_;
  grpc::ByteBuffer outgoing_;
  CallHeader header_;
  Bytes slot_;
  std::deque<grpc::ByteBuffer> reflected_;
  int64_t received_ = 0;
  int64_t sent_ = 0;
  bool started_ = false;
  bool reading_ = true;
  bool writing_ = false;
  bool finished_ = false;
};

class MessageStream final : public ByteStreamReactor {
 public:
  MessageStream() {
    order_.Give();
    StartRead(&incoming_);
  }

  void OnReadDone(bool ok) override {
    const HandOver::Turn turn(&order_);
    const std::lock_guard<std::mutex> lock(mutex_);
    reading_ = false;
    ended_ = !ok;
    if (ok) waiting_.push_back(std::move(incoming_));
    GoOn();
  }

  void OnWriteDone(bool ok) override {
    const HandOver::Turn turn(&order_);
    const std::lock_guard<std::mutex> lock(mutex_);
    writing_ = false;
    if (!ok) waiting_.clear();
    GoOn();
  }

  void OnDone() override {
    order_.Take();
    delete this;
  }

 private:
  void GoOn() {
    if (!writing_ && !waiting_.empty()) {
      writing_ = true;
      outgoing_ = std::move(waiting_.front());
      waiting_.pop_front();
      const OverlookReads of_the_buffer;
      StartWrite(&outgoing_);
    }
    if (!reading_ && !ended_ && waiting_.size() < kMessagesMax) {
      reading_ = true;
      incoming_.Clear();
      StartRead(&incoming_);
    }
    if (ended_ && !writing_ && !finished_) {
      finished_ = true;
      Finish(grpc::Status::OK);
    }
  }

  std::mutex mutex_;
  HandOver order_;
  grpc::ByteBuffer incoming_;
  grpc::ByteBuffer outgoing_;
  std::deque<grpc::ByteBuffer> waiting_;
  bool reading_ = true;
  bool writing_ = false;
  bool ended_ = false;
  bool finished_ = false;
};

}  // namespace

ByteStreamReactor* NewPayloadStream(Slots* slots) { return new PayloadStream(slots); }

ByteStreamReactor* NewMessageStream() { return new MessageStream(); }

}  // namespace shoal::bench

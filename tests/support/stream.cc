#include "tests/support/stream.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "tests/support/inbox.h"

namespace shoal::support {

transport::Message MakeMessage(std::string bytes, size_t piece_bytes) {
  auto owner = std::make_shared<const std::string>(std::move(bytes));
  const wire::ConstBytes all(reinterpret_cast<const std::byte*>(owner->data()), owner->size());
  wire::Pieces pieces;
  for (size_t at = 0; at < all.size(); at += piece_bytes) {
    pieces.push_back(all.subspan(at, std::min(piece_bytes, all.size() - at)));
    if (piece_bytes >= all.size()) break;
  }
  return transport::Message(std::move(pieces), std::move(owner));
}

std::string Flatten(const transport::Frame& frame) {
  std::string bytes;
  for (const auto& [head, payload] : frame.parts) {
    bytes.append(head);
    bytes.append(reinterpret_cast<const char*>(payload.bytes.data()), payload.bytes.size());
  }
  return bytes;
}

TestStream::TestStream(const transport::StreamHandlerFactory& factory,
                       std::optional<Duration> time_left)
    : time_left_(time_left) {
  handler_ = factory(this);
  handler_->OnStart();
}

TestStream::~TestStream() {
  if (!IsFinished()) Cancel();
  AwaitFinish().IgnoreError();
  if (TakeRead()) handler_->OnHalfClose();
  handler_->OnDone();
}

bool TestStream::IsCancelled() const {
  const std::lock_guard lock(mutex_);
  return cancelled_;
}

void TestStream::Finish(const absl::Status& status) {
  const std::lock_guard lock(mutex_);
  EXPECT_FALSE(finished_.has_value()) << "finished twice: " << status;
  EXPECT_FALSE(writing_.has_value()) << "finished while a write is outstanding";
  if (!finished_.has_value()) finished_ = status;
  changed_.notify_all();
}

void TestStream::Read() {
  const std::lock_guard lock(mutex_);
  EXPECT_FALSE(finished_.has_value()) << "read after the finish";
  EXPECT_FALSE(reading_) << "two reads at once";
  reading_ = true;
  changed_.notify_all();
}

void TestStream::Write(transport::Frame frame) {
  const std::lock_guard lock(mutex_);
  EXPECT_FALSE(finished_.has_value()) << "write after the finish";
  EXPECT_FALSE(writing_.has_value()) << "two writes at once";
  writing_ = std::move(frame);
  changed_.notify_all();
}

void TestStream::WriteAndFinish(transport::Frame frame) {
  {
    const std::lock_guard lock(mutex_);
    last_ = std::move(frame);
  }
  Finish(absl::OkStatus());
}

bool TestStream::TakeRead() {
  std::unique_lock lock(mutex_);
  WaitFor(lock, changed_, [this] { return reading_ || finished_.has_value(); });
  return std::exchange(reading_, false);
}

bool TestStream::Send(const std::string& bytes, size_t piece_bytes) {
  if (!TakeRead()) return false;
  handler_->OnMessage(MakeMessage(bytes, piece_bytes));
  return true;
}

bool TestStream::HalfClose() {
  if (!TakeRead()) return false;
  handler_->OnHalfClose();
  return true;
}

bool TestStream::IsReading() const {
  const std::lock_guard lock(mutex_);
  return reading_;
}

std::optional<std::string> TestStream::Receive(bool ok) {
  transport::Frame frame;
  {
    std::unique_lock lock(mutex_);
    WaitFor(lock, changed_, [this] { return writing_.has_value() || finished_.has_value(); });
    if (!writing_.has_value()) return Last();
    frame = *std::exchange(writing_, std::nullopt);
  }
  std::string bytes = Flatten(frame);
  frame = transport::Frame();  // As the transport: the owners go before the handler is told.
  handler_->OnWritten(ok);
  return bytes;
}

std::optional<std::string> TestStream::Last() {
  if (!last_.has_value()) return std::nullopt;
  return Flatten(*std::exchange(last_, std::nullopt));
}

void TestStream::AwaitWrite() {
  std::unique_lock lock(mutex_);
  WaitFor(lock, changed_, [this] { return writing_.has_value() || last_.has_value(); });
}

bool TestStream::IsWriting() const {
  const std::lock_guard lock(mutex_);
  return writing_.has_value();
}

void TestStream::Cancel() {
  {
    const std::lock_guard lock(mutex_);
    cancelled_ = true;
  }
  handler_->OnCancelled();
}

absl::Status TestStream::AwaitFinish() { return ReceiveAll(nullptr); }

absl::Status TestStream::ReceiveAll(std::vector<std::string>* messages) {
  while (!IsCancelled()) {
    std::optional<std::string> bytes = Receive();
    if (!bytes.has_value()) break;
    if (messages != nullptr) messages->push_back(*std::move(bytes));
  }
  while (BreakOff()) {
  }
  const std::lock_guard lock(mutex_);
  return *finished_;
}

bool TestStream::BreakOff() {
  bool read = false;
  bool write = false;
  {
    std::unique_lock lock(mutex_);
    WaitFor(lock, changed_,
            [this] { return reading_ || writing_.has_value() || finished_.has_value(); });
    if (finished_.has_value()) return false;
    read = std::exchange(reading_, false);
    write = std::exchange(writing_, std::nullopt).has_value();
  }
  if (read) handler_->OnHalfClose();
  if (write) handler_->OnWritten(false);
  return true;
}

bool TestStream::IsFinished() const {
  const std::lock_guard lock(mutex_);
  return finished_.has_value();
}

}  // namespace shoal::support

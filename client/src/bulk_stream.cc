#include "client/src/bulk_stream.h"

#include <grpcpp/generic/generic_stub.h>

#include <chrono>

#include "base/check.h"
#include "client/src/grpc_status.h"
#include "client/src/message_builder.h"

namespace shoal::internal {
namespace {

using RawStub = grpc::TemplatedGenericStub<grpc::ByteBuffer, grpc::ByteBuffer>;

// Tags of the three operations that may be under way.
void* const kRead = reinterpret_cast<void*>(1);
void* const kWrite = reinterpret_cast<void*>(2);
void* const kFinish = reinterpret_cast<void*>(3);

}  // namespace

grpc::Slice SliceGuard::Reference(absl::Span<const std::byte> bytes) {
  const std::lock_guard lock(mutex_);
  ++count_;
  return {const_cast<std::byte*>(bytes.data()), bytes.size(), Drop, this};
}

void SliceGuard::Drop(void* guard) {
  auto* self = static_cast<SliceGuard*>(guard);
  const std::lock_guard lock(self->mutex_);
  if (--self->count_ == 0) self->idle_.notify_all();
}

bool SliceGuard::WaitIdle(Duration patience) {
  std::unique_lock lock(mutex_);
  return idle_.wait_for(lock, patience, [this] { return count_ == 0; });
}

BulkStream::BulkStream(ChannelPool::Loan loan, const char* method, const CallEnv& env)
    : loan_(std::move(loan)), env_(env) {
  context_.emplace();
  env_.deadline.ApplyTo(&*context_);
  // The request's headers leave with the first message.
  context_->set_initial_metadata_corked(true);
  registration_.emplace(env_.cancellable ? env_.shutdown : nullptr, &*context_);
  queue_.emplace();
  stream_ = RawStub(loan_.channel()).PrepareCall(&*context_, method, &*queue_);
}

BulkStream::~BulkStream() {
  if (started_ && !finished_) {
    context_->TryCancel();
    Drain();
    Finish().IgnoreError();  // It was cancelled, by us.
  }
  received_.Clear();
  slices_.clear();
  stream_.reset();
  queue_->Shutdown();
  void* tag = nullptr;
  bool ok = false;
  while (queue_->Next(&tag, &ok)) {
  }
  registration_.reset();
  context_.reset();
  // A peer that does not read leaves our bytes in the connection's own buffer: close it.
  if (!guard_.WaitIdle(std::chrono::milliseconds(10))) {
    loan_.Discard();
    guard_.WaitIdle(std::chrono::hours(24));
  }
}

bool BulkStream::can_send() const { return !writing_ && !write_ended_ && !read_ended_; }

void BulkStream::Send(const grpc::ByteBuffer& message, bool last) {
  SHOAL_CHECK(can_send());
  if (!started_) {
    started_ = true;
    stream_->StartCall(nullptr);  // Corked: completes with the first write, without a tag.
  }
  writing_ = true;
  write_ended_ = last;
  if (last) {
    stream_->WriteLast(message, grpc::WriteOptions(), kWrite);
  } else {
    stream_->Write(message, kWrite);
  }
}

void BulkStream::CloseSend() {
  SHOAL_CHECK(started_ && can_send());
  writing_ = true;
  write_ended_ = true;
  stream_->WritesDone(kWrite);
}

BulkStream::Event BulkStream::Wait() {
  SHOAL_CHECK(started_ && !finished_);
  while (!read_ended_ || writing_) {
    if (!reading_ && !read_ended_) {
      reading_ = true;
      stream_->Read(&received_, kRead);
    }
    void* tag = nullptr;
    bool ok = false;
    SHOAL_CHECK(queue_->Next(&tag, &ok));
    if (tag == kWrite) {
      writing_ = false;
      if (ok) return Event::kSent;
      write_ended_ = true;  // The call is over; the reader will learn how.
      continue;
    }
    reading_ = false;
    if (ok) {
      TakeMessage();
      return Event::kMessage;
    }
    read_ended_ = true;
  }
  return Event::kEnded;
}

void BulkStream::TakeMessage() {
  slices_.clear();
  pieces_.clear();
  // Only more references to the slices: nothing is copied here.
  SHOAL_CHECK(received_.Dump(&slices_).ok());
  received_.Clear();
  for (const grpc::Slice& slice : slices_) {
    pieces_.push_back({reinterpret_cast<const std::byte*>(slice.begin()), slice.size()});
  }
}

void BulkStream::Drain() {
  while (reading_ || writing_) {
    void* tag = nullptr;
    bool ok = false;
    SHOAL_CHECK(queue_->Next(&tag, &ok));
    if (tag == kRead) reading_ = false;
    if (tag == kWrite) writing_ = false;
  }
}

absl::Status BulkStream::Finish() {
  SHOAL_CHECK(started_ && !finished_ && !reading_ && !writing_);
  finished_ = true;
  grpc::Status status;
  stream_->Finish(&status, kFinish);
  void* tag = nullptr;
  bool ok = false;
  SHOAL_CHECK(queue_->Next(&tag, &ok) && tag == kFinish);
  absl::Status converted = FromGrpc(status);
  // A broken connection would make the next user of the channel wait for gRPC's own backoff.
  if (converted.code() == absl::StatusCode::kUnavailable) loan_.Discard();
  return converted;
}

grpc::Slice BulkStream::PayloadSlice(absl::Span<const std::byte> bytes, const StorageRef& storage) {
  return storage != nullptr ? SharedSlice(bytes, storage) : guard_.Reference(bytes);
}

}  // namespace shoal::internal

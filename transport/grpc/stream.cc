#include "transport/grpc/stream.h"

#include <grpcpp/generic/generic_stub.h>

#include <chrono>

#include "base/check.h"

namespace shoal::transport {
namespace {

using RawStub = grpc::TemplatedGenericStub<grpc::ByteBuffer, grpc::ByteBuffer>;

// Tags of the three operations that may be under way.
void* const kRead = reinterpret_cast<void*>(1);
void* const kWrite = reinterpret_cast<void*>(2);
void* const kFinish = reinterpret_cast<void*>(3);

}  // namespace

GrpcStream::GrpcStream(Connection* connection, size_t method, const CallTerms& terms)
    : connection_(*connection) {
  context_.emplace(terms);
  // The request's headers leave with the first message.
  context_->get()->set_initial_metadata_corked(true);
  queue_.emplace();
  native_ = RawStub(connection_.native())
                .PrepareCall(context_->get(), connection_.Path(method), &*queue_);
}

GrpcStream::~GrpcStream() {
  if (started_ && !finished_) {
    Cancel();
    Drain();
    Finish().IgnoreError();  // It was cancelled, by us.
  }
  received_.Clear();
  slices_.clear();
  native_.reset();
  queue_->Shutdown();
  void* tag = nullptr;
  bool ok = false;
  while (queue_->Next(&tag, &ok)) {
  }
  context_.reset();
  // A peer that does not read leaves our bytes in the connection's own buffer: close it.
  if (!guard_.WaitIdle(std::chrono::milliseconds(10))) {
    connection_.Break();
    SHOAL_CHECK(guard_.WaitIdle(std::chrono::hours(24)));  // A closed connection holds nothing.
  }
}

void GrpcStream::Send(const Frame& frame, bool last) {
  SHOAL_CHECK(!writing_ && !write_ended_);
  if (!started_) {
    started_ = true;
    native_->StartCall(nullptr);  // Corked: completes with the first write, without a tag.
  }
  writing_ = true;
  if (last) {
    write_ended_ = true;
    native_->WriteLast(ToByteBuffer(frame, &guard_), grpc::WriteOptions(), kWrite);
  } else {
    native_->Write(ToByteBuffer(frame, &guard_), kWrite);
  }
}

void GrpcStream::CloseSend() {
  SHOAL_CHECK(started_ && !writing_ && !write_ended_);
  writing_ = true;
  write_ended_ = true;
  native_->WritesDone(kWrite);
}

Stream::Event GrpcStream::Wait() {
  SHOAL_CHECK(started_ && !finished_);
  if (!reading_ && !read_ended_) {
    reading_ = true;
    native_->Read(&received_, kRead);
  }
  for (;;) {
    if (read_ended_ && !end_told_ && !writing_) {
      end_told_ = true;
      return Event::kEnded;
    }
    void* tag = nullptr;
    bool ok = false;
    SHOAL_CHECK(queue_->Next(&tag, &ok));
    if (tag == kWrite) {
      if (!ok) write_ended_ = true;  // The call is over; the reader will learn how.
      writing_ = false;
      return Event::kSent;
    }
    reading_ = false;
    if (ok) {
      TakeMessage();
      return Event::kMessage;
    }
    read_ended_ = true;
  }
}

void GrpcStream::TakeMessage() {
  slices_.clear();
  pieces_.clear();
  // Only more references to the slices: nothing is copied here.
  SHOAL_CHECK(received_.Dump(&slices_).ok());
  received_.Clear();
  for (const grpc::Slice& slice : slices_) pieces_.push_back(BytesOf(slice));
}

void GrpcStream::Drain() {
  while (reading_ || writing_) {
    void* tag = nullptr;
    bool ok = false;
    SHOAL_CHECK(queue_->Next(&tag, &ok));
    if (tag == kRead) reading_ = false;
    if (tag == kWrite) writing_ = false;
  }
}

absl::Status GrpcStream::Finish() {
  SHOAL_CHECK(started_ && !finished_ && !reading_ && !writing_);
  finished_ = true;
  grpc::Status status;
  native_->Finish(&status, kFinish);
  void* tag = nullptr;
  bool ok = false;
  SHOAL_CHECK(queue_->Next(&tag, &ok) && tag == kFinish);
  absl::Status converted = FromGrpc(status);
  // A broken connection would make the next user of the channel wait for gRPC's own backoff.
  if (converted.code() == absl::StatusCode::kUnavailable) connection_.Break();
  return converted;
}

}  // namespace shoal::transport

#include "client/src/async_runner.h"

#include <grpcpp/client_context.h>
#include <grpcpp/generic/generic_stub.h>

#include <utility>

#include "client/src/grpc_status.h"

namespace shoal::internal {
namespace {

using RawStub = grpc::TemplatedGenericStub<grpc::ByteBuffer, grpc::ByteBuffer>;

}  // namespace

struct AsyncUnary::Pending {
  grpc::ClientContext context;
  std::unique_ptr<Shutdown::Registration> registration;
  grpc::ByteBuffer reply;
  grpc::Status status;
  std::unique_ptr<grpc::ClientAsyncResponseReader<grpc::ByteBuffer>> reader;
  Done done;
};

AsyncRunner::~AsyncRunner() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    changed_.notify_all();
  }
  // Nobody posts any more, so that the list of threads is settled.
  for (std::thread& thread : threads_) thread.join();
}

void AsyncRunner::Post(Job job) {
  const std::lock_guard lock(mutex_);
  jobs_.push_back(std::move(job));
  if (static_cast<int>(jobs_.size()) > idle_ && static_cast<int>(threads_.size()) < threads_max_) {
    threads_.emplace_back([this] { Loop(); });
  }
  changed_.notify_one();
}

void AsyncRunner::Loop() {
  std::unique_lock lock(mutex_);
  for (;;) {
    ++idle_;
    changed_.wait(lock, [this] { return stopping_ || !jobs_.empty(); });
    --idle_;
    if (jobs_.empty()) return;
    Job job = std::move(jobs_.front());
    jobs_.pop_front();
    lock.unlock();
    std::move(job)();
    lock.lock();
  }
}

AsyncUnary::AsyncUnary() = default;

AsyncUnary::~AsyncUnary() {
  queue_.Shutdown();
  if (thread_.joinable()) {
    thread_.join();
    return;
  }
  void* tag = nullptr;
  bool ok = false;
  while (queue_.Next(&tag, &ok)) {
  }
}

void AsyncUnary::Start(const std::shared_ptr<grpc::Channel>& channel, const Request& request,
                       const CallEnv& env, Done done) {
  std::call_once(started_, [this] { thread_ = std::thread([this] { Loop(); }); });
  auto owned = std::make_unique<Pending>();
  Pending* call = owned.get();
  env.deadline.ApplyTo(&call->context);
  call->registration = std::make_unique<Shutdown::Registration>(env.shutdown, &call->context);
  call->done = std::move(done);
  call->reader = RawStub(channel).PrepareUnaryCall(&call->context, MethodPath(request.method),
                                                   request.message, &queue_);
  // Once `Finish` has begun, the loop may take the call: nothing of it is touched afterwards.
  auto* reader = call->reader.get();
  {
    const std::lock_guard lock(mutex_);
    pending_.emplace(call, std::move(owned));
  }
  reader->StartCall();
  reader->Finish(&call->reply, &call->status, call);
}

void AsyncUnary::Loop() {
  void* tag = nullptr;
  bool ok = false;
  while (queue_.Next(&tag, &ok)) {
    std::unique_ptr<Pending> call;
    {
      const std::lock_guard lock(mutex_);
      const auto it = pending_.find(tag);
      call = std::move(it->second);
      pending_.erase(it);
    }
    call->registration.reset();
    if (call->status.ok()) {
      std::move(call->done)(std::move(call->reply));
    } else {
      std::move(call->done)(FromGrpc(call->status));
    }
  }
}

}  // namespace shoal::internal

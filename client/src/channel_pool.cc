#include "client/src/channel_pool.h"

#include "base/status.h"
#include "client/src/transports.h"

namespace shoal::internal {
namespace {

constexpr size_t kIdleMax = 8;  // Channels kept open for the next stream.

}  // namespace

ChannelPool::Loan::~Loan() {
  if (channel_ != nullptr && channel_->Reusable()) pool_->Return(std::move(channel_));
}

absl::StatusOr<ChannelPool::Loan> ChannelPool::Borrow() {
  {
    const std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      std::unique_ptr<transport::Channel> channel = std::move(idle_.back());
      idle_.pop_back();
      return Loan(shared_from_this(), std::move(channel));
    }
  }
  SHOAL_ASSIGN_OR_RETURN(std::unique_ptr<transport::Channel> channel, MakeChannel(options_));
  return Loan(shared_from_this(), std::move(channel));
}

void ChannelPool::Return(std::unique_ptr<transport::Channel> channel) {
  const std::lock_guard lock(mutex_);
  if (idle_.size() < kIdleMax) idle_.push_back(std::move(channel));
}

absl::StatusOr<BulkStream> BulkStream::Make(ChannelPool* channels, Method method,
                                            const CallEnv& env) {
  SHOAL_RETURN_IF_ERROR(env.deadline.Check());
  SHOAL_ASSIGN_OR_RETURN(ChannelPool::Loan loan, channels->Borrow());
  std::unique_ptr<transport::Stream> stream = loan->MakeStream(IndexOf(method), env.Terms());
  return BulkStream(std::move(loan), std::move(stream));
}

}  // namespace shoal::internal

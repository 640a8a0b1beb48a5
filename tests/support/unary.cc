#include "tests/support/unary.h"

#include <gtest/gtest.h>

#include <utility>

#include "base/check.h"
#include "tests/support/inbox.h"

namespace shoal::support {

bool TestUnary::IsCancelled() const {
  const std::lock_guard lock(mutex_);
  return cancelled_;
}

void TestUnary::Finish(const absl::Status& status) {
  EXPECT_FALSE(status.ok()) << "a finish without a reply";
  End(status.ok() ? absl::UnknownError("finished with OK") : status);
}

void TestUnary::Reply(transport::Frame frame) { End(Flatten(frame)); }

void TestUnary::End(absl::StatusOr<std::string> answer) {
  absl::AnyInvocable<void() &&> forgotten;  // As the transport: destroyed outside the lock.
  const std::lock_guard lock(mutex_);
  EXPECT_FALSE(answer_.has_value()) << "answered twice: " << answer.status();
  if (!answer_.has_value()) answer_ = std::move(answer);
  forgotten = std::exchange(cancel_action_, nullptr);
  changed_.notify_all();
}

void TestUnary::OnCancel(absl::AnyInvocable<void() &&> cancelled) {
  {
    const std::lock_guard lock(mutex_);
    if (answer_.has_value()) return;
    if (!cancelled_) {
      cancel_action_ = std::move(cancelled);
      return;
    }
  }
  std::move(cancelled)();
}

void TestUnary::Cancel() {
  absl::AnyInvocable<void() &&> action;
  {
    const std::lock_guard lock(mutex_);
    cancelled_ = true;
    action = std::exchange(cancel_action_, nullptr);
  }
  if (action) std::move(action)();
}

absl::StatusOr<std::string> TestUnary::Answer() {
  std::unique_lock lock(mutex_);
  WaitFor(lock, changed_, [this] { return answer_.has_value(); });
  return *answer_;
}

bool TestUnary::IsAnswered() const {
  const std::lock_guard lock(mutex_);
  return answer_.has_value();
}

const transport::Method& FindMethod(const transport::ServiceTable& table, const std::string& name) {
  for (const transport::Method& method : table.methods) {
    if (method.name == name) return method;
  }
  SHOAL_UNREACHABLE("no such method");
}

}  // namespace shoal::support

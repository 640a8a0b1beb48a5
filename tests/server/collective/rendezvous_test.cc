#include "server/collective/rendezvous.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>

namespace shoal::collective {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;

TEST(MemoryRendezvousTest, AValueIsFoundAndKept) {
  MemoryRendezvous store;
  ASSERT_TRUE(store.Set("group/1", "a").ok());
  EXPECT_EQ(store.Set("group/1", "b").code(), absl::StatusCode::kAlreadyExists);
  EXPECT_EQ(*store.Get("group/1", milliseconds(0)), "a");
  EXPECT_EQ(*store.Get("group/1", Duration::max()), "a");
}

TEST(MemoryRendezvousTest, AGetWaitsForTheSet) {
  MemoryRendezvous store;
  std::string seen;
  std::thread waiter([&] { seen = *store.Get("key", hours(1)); });
  ASSERT_TRUE(store.Set("other", "x").ok());
  ASSERT_TRUE(store.Set("key", std::string("\0binary", 7)).ok());
  waiter.join();
  EXPECT_EQ(seen, std::string("\0binary", 7));
}

TEST(MemoryRendezvousTest, WaitingEndsInTime) {
  MemoryRendezvous store;
  EXPECT_EQ(store.Get("key", milliseconds(5)).status().code(), absl::StatusCode::kDeadlineExceeded);
}

TEST(MemoryRendezvousTest, ClosingEndsEveryWait) {
  MemoryRendezvous store;
  absl::Status status;
  std::thread waiter([&] { status = store.Get("key", hours(1)).status(); });
  store.Close();
  waiter.join();
  EXPECT_EQ(status.code(), absl::StatusCode::kCancelled);
  EXPECT_EQ(store.Get("key", hours(1)).status().code(), absl::StatusCode::kCancelled);
}

TEST(MemoryRendezvousTest, ForgetsWhatBelongedToAGroup) {
  MemoryRendezvous store;
  ASSERT_TRUE(store.Set("1/a", "x").ok());
  ASSERT_TRUE(store.Set("10/a", "y").ok());
  store.Forget("1/");
  EXPECT_FALSE(store.Get("1/a", milliseconds(0)).ok());
  EXPECT_TRUE(store.Get("10/a", milliseconds(0)).ok());
}

TEST(MemoryRendezvousTest, ValuesAreBounded) {
  MemoryRendezvous store;
  EXPECT_TRUE(store.Set("a", std::string(65'536, 'x')).ok());
  EXPECT_EQ(store.Set("b", std::string(65'537, 'x')).code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace shoal::collective

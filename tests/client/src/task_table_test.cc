#include "client/src/task_table.h"

#include <gtest/gtest.h>

namespace shoal::internal {
namespace {

TEST(TaskTableTest, IdsCountUpAndEndOnce) {
  TaskTable table;
  int called = 0;
  for (uint64_t id = 1; id <= 200; ++id) {
    EXPECT_EQ(table.Add([&called](TaskResult) { ++called; }), id);
  }
  EXPECT_EQ(table.count(), 200);
  for (uint64_t id = 200; id >= 1; --id) {
    auto ended = table.Remove(id);
    ASSERT_TRUE(ended.has_value());
    std::move(ended->callback)(TaskResult());
    EXPECT_FALSE(table.Remove(id).has_value()) << "twice";
    EXPECT_FALSE(table.Contains(id));
  }
  EXPECT_EQ(called, 200);
  EXPECT_EQ(table.count(), 0);
}

TEST(TaskTableTest, UnknownIdsAreNoTasks) {
  TaskTable table;
  EXPECT_FALSE(table.Remove(0).has_value());
  EXPECT_FALSE(table.Remove(1).has_value());
  table.Add({});
  EXPECT_FALSE(table.Remove(0).has_value());
  EXPECT_FALSE(table.Remove(2).has_value());
  EXPECT_FALSE(table.Remove(UINT64_MAX).has_value());
  EXPECT_EQ(table.RemoveBulk(1), nullptr) << "it is not a bulk task";
}

TEST(TaskTableTest, BulkTasksHaveConsecutiveIdsOfTheirOwn) {
  TaskTable table;
  auto group = std::make_shared<BulkGroup>();
  const uint64_t single = table.Add({});
  const uint64_t first = table.AddBulk(group, 1000);
  EXPECT_GT(first, single);
  const uint64_t later = table.Add({});
  EXPECT_GE(later, first + 1000);
  for (uint64_t id = first; id < first + 1000; ++id) {
    EXPECT_EQ(table.RemoveBulk(id), group.get());
    EXPECT_EQ(table.RemoveBulk(id), nullptr) << "twice";
  }
  EXPECT_EQ(table.RemoveBulk(first + 1000), nullptr);
  EXPECT_EQ(table.Ids(), (std::vector<uint64_t>{single, later}));
}

TEST(TaskTableTest, AFloodGoesOnWhereItStopped) {
  TaskTable table;
  auto group = std::make_shared<BulkGroup>();
  const uint64_t first = table.AddBulk(group, 10);
  EXPECT_EQ(table.AddBulk(group, 300), first + 10);
  auto other = std::make_shared<BulkGroup>();
  const uint64_t others = table.AddBulk(other, 1);
  EXPECT_GE(others, first + 310);
  EXPECT_EQ(table.RemoveBulk(others), other.get());
  EXPECT_EQ(table.count(), 310);
}

TEST(TaskTableTest, AGroupIsLetGoWithItsLastTask) {
  TaskTable table;
  auto group = std::make_shared<BulkGroup>();
  const uint64_t first = table.AddBulk(group, 130);
  for (uint64_t id = first; id < first + 130; ++id) table.RemoveBulk(id);
  EXPECT_EQ(group.use_count(), 1);
  const uint64_t next = table.AddBulk(group, 1);
  EXPECT_GE(next, first + 130) << "ids are never reused";
}

TEST(TaskTableTest, ATaskThatStaysDoesNotHoldTheOthers) {
  TaskTable table;
  const uint64_t stays = table.Add({});
  for (int i = 0; i < 100'000; ++i) ASSERT_TRUE(table.Remove(table.Add({})).has_value());
  EXPECT_EQ(table.Ids(), std::vector<uint64_t>{stays});
  EXPECT_TRUE(table.Remove(stays).has_value());
}

}  // namespace
}  // namespace shoal::internal

#include "server/core/slab.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "server/core/list.h"

namespace shoal::core {
namespace {

using ::testing::ElementsAre;

struct Row {
  int value = 0;
  ListLink link;
};
using Rows = Slab<Row, 2>;

std::vector<uint32_t> Walk(const Rows& rows, const List<Rows>& list) {
  std::vector<uint32_t> found;
  for (uint32_t row = list.front(); row != kNone; row = rows[row].link.next) found.push_back(row);
  std::vector<uint32_t> back;
  for (uint32_t row = list.back(); row != kNone; row = rows[row].link.previous) back.push_back(row);
  EXPECT_EQ(std::vector<uint32_t>(back.rbegin(), back.rend()), found);
  EXPECT_EQ(list.size(), static_cast<int64_t>(found.size()));
  return found;
}

TEST(SlabTest, RowsStayPutWhileItGrows) {
  Rows rows;
  const uint32_t first = rows.Take();
  const Row* address = &rows[first];
  for (int i = 0; i < 100; ++i) rows.Take();
  EXPECT_EQ(&rows[first], address);
  EXPECT_EQ(rows.taken_count(), 101U);
  EXPECT_GE(rows.row_count(), 101U);
}

TEST(SlabTest, FreedRowIsTakenNextAndKeepsItsContent) {
  Rows rows;
  rows.Take();
  const uint32_t row = rows.Take();
  rows[row].value = 7;
  rows.Free(row);
  EXPECT_EQ(rows.Take(), row);
  EXPECT_EQ(rows[row].value, 7);
}

TEST(SlabTest, RetiredRowNeverComesBack) {
  Rows rows;
  const uint32_t row = rows.Take();
  rows.Retire();
  EXPECT_EQ(rows.taken_count(), 0U);
  for (int i = 0; i < 20; ++i) EXPECT_NE(rows.Take(), row);
}

TEST(HandleTest, PackedHandleUnpacks) {
  const Handle handle = Handle::Unpack(Handle{5, 9}.Packed());
  EXPECT_EQ(handle.index, 5U);
  EXPECT_EQ(handle.generation, 9U);
}

TEST(ListTest, InsertsAndRemovesAnywhere) {
  Rows rows;
  List<Rows> list;
  for (int i = 0; i < 4; ++i) rows.Take();
  list.PushBack(rows, 1);
  list.PushBack(rows, 3);
  list.InsertBefore(rows, 1, 0);
  list.InsertBefore(rows, 3, 2);
  EXPECT_THAT(Walk(rows, list), ElementsAre(0, 1, 2, 3));
  list.Remove(rows, 0);
  list.Remove(rows, 2);
  EXPECT_THAT(Walk(rows, list), ElementsAre(1, 3));
  list.Remove(rows, 3);
  list.Remove(rows, 1);
  EXPECT_TRUE(list.empty());
  list.PushBack(rows, 2);
  EXPECT_THAT(Walk(rows, list), ElementsAre(2));
}

}  // namespace
}  // namespace shoal::core

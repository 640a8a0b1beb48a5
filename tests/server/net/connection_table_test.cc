#include "server/net/connection_table.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>
#include <utility>

#include "server/net/descriptor.h"

namespace shoal::net {
namespace {

struct Pair {
  Descriptor near;
  Descriptor far;
};

Pair MakePair() {
  std::array<int, 2> ends{};
  EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()), 0);
  return {Descriptor(ends[0]), Descriptor(ends[1])};
}

TEST(ConnectionTableTest, ForgetsWhatWasClosed) {
  ConnectionTable table;
  const Pair kept = MakePair();
  Pair closed = MakePair();
  table.Add(kept.near.fd());
  table.Add(closed.near.fd());
  EXPECT_EQ(table.Sweep(), 2);
  closed.near.Close();
  EXPECT_EQ(table.count(), 2);
  EXPECT_EQ(table.Sweep(), 1);
  EXPECT_EQ(table.count(), 1);
}

TEST(ConnectionTableTest, TellsASocketFromItsNumber) {
  ConnectionTable table;
  Pair pair = MakePair();
  table.Add(pair.near.fd());
  const int number = pair.near.fd();
  const Pair other = MakePair();
  ASSERT_EQ(dup2(other.near.fd(), number), number);
  EXPECT_EQ(table.Sweep(), 0) << "another socket has the number now";

  table.Add(number);
  const Descriptor file(open("/dev/null", O_RDONLY | O_CLOEXEC));
  ASSERT_EQ(dup2(file.fd(), number), number);
  EXPECT_EQ(table.Sweep(), 0) << "a file has it";
}

TEST(ConnectionTableTest, EndInputIsTheEndOfTheFileForTheOwner) {
  ConnectionTable table;
  const Pair pair = MakePair();
  Pair closed = MakePair();
  table.Add(pair.near.fd());
  table.Add(closed.near.fd());
  closed.near.Close();
  EXPECT_EQ(table.EndInput(), 1);
  char byte = 0;
  EXPECT_EQ(recv(pair.near.fd(), &byte, 1, 0), 0);
  EXPECT_EQ(send(pair.near.fd(), "x", 1, 0), 1) << "answers still go out";
  EXPECT_EQ(recv(pair.far.fd(), &byte, 1, 0), 1);
}

}  // namespace
}  // namespace shoal::net

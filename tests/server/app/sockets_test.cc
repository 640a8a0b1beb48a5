#include "server/app/sockets.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <utility>

namespace shoal::app {
namespace {

bool Exists(const std::string& path) { return access(path.c_str(), F_OK) == 0; }

void Touch(const std::string& path) { close(open(path.c_str(), O_CREAT | O_WRONLY, 0600)); }

std::string FolderOf(const SocketDirectory& directory) {
  return directory.grpc_socket().substr(0, directory.grpc_socket().rfind('/'));
}

class SocketDirectoryTest : public ::testing::Test {
 protected:
  SocketDirectoryTest() {
    char made[] = "sockets-test-XXXXXX";
    EXPECT_NE(mkdtemp(made), nullptr);
    temporary_ = made;
  }
  ~SocketDirectoryTest() override {
    EXPECT_EQ(rmdir(temporary_.c_str()), 0) << "something is left";
  }

  std::string temporary_;
};

TEST_F(SocketDirectoryTest, AFreshOneIsPrivateAndGoesWithItsSockets) {
  std::string folder;
  {
    const auto directory = SocketDirectory::Make("", temporary_);
    ASSERT_TRUE(directory.ok()) << directory.status();
    folder = FolderOf(*directory);
    struct stat status {};
    ASSERT_EQ(stat(folder.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777, 0700U);
    Touch(directory->grpc_socket());
    Touch(directory->lease_socket());
    EXPECT_NE(FolderOf(*SocketDirectory::Make("", temporary_)), folder);
  }
  EXPECT_FALSE(Exists(folder));
}

TEST_F(SocketDirectoryTest, AGivenOneIsMadeAndTakenAwayOnlyIfItWasNotThere) {
  const std::string path = temporary_ + "/given";
  {
    const auto made = SocketDirectory::Make(path, "");
    ASSERT_TRUE(made.ok());
    EXPECT_TRUE(Exists(path));
  }
  EXPECT_FALSE(Exists(path));
  ASSERT_EQ(mkdir(path.c_str(), 0700), 0);
  Touch(path + "/grpc.sock");  // Left by a server that was killed.
  {
    const auto found = SocketDirectory::Make(path, "");
    ASSERT_TRUE(found.ok());
    EXPECT_FALSE(Exists(path + "/grpc.sock"));
    Touch(found->lease_socket());
  }
  EXPECT_FALSE(Exists(path + "/lease.sock"));
  EXPECT_EQ(rmdir(path.c_str()), 0);
}

TEST_F(SocketDirectoryTest, AnotherServersSocketsAreLeftAlone) {
  const std::string path = temporary_ + "/shared";
  {
    const auto first = SocketDirectory::Make(path, temporary_);
    ASSERT_TRUE(first.ok());
    const auto second = SocketDirectory::Make(path, temporary_);
    EXPECT_EQ(second.status().code(), absl::StatusCode::kUnavailable);
  }
  EXPECT_TRUE(SocketDirectory::Make(path, temporary_).ok());
}

TEST_F(SocketDirectoryTest, MovesWithoutLosingOrDoublingIt) {
  auto first = *SocketDirectory::Make("", temporary_);
  const std::string folder = FolderOf(first);
  SocketDirectory second(std::move(first));
  SocketDirectory third;
  third = std::move(second);
  EXPECT_EQ(FolderOf(third), folder);
  EXPECT_TRUE(Exists(folder));
  third = SocketDirectory();
  EXPECT_FALSE(Exists(folder));
}

TEST_F(SocketDirectoryTest, WhatCannotBeMadeIsUnavailable) {
  EXPECT_EQ(SocketDirectory::Make(temporary_ + "/no/such", "").status().code(),
            absl::StatusCode::kUnavailable);
  EXPECT_EQ(SocketDirectory::Make("", temporary_ + "/none").status().code(),
            absl::StatusCode::kUnavailable);
}

}  // namespace
}  // namespace shoal::app

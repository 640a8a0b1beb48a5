#include "client/cli/file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string_view>

namespace shoal::cli {
namespace {

using ::testing::HasSubstr;
namespace fs = std::filesystem;

std::span<const std::byte> Bytes(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

class FileTest : public ::testing::Test {
 protected:
  void SetUp() override { fs::create_directories(folder_); }
  void TearDown() override { fs::remove_all(folder_); }
  std::string Path(const std::string& name) const { return folder_ + "/" + name; }

  std::string Contents(const std::string& name) const {
    std::ifstream file(Path(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void Fill(const std::string& name, std::string_view text) const {
    std::ofstream(Path(name), std::ios::binary) << text;
  }
  ptrdiff_t FileCount() const {
    return std::distance(fs::directory_iterator(folder_), fs::directory_iterator());
  }

  const std::string folder_ = ::testing::TempDir() + "/file_test_" + std::to_string(getpid());
};

TEST_F(FileTest, AnOutputAppearsOnlyWhenItIsFinished) {
  {
    absl::StatusOr<OutputFile> file = OutputFile::Create(Path("out"));
    ASSERT_TRUE(file.ok()) << file.status();
    EXPECT_TRUE(file->Write(Bytes("half")).ok());
    EXPECT_FALSE(fs::exists(Path("out")));
    const OutputFile moved = *std::move(file);
  }
  EXPECT_EQ(FileCount(), 0) << "nothing is left behind";
  absl::StatusOr<OutputFile> file = OutputFile::Create(Path("out"));
  EXPECT_TRUE(file->Write(Bytes("whole")).ok());
  EXPECT_TRUE(file->Finish().ok());
  EXPECT_EQ(Contents("out"), "whole");
  EXPECT_EQ(FileCount(), 1);
}

TEST_F(FileTest, AFailedRunLeavesTheOldFileAndASuccessfulOneItsPermissions) {
  Fill("out", "old");
  chmod(Path("out").c_str(), 0640);
  {
    absl::StatusOr<OutputFile> file = OutputFile::Create(Path("out"));
    EXPECT_TRUE(file->Write(Bytes("new")).ok());
  }
  EXPECT_EQ(Contents("out"), "old");
  absl::StatusOr<OutputFile> file = OutputFile::Create(Path("out"));
  EXPECT_TRUE(file->Write(Bytes("new")).ok());
  EXPECT_TRUE(file->Finish().ok());
  EXPECT_EQ(Contents("out"), "new");
  struct stat info = {};
  ASSERT_EQ(stat(Path("out").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0640u);
}

TEST_F(FileTest, ASymbolicLinkStaysOne) {
  Fill("real", "old");
  fs::create_symlink("real", Path("link"));
  absl::StatusOr<OutputFile> file = OutputFile::Create(Path("link"));
  EXPECT_TRUE(file->Write(Bytes("new")).ok());
  EXPECT_TRUE(file->Finish().ok());
  EXPECT_TRUE(fs::is_symlink(Path("link")));
  EXPECT_EQ(Contents("real"), "new");
}

TEST_F(FileTest, DevicesAreWrittenDirectly) {
  absl::StatusOr<OutputFile> null = OutputFile::Create("/dev/null");
  ASSERT_TRUE(null.ok());
  EXPECT_TRUE(null->Write(Bytes("x")).ok());
  EXPECT_TRUE(null->Finish().ok());
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
  absl::StatusOr<OutputFile> full = OutputFile::Create("/dev/full");
  ASSERT_TRUE(full.ok());
  EXPECT_THAT(std::string(full->Write(Bytes("x")).message()), HasSubstr("No space left"));
}

TEST_F(FileTest, ErrorsNameThePath) {
  EXPECT_EQ(InputFile::Open(Path("none")).status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(InputFile::Open(folder_).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(OutputFile::Create(Path("none/out")).status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(InputFile::Open(Path("none")).status().message()),
              HasSubstr(Path("none") + ": No such file"));
}

TEST_F(FileTest, ReadingSaysHowMuchIsLeft) {
  Fill("in", "0123456789");
  absl::StatusOr<InputFile> file = InputFile::Open(Path("in"));
  ASSERT_TRUE(file.ok());
  EXPECT_EQ(file->RemainingBytes(), 10);
  std::array<std::byte, 4> some{};
  EXPECT_EQ(*file->Read(some), 4);
  EXPECT_EQ(file->RemainingBytes(), 6);
  std::array<std::byte, 64> more{};
  EXPECT_EQ(*file->Read(more), 6);
  EXPECT_EQ(*file->Read(more), 0);
  EXPECT_EQ(InputFile::Open("/dev/zero")->RemainingBytes(), std::nullopt);
}

}  // namespace
}  // namespace shoal::cli

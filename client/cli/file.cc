#include "client/cli/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status.h"

namespace shoal::cli {
namespace {

// Linux moves at most 2^31 - 4096 bytes a call.
constexpr size_t kCallMax = size_t{1} << 30;

absl::Status SystemError(int error, const std::string& path) {
  const std::string message = absl::StrCat(path, ": ", std::strerror(error));
  switch (error) {
    case ENOENT:
    case ENOTDIR:
      return absl::NotFoundError(message);
    case EACCES:
    case EPERM:
    case EROFS:
      return absl::PermissionDeniedError(message);
    case EISDIR:
      return absl::InvalidArgumentError(message);
    default:
      return absl::UnknownError(message);
  }
}

// The file that `path` leads to, so that replacing it keeps a symbolic link in place.
std::string Resolve(const std::string& path) {
  char* resolved = realpath(path.c_str(), nullptr);
  if (resolved == nullptr) return path;
  std::string result(resolved);
  std::free(resolved);
  return result;
}

}  // namespace

InputFile::InputFile(int fd, bool owned, std::string name)
    : fd_(fd), owned_(owned), name_(std::move(name)) {}

InputFile::InputFile(InputFile&& other) noexcept
    : fd_(other.fd_), owned_(std::exchange(other.owned_, false)), name_(std::move(other.name_)) {}

InputFile::~InputFile() {
  if (owned_) close(fd_);
}

absl::StatusOr<InputFile> InputFile::Open(const std::string& path) {
  if (path == "-") return InputFile(STDIN_FILENO, false, "standard input");
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return SystemError(errno, path);
  InputFile file(fd, true, path);
  struct stat info = {};
  if (fstat(fd, &info) != 0) return SystemError(errno, path);
  if (S_ISDIR(info.st_mode)) return SystemError(EISDIR, path);
  return file;
}

absl::StatusOr<int64_t> InputFile::Read(std::span<std::byte> out) {
  size_t done = 0;
  while (done < out.size()) {
    const ssize_t count = read(fd_, out.data() + done, std::min(out.size() - done, kCallMax));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return SystemError(errno, name_);
    if (count == 0) break;
    done += static_cast<size_t>(count);
  }
  return static_cast<int64_t>(done);
}

std::optional<int64_t> InputFile::RemainingBytes() const {
  struct stat info = {};
  if (fstat(fd_, &info) != 0 || !S_ISREG(info.st_mode)) return std::nullopt;
  const off_t position = lseek(fd_, 0, SEEK_CUR);
  if (position < 0) return std::nullopt;
  return std::max<int64_t>(0, info.st_size - position);
}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)),
      path_(std::move(other.path_)),
      temporary_(std::exchange(other.temporary_, std::string())),
      nameless_(other.nameless_) {}

OutputFile::~OutputFile() {
  if (fd_ > STDOUT_FILENO) close(fd_);
  if (!temporary_.empty() && !nameless_) unlink(temporary_.c_str());
}

absl::StatusOr<OutputFile> OutputFile::Create(const std::string& path) {
  if (path == "-") return OutputFile(STDOUT_FILENO, "standard output");
  struct stat info = {};
  const bool exists = stat(path.c_str(), &info) == 0;
  if (exists && !S_ISREG(info.st_mode)) {
    const int fd = open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (fd < 0) return SystemError(errno, path);
    return OutputFile(fd, path);
  }
  OutputFile file(-1, Resolve(path));
  if (exists && access(file.path_.c_str(), W_OK) != 0) return SystemError(errno, path);
  const std::string folder = file.path_.substr(0, file.path_.rfind('/') + 1);
  file.temporary_ = absl::StrCat(file.path_, ".", getpid(), ".part");
  file.nameless_ = true;
  file.fd_ = open(folder.empty() ? "." : folder.c_str(), O_WRONLY | O_TMPFILE | O_CLOEXEC, 0666);
  if (file.fd_ < 0) {
    file.fd_ = open(file.temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file.fd_ < 0) return SystemError(errno, path);
    file.nameless_ = false;
  }
  if (exists && fchmod(file.fd_, info.st_mode & 07777) != 0) return SystemError(errno, path);
  return file;
}

absl::Status OutputFile::Write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t count = write(fd_, bytes.data(), std::min(bytes.size(), kCallMax));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return SystemError(errno, path_);
    bytes = bytes.subspan(static_cast<size_t>(count));
  }
  return absl::OkStatus();
}

absl::Status OutputFile::Finish() {
  if (nameless_) {
    const std::string open_file = absl::StrCat("/proc/self/fd/", fd_);
    if (linkat(AT_FDCWD, open_file.c_str(), AT_FDCWD, temporary_.c_str(), AT_SYMLINK_FOLLOW) != 0) {
      return SystemError(errno, path_);
    }
    nameless_ = false;
  }
  if (fd_ > STDOUT_FILENO && close(std::exchange(fd_, -1)) != 0) return SystemError(errno, path_);
  if (temporary_.empty()) return absl::OkStatus();
  if (std::rename(temporary_.c_str(), path_.c_str()) != 0) return SystemError(errno, path_);
  temporary_.clear();
  return absl::OkStatus();
}

}  // namespace shoal::cli

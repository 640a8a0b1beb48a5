#include "bench/process/child.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/check.h"

namespace shoal::bench {
namespace {

// Exit status of a child whose exec failed, as shells have it.
constexpr int kNotFound = 127;

struct Pipe {
  int read = -1;
  int write = -1;
};

absl::StatusOr<Pipe> MakePipe() {
  std::array<int, 2> ends = {};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) {
    return absl::ResourceExhaustedError(absl::StrCat("pipe: ", strerror(errno)));
  }
  return Pipe{ends[0], ends[1]};
}

// Between fork and exec of a program with threads: only calls that are safe in signal handlers.
// Not _exit: there the thread sanitizer would miss, in the copy, the threads of the parent.
[[noreturn]] void End(int status) {
  for (;;) syscall(SYS_exit_group, status);
}

[[noreturn]] void BecomeChild(char* const* arguments, int input, int output, pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != parent) End(kNotFound);  // The parent went before the line above.
  dup2(input, STDIN_FILENO);
  dup2(output, STDOUT_FILENO);
  execvp(arguments[0], arguments);
  End(kNotFound);
}

// As write, but a pipe that nobody reads is an error and no signal.
ssize_t WriteQuietly(int descriptor, const char* bytes, size_t count) {
  sigset_t pipe_signal;
  sigemptyset(&pipe_signal);
  sigaddset(&pipe_signal, SIGPIPE);
  sigset_t before;
  pthread_sigmask(SIG_BLOCK, &pipe_signal, &before);
  const ssize_t written = write(descriptor, bytes, count);
  const int error = errno;
  if (written < 0 && error == EPIPE) {
    constexpr timespec kNow = {};
    sigtimedwait(&pipe_signal, nullptr, &kNow);  // Else it would come when it is let through again.
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  errno = error;
  return written;
}

std::string EndText(int wait_status) {
  if (WIFSIGNALED(wait_status)) return absl::StrCat("ended by signal ", WTERMSIG(wait_status));
  if (WEXITSTATUS(wait_status) == kNotFound) return "could not be started";
  return absl::StrCat("ended with status ", WEXITSTATUS(wait_status));
}

}  // namespace

absl::StatusOr<std::unique_ptr<Child>> Child::Start(const std::vector<std::string>& arguments) {
  SHOAL_CHECK(!arguments.empty());
  const absl::StatusOr<Pipe> input = MakePipe();
  if (!input.ok()) return input.status();
  const absl::StatusOr<Pipe> output = MakePipe();
  if (!output.ok()) return output.status();

  std::vector<char*> words;
  words.reserve(arguments.size() + 1);
  for (const std::string& argument : arguments)
    words.push_back(const_cast<char*>(argument.c_str()));
  words.push_back(nullptr);

  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid == 0) BecomeChild(words.data(), input->read, output->write, parent);
  close(input->read);
  close(output->write);
  if (pid < 0) {
    close(input->write);
    close(output->read);
    return absl::ResourceExhaustedError(absl::StrCat("fork: ", strerror(errno)));
  }
  return std::unique_ptr<Child>(new Child(pid, input->write, output->read));
}

Child::Child(pid_t pid, int input, int output)
    : pid_(pid), input_(input), output_(output), reader_([this] { ReadLines(); }) {}

Child::~Child() {
  Stop(std::chrono::seconds(5)).IgnoreError();
  reader_.join();
  close(output_);
}

void Child::ReadLines() {
  std::string pending;
  std::array<char, 4096> buffer;
  while (true) {
    const ssize_t count = read(output_, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    pending.append(buffer.data(), static_cast<size_t>(count));
    for (size_t end = 0; (end = pending.find('\n')) != std::string::npos;) {
      const std::lock_guard<std::mutex> lock(mutex_);
      lines_.push_back(pending.substr(0, end));
      pending.erase(0, end + 1);
    }
    changed_.notify_all();
  }
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!pending.empty()) lines_.push_back(pending);
  output_ended_ = true;
  changed_.notify_all();
}

absl::Status Child::SendLine(const std::string& line) {
  const std::string text = line + "\n";
  for (size_t sent = 0; sent < text.size();) {
    const ssize_t count = WriteQuietly(input_, text.data() + sent, text.size() - sent);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return absl::UnavailableError("the program reads no more");
    sent += static_cast<size_t>(count);
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> Child::AwaitLine(const std::string& prefix, Duration timeout) {
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  std::unique_lock<std::mutex> lock(mutex_);
  while (true) {
    while (!lines_.empty()) {
      const std::string line = lines_.front();
      lines_.pop_front();
      if (absl::StartsWith(line, prefix)) return line.substr(prefix.size());
    }
    if (output_ended_) {
      return absl::UnavailableError(
          absl::StrCat("the program ended before it printed '", prefix, "'"));
    }
    if (changed_.wait_until(lock, deadline) == std::cv_status::timeout && lines_.empty()) {
      return absl::DeadlineExceededError(absl::StrCat("no line '", prefix, "' came"));
    }
  }
}

absl::Status Child::Reap(Duration timeout) {
  if (ended_) return absl::OkStatus();
  // glibc 2.36 declares pidfd_open without C linkage, so C++ cannot link it.
  const auto descriptor = static_cast<int>(syscall(SYS_pidfd_open, pid_, 0));
  SHOAL_CHECK(descriptor >= 0);  // Nobody else reaps our child.
  pollfd waited = {descriptor, POLLIN, 0};
  const auto timeout_ms = std::chrono::duration_cast<std::chrono::milliseconds>(timeout).count();
  int ready = 0;
  do {
    ready = poll(&waited, 1, static_cast<int>(timeout_ms));
  } while (ready < 0 && errno == EINTR);
  close(descriptor);
  if (ready == 0) return absl::DeadlineExceededError("the program still runs");
  SHOAL_CHECK(waitpid(pid_, &wait_status_, 0) == pid_);
  ended_ = true;
  return absl::OkStatus();
}

absl::StatusOr<std::string> Child::AwaitEnd(Duration timeout) {
  if (const absl::Status status = Reap(timeout); !status.ok()) return status;
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait(lock, [this] { return output_ended_; });
  std::string text;
  for (const std::string& line : lines_) absl::StrAppend(&text, line, "\n");
  lines_.clear();
  const bool well = WIFEXITED(wait_status_) && WEXITSTATUS(wait_status_) == 0;
  if (!well) return absl::AbortedError(absl::StrCat("the program ", EndText(wait_status_)));
  return text;
}

absl::Status Child::Stop(Duration grace) {
  if (!ended_) kill(pid_, SIGTERM);
  const absl::Status in_time = Reap(grace);
  if (!in_time.ok()) {
    kill(pid_, SIGKILL);
    Reap(std::chrono::hours(1)).IgnoreError();
  }
  if (input_ >= 0) close(input_);
  input_ = -1;
  if (!in_time.ok()) return absl::DeadlineExceededError("the program had to be killed");
  const bool by_us = WIFSIGNALED(wait_status_) && WTERMSIG(wait_status_) == SIGTERM;
  if (by_us || (WIFEXITED(wait_status_) && WEXITSTATUS(wait_status_) == 0)) return absl::OkStatus();
  return absl::AbortedError(absl::StrCat("the program ", EndText(wait_status_)));
}

}  // namespace shoal::bench

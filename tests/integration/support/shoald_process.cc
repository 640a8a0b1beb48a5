#include "tests/integration/support/shoald_process.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

#include "absl/strings/match.h"
#include "absl/strings/str_split.h"

namespace shoal::testing {
namespace {

constexpr char kListening[] = "shoald: listening on ";

}  // namespace

std::unique_ptr<ShoaldProcess> ShoaldProcess::Start(const std::vector<std::string>& options) {
  std::vector<std::string> words = {SHOALD_PROGRAM, "--port=0",    "--http-port=-1",
                                    "--workers=2",  "--threads=1", "--memory-limit=1GiB"};
  words.insert(words.end(), options.begin(), options.end());
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);

  int pipe_ends[2];
  if (pipe2(pipe_ends, O_CLOEXEC) != 0) return nullptr;
  std::unique_ptr<ShoaldProcess> server(new ShoaldProcess);
  server->pid_ = fork();
  if (server->pid_ == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);  // Should the test die, so does its server.
    dup2(pipe_ends[1], STDOUT_FILENO);
    execv(arguments[0], arguments.data());
    _exit(127);
  }
  close(pipe_ends[1]);
  server->output_ = pipe_ends[0];
  if (server->ReadBanner()) return server;
  ADD_FAILURE() << "shoald did not come up";
  return nullptr;
}

ShoaldProcess::~ShoaldProcess() {
  Kill();
  close(output_);
}

bool ShoaldProcess::ReadBanner() {
  std::string text;
  char buffer[1024];
  while (!absl::StrContains(text, "shoald: ready\n")) {
    const ssize_t bytes = read(output_, buffer, sizeof(buffer));
    if (bytes <= 0) return false;
    text.append(buffer, static_cast<size_t>(bytes));
  }
  for (const std::string& line : std::vector<std::string>(absl::StrSplit(text, '\n'))) {
    if (absl::StartsWith(line, kListening)) address_ = line.substr(sizeof(kListening) - 1);
  }
  return !address_.empty();
}

int ShoaldProcess::port() const {
  return std::atoi(address_.substr(address_.rfind(':') + 1).c_str());
}

bool ShoaldProcess::Stop() {
  kill(pid_, SIGTERM);
  int status = -1;
  const bool ended = waitpid(pid_, &status, 0) == pid_;
  pid_ = -1;
  return ended && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

void ShoaldProcess::Kill() {
  if (pid_ <= 0) return;
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
  pid_ = -1;
}

}  // namespace shoal::testing

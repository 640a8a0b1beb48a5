#include "bench/tasks/peer_flooder.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "bench/process/child.h"
#include "bench/process/self.h"
#include "bench/tasks/peer_lines.h"

namespace shoal::bench {
namespace {

// It ends its processes when it is told to, and is killed only if it does not.
constexpr auto kGrace = std::chrono::seconds(5);
// Of a Python that only looks whether a package is there.
constexpr auto kCheckTimeout = std::chrono::minutes(1);

// A folder that goes with its owner, whatever was put into it.
class TemporaryFolder {
 public:
  static absl::StatusOr<std::unique_ptr<TemporaryFolder>> Make() {
    std::error_code error;
    std::string path = (std::filesystem::temp_directory_path(error) / "shoal-bench-XXXXXX");
    if (error || mkdtemp(path.data()) == nullptr) {
      return absl::UnavailableError(absl::StrCat("no folder for temporary files: ", path));
    }
    return std::unique_ptr<TemporaryFolder>(new TemporaryFolder(std::move(path)));
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  const std::string& path() const { return path_; }

 private:
  explicit TemporaryFolder(std::string path) : path_(std::move(path)) {}

  const std::string path_;
};

const char* PackageOf(const std::string& peer) {
  return peer == "dask" ? "distributed" : "ipyparallel";
}

// Whether the interpreter is there and has the package, without an error text of Python's.
absl::Status CheckPython(const PeerOptions& options) {
  const std::string package = PackageOf(options.name);
  SHOAL_ASSIGN_OR_RETURN(const auto child,
                         Child::Start({options.python, "-c",
                                       absl::StrCat("import sys, importlib.util\n"
                                                    "sys.exit(importlib.util.find_spec('",
                                                    package, "') is None)")}));
  if (child->AwaitEnd(kCheckTimeout).ok()) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("'", options.python, "' is no Python with the package ", package,
                   ": run scripts/bench-peers, or name another with --peer-python"));
}

absl::StatusOr<std::string> ScriptOf(const PeerOptions& options) {
  if (!options.script.empty()) return options.script;
  std::string path =
      PathBesideProgram(absl::StrCat("../share/shoal/bench/", options.name, "_tasks.py"));
  if (access(path.c_str(), R_OK) == 0) return path;
  return absl::NotFoundError(absl::StrCat("no ", path));
}

class PeerFlooder final : public Flooder {
 public:
  PeerFlooder(PeerOptions options, std::unique_ptr<TemporaryFolder> folder,
              std::unique_ptr<Child> child)
      : options_(std::move(options)), folder_(std::move(folder)), child_(std::move(child)) {}

  const std::string& Name() const override { return options_.name; }
  const std::string& Mode() const override { return about_.mode; }
  pid_t ServerPid() const override { return 0; }
  int64_t CountMax() const override { return options_.count_max; }
  bool IsPeer() const override { return true; }
  std::string About() const override { return about_.Text(); }

  // Waits until its cluster is up.
  absl::Status AwaitReady() {
    SHOAL_ASSIGN_OR_RETURN(const std::string line, AwaitLine("ready "));
    SHOAL_ASSIGN_OR_RETURN(about_, ParsePeerAbout(line));
    return absl::OkStatus();
  }

  absl::StatusOr<FloodResult> Flood(int64_t count) override {
    SHOAL_RETURN_IF_ERROR(child_->SendLine(absl::StrCat(count)));
    SHOAL_ASSIGN_OR_RETURN(const std::string line, AwaitLine("flood "));
    return ParsePeerFlood(line, count);
  }

 private:
  absl::StatusOr<std::string> AwaitLine(const std::string& prefix) {
    absl::StatusOr<std::string> line = child_->AwaitLine(prefix, options_.timeout);
    if (absl::IsDeadlineExceeded(line.status())) {
      child_->Stop(kGrace).IgnoreError();
      return absl::DeadlineExceededError(
          absl::StrCat("no answer within ",
                       std::chrono::duration_cast<std::chrono::seconds>(options_.timeout).count(),
                       " s; it was ended"));
    }
    return line;
  }

  const PeerOptions options_;
  const std::unique_ptr<TemporaryFolder> folder_;  // Goes after the program that writes there.
  const std::unique_ptr<Child> child_;
  PeerAbout about_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Flooder>> NewPeerFlooder(const PeerOptions& options) {
  SHOAL_ASSIGN_OR_RETURN(const std::string script, ScriptOf(options));
  SHOAL_RETURN_IF_ERROR(CheckPython(options));
  SHOAL_ASSIGN_OR_RETURN(auto folder, TemporaryFolder::Make());
  // Its own limit is for when nobody is there to end it, so ours comes first.
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(options.timeout).count();
  SHOAL_ASSIGN_OR_RETURN(
      auto child,
      Child::Start({options.python, "-B", script, "--workers", absl::StrCat(options.workers),
                    "--expect", absl::StrCat(options.count_max), "--timeout",
                    absl::StrCat(seconds + 5), "--temporary", folder->path()}));
  auto flooder = std::make_unique<PeerFlooder>(options, std::move(folder), std::move(child));
  SHOAL_RETURN_IF_ERROR(flooder->AwaitReady());
  return flooder;
}

}  // namespace shoal::bench

#include "bench/kernels/array_peer.h"

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/check.h"
#include "base/status.h"
#include "bench/process/self.h"

namespace shoal::bench {
namespace {

using nlohmann::json;

constexpr auto kCheckTimeout = std::chrono::minutes(1);

absl::StatusOr<std::string> ScriptOf(const ArrayPeerOptions& options) {
  if (!options.script.empty()) return options.script;
  std::string path = PathBesideProgram("../share/shoal/bench/array_kernels.py");
  if (access(path.c_str(), R_OK) == 0) return path;
  return absl::NotFoundError(absl::StrCat("no ", path));
}

// Whether the interpreter is there and has NumPy, without an error text of Python's.
absl::Status CheckPython(const std::string& python) {
  constexpr char kHasNumPy[] =
      "import sys, importlib.util\nsys.exit(importlib.util.find_spec('numpy') is None)";
  const auto child = Child::Start({python, "-c", kHasNumPy});
  if (child.ok() && (*child)->AwaitEnd(kCheckTimeout).ok()) return absl::OkStatus();
  return absl::NotFoundError(absl::StrCat("'", python, "' is no Python with NumPy"));
}

absl::Status NotAnAnswer(const std::string& line) {
  return absl::AbortedError(absl::StrCat("not an answer: '", line, "'"));
}

class PeerContender final : public Contender {
 public:
  PeerContender(ArrayPeer* peer, std::string subject) : peer_(peer), subject_(std::move(subject)) {}

  const std::string& Name() const override { return subject_; }
  absl::StatusOr<double> Burst(int64_t calls) override { return peer_->Burst(subject_, calls); }

 private:
  ArrayPeer* const peer_;
  const std::string subject_;
};

}  // namespace

std::vector<std::string> AllArrayPeers() { return {"numpy", "numpy_out", "numexpr", "torch"}; }

absl::StatusOr<std::unique_ptr<ArrayPeer>> ArrayPeer::Start(const ArrayPeerOptions& options,
                                                            SharedMemory* memory) {
  SHOAL_ASSIGN_OR_RETURN(const std::string script, ScriptOf(options));
  SHOAL_RETURN_IF_ERROR(CheckPython(options.python));
  const std::string threads = absl::StrCat(options.threads);
  // What counts threads does so when it is imported. -B: an installed tree stays as it is.
  std::vector<std::string> command = {"env"};
  for (const char* variable : {"OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS",
                               "NUMEXPR_NUM_THREADS", "NUMEXPR_MAX_THREADS"}) {
    command.push_back(absl::StrCat(variable, "=", threads));
  }
  command.insert(command.end(),
                 {options.python, "-B", script, "--file", memory->Path(), "--threads", threads,
                  "--subjects", absl::StrJoin(options.subjects, ",")});
  SHOAL_ASSIGN_OR_RETURN(auto child, Child::Start(command));
  std::unique_ptr<ArrayPeer> peer(new ArrayPeer(std::move(child), options.timeout, memory));
  SHOAL_RETURN_IF_ERROR(peer->AwaitReady());
  return peer;
}

absl::Status ArrayPeer::AwaitReady() {
  SHOAL_ASSIGN_OR_RETURN(const std::string line, child_->AwaitLine("ready ", timeout_));
  const json versions = json::parse(line, nullptr, false);
  if (!versions.is_object()) return NotAnAnswer(line);
  for (const auto& [name, version] : versions.items()) {
    if (version.is_string()) versions_[name] = version.get<std::string>();
  }
  return absl::OkStatus();
}

absl::StatusOr<json> ArrayPeer::Ask(const std::string& line) {
  SHOAL_RETURN_IF_ERROR(child_->SendLine(line));
  SHOAL_ASSIGN_OR_RETURN(const std::string answer, child_->AwaitLine("", timeout_));
  if (!absl::StartsWith(answer, "done ")) {
    return absl::AbortedError(absl::StrCat("asked for '", line, "', Python says: ", answer));
  }
  json object = json::parse(answer.substr(5), nullptr, false);
  if (!object.is_object()) return NotAnAnswer(answer);
  return object;
}

absl::Status ArrayPeer::Load(const std::string& name, const Elements& input) {
  const int64_t bytes = input.count * kernels::ItemBytes(input.dtype);
  SHOAL_CHECK(bytes <= memory_->bytes());
  std::memcpy(memory_->data(), input.data, static_cast<size_t>(bytes));
  return Ask(absl::StrCat("load ", name, " ", std::string(kernels::Name(input.dtype)), " ",
                          input.count))
      .status();
}

absl::StatusOr<std::vector<std::string>> ArrayPeer::Prepare(const std::string& which) {
  SHOAL_ASSIGN_OR_RETURN(const json answer, Ask(absl::StrCat("case ", which)));
  const auto it = answer.find("subjects");
  if (it == answer.end() || !it->is_array()) return NotAnAnswer(answer.dump());
  std::vector<std::string> subjects;
  const std::vector<std::string> known = AllArrayPeers();
  for (const json& subject : *it) {
    if (!subject.is_string()) return NotAnAnswer(answer.dump());
    subjects.push_back(subject.get<std::string>());
    const bool is_known = std::find(known.begin(), known.end(), subjects.back()) != known.end();
    if (!is_known) return NotAnAnswer(answer.dump());
  }
  return subjects;
}

absl::StatusOr<double> ArrayPeer::Burst(const std::string& subject, int64_t calls) {
  SHOAL_ASSIGN_OR_RETURN(const json answer, Ask(absl::StrCat("run ", subject, " ", calls)));
  const auto it = answer.find("seconds");
  const bool measured = it != answer.end() && it->is_number() && it->get<double>() > 0;
  if (!measured) return NotAnAnswer(answer.dump());
  return it->get<double>();
}

absl::StatusOr<Elements> ArrayPeer::Result(const std::string& subject) {
  SHOAL_ASSIGN_OR_RETURN(const json answer, Ask(absl::StrCat("result ", subject)));
  const auto dtype_at = answer.find("dtype");
  const auto count_at = answer.find("count");
  if (dtype_at == answer.end() || !dtype_at->is_string() || count_at == answer.end() ||
      !count_at->is_number_unsigned()) {
    return NotAnAnswer(answer.dump());
  }
  const auto dtype = kernels::DTypeByName(dtype_at->get<std::string>());
  const auto count = count_at->get<uint64_t>();
  // It wrote them into the memory: more than fit there cannot be.
  if (!dtype.has_value() || !IsJudged(*dtype) ||
      count > static_cast<uint64_t>(memory_->bytes() / kernels::ItemBytes(*dtype))) {
    return NotAnAnswer(answer.dump());
  }
  return Elements{*dtype, memory_->data(), static_cast<int64_t>(count)};
}

std::unique_ptr<Contender> NewPeerContender(ArrayPeer* peer, const std::string& subject) {
  return std::make_unique<PeerContender>(peer, subject);
}

}  // namespace shoal::bench

#pragma once

#include <optional>

#include "server/runtime/engine.h"
#include "tests/support/inbox.h"

namespace shoal::support {

/// Keeps one worker's lane busy, so that whatever comes after it waits in the queue.
class Gate final : public runtime::TaskBody {
 public:
  Gate(runtime::Engine* engine, WorkerId worker) : engine_(*engine) {
    scheduler::Submission task;
    task.tag = runtime::Dispatcher::Tag(this);
    task.piece = {.pinned = worker, .cost = Duration(1)};
    engine_.dispatcher->Submit({&task, 1}, nullptr);
    run_ = runs_.Take();
  }
  ~Gate() override {
    Open();
    retired_.Take();
  }

  /// Lets the others through: ends, the first time it is called, as `how`.
  void Open(core::AttemptOutcome how = core::AttemptOutcome::kOk) {
    if (!run_.has_value()) return;
    const runtime::PieceRun run = *run_;
    run_.reset();
    engine_.dispatcher->End(run, {.attempt = run.attempt, .outcome = how}, this);
  }

  std::optional<core::AttemptOutcome> Run(const runtime::PieceRun& run) override {
    runs_.Put(run);
    return std::nullopt;
  }
  void OnFinished(const scheduler::Finished&) override {}
  void Retire() override { retired_.Put(true); }

 private:
  runtime::Engine& engine_;
  Inbox<runtime::PieceRun> runs_;
  std::optional<runtime::PieceRun> run_;
  Inbox<bool> retired_;
};

/// Holds a worker's stream still: what is launched meanwhile counts as running, but does nothing.
class Halt {
 public:
  Halt(runtime::Engine* engine, WorkerId worker) {
    (*engine->workers)[worker].stream->Pause(
        [this](device::Resume resume) { resumes_.Put(std::move(resume)); });
    resume_ = resumes_.Take();
  }
  ~Halt() { Resume(); }

  /// Lets the stream go on. May be repeated.
  void Resume() {
    if (resume_) std::exchange(resume_, nullptr)();
  }

 private:
  Inbox<device::Resume> resumes_;
  device::Resume resume_;
};

}  // namespace shoal::support

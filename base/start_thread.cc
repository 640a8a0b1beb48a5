#include "base/start_thread.h"

#include <future>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

namespace shoal {

absl::StatusOr<std::thread> StartThread(absl::AnyInvocable<void() &&> main) {
  try {
    return std::thread([run = std::move(main)]() mutable { std::move(run)(); });
  } catch (const std::system_error& error) {
    return absl::ResourceExhaustedError(absl::StrCat("no thread: ", error.what()));
  }
}

absl::Status ProbeThreads(int count) {
  std::promise<void> all_there;
  const std::shared_future<void> over = all_there.get_future().share();
  std::vector<std::thread> threads;
  absl::Status status;
  while (status.ok() && static_cast<int>(threads.size()) < count) {
    auto thread = StartThread([over] { over.wait(); });
    status = thread.status();
    if (thread.ok()) threads.push_back(*std::move(thread));
  }
  all_there.set_value();
  for (std::thread& thread : threads) thread.join();
  return status;
}

}  // namespace shoal

#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "bench/shoal/server.h"
#include "bench/shoal/shoal_subject.h"
#include "bench/subject.h"
#include "bench/sweep/crew.h"

namespace shoal::bench {

struct FieldOptions {
  bool with_shoal = true;
  ServerOptions server;
  ShoalOptions shoal;
  std::vector<std::string> ceilings;
  int callers = 1;
};

/// Everything that is measured side by side, with servers of its own: Shoal first, then ceilings.
///
/// Servers start with the field and end with it, so that what an earlier measurement left in their
/// memory is not taken for this one's.
class Field {
 public:
  /// Errors: of the first server or connection that did not come up.
  static absl::StatusOr<std::unique_ptr<Field>> Create(const FieldOptions& options);

  std::vector<Crew*> Crews() const;

  /// Ends Shoal's server, if it was started, as its user would.
  ///
  /// Errors: ABORTED, DEADLINE_EXCEEDED  it did not end well.
  absl::Status Stop();

 private:
  Server server_;
  std::vector<std::unique_ptr<Subject>> subjects_;
  std::vector<std::unique_ptr<Crew>> crews_;
};

}  // namespace shoal::bench

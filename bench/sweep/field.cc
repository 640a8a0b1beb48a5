#include "bench/sweep/field.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "bench/ceilings/ceilings.h"

namespace shoal::bench {

absl::StatusOr<std::unique_ptr<Field>> Field::Create(const FieldOptions& options) {
  auto field = std::make_unique<Field>();
  if (options.with_shoal) {
    SHOAL_ASSIGN_OR_RETURN(field->server_, StartServer(options.server));
    field->subjects_.push_back(NewShoalSubject(&field->server_, options.shoal));
  }
  for (const std::string& name : options.ceilings) {
    SHOAL_ASSIGN_OR_RETURN(std::unique_ptr<Subject> ceiling, NewCeiling(name, options.shoal.plane));
    field->subjects_.push_back(std::move(ceiling));
  }
  for (const auto& subject : field->subjects_) {
    absl::StatusOr<std::unique_ptr<Crew>> crew = Crew::Create(subject.get(), options.callers);
    if (!crew.ok()) {
      return absl::Status(crew.status().code(),
                          absl::StrCat(subject->Name(), ": ", crew.status().message()));
    }
    field->crews_.push_back(*std::move(crew));
  }
  return field;
}

std::vector<Crew*> Field::Crews() const {
  std::vector<Crew*> crews;
  for (const auto& crew : crews_) crews.push_back(crew.get());
  return crews;
}

absl::Status Field::Stop() {
  crews_.clear();
  subjects_.clear();
  if (server_.child == nullptr) return absl::OkStatus();
  return server_.child->Stop(std::chrono::seconds(10));
}

}  // namespace shoal::bench

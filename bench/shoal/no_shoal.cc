#include "bench/shoal/shoal_subject.h"
namespace shoal::bench {
std::unique_ptr<Subject> NewShoalSubject(const Server*, ShoalOptions) { return nullptr; }
}  // namespace shoal::bench

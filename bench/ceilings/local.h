#pragma once

#include <memory>

#include "bench/subject.h"

namespace shoal::bench {

/// The ceiling "memcpy": one thread copies the payload to another place of this process, and
/// back where the operation returns it.
std::unique_ptr<Subject> NewMemcpySubject();

}  // namespace shoal::bench

// A target with a fault, to see the driver find it: dies on inputs that begin with "SH" and are
// longer than any seed.

#include <cstdint>
#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size > 8 && data[0] == 'S' && data[1] == 'H') std::abort();
  return 0;
}

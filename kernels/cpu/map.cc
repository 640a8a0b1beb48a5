#include "kernels/cpu/map.h"

#include "kernels/cpu/block_run.h"

namespace shoal::kernels::cpu {

void RunMap(const MapKernel& kernel, const MapArgs& args, MapRange range, Stores stores) {
  if (range.begin >= range.end) return;
  thread_local BlockScratch scratch;
  BlockRun(kernel, args, range, stores, scratch).Run();
}

}  // namespace shoal::kernels::cpu

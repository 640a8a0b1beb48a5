#include "server/service/services.h"

#include <utility>

#include "server/service/array_service.h"
#include "server/service/compute_service.h"
#include "server/service/unbuilt_services.h"

namespace shoal::service {

std::vector<transport::ServiceTable> AllServices(runtime::Engine* engine,
                                                 const ServerFacts* facts) {
  std::vector<transport::ServiceTable> services = UnbuiltServices();
  services.push_back(ArrayService(engine));
  services.push_back(ClusterService(engine, facts));
  services.push_back(ComputeService(engine));
  return services;
}

}  // namespace shoal::service

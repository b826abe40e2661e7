// What a broker, its leases and their threads share.
#pragma once

#include "fleet/nats/attempts.h"
#include "fleet/nats/lane_consumers.h"
#include "fleet/nats/lane_sweeper.h"
#include "fleet/nats/nats_broker.h"
#include "fleet/nats/nats_connection.h"
#include "fleet/nats/reporter.h"
#include "fleet/nats/result_store.h"
#include "fleet/nats/result_watch.h"
#include "fleet/nats/server_setup.h"

#include <memory>

namespace regraph::fleet {

struct NatsCore {
  explicit NatsCore(const NatsOptions& options)
      : reporter(options.report),
        setup(options.lease_seconds, options.result_days),
        consumers(setup),
        sweeper(setup),
        results(reporter) {}

  Reporter reporter;
  const ServerSetup setup;
  LaneConsumers consumers;
  LaneSweeper sweeper;
  ResultStore results;
  // After what its thread uses, so that it goes before.
  std::unique_ptr<NatsConnection> connection;
  std::unique_ptr<Attempts> attempts;
  ResultWatch watch;
};

}  // namespace regraph::fleet

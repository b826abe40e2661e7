// What it costs to hand a job to somebody else, and how many workers one server feeds.
//
//   bin/fleet_bench [--jobs 2000] [--bytes 8000] [--wait 1.0] [--seconds 10] [--workers 1,8,64,512]
//
// First: jobs of so many bytes, answered at once, through a broker in this process and through a
// NATS server that is started for it on this machine, one after the other and by eight at a time.
// Second: workers that only wait, `--wait` seconds a job, eight to a connection, asked for twice as
// many jobs as they are. Prints tables; needs nats-server.
#include "fleet/nats/nats_broker.h"
#include "fleet/nats_server.h"
#include "fleet/queue/memory_broker.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace regraph::fleet {
namespace {

using Clock = std::chrono::steady_clock;

struct Settings {
  int jobs = 2000;
  int bytes = 8000;
  double wait = 1.0;
  double seconds = 10.0;
  std::vector<int> workers = {1, 8, 64, 512};
};

constexpr const char* kLane = "bench";

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

double processor_seconds() {
  return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

// Threads that take jobs from a broker and answer them after a while, until destroyed.
class Workers {
 public:
  Workers(Broker& broker, int number, double wait) {
    for (int worker = 0; worker < number; ++worker) {
      threads_.emplace_back([&broker, this, wait] {
        const std::vector<std::string> lanes = {kLane};
        while (!leave_.requested()) {
          auto lease = broker.take(lanes, 0.5, leave_);
          if (!lease || *lease == nullptr) continue;
          if (wait > 0.0) std::this_thread::sleep_for(std::chrono::duration<double>(wait));
          (void)(*lease)->finish("done", leave_);
        }
      });
    }
  }
  ~Workers() {
    leave_.request();
    for (std::thread& thread : threads_)
      thread.join();
  }
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

 private:
  Cancellation leave_;
  std::vector<std::thread> threads_;
};

Job job_of(std::uint64_t number, int bytes) {
  Job job;
  job.lane = kLane;
  job.payload = std::to_string(number) + " ";
  // Not all alike: what travels is compressed.
  while (job.payload.size() < static_cast<std::size_t>(bytes))
    job.payload += std::to_string(hash_text(job.payload).low) + " ";
  job.id = hash_text(job.payload);
  return job;
}

struct Overhead {
  double median_milliseconds = 0.0;
  double high_milliseconds = 0.0;  // 95 of 100 are below
  double jobs_a_second = 0.0;      // by eight at a time
};

Overhead measure_overhead(Broker& asking, Broker& working, const Settings& settings,
                          std::uint64_t& number) {
  constexpr int kThreads = 8;
  const Workers workers(working, kThreads, 0.0);
  const Cancellation never;
  std::vector<double> times;
  for (int round = 0; round < settings.jobs / 4; ++round) {
    const Job job = job_of(number++, settings.bytes);
    const auto start = Clock::now();
    if (!asking.ask(job, never)) std::abort();
    times.push_back(1e3 * seconds_since(start));
  }
  std::ranges::sort(times);
  std::vector<Job> jobs;
  jobs.reserve(static_cast<std::size_t>(settings.jobs));
  for (int job = 0; job < settings.jobs; ++job)
    jobs.push_back(job_of(number++, settings.bytes));
  std::vector<std::thread> threads;
  threads.reserve(kThreads);
  std::atomic<std::size_t> next = 0;
  const auto start = Clock::now();
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&] {
      for (std::size_t mine = next++; mine < jobs.size(); mine = next++)
        if (!asking.ask(jobs[mine], never)) std::abort();
    });
  }
  for (std::thread& thread : threads)
    thread.join();
  return {times[times.size() / 2], times[times.size() * 95 / 100],
          settings.jobs / seconds_since(start)};
}

void measure_scale(const NatsServer& server, int count, const Settings& settings,
                   std::uint64_t& number) {
  constexpr int kPlaces = 8;
  NatsOptions options;
  options.server = server.address();
  std::vector<std::unique_ptr<Broker>> connections;
  std::vector<std::unique_ptr<Workers>> workers;
  for (int first = 0; first < count; first += kPlaces) {
    auto connection = connect_nats(options);
    if (!connection) std::abort();
    connections.push_back(*std::move(connection));
    workers.push_back(std::make_unique<Workers>(*connections.back(),
                                                std::min(kPlaces, count - first), settings.wait));
  }
  auto asking = connect_nats(options);
  if (!asking) std::abort();
  Cancellation enough;
  std::atomic<std::uint64_t> next = number;
  std::atomic<int> done = 0;
  std::vector<std::thread> threads;
  threads.reserve(2 * static_cast<std::size_t>(count));
  const double before = processor_seconds();
  for (int thread = 0; thread < 2 * count; ++thread) {
    threads.emplace_back([&] {
      while (!enough.requested())
        if ((*asking)->ask(job_of(next++, settings.bytes), enough)) ++done;
    });
  }
  // The first jobs are on their way.
  std::this_thread::sleep_for(std::chrono::duration<double>(2.0 * settings.wait));
  const int already = done.load();
  const auto start = Clock::now();
  std::this_thread::sleep_for(std::chrono::duration<double>(settings.seconds));
  const double rate = (done.load() - already) / seconds_since(start);
  const double busy = processor_seconds() - before;
  enough.request();
  for (std::thread& thread : threads)
    thread.join();
  workers.clear();
  number = next.load();
  std::puts(fmt::format("| {} | {:.1f} | {:.0f} % | {:.1f} |", count, rate,
                        100.0 * rate * settings.wait / count, busy)
                .c_str());
  std::fflush(stdout);
}

bool parse(int argc, char** argv, Settings& settings) {
  for (int at = 1; at + 1 < argc; at += 2) {
    const std::string_view name = argv[at];
    if (name == "--jobs") {
      settings.jobs = std::atoi(argv[at + 1]);
    } else if (name == "--bytes") {
      settings.bytes = std::atoi(argv[at + 1]);
    } else if (name == "--wait") {
      settings.wait = std::atof(argv[at + 1]);
    } else if (name == "--seconds") {
      settings.seconds = std::atof(argv[at + 1]);
    } else if (name == "--workers") {
      settings.workers.clear();
      std::istringstream numbers(argv[at + 1]);
      for (std::string one; std::getline(numbers, one, ',');)
        settings.workers.push_back(std::atoi(one.c_str()));
    } else {
      return false;
    }
  }
  return argc % 2 == 1 && settings.jobs >= 8;
}

int run(const Settings& settings) {
  if (!nats_is_built_in() || !NatsServer::program()) {
    std::fputs("nats-server and libnats-dev are needed: tools/setup --fleet\n", stderr);
    return 1;
  }
  std::uint64_t number = 0;
  MemoryBroker memory;
  const Overhead here = measure_overhead(memory, memory, settings, number);
  const NatsServer server;
  NatsOptions options;
  options.server = server.address();
  const auto asking = connect_nats(options);
  const auto working = connect_nats(options);
  if (!asking || !working) std::abort();
  const Overhead there = measure_overhead(**asking, **working, settings, number);
  std::puts("| a job | median ms | 95 % below ms | jobs/s, 8 at a time |\n|---|---|---|---|");
  for (const auto& [name, overhead] : {std::pair{"in process", here}, {"NATS, loopback", there}}) {
    std::puts(fmt::format("| {} | {:.3f} | {:.3f} | {:.0f} |", name, overhead.median_milliseconds,
                          overhead.high_milliseconds, overhead.jobs_a_second)
                  .c_str());
  }
  std::puts(fmt::format("ratio of medians {:.0f}, of jobs/s {:.3f}\n",
                        there.median_milliseconds / here.median_milliseconds,
                        there.jobs_a_second / here.jobs_a_second)
                .c_str());
  std::puts(
      "| workers that wait | jobs/s | of what they can | processor seconds, server aside "
      "|\n|---|---|---|---|");
  for (const int workers : settings.workers)
    measure_scale(server, workers, settings, number);
  return 0;
}

}  // namespace
}  // namespace regraph::fleet

int main(int argc, char** argv) {
  regraph::fleet::Settings settings;
  if (!regraph::fleet::parse(argc, argv, settings)) {
    std::fputs("fleet_bench [--jobs N] [--bytes N] [--wait S] [--seconds S] [--workers N,N,...]\n",
               stderr);
    return 2;
  }
  return regraph::fleet::run(settings);
}

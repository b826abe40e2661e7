#include "session/language_model.h"

#include "fleet/chat_job.h"
#include "fleet/fleet_chat.h"
#include "session/model_connection.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace regraph {

namespace {

// Workers may be away for hours: a search waits.
constexpr double kLongestFleetSeconds = 7.0 * 24 * 3600;

llm::PromptDevice prompt_device(const DeviceSpec& device) {
  llm::PromptDevice result;
  result.name = device.description;
  result.architecture = device.architecture;
  result.sm_count = device.sm_count;
  result.shared_bytes_per_block = device.shared_bytes_per_block;
  result.shared_bytes_per_sm = device.shared_bytes;
  result.registers_per_sm = device.registers;
  result.max_threads_per_sm = device.max_warps * 32;
  result.l2_bytes = device.l2_bytes;
  result.dram_bytes_per_second = device.dram_bytes_per_second;
  result.peak_fp32_flops = device.peak_fp32_flops();
  return result;
}

}  // namespace

class LanguageModelBuilder {
 public:
  LanguageModelBuilder(const LanguageModelOptions& options, const ExpanderPlace& place, bool ask)
      : options_(options), place_(place), ask_(ask), model_(new LanguageModel) {
    model_->options_ = options;
  }

  Result<std::unique_ptr<LanguageModel>, SessionError> build() {
    for (auto step : {&LanguageModelBuilder::read_files, &LanguageModelBuilder::find_answerer,
                      &LanguageModelBuilder::join}) {
      if (auto done = (this->*step)(); !done) return std::move(done).error();
    }
    return std::move(model_);
  }

 private:
  Result<void, SessionError> read_files() {
    const char* const shipped = place_.opened.triton ? "prompts-triton" : "prompts";
    const std::filesystem::path folder = options_.prompts.empty()
                                             ? place_.installation.shipped(shipped)
                                             : std::filesystem::path(options_.prompts);
    auto prompts = llm::PromptLibrary::load(folder);
    if (!prompts) return usage("--llm-prompts: " + prompts.error().message);
    model_->prompts_ = std::move(*prompts);
    const std::filesystem::path file = options_.prices.empty()
                                           ? place_.installation.shipped("prices.yaml")
                                           : std::filesystem::path(options_.prices);
    auto prices = llm::PriceTable::load(file);
    if (!prices) return usage("--llm-prices: " + prices.error().message);
    model_->price_ = prices->find(options_.model);
    if (options_.cost_budget > 0.0 && !model_->price_) {
      return usage(
          fmt::format("--llm-cost: the price of '{}' is not known; add it to a copy of {} "
                      "and name that with --llm-prices",
                      options_.model, file.string()));
    }
    return {};
  }

  Result<void, SessionError> find_answerer() {
    if (options_.model.empty()) {
      return usage("--expander " + options_.expander +
                   " needs the name of a model: --llm-model NAME or OPENAI_MODEL");
    }
    if (!options_.replay.empty()) {
      auto player = llm::CassettePlayer::open(options_.replay);
      if (!player) return usage("--llm-replay: " + player.error().message);
      model_->player_ = std::move(*player);
      model_->from_ = options_.replay;
      return {};
    }
    if (ask_) return connect();
    return {};
  }

  Result<void, SessionError> connect() {
    if (options_.asks_fleet()) {
      if (!place_.fleet) {
        return usage("--llm-server " + options_.server +
                     " needs the fleet whose workers ask the model: --fleet nats://HOST:PORT");
      }
      model_->server_ = std::make_unique<fleet::FleetChat>(
          *place_.fleet, options_.occasion.empty() ? fleet::new_occasion() : options_.occasion);
      model_->from_ = "workers of a fleet";
      return {};
    }
    auto connection = connect_language_model(options_, place_.seed);
    if (!connection) return std::move(connection).error();
    model_->from_ = (*connection)->url();
    model_->server_ = *std::move(connection);
    return {};
  }

  Result<void, SessionError> join() {
    llm::ChatModel* model = nullptr;
    if (model_->player_) {
      // What was refused for the budget then is refused now: it is in the recording.
      model_->budgeted_ = std::make_unique<llm::BudgetedModel>(*model_->player_, nullptr,
                                                               llm::ChatBudget{}, model_->price_);
      model = model_->budgeted_.get();
    } else if (model_->server_) {
      if (auto opened = open_store(); !opened) return opened;
      if (auto opened = open_spending_log(); !opened) return opened;
      model_->budgeted_ = std::make_unique<llm::BudgetedModel>(
          *model_->server_, model_->store_.get(),
          llm::ChatBudget{options_.token_budget, options_.cost_budget, options_.seconds_budget},
          model_->price_, model_->spending_.get());
      model = model_->budgeted_.get();
      if (!options_.record.empty()) {
        auto recorder = llm::CassetteRecorder::open(*model, options_.record);
        if (!recorder) return usage("--llm-record: " + recorder.error().message);
        model_->recorder_ = std::move(*recorder);
        model = model_->recorder_.get();
      }
    } else {
      model = &nobody();
    }
    model_->once_ = std::make_unique<llm::AskedOnce>(*model);
    return make_expander(*model_->once_);
  }

  Result<void, SessionError> open_spending_log() {
    if (options_.spending_file.empty()) return {};
    auto log = llm::SpendingLog::open(options_.spending_file);
    if (!log) return usage("what the language model took: " + log.error().message);
    model_->spending_ = std::move(*log);
    return {};
  }

  Result<void, SessionError> open_store() {
    const std::filesystem::path& directory = place_.installation.cache_directory;
    if (options_.no_store || directory.empty()) return {};
    auto store = llm::AnswerStore::open(directory / "language-model.db");
    if (!store) {
      return usage("the store of answers cannot be used: " + store.error().message +
                   "; remove the file, or go on without it: --llm-no-store");
    }
    model_->store_ = std::move(*store);
    return {};
  }

  Result<void, SessionError> make_expander(llm::ChatModel& answerer) {
    const DeviceSpec& device = place_.opened.device.device;
    model_->device_ = prompt_device(device);
    std::optional<TritonReading> triton;
    if (place_.opened.triton) {
      triton = TritonReading{*place_.opened.triton, place_.toolchain.triton->python,
                             place_.toolchain.triton_scripts / "cut_out.py"};
    }
    model_->reader_ =
        std::make_unique<CandidateReader>(*place_.toolchain.compiler, place_.toolchain.front_end,
                                          device.architecture, std::move(triton));
    model_->evaluator_ = std::make_unique<SharedEvaluator>(place_.evaluator, place_.jobs);
    const auto temperatures = read_temperatures(options_.temperature);
    if (!temperatures) return usage("--llm-temperature: " + temperatures.error().message);
    llm::LanguageModelConfig config;
    config.requests.model = options_.model;
    config.requests.temperatures = {temperatures->choosing, temperatures->writing,
                                    temperatures->repairing};
    config.requests.seed = place_.seed;
    config.requests.max_tokens = options_.max_tokens;
    config.requests.reasoning_effort = options_.reasoning_effort;
    config.requests.reasoning_tokens = options_.reasoning_tokens;
    config.requests.opinions = options_.opinions;
    config.requests.leaps = !options_.no_leaps;
    config.requests.combinations = !options_.no_combinations;
    config.choosing.ask = !options_.no_proposals;
    config.choosing.apply = options_.applies();
    config.choosing.judge = options_.judge;
    config.choosing.variants = options_.variants;
    if (options_.style == "together") {
      if (!model_->prompts_->has(llm::PromptKind::together))
        return usage("--llm-style together: the prompts hold none of the kind 'together'");
      config.choosing.style = llm::AskingStyle::together;
    }
    config.writing.repair_rounds = options_.repairs;
    config.writing.judge = options_.judge;
    config.writing.evaluation.seed = place_.seed;
    config.writing.evaluation.wall_seconds = place_.evaluation_seconds;
    config.request_seconds =
        options_.asks_fleet() ? kLongestFleetSeconds : options_.timeout_seconds;
    model_->expander_ = std::make_unique<llm::LanguageModelExpander>(
        llm::ExpanderParts{place_.opened.problem, place_.graph, *model_->prompts_, model_->device_,
                           *model_->reader_, answerer, *model_->evaluator_},
        config);
    return {};
  }

  // For a dry run, which asks nobody.
  class Nobody final : public llm::ChatModel {
   public:
    llm::ChatResult complete(const llm::ChatRequest&, const Cancellation&) override {
      return llm::ChatError{llm::ChatFailure::unreachable, "nobody is asked in a dry run", 0, {}};
    }
  };

  static Nobody& nobody() {
    static Nobody instance;
    return instance;
  }

  const LanguageModelOptions& options_;
  const ExpanderPlace& place_;
  const bool ask_;
  std::unique_ptr<LanguageModel> model_;
};

ModelUse LanguageModel::use() const {
  ModelUse use;
  use.expander = options_.expander;
  use.model = options_.model;
  use.from = from_;
  if (budgeted_) use.chat = budgeted_->statistics();
  if (once_) use.saved_requests = once_->saved();
  use.expansion = expander_->statistics();
  return use;
}

bool LanguageModel::never_answered() const {
  if (!budgeted_) return false;
  const llm::ChatStatistics chat = budgeted_->statistics();
  return chat.asked > 0 && chat.answered == 0;
}

std::string LanguageModel::complaint() const {
  if (recorder_) {
    if (const Status status = recorder_->status(); !status) return status.error().message;
  }
  if (!budgeted_) return "";
  const Status status = budgeted_->status();
  return status ? "" : status.error().message;
}

std::string LanguageModel::estimate(int evaluations, const llm::ChatRequest& apply,
                                    const llm::ChatRequest& propose) const {
  const auto most = [&](const llm::ChatRequest& request, int count) {
    llm::TokenUsage usage = llm::estimated_usage(request);
    usage.prompt_tokens *= count;
    usage.completion_tokens *= count;
    return usage;
  };
  llm::TokenUsage usage;
  if (options_.applies()) usage += most(apply, evaluations * (1 + options_.repairs));
  if (!options_.no_proposals) usage += most(propose, evaluations + 1);
  std::string text = fmt::format("{} evaluations: at most {} tokens in and {} tokens out",
                                 evaluations, usage.prompt_tokens, usage.completion_tokens);
  if (price_) return text + fmt::format(", ${:.2f}", price_->cost(usage));
  return text + fmt::format("; the price of '{}' is not known", options_.model);
}

Result<std::unique_ptr<LanguageModel>, SessionError> set_up_language_model(
    const LanguageModelOptions& options, const ExpanderPlace& place, bool ask) {
  return LanguageModelBuilder(options, place, ask).build();
}

}  // namespace regraph

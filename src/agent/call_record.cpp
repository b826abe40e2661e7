#include "agent/call_record.h"

#include "base/json_text.h"

#include <chrono>

namespace regraph::agent {

std::string call_text(const CallRecord& record, const std::string& session, double time) {
  nlohmann::ordered_json json;
  json["schema"] = "regraph-call/1";
  json["session"] = session;
  json["number"] = record.number;
  json["time"] = time;
  json["client"] = record.client;
  json["tool"] = record.tool;
  json["arguments"] = record.arguments;
  json["outcome"] = record.outcome;
  json["seconds"] = record.seconds;
  json["text"] = record.result.text;
  json["structured"] = record.result.structured;
  return json_line(json) + '\n';
}

Status CallRecorder::add(const CallRecord& record) {
  const std::chrono::duration<double> now = std::chrono::system_clock::now().time_since_epoch();
  const std::string line = call_text(record, session_, now.count());
  const std::lock_guard lock(mutex_);
  return workspace_.append(CallRecorder::kFileName, line);
}

}  // namespace regraph::agent

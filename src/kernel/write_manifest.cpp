#include "kernel/manifest.h"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

namespace regraph {

namespace {

const char* direction_text(Direction direction) {
  return direction == Direction::in ? "in" : direction == Direction::out ? "out" : "inout";
}

void emit_text(YAML::Emitter& out, const std::string& text) {
  const bool plain = text.find_first_of(",:{}[]()#&*!|>'\"%@` ") == std::string::npos;
  if (!plain) out << YAML::DoubleQuoted;
  out << text;
}

void emit_symbols(YAML::Emitter& out, const Symbols& symbols) {
  out << YAML::Flow << YAML::BeginMap;
  for (const auto& [name, value] : symbols)
    out << YAML::Key << name << YAML::Value << value;
  out << YAML::EndMap;
}

void emit_size_list(YAML::Emitter& out, const char* key, const std::vector<Symbols>& list) {
  if (list.empty()) return;
  out << YAML::Key << key << YAML::Value << YAML::BeginSeq;
  for (const Symbols& symbols : list)
    emit_symbols(out, symbols);
  out << YAML::EndSeq;
}

void emit_shape(YAML::Emitter& out, const Argument& argument) {
  out << YAML::Key << "shape" << YAML::Value << YAML::Flow << YAML::BeginSeq;
  for (const IntegerExpression& extent : argument.shape)
    emit_text(out, extent.text());
  out << YAML::EndSeq;
}

void emit_scratch(YAML::Emitter& out, const Problem& problem) {
  bool begun = false;
  for (const Argument& argument : problem.arguments) {
    if (!argument.is_scratch) continue;
    if (!begun) out << YAML::Key << "scratch" << YAML::Value << YAML::BeginMap;
    begun = true;
    std::string type(cuda_name(argument.type));
    if (argument.components > 1) type.clear();  // as the kernels' parameters say
    out << YAML::Key << argument.name << YAML::Value << YAML::Flow << YAML::BeginMap;
    if (!type.empty()) {
      out << YAML::Key << "type" << YAML::Value;
      emit_text(out, type);
    }
    emit_shape(out, argument);
    out << YAML::EndMap;
  }
  if (begun) out << YAML::EndMap;
}

bool is_written(const Argument& argument) {
  return !argument.is_scratch &&
         (argument.is_pointer || argument.value || !argument.record.empty());
}

std::string digits_of(const std::vector<std::byte>& bytes) {
  std::string digits;
  for (const std::byte byte : bytes)
    digits += fmt::format("{:02x}", std::to_integer<unsigned>(byte));
  return digits;
}

void emit_captured(YAML::Emitter& out, const Problem& problem) {
  if (!problem.is_captured) return;
  out << YAML::Key << "captured" << YAML::Value;
  if (problem.captured.empty()) out << YAML::Flow;
  out << YAML::BeginSeq;
  for (const CapturedCase& one : problem.captured) {
    out << YAML::BeginMap << YAML::Key << "sizes" << YAML::Value;
    emit_symbols(out, one.symbols);
    out << YAML::Key << "data" << YAML::Value << YAML::BeginMap;
    for (const auto& [name, content] : one.contents) {
      out << YAML::Key;
      emit_text(out, name);
      out << YAML::Value << YAML::Flow << YAML::BeginSeq << YAML::DoubleQuoted << content.file
          << content.offset << YAML::EndSeq;
    }
    out << YAML::EndMap << YAML::EndMap;
  }
  out << YAML::EndSeq;
}

void emit_init(YAML::Emitter& out, const BufferInit& init) {
  if (init.kind != BufferInit::Kind::file) return emit_text(out, init.text());
  out << YAML::Flow << YAML::BeginMap << YAML::Key << "file" << YAML::Value << YAML::DoubleQuoted
      << init.content.file;
  if (!init.hash.empty())
    out << YAML::Key << "hash" << YAML::Value << YAML::DoubleQuoted << init.hash;
  out << YAML::EndMap;
}

void emit_arguments(YAML::Emitter& out, const Problem& problem) {
  bool any = false;
  for (const Argument& argument : problem.arguments)
    any |= is_written(argument);
  if (!any) return;
  out << YAML::Key << "args" << YAML::Value << YAML::BeginMap;
  for (const Argument& argument : problem.arguments) {
    if (!is_written(argument)) continue;
    out << YAML::Key;
    emit_text(out, argument.name);
    out << YAML::Value;
    if (!argument.record.empty()) {
      out << YAML::Flow << YAML::BeginMap << YAML::Key << "bytes" << YAML::Value
          << YAML::DoubleQuoted << digits_of(argument.record) << YAML::EndMap;
      continue;
    }
    if (!argument.is_pointer) {
      emit_text(out, argument.value->text());
      continue;
    }
    out << YAML::Flow << YAML::BeginMap;
    if (argument.is_null) {
      out << YAML::Key << "is_null" << YAML::Value << true << YAML::EndMap;
      continue;
    }
    out << YAML::Key << "dir" << YAML::Value << direction_text(argument.direction);
    emit_shape(out, argument);
    // Reading it back must not make a guess a promise.
    if (argument.init_is_given || is_floating(argument.type)) {
      out << YAML::Key << "init" << YAML::Value;
      emit_init(out, argument.init);
    }
    if (!argument.overlaps.empty()) {
      out << YAML::Key << "overlap" << YAML::Value << YAML::Flow << YAML::BeginSeq;
      emit_text(out, argument.overlaps);
      emit_text(out, argument.overlap_bytes.text());
      out << YAML::EndSeq;
    }
    out << YAML::EndMap;
  }
  out << YAML::EndMap;
}

void emit_launch(YAML::Emitter& out, const Launch& launch, bool with_kernel) {
  out << YAML::Flow << YAML::BeginMap;
  if (with_kernel) {
    out << YAML::Key << "kernel" << YAML::Value;
    emit_text(out, launch.kernel);
  }
  out << YAML::Key << "block" << YAML::Value << YAML::Flow << YAML::BeginSeq;
  for (std::size_t axis = 0; axis < launch.grid.size(); ++axis)
    emit_text(out, launch.block_extent(axis).text());
  out << YAML::EndSeq;
  out << YAML::Key << "grid" << YAML::Value << YAML::Flow << YAML::BeginSeq;
  for (const IntegerExpression& extent : launch.grid)
    emit_text(out, extent.text());
  out << YAML::EndSeq << YAML::Key << "smem" << YAML::Value;
  emit_text(out, launch.dynamic_shared_bytes.text());
  if (with_kernel && !launch.arguments.empty()) {
    out << YAML::Key << "args" << YAML::Value << YAML::Flow << YAML::BeginSeq;
    for (const std::string& argument : launch.arguments)
      emit_text(out, argument);
    out << YAML::EndSeq;
  }
  out << YAML::EndMap;
}

void emit_policies(YAML::Emitter& out, const Problem& problem) {
  out << YAML::Key << "reference" << YAML::Value << "self";
  out << YAML::Key << "check" << YAML::Value << YAML::Flow << YAML::BeginMap;
  out << YAML::Key << "tolerance" << YAML::Value
      << (problem.check.relative_tolerance ? number_text(*problem.check.relative_tolerance)
                                           : "auto");
  out << YAML::Key << "seeds" << YAML::Value << problem.check.seeds;
  if (!problem.check.benign_races.empty()) {
    out << YAML::Key << "benign_races" << YAML::Value << YAML::Flow << YAML::BeginSeq;
    for (const std::string& argument : problem.check.benign_races)
      emit_text(out, argument);
    out << YAML::EndSeq;
  }
  out << YAML::EndMap;

  const Assumptions& assume = problem.assume;
  out << YAML::Key << "assume" << YAML::Value << YAML::Flow << YAML::BeginMap;
  out << YAML::Key << "noalias" << YAML::Value << assume.noalias;
  out << YAML::Key << "align" << YAML::Value << assume.align;
  out << YAML::Key << "reassociate" << YAML::Value << assume.reassociate;
  out << YAML::Key << "fast_math" << YAML::Value << assume.fast_math;
  out << YAML::Key << "precision" << YAML::Value << name_of(assume.precision);
  if (assume.finite) out << YAML::Key << "finite" << YAML::Value << true;
  if (!assume.fixed.empty()) {
    out << YAML::Key << "fixed" << YAML::Value << YAML::Flow << YAML::BeginSeq;
    for (const std::string& name : assume.fixed)
      emit_text(out, name);
    out << YAML::EndSeq;
  }
  out << YAML::EndMap;

  if (!problem.flops && !problem.bytes) return;
  out << YAML::Key << "counters" << YAML::Value << YAML::Flow << YAML::BeginMap;
  if (problem.flops) {
    out << YAML::Key << "flops" << YAML::Value;
    emit_text(out, problem.flops->text());
  }
  if (problem.bytes) {
    out << YAML::Key << "bytes" << YAML::Value;
    emit_text(out, problem.bytes->text());
  }
  out << YAML::EndMap;
}

}  // namespace

std::string write_manifest(const Problem& problem, const LaunchPlan& plan) {
  YAML::Emitter out;
  out << YAML::BeginMap;
  out << YAML::Key << "kernel" << YAML::Value;
  emit_text(out, problem.signature.name);
  if (!problem.sizes.empty()) {
    out << YAML::Key << "sizes" << YAML::Value;
    emit_symbols(out, problem.sizes);
  }
  emit_arguments(out, problem);
  emit_scratch(out, problem);
  if (plan.launches.size() == 1 && plan.launches.front().arguments.empty()) {
    out << YAML::Key << "launch" << YAML::Value;
    emit_launch(out, plan.launches.front(), false);
  } else {
    out << YAML::Key << "launches" << YAML::Value << YAML::BeginSeq;
    for (const Launch& launch : plan.launches)
      emit_launch(out, launch, true);
    out << YAML::EndSeq;
  }
  emit_size_list(out, "tests", problem.tests);
  emit_size_list(out, "bench", problem.bench);
  emit_captured(out, problem);
  emit_policies(out, problem);
  out << YAML::EndMap;
  return std::string(out.c_str()) + "\n";
}

}  // namespace regraph

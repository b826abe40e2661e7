// The programs' entries. Each is a program of its own in the build; installed they are one file,
// bin/regraph, under many names, so that what they share is carried once (regraph.cpp).
#pragma once

namespace regraph::cli {

// As main(): `argv` ends with a null pointer; returns the exit code.
[[nodiscard]] int search_main(int argc, char** argv);
[[nodiscard]] int score_main(int argc, char** argv);
[[nodiscard]] int run_main(int argc, char** argv);
[[nodiscard]] int train_main(int argc, char** argv);
[[nodiscard]] int dataset_main(int argc, char** argv);
[[nodiscard]] int calibrate_main(int argc, char** argv);
[[nodiscard]] int capture_main(int argc, char** argv);
[[nodiscard]] int reward_server_main(int argc, char** argv);
[[nodiscard]] int score_worker_main(int argc, char** argv);
[[nodiscard]] int worker_main(int argc, char** argv);
[[nodiscard]] int judge_main(int argc, char** argv);
[[nodiscard]] int mcp_main(int argc, char** argv);

}  // namespace regraph::cli

regraph_bench(eval DEPENDS regraph_eval_verify)
target_compile_definitions(eval_bench
  PRIVATE REGRAPH_COMPILE_WORKER="$<TARGET_FILE:regraph-compile-worker>")

add_executable(gpu_noise gpu_noise.cpp)
target_link_libraries(gpu_noise PRIVATE regraph_eval_gpu)
regraph_flags(gpu_noise)
add_dependencies(gpu_noise regraph-eval regraph-compile-worker)

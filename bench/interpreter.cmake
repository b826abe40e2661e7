regraph_bench(interpreter DEPENDS regraph_ptx)

regraph_bench(search DEPENDS regraph_search)

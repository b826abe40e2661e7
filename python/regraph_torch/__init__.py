"""Problems in KernelBench's form: loaded in limited processes, lowered to naive CUDA kernels, checked, searched, tabled."""

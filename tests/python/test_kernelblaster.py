"""What a launch is called with, as bench/kernelblaster reads it off host code."""
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "bench/kernelblaster"))

import launches  # noqa: E402  (the path)

SOURCE = """
template <bool RELU>
__global__ void product(const half* a, half* c, int M, int N, float slope) { if (M) {} }
__global__ void clear(half* c, int64_t n) {}
static void both(half* a, half* c, int rows, int columns) {
    const int total = rows * columns;  // int total = 7;
    clear<<<(total + 255) / 256, 256>>>(c, total);
    if (columns >= 8 && rows != 3) {
        product<true><<<dim3(1, 1), 256>>>(a, c, rows, columns / 2, 0.5f);
    } else product<false><<<1, 256>>>(a, c, columns, rows, 0.25f);
}
void launch_gpu_implementation(void* out, void* in, int64_t batch, int width) {
    int half_width = static_cast<int>(width) / 2, other = 3;
    both((half*)in, (half*)out, (int)batch, half_width);
    clear<<<1, 32>>>((half*)out, other * 10LL);
}
"""
DRIVER = """
void launch_gpu_implementation(void* out, void* in, int64_t batch, int width);
int main() {
    const int batch = 4, width = batch * 8;
    launch_gpu_implementation(out.data_ptr(), in.data_ptr(), batch, width);
}
"""


class Launches(unittest.TestCase):
    def of(self, source, driver):
        return [(one.kernel, dict(one.values)) for one in launches.launches_of(source, driver)]

    def test_numbers_go_from_the_driver_into_launches(self):
        self.assertEqual(self.of(SOURCE, DRIVER), [("clear", {"n": 64}), ("product", {"M": 4, "N": 8, "slope": 0.5}), ("clear", {"n": 30})])

    def test_a_known_condition_decides(self):
        self.assertIn(("product", {"M": 4, "N": 3, "slope": 0.25}), self.of(SOURCE, DRIVER.replace("batch = 4, width = batch * 8", "batch = 3, width = 8")))

    def test_a_driver_of_another_launcher_goes_by_names(self):
        found = self.of(SOURCE, DRIVER.replace("in.data_ptr(), batch, width)", "in.data_ptr(), batch)"))
        self.assertEqual(found[0], ("clear", {"n": 64}))

    def test_what_is_not_known_is_left_out(self):
        self.assertEqual(self.of(SOURCE, "int main() {}")[0], ("clear", {}))
        self.assertIsNone(launches.value_of("input.size(0) * 2", {}))
        self.assertEqual(launches.value_of("(n + 16u - 1) / 16", {"n": 33}), 3)
        self.assertEqual(launches.value_of("int(n) + (int)n", {"n": 33}), 66)

    def test_loops_are_no_functions(self):
        found = self.of(SOURCE.replace("    clear<<<1, 32>>>", "    for (int i = 0; i < 4; ++i) { clear<<<1, 32>>>").replace("* 10LL);", "* 10LL); }"), DRIVER)
        self.assertEqual(found[-2:], [("product", {"M": 4, "N": 8, "slope": 0.5}), ("clear", {"n": 30})])


if __name__ == "__main__":
    unittest.main()

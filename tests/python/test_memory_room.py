"""Work side by side as far as memory goes."""
import pathlib
import sys
import threading
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "python"))
from regraph_torch import memory_room  # noqa: E402


class Bytes(unittest.TestCase):
    def test_are_those_of_the_bench_size(self):
        manifest = 'sizes: {rows: 6, columns: 7}\nargs:\n  x: {dir: in}\ncounters: {bytes: "4*(rows * columns) + 8*(rows / 4) + 4"}\n'
        self.assertEqual(memory_room.bytes_of(manifest), 4 * 42 + 8 + 4)
        self.assertEqual(memory_room.bytes_of('counters: {bytes: "4*(3 * 5)"}\n'), 60)

    def test_are_none_where_the_manifest_does_not_say(self):
        for text in ("", "sizes: {n: 4}", 'counters: {bytes: "4*m"}', 'sizes: {n: 4}\ncounters: {bytes: "4*(n"}', 'sizes: {n: 0}\ncounters: {bytes: "4/n"}',
                     'sizes: {n: 0}\ncounters: {bytes: "__import__(\'os\')"}'):
            self.assertEqual(memory_room.bytes_of(text), 0, text)

    def test_some_are_free_here(self):
        self.assertGreater(memory_room.free_here(), 1 << 20)


class SideBySide(unittest.TestCase):
    def run_all(self, needs, room, jobs):
        """The most that was taken at once, and how many calls that were."""
        lock, taken, seen = threading.Lock(), [], []

        def call(work):
            with lock:
                taken.append(needs[work])
                seen.append((sum(taken), len(taken)))
            time.sleep(0.005)
            with lock:
                taken.remove(needs[work])

        ended = list(memory_room.side_by_side(list(range(len(needs))), needs, room, jobs, call))
        self.assertEqual(sorted(ended), list(range(len(needs))))
        return seen

    def test_what_is_taken_fits(self):
        needs = [5, 1, 7, 2, 2, 9, 1, 1, 3, 4] * 3
        seen = self.run_all(needs, 10, 4)
        self.assertLessEqual(max(total for total, _ in seen), 10)
        self.assertGreater(max(count for _, count in seen), 1)
        self.assertLessEqual(max(count for _, count in seen), 4)

    def test_what_does_not_fit_goes_alone(self):
        seen = self.run_all([3, 20, 4, 30, 2], 10, 3)
        self.assertTrue(all(count == 1 for total, count in seen if total >= 20))

    def test_a_call_that_fails_is_told(self):
        def call(work):
            if work == 2:
                raise ValueError("two")

        with self.assertRaises(ValueError):
            list(memory_room.side_by_side([1, 2, 3], [1, 1, 1], 1, 2, call))


if __name__ == "__main__":
    unittest.main()

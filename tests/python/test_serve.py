import concurrent.futures
import json
import pathlib
import tempfile
import threading
import unittest
import urllib.error
import urllib.request

from support import TORCH_PACKAGES, lacking, one_thread, run_main

from regraph_training.chat_request import Refused, read_request

SKIP = lacking(TORCH_PACKAGES)
MESSAGES = [{"role": "user", "content": "int a;"}]


class Requests(unittest.TestCase):
    def refused(self, body):
        with self.assertRaises(Refused) as caught:
            read_request(json.dumps(body).encode() if not isinstance(body, bytes) else body, "m")
        return caught.exception

    def test_unknown_fields_are_named(self):
        refused = self.refused({"messages": MESSAGES, "best_of": 3})
        self.assertEqual((refused.status, refused.parameter), (400, "best_of"))
        self.assertIn("'best_of'", refused.message)

    def test_fields_that_would_not_be_heeded_are_refused(self):
        for name, value in (("stream", True), ("top_p", 0.9), ("stop", ["x"]), ("response_format", {"type": "json_object"}),
                            ("n", 0), ("n", True), ("temperature", -1), ("temperature", "1"), ("max_tokens", 0),
                            ("seed", 1.5), ("messages", []), ("messages", [{"role": "tool", "content": "a"}]),
                            ("messages", [{"role": "user", "content": [{"type": "image_url"}]}])):
            self.assertEqual(self.refused({"messages": MESSAGES, name: value}).status, 400, (name, value))
        self.assertEqual(self.refused({"messages": MESSAGES, "model": "x"}).status, 404)
        for body in (b"", b"[]", b"\xff", b"[" * 100000):
            self.assertEqual(self.refused(body).status, 400)

    def test_what_is_read(self):
        request = read_request(json.dumps({"messages": MESSAGES, "n": 3, "temperature": 0.5, "max_completion_tokens": 9,
                                           "seed": -4, "stream": False, "model": "m", "user": "u"}).encode(), "m")
        self.assertEqual((request.answers, request.temperature, request.max_tokens, request.seed), (3, 0.5, 9, -4))


@unittest.skipIf(SKIP, SKIP)
class Serving(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        one_thread()
        from regraph_serve import make_server
        from test_model import make_folder
        holder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(holder.cleanup)
        cls.folder = pathlib.Path(holder.name) / "toy"
        make_folder(cls.folder)
        cls.server = make_server(cls.folder)
        cls.addClassCleanup(cls.server.server_close)
        threading.Thread(target=cls.server.serve_forever, args=(0.01,), daemon=True).start()
        cls.addClassCleanup(cls.server.shutdown)

    def ask(self, path="/v1/chat/completions", **body):
        request = urllib.request.Request(f"http://127.0.0.1:{self.server.server_port}{path}",
                                         json.dumps(body).encode() if body else None)
        try:
            with urllib.request.urlopen(request, timeout=60) as reply:
                return reply.status, json.load(reply)
        except urllib.error.HTTPError as error:
            return error.code, json.load(error)

    def texts(self, **body):
        status, reply = self.ask(messages=MESSAGES, max_tokens=12, **body)
        self.assertEqual(status, 200, reply)
        return [choice["message"]["content"] for choice in reply["choices"]]

    def test_answers(self):
        status, reply = self.ask(model="toy", messages=MESSAGES, n=3, max_tokens=5, seed=1)
        self.assertEqual(status, 200, reply)
        self.assertEqual([choice["index"] for choice in reply["choices"]], [0, 1, 2])
        for choice in reply["choices"]:
            self.assertIn(choice["finish_reason"], ("stop", "length"))
        usage = reply["usage"]
        self.assertEqual(usage["prompt_tokens"] + usage["completion_tokens"], usage["total_tokens"])
        self.assertEqual(self.ask("/v1/models")[1]["data"][0]["id"], "toy")
        self.assertEqual(self.ask("/health")[0], 200)
        self.assertEqual(self.ask("/other")[0], 404)

    def test_seeds_repeat_answers_whatever_is_asked_beside(self):
        alone = self.texts(seed=7, n=2)
        self.assertEqual(alone, self.texts(seed=7, n=2))
        self.assertEqual(alone[:1], self.texts(seed=7))
        self.assertNotEqual(alone[0], alone[1])
        before = self.server.answerer.batches
        with concurrent.futures.ThreadPoolExecutor(24) as pool:
            found = list(pool.map(lambda number: self.texts(seed=7 if number == 5 else number + 100, n=2), range(24)))
        self.assertEqual(found[5], alone)
        self.assertLess(self.server.answerer.batches - before, 24)
        self.assertEqual(len({tuple(texts) for texts in found}), 24)
        self.assertEqual(self.texts(temperature=0), self.texts(temperature=0, seed=3))

    def test_errors(self):
        status, reply = self.ask(messages=MESSAGES, top_k=4)
        self.assertEqual((status, reply["error"]["param"]), (400, "top_k"))
        self.assertIn("top_k", reply["error"]["message"])
        status, reply = self.ask(messages=[{"role": "user", "content": "x y " * 2000}])
        self.assertEqual((status, reply["error"]["code"]), (413, "context_length_exceeded"))

    def test_a_bad_folder_is_one_line(self):
        code, said = run_main("regraph_serve", self.folder.parent / "none")
        self.assertEqual((code, said.count("\n"), "no such folder" in said), (2, 1, True))


if __name__ == "__main__":
    unittest.main()

import math
import os
import unittest
from unittest import mock

from support import FakeRewardServer

import regraph_rewards
from regraph_rewards import Answer, RewardClient, ServiceFailing, ServiceRefused


def by_length(item):
    return {"reward": len(item["completion"]) / 100, "outcome": "correct", "verdict": "correct", "message": "",
            "seconds": 1.0, "parent_seconds": 2.0, "speedup": 2.0, "same_as_rewriter": True, "cached": False}


class Client(unittest.TestCase):
    def client(self, server, **settings):
        self.waits = []
        return RewardClient(server.url, sleep=self.waits.append, **settings)

    def test_results_come_in_the_order_of_the_answers_across_batches(self):
        answers = [Answer("s", "x" * length) for length in (5, 3, 9, 1, 7)]
        with FakeRewardServer(by_length) as server:
            results = self.client(server, batch=2).score(answers)
            self.assertEqual([result.reward for result in results], [0.05, 0.03, 0.09, 0.01, 0.07])
            self.assertEqual([len(body["items"]) for _, body in server.requests], [2, 2, 1])
            self.assertEqual({path for path, _ in server.requests}, {"/v1/score"})
            self.assertEqual({body["reward"] for _, body in server.requests}, {"regraph"})

    def test_cut_off_is_said_only_where_it_is_so(self):
        with FakeRewardServer(by_length) as server:
            self.client(server).score([Answer("s", "a", True), Answer("s", "b")])
            self.assertEqual(server.requests[0][1]["items"][0], {"id": "0", "state": "s", "completion": "a",
                                                                "cut_off": True})
            self.assertNotIn("cut_off", server.requests[0][1]["items"][1])

    def test_503_is_retried_as_long_as_it_says(self):
        with FakeRewardServer(by_length, [(503, {"Retry-After": "7"}, "{}"), (503, {}, "{}")]) as server:
            self.assertEqual(self.client(server).score([Answer("s", "ab")])[0].reward, 0.02)
            self.assertEqual(self.waits, [7.0, 2.0])

    def test_without_an_answer_there_is_no_reward(self):
        with FakeRewardServer(by_length, [(503, {}, "{}")] * 3) as server:
            client = self.client(server, retries=2)
            result = client.score([Answer("s", "ab")])[0]
            self.assertIsNone(result.reward)
            self.assertEqual(result.outcome, "no_verdict")
            self.assertIn("503", result.message)
            self.assertEqual(client.missing, 1)
            self.assertEqual(client.score([Answer("s", "ab")])[0].reward, 0.02)

    def test_nobody_listens(self):
        with FakeRewardServer(by_length) as server:
            url = server.url
        client = RewardClient(url, retries=1, sleep=lambda _: None)
        self.assertIsNone(client.score([Answer("s", "ab")])[0].reward)

    def test_strange_results_are_no_rewards(self):
        for reward in (None, "1", True, math.nan, math.inf, [1]):
            with FakeRewardServer(lambda item, reward=reward: dict(by_length(item), reward=reward)) as server:
                self.assertIsNone(self.client(server).score([Answer("s", "ab")])[0].reward, reward)
        with FakeRewardServer(lambda item: dict(by_length(item), outcome="fine")) as server:
            self.assertIsNone(self.client(server).score([Answer("s", "ab")])[0].reward)
        for text in ("[]", "{}", '{"results": 3}', '{"results": [{"id": "9"}]}', "no json",
                     '{"results": [{"id": "0", "outcome": "correct", "reward": 1}, '
                     '{"id": "0", "outcome": "correct", "reward": 2}]}'):
            with FakeRewardServer(by_length, [(200, {}, text)] * 6) as server:
                self.assertIsNone(self.client(server, retries=1).score([Answer("s", "ab")])[0].reward, text)

    def test_too_large_requests_are_split(self):
        with FakeRewardServer(by_length, [(413, {}, "{}")]) as server:
            results = self.client(server).score([Answer("s", "x" * n) for n in range(5)])
            self.assertEqual([result.reward for result in results], [0, 0.01, 0.02, 0.03, 0.04])
            self.assertEqual([len(body["items"]) for _, body in server.requests], [5, 2, 3])

    def test_a_refusal_is_an_error_and_not_retried(self):
        with FakeRewardServer(by_length, [(400, {}, '{"error": "unknown reward x"}')]) as server:
            with self.assertRaisesRegex(ServiceRefused, "unknown reward x"):
                self.client(server).score([Answer("s", "ab")])
            self.assertEqual(len(server.requests), 1)

    def test_more_than_five_percent_missing_stops(self):
        def some(item):
            return dict(by_length(item), reward=None, outcome="no_verdict", message="no worker") \
                if item["completion"] == "lost" else by_length(item)

        with FakeRewardServer(some) as server:
            client = self.client(server)
            client.score([Answer("s", "lost")] * 50 + [Answer("s", "ok")] * 950)
            client.score([Answer("s", "ok")] * 10)
            with self.assertRaisesRegex(ServiceFailing, "no worker"):
                client.score([Answer("s", "lost")] * 51)
            # What is long ago does not count.
            client = self.client(server)
            client.score([Answer("s", "lost")] * 50)
            client.score([Answer("s", "ok")] * 1000)
            client.score([Answer("s", "lost")] * 50)
            self.assertEqual(client.missing, 100)

    def test_addresses(self):
        for url in ("localhost:80", "", "ftp://a"):
            with self.assertRaises(ValueError):
                RewardClient(url)
        self.assertEqual(RewardClient("http://a:1/v1/").url, "http://a:1")


class Trainers(unittest.TestCase):
    def setUp(self):
        server = FakeRewardServer(by_length)
        self.server = server.__enter__()
        self.addCleanup(server.__exit__)
        patch = mock.patch.dict(os.environ, {"REGRAPH_REWARD_URL": server.url})
        patch.start()
        self.addCleanup(patch.stop)
        regraph_rewards._shared_client = None

    def test_trl(self):
        metrics, extra = {}, {}
        reward = regraph_rewards.reward_for_trl(end_token_ids=[1])
        rewards = reward(prompts=[[], []], completions=[[{"role": "assistant", "content": "abc"}], "a"],
                         completion_ids=[[5, 1], [5, 6]], trainer_state=None, log_extra=extra.__setitem__,
                         log_metric=metrics.__setitem__, state=["s", "t"], kernel=["k", "k"])
        self.assertEqual(rewards, [0.03, 0.01])
        items = self.server.requests[0][1]["items"]
        self.assertEqual([item.get("cut_off") for item in items], [None, True])
        self.assertEqual([item["state"] for item in items], ["s", "t"])
        self.assertEqual(metrics["outcome/correct"], 1.0)
        self.assertEqual(metrics["outcome/wrong"], 0.0)
        self.assertEqual(metrics["same_as_rewriter"], 1.0)
        self.assertAlmostEqual(metrics["ln_speedup_of_correct"], math.log(2))
        self.assertEqual(extra["outcome"], ["correct", "correct"])
        with self.assertRaisesRegex(ValueError, "state"):
            reward(prompts=[[]], completions=["a"], completion_ids=[[1]])

    def test_verl(self):
        one = regraph_rewards.compute_score("regraph", "abcd<|im_end|>", "s", {"index": 1})
        self.assertEqual(one, {"score": 0.04, "correct": 1.0, "speedup": 2.0})
        many = regraph_rewards.compute_score(data_sources=["r"] * 2, solution_strs=["a", "bb"],
                                             ground_truths=["s", "t"], extra_infos=[{}, {}])
        self.assertEqual([each["score"] for each in many], [0.01, 0.02])

    def test_openrlhf(self):
        reply = regraph_rewards.reward_func(["<|user|>q<|assistant|>abc<|end|><|pad|><|pad|>", "qx"], ["q<|assistant|>", "q"],
                                            ["s", "t"])
        self.assertEqual([round(float(value), 3) for value in reply["rewards"]], [0.03, 0.01])
        self.assertEqual([item.get("cut_off") for item in self.server.requests[0][1]["items"]], [None, True])
        with self.assertRaisesRegex(ValueError, "does not hold"):
            regraph_rewards.reward_func(["a"], ["b"], ["s"])

    def test_a_missing_reward_is_no_number_for_those_that_know_none(self):
        self.server.score = lambda item: {"outcome": "no_verdict", "reward": None, "message": "gone"}
        with self.assertRaisesRegex(ServiceFailing, "gone"):
            regraph_rewards.compute_score("r", "a", "s")
        with self.assertRaisesRegex(ServiceFailing, "gone"):
            regraph_rewards.reward_func(["qa"], ["q"], ["s"])


if __name__ == "__main__":
    unittest.main()

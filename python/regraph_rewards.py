"""Rewards for trainers, from ReGraph's reward server (`POST URL/v1/score`). Standard library only.

What an answer is worth is decided by the server, which compiles, verifies and times it; this file
carries answers there and rewards back, in the forms in which TRL, verl and OpenRLHF call a reward
function:

    TRL        GRPOTrainer(reward_funcs=[regraph_rewards.reward_for_trl()])
    verl       custom_reward_function.path=python/regraph_rewards.py .name=compute_score
    OpenRLHF   --reward.remote_url python/regraph_rewards.py     (formerly --remote_rm_url)

The server's address is in REGRAPH_REWARD_URL, the reward's name in REGRAPH_REWARD (default: regraph).

A reward that could not be had is None, never a number: a made-up 0 would teach. More than 5 % of
the last 1000 missing raises ServiceFailing, which ends the training: what would be learnt from the
rest is a sample that the failure chose.
"""

from __future__ import annotations

import collections
import http.client
import json
import math
import os
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

URL_VARIABLE = "REGRAPH_REWARD_URL"
REWARD_VARIABLE = "REGRAPH_REWARD"
LARGEST_REQUEST = 4096  # items; the server answers 413 above

# In the order of AnswerOutcome (src/learn/reward.h); shares of each are logged.
OUTCOMES = ("unreadable", "suspicious", "not_compiled", "not_launched", "unchanged", "wrong",
            "same_machine_code", "correct", "no_verdict")
CORRECT_OUTCOMES = ("same_machine_code", "correct")

# What common chat templates end an answer with; taken off where a trainer passes raw text.
END_MARKS = ("<|end|>", "<|im_end|>", "<|endoftext|>", "<|eot_id|>", "</s>")
PAD_MARKS = ("<|pad|>", "<|endoftext|>", "<pad>")


class ServiceFailing(RuntimeError):
    """Too many rewards are missing: training must stop."""


class ServiceRefused(RuntimeError):
    """The server understood and said no (a 4xx): asking again would not help."""


@dataclass(frozen=True)
class Answer:
    """One answer to score: `state` names the registered state that it was asked about."""
    state: str
    completion: str
    cut_off: bool = False


@dataclass(frozen=True)
class Scored:
    """What became of an answer. `reward` is None where the service failed, not the answer."""
    reward: float | None
    outcome: str = "no_verdict"
    verdict: str | None = None
    message: str = ""
    seconds: float | None = None
    parent_seconds: float | None = None
    interval: Any = None
    speedup: float | None = None
    same_as_rewriter: bool | None = None
    cached: bool = False

    @property
    def is_correct(self) -> bool:
        return self.outcome in CORRECT_OUTCOMES


def _finite_number(value: Any) -> float | None:
    """The number, or None for anything that is none (a bool, text, NaN, infinity)."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return float(value) if math.isfinite(value) else None


def read_result(result: Any) -> Scored:
    """A line of the server's answer. What is not as agreed becomes a missing reward, with the reason."""
    if not isinstance(result, dict):
        return Scored(None, message="the reward server's result is no object")
    outcome = result.get("outcome")
    if outcome not in OUTCOMES:
        return Scored(None, message=f"the reward server's result has the unknown outcome {outcome!r}")
    reward = _finite_number(result.get("reward"))
    message = str(result.get("message") or "")
    if reward is None and result.get("reward") is not None:
        message = f"the reward server's reward {result.get('reward')!r} is no finite number"
    seconds = _finite_number(result.get("seconds"))
    parent_seconds = _finite_number(result.get("parent_seconds"))
    speedup = _finite_number(result.get("speedup"))
    if speedup is None and seconds and parent_seconds:
        speedup = parent_seconds / seconds
    same = result.get("same_as_rewriter")
    return Scored(reward, outcome, result.get("verdict"), message, seconds, parent_seconds,
                  result.get("interval"), speedup if speedup and speedup > 0 else None,
                  same if isinstance(same, bool) else None, result.get("cached") is True)


class RewardClient:
    """Asks the reward server. Not thread-safe; every process has its own.

    timeout: seconds one request may take, all answers of a batch evaluated. retries: how often a
    request is repeated after a connection error or a 5xx, with back-off or as Retry-After says.
    """

    window = 1000
    largest_missing_share = 0.05

    def __init__(self, url: str, reward: str = "regraph", timeout: float = 600.0, batch: int = 512,
                 retries: int = 5, sleep: Callable[[float], None] = time.sleep):
        parts = urllib.parse.urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.netloc:
            raise ValueError(f"the reward server's address {url!r} is none: expected http://HOST:PORT "
                             f"(option or {URL_VARIABLE})")
        if not 1 <= batch <= LARGEST_REQUEST:
            raise ValueError(f"a batch of {batch} answers: expected 1 to {LARGEST_REQUEST}")
        self.url = url.rstrip("/").removesuffix("/v1")
        self.reward = reward
        self.timeout = timeout
        self.batch = batch
        self.retries = retries
        self.missing = 0  # rewards that could not be had, all told
        self.asked = 0
        self._sleep = sleep
        self._recent: collections.deque[bool] = collections.deque(maxlen=self.window)
        self._last_failure = ""

    def score(self, answers: Sequence[Answer]) -> list[Scored]:
        """One result an answer, in the same order. Raises ServiceFailing, ServiceRefused."""
        results: list[Scored] = []
        for begin in range(0, len(answers), self.batch):
            results.extend(self._score_batch(answers[begin:begin + self.batch]))
        self.asked += len(results)
        for result in results:
            self.missing += result.reward is None
            self._recent.append(result.reward is None)
            if result.reward is None and result.message:
                self._last_failure = result.message
        missing = sum(self._recent)
        if missing > self.largest_missing_share * self.window:
            raise ServiceFailing(
                f"{missing} of the last {len(self._recent)} rewards from {self.url} are missing (at most "
                f"{self.largest_missing_share:.0%} of {self.window} may be). Last reason: "
                f"{self._last_failure or 'none given'}. Mend the server, then resume from the last checkpoint")
        return results

    def _score_batch(self, answers: Sequence[Answer]) -> list[Scored]:
        items = []
        for number, answer in enumerate(answers):
            item: dict[str, Any] = {"id": str(number), "state": answer.state, "completion": answer.completion}
            if answer.cut_off:
                item["cut_off"] = True
            items.append(item)
        try:
            reply = self._post({"reward": self.reward, "items": items})
        except _TooLarge:
            if len(answers) == 1:
                raise ServiceRefused(f"{self.url} finds a single answer too large "
                                     f"({len(answers[0].completion)} characters)") from None
            half = len(answers) // 2
            return self._score_batch(answers[:half]) + self._score_batch(answers[half:])
        except _GaveUp as failure:
            return [Scored(None, message=str(failure))] * len(answers)
        results = reply.get("results") if isinstance(reply, dict) else None
        by_id: dict[str, Any] = {}
        for result in results if isinstance(results, list) else []:
            if isinstance(result, dict) and isinstance(result.get("id"), str):
                # An id that comes twice says nothing: which of the two is meant?
                by_id[result["id"]] = None if result["id"] in by_id else result
        return [read_result(by_id[item["id"]]) if by_id.get(item["id"]) is not None
                else Scored(None, message="the reward server's answer leaves this item out") for item in items]

    def _post(self, body: dict[str, Any]) -> Any:
        data = json.dumps(body).encode("utf-8")
        failure = ""
        for attempt in range(self.retries + 1):
            request = urllib.request.Request(f"{self.url}/v1/score", data,
                                             {"Content-Type": "application/json"}, method="POST")
            wait = min(30.0, 2.0 ** attempt)
            try:
                with urllib.request.urlopen(request, timeout=self.timeout) as reply:
                    return json.loads(reply.read())
            except urllib.error.HTTPError as error:
                text = error.read(2000).decode("utf-8", "replace")
                if error.code == 413:
                    raise _TooLarge() from None
                if error.code < 500 and error.code != 429:
                    raise ServiceRefused(f"{self.url}/v1/score answers {error.code}: {text.strip()}") from None
                failure = f"{self.url} answers {error.code}: {text.strip()[:200]}"
                wait = _retry_after(error.headers.get("Retry-After"), wait)
            except (OSError, http.client.HTTPException, ValueError) as error:
                failure = f"{self.url} does not answer: {error}"
            if attempt < self.retries:
                self._sleep(wait)
        raise _GaveUp(f"{failure} ({self.retries + 1} attempts)")


class _GaveUp(Exception):
    """No usable answer after all attempts."""


class _TooLarge(Exception):
    """413: the request must be split."""


def _retry_after(header: str | None, otherwise: float) -> float:
    try:
        return min(120.0, max(0.0, float(header))) if header else otherwise
    except ValueError:  # a date; servers of ours send seconds
        return otherwise


def client_from_environment(**settings: Any) -> RewardClient:
    """A client of the server that REGRAPH_REWARD_URL names. Raises ValueError where it names none."""
    url = os.environ.get(URL_VARIABLE, "")
    if not url:
        raise ValueError(f"no reward server: set {URL_VARIABLE}, e.g. to http://localhost:8090")
    return RewardClient(url, os.environ.get(REWARD_VARIABLE, "regraph"), **settings)


_shared_client: RewardClient | None = None


def _client() -> RewardClient:
    global _shared_client
    if _shared_client is None:
        _shared_client = client_from_environment()
    return _shared_client


def reward_parts(results: Iterable[Scored]) -> dict[str, float]:
    """What a batch of results consists of: shares of outcomes, and the mean ln of speedups of correct ones."""
    results = list(results)
    if not results:
        return {}
    parts = {f"outcome/{name}": sum(result.outcome == name for result in results) / len(results)
             for name in OUTCOMES}
    parts["accepted"] = sum(result.is_correct for result in results) / len(results)
    compared = [result.same_as_rewriter for result in results if result.same_as_rewriter is not None]
    if compared:
        parts["same_as_rewriter"] = sum(compared) / len(compared)
    logarithms = [math.log(result.speedup) for result in results if result.is_correct and result.speedup]
    if logarithms:
        parts["ln_speedup_of_correct"] = sum(logarithms) / len(logarithms)
    return parts


def completion_text(completion: Any) -> str:
    """The text of a completion: itself, or the content of its messages."""
    if isinstance(completion, str):
        return completion
    return "".join(message.get("content") or "" for message in completion)


def reward_for_trl(client: RewardClient | None = None, end_token_ids: Iterable[int] | None = None,
                   observe: Callable[..., Sequence[float | None] | None] | None = None) -> Callable[..., list]:
    """A reward function for TRL's GRPOTrainer; the data set needs the column `state`.

    end_token_ids: the tokens that end an answer; with them an answer that a limit ended is known to be
    cut off. observe(answers, results, columns): sees every batch; may return other rewards (a control).
    """
    ends = frozenset(end_token_ids or ())

    def regraph_reward(prompts: Any = None, completions: Any = None, completion_ids: Any = None,
                       trainer_state: Any = None, log_extra: Any = None, log_metric: Any = None,
                       state: Any = None, **columns: Any) -> list[float | None]:
        if state is None:
            raise ValueError("the data set has no column `state`: the reward server cannot know what was asked")
        ids = completion_ids if ends and completion_ids is not None else [None] * len(completions)
        answers = [Answer(one_state, completion_text(completion),
                          bool(tokens is not None and (not len(tokens) or int(tokens[-1]) not in ends)))
                   for one_state, completion, tokens in zip(state, completions, ids, strict=True)]
        results = (client or _client()).score(answers)
        if log_metric:
            for name, value in reward_parts(results).items():
                log_metric(name, value)
        if log_extra:
            log_extra("outcome", [result.outcome for result in results])
        rewards: Sequence[float | None] = [result.reward for result in results]
        if observe:
            rewards = observe(answers, results, dict(columns, trainer_state=trainer_state)) or rewards
        return list(rewards)

    return regraph_reward


def _needed(results: Sequence[Scored], trainer: str) -> None:
    for result in results:
        if result.reward is None:
            raise ServiceFailing(f"no reward for an answer, and {trainer} knows no missing ones: {result.message}")


def compute_score(data_source: Any = None, solution_str: Any = None, ground_truth: Any = None,
                  extra_info: Any = None, **kwargs: Any) -> Any:
    """verl's reward function; `ground_truth` is the state's id. Its batch form passes lists by plural names."""
    if "solution_strs" in kwargs:
        solutions, states = kwargs["solution_strs"], kwargs["ground_truths"]
    else:
        solutions, states = [solution_str], [ground_truth]
    answers = []
    for solution, state in zip(solutions, states, strict=True):
        text, _ = strip_end(solution)
        answers.append(Answer(str(state), text))
    results = _client().score(answers)
    _needed(results, "verl")
    scores = [{"score": result.reward, "correct": float(result.is_correct), "speedup": result.speedup or 0.0}
              for result in results]
    return scores if "solution_strs" in kwargs else scores[0]


def strip_end(text: str) -> tuple[str, bool]:
    """The text without marks that end and fill it, and whether one ended it."""
    ended = False
    while True:
        for mark in (*END_MARKS, *PAD_MARKS):
            if text.endswith(mark):
                ended = ended or mark in END_MARKS
                text = text[:-len(mark)]
                break
        else:
            return text, ended


def reward_func(queries: Sequence[str], prompts: Sequence[str], labels: Sequence[str], **kwargs: Any) -> dict:
    """OpenRLHF's reward function; `labels` are the states' ids, `queries` prompt and answer with special tokens."""
    answers = []
    for query, prompt, label in zip(queries, prompts, labels, strict=True):
        at = query.find(prompt)
        if at < 0:
            raise ValueError("a query does not hold its prompt, so its answer cannot be told from it: "
                             f"prompt {prompt[:80]!r}, query {query[:80]!r}")
        text, ended = strip_end(query[at + len(prompt):])
        answers.append(Answer(str(label), text, cut_off=not ended))
    results = _client().score(answers)
    _needed(results, "OpenRLHF")
    columns = {f"outcome_{name}": [float(result.outcome == name) for result in results] for name in OUTCOMES}
    reply = {"rewards": [result.reward for result in results], "scores": [result.reward for result in results],
             "extra_logs": columns}
    try:
        import torch  # OpenRLHF wants tensors; without torch nobody trains, and lists do
    except ImportError:
        return reply
    return {"rewards": torch.tensor(reply["rewards"]), "scores": torch.tensor(reply["scores"]),
            "extra_logs": {name: torch.tensor(values) for name, values in columns.items()}}

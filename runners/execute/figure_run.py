"""A figure in progress: the repetitions that it needs, and those that are finished."""

import math
from collections.abc import Mapping, Sequence
from functools import cached_property

from bench.critical import STEP
from bench.data_kind import DataKind
from bench.digest import digest
from bench.report.figure import Figure
from bench.report.kinds.timing import Timing
from bench.report.provenance import Provenance
from bench.report.reading import READING
from runners.config.experiment import Experiment
from runners.config.figures import LabelledRun, by_reading, without_reading
from runners.execute.asked_figure import AskedFigure
from runners.execute.fanout import Answer, RepetitionId, not_determined
from runners.execute.timing import Part, measure
from runners.results import made_of
from runners.results.aggregate import Kept, Repetitions, read_run
from runners.results.capture import environment, kind_of_machine
from runners.results.derive import results_of, thinning
from runners.results.folder import CommittedRepetitions, ResultFolder, machines
from runners.results.replay import compare, follows_last_digits
from runners.results.store import Store, results_folder
from runners.results.until_decided import look, with_repetitions


class FigureRun:
    """A figure in progress, with the request, the experiments, and their finished repetitions.

    Only the methods of this class change it. `pending` returns the repetitions to run next, and `take` records a
    finished repetition; when no repetition is pending, the figure can be written. ``failed`` holds the errors of
    repetitions, ``new`` is the number of repetitions run for this figure, and ``open_cases`` is the number of cases of
    claims that need more repetitions. For ``notes`` see `WrittenFigure`. ``refusal`` is the reason why committed
    repetitions may not be extended.
    """

    def __init__(self, asked: AskedFigure, store: Store) -> None:
        self.asked, self.store = asked, store
        self.runs = asked.experiments()
        kinds = {labelled.experiment.data_kind for labelled in self.runs}
        kind = next((f"-{kind}" for kind in (DataKind.ALTERED, DataKind.SURROGATE) if kind in kinds), "")
        self.folder = results_folder() / f"{asked.where}{kind}"
        self.waiting: set[RepetitionId] = set()
        self.failed: dict[RepetitionId, str] = {}
        self.new = self.open_cases = 0
        self.notes: list[str] = []
        self.refusal = ""
        self._is_confirmed = False
        self._known: dict[str, dict[int, Kept]] = {}
        self._stored: dict[str, set[int]] = {}
        if asked.most is not None:
            self._set_repetitions([min(STEP, asked.most)] * len(self.runs))
        for labelled in self.runs:
            labelled.experiment.check_repetitions(labelled.settings.repetitions)
        self.made_of = self._made_of()
        """The digest of all inputs of the figure's files; `runners.results.made_of` records it with the files."""

    def _made_of(self) -> str:
        asked, figure = self.asked, self.asked.figure
        runs = [[labelled.labels, labelled.experiment.run_id, labelled.settings.repetitions] for labelled in self.runs]
        size = [asked.where, asked.scale, list(asked.extra), asked.most, asked.is_reference, asked.readings]
        look = [asked.command, list(asked.formats), asked.size]
        is_of_machine = figure.source == "timing" or figure.is_timed
        machine = kind_of_machine(environment()) if is_of_machine else None
        own = made_of.code_of_users([type(figure), *figure.claim_kinds.values()])
        code = [made_of.code(), made_of.conf_of(figure.paper), own]
        return digest([figure.model_dump(mode="json"), runs, size, look, machine, code], 20)

    @cached_property
    def committed(self) -> CommittedRepetitions:
        """The committed repetitions, which need not be run or read from the store."""
        asked = self.asked
        keeps = asked.is_reference and asked.figure.source == "runs" and not asked.renew
        return self._beside() if keeps else CommittedRepetitions()

    def _beside(self) -> CommittedRepetitions:
        """Return the repetitions of the figure's runs that are committed with any figure of the paper at this scale."""
        folder, figure = self.folder, self.asked.figure
        keys = {labelled.experiment.key for labelled in self.runs}
        others = sorted(folder.parents[1].glob(f"*/{self.asked.scale}*"), key=lambda path: path.parent != folder.parent)
        folders = [folder, *(path for path in others if path != folder and keys & ResultFolder(path).keys())]
        if is_timed := figure.is_timed:  # seconds from another machine are not comparable
            here = [kind_of_machine(environment())]
            folders = [path for path in folders if machines(path) == here]
        committed = CommittedRepetitions(folders, thinning(figure), keys)
        if is_timed:
            with_seconds = {
                key: {i: kept for i, kept in of_run.items() if "seconds_total" in kept.seconds}
                for key, of_run in committed.runs.items()
            }
            committed.runs = {key: of_run for key, of_run in with_seconds.items() if of_run}
        return committed

    def pending(self, answers: Mapping[RepetitionId, Answer]) -> list[tuple[Experiment, list[int]]]:
        """Return the pending repetitions, the longest first, given all answers so far; empty if the figure is complete.

        With ``until_decided``, claims are checked when all requested repetitions are finished. Before committed
        repetitions are extended, one of them is played again.
        """
        while True:
            wanted = self._lacking(answers)
            if not wanted and not self.refusal and self.asked.most is not None and self._goes_on(self.asked.most):
                continue
            self.waiting = {(one.run_id, number) for one, numbers in wanted for number in numbers}
            return wanted

    def take(self, answer: Answer, *, counts: bool) -> None:
        """Record a finished repetition; ``counts`` is whether the repetition was run for this figure first."""
        self.waiting.discard(answer.id)
        if not answer.error:
            self._stored.setdefault(answer.id[0], set()).add(answer.id[1])
        self.new += counts and not answer.error and self._may_add

    def measure(self) -> None:
        for run_id, result in measure(self.runs, self.store, timed_part(self.asked.figure)).items():
            self.new += len(result.new)
            self.failed |= {(run_id, number): error for number, error in result.failed.items()}

    def play_again(self, answers: Mapping[RepetitionId, Answer], limit: float | None, seen: set[type]) -> None:
        """Record which of the user's classes are not determined by their seeds; see `not_determined`."""
        ran: dict[str, tuple[Experiment, list[int]]] = {}
        for labelled in self.runs:
            run_id, numbers = labelled.experiment.run_id, range(labelled.settings.repetitions)
            found = [(number, answers.get((run_id, number))) for number in numbers]
            ran[run_id] = labelled.experiment, [number for number, answer in found if answer and not answer.error]
        self.notes += not_determined(ran.values(), self.store, limit=limit, seen=seen)

    def missing(self) -> list[Experiment]:
        """Return the experiments that lack results of repetitions, without reading any result."""
        pairs = [(labelled.experiment, set(range(labelled.settings.repetitions))) for labelled in self.runs]
        return [one for one, all_of in pairs if all_of - self.store.done(one.run_id) - self.committed.done(one.key)]

    def _lacking(self, answers: Mapping[RepetitionId, Answer]) -> list[tuple[Experiment, list[int]]]:
        """Return the repetitions that are neither committed, stored nor failed.

        Before committed repetitions may be extended, only the repetition that confirms them is returned.
        """
        lacking: dict[str, tuple[Experiment, set[int]]] = {}
        for labelled in sorted(self.runs, key=lambda labelled: -labelled.settings.horizon):
            experiment = labelled.experiment
            missing = set(range(labelled.settings.repetitions)) - self.committed.done(experiment.key)
            if missing and not self._may_add:
                return self._confirm(answers)
            if missing:
                lacking.setdefault(experiment.run_id, (experiment, set()))[1].update(missing)
        wanted = []
        for run_id, (experiment, numbers) in lacking.items():
            left = numbers - self._sound(run_id, numbers)
            found = {number: answers.get((run_id, number)) for number in sorted(left)}
            self.failed |= {(run_id, number): answer.error for number, answer in found.items() if answer}
            if asked := [number for number, answer in found.items() if not answer]:
                wanted.append((experiment, asked))
        return wanted

    @property
    def _may_add(self) -> bool:
        return self._is_confirmed or not self.committed.runs

    def _sound(self, run_id: str, numbers: set[int]) -> set[int]:
        """Return the repetitions in ``numbers`` that are stored and sound; each stored repetition is checked once."""
        known = self._stored.setdefault(run_id, set())
        known |= self.store.sound(run_id, numbers - known) if numbers - known else set()
        return numbers & known

    def _confirm(self, answers: Mapping[RepetitionId, Answer]) -> list[tuple[Experiment, list[int]]]:
        """Return the committed repetition to play again, or, once it is played, compare it with the committed values.

        If the values are equal, the lacking repetitions are returned; otherwise `refusal` is set. The repetition
        belongs to the shortest run, or, if another kind of machine made it, to the shortest run whose configurations do
        not depend on last digits.
        """
        committed = self.committed
        same_machine = committed.machines == [kind_of_machine(environment())]
        runs = [labelled for labelled in self.runs if committed.runs.get(labelled.experiment.key)]
        runs = [labelled for labelled in runs if same_machine or not follows_last_digits(labelled.experiment)]
        seconds = committed.mean_seconds
        if runs:
            labelled = min(runs, key=lambda labelled: seconds.get(labelled.experiment.key, math.inf))
            experiment, number = labelled.experiment, min(committed.runs[labelled.experiment.key])
            answer = answers.get((experiment.run_id, number))
            if not answer and not self._sound(experiment.run_id, {number}):
                return [(experiment, [number])]
            then = committed.runs[experiment.key][number]
            words = f"failed: {answer.error}" if answer and answer.error else ""
            words = (
                words
                or compare(
                    then, self.asked.figure, self.store, experiment.run_id, number, same_machine=same_machine
                ).difference
            )
            words = words and f"{', '.join(labelled.labels.values())}, repetition {number}, {words}"
        else:
            words = "another kind of machine made it, and the tuner's choices depend on last digits"
        if words:
            self.refusal = f"{words}; the committed repetitions stay unchanged; renew=true runs all of them again"
            return []
        self._is_confirmed = True
        return self._lacking(answers)

    def _goes_on(self, most: int) -> bool:
        """Check the claims, request more repetitions for undecided cases, and return whether any case is undecided."""
        runs, done, kept = self.runs, self.done(), self.read()
        figure = self.asked.figure
        # Only the first reading's verdicts decide; the others get as many repetitions, up to their own limit.
        first = next(iter(by_reading(figure, runs).values()))
        results = results_of(figure, [kept[i] for i in first], Provenance(until_decided=most))
        seen = look([runs[i] for i in first], [done[i] for i in first], results, most)
        of_labels = {tuple(runs[i].labels.items()): number for i, number in zip(first, seen.next, strict=True)}
        self.open_cases = seen.open_cases
        self._set_repetitions([of_labels[tuple(without_reading(labelled).labels.items())] for labelled in runs])
        return seen.open_cases > 0

    def _set_repetitions(self, numbers: Sequence[int]) -> None:
        """Set the numbers of repetitions, with lower limits for further readings, fixed configurations and logs."""
        most = self.asked.readings_up_to or max(numbers)
        limits = self.asked.figure.limit_runs()

        def at_most(labelled: LabelledRun, number: int) -> int:
            if limits and labelled.is_limit:
                return min(number, limits.repetitions)
            number = min(number, labelled.experiment.most_repetitions or number)
            return min(number, most) if READING in labelled.labels else number

        self.runs = with_repetitions(self.runs, list(map(at_most, self.runs, numbers)))

    def done(self) -> list[list[int]]:
        """Return the repetitions with a result for each experiment; call it only if no repetition is pending."""
        return [
            [i for i in range(labelled.settings.repetitions) if (labelled.experiment.run_id, i) not in self.failed]
            for labelled in self.runs
        ]

    def read(self) -> list[Repetitions]:
        """Return the kept data of the repetitions of each experiment; each repetition is read only once."""
        figure, read_runs = self.asked.figure, []
        columns, keep = figure.curve_columns(), figure.kept_rounds
        for labelled, numbers in zip(self.runs, self.done(), strict=True):
            run_id, key = labelled.experiment.run_id, labelled.experiment.key
            known = self._known.setdefault(key, dict(self.committed.runs.get(key, {})))
            of_run = read_run(labelled.labels, run_id, numbers, self.store, columns=columns, keep=keep, known=known)
            known.update(of_run.kept)
            read_runs.append(of_run)
        return read_runs

    def failures(self) -> list[str]:
        """Return a sentence for each failed repetition, or only for the first one of a run without any result."""
        names: dict[str, str] = {}
        for labelled in self.runs:  # under the first of several readings
            names.setdefault(labelled.experiment.run_id, ", ".join(labelled.labels.values()))
        done = {labelled.experiment.run_id for labelled, numbers in zip(self.runs, self.done(), strict=True) if numbers}
        by_run: dict[str, dict[RepetitionId, str]] = {run_id: {} for run_id in names}
        for key, error in sorted(self.failed.items()):
            by_run[key[0]][key] = error
        sentences = []
        for run_id, failed in by_run.items():
            if failed and run_id not in done:
                sentences.append(f"{self.asked.where}: {names[run_id]}: {all_failed(failed, self.store)}")
                continue
            for (_, number), error in failed.items():
                sentences.append(f"{self.asked.where}: {names[run_id]}: repetition {number} failed: {error}")
        return sentences


def all_failed(failed: dict[RepetitionId, str], store: Store) -> str:
    """Return the message if all repetitions failed, with the first error and the file that holds its traceback."""
    run_id, number = min(failed, key=lambda key: (key[1], key[0]))
    record = store.path(run_id, number, ".failed.json")
    place = f"; its traceback is in {record}" if record.is_file() else ""
    words = f"all {len(failed)} repetitions failed, the first" if len(failed) > 1 else "its only repetition failed"
    return f"{words} with {failed[run_id, number]}{place}"


def timed_part(figure: Figure) -> Part:
    return figure.part if isinstance(figure, Timing) else "run"

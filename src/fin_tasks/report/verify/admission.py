"""Admit a submission to a board: responses come from the submission, and all else from the host."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from tqdm import tqdm

from fin_tasks import report
from fin_tasks.data.locate import sha256_of
from fin_tasks.errors import ConfigError, DataError, escape

from ..admissions import FILE, Admission, AdmissionItem
from ..redact import printable, without_secrets
from .board_folder import BoardFolder, open_board
from .candidate import Candidate
from .copies import COPIED, twins_of
from .items import Finding, Options
from .names import folder_name, letters_of, mixed_alphabets, name_key

_ALWAYS_CLAIMED = ("model", "decoding")
"""Nobody can check these, so they do not change the exit status."""
_MAX_SENTENCE = 500  # characters
_MAX_BYTES = 32 << 30
"""Of a submission; to hash more takes minutes."""


@dataclass(frozen=True)
class Verdict:
    """Why a submission is refused, or how its runs were admitted."""

    refused: Sequence[Finding] = ()
    admitted: Mapping[str, Admission] = field(default_factory=dict)
    """By the folder of the run."""

    @property
    def claims(self) -> list[str]:
        """The names of what is only claimed, without what nobody can check of any run."""
        names = set()
        for admission in self.admitted.values():
            names |= {item.name for item in admission.items if item.status == "claimed"}
        return sorted(names - set(_ALWAYS_CLAIMED))

    @property
    def exit_status(self) -> int:
        """1 for a refusal, 3 for claims, 0 for neither."""
        if self.refused:
            return 1
        return 3 if self.claims else 0


def admit(
    submission: Path, board: Path, options: Options, *, submitter: str = ""
) -> Verdict:
    """Score a submission again, and write its runs to the board if nothing is refused.

    Raises:
        ConfigError: The folders or options are wrong.
        DataError: The host's data or board cannot be used.
        JudgeError: The host's judge failed too often.
    """
    _check_places(submission, board)
    if _size_of(submission) > _MAX_BYTES:
        sentence = f"its files have more than {_MAX_BYTES >> 30} GB"
        return Verdict([Finding("files", "refused", sentence)])
    digest = digest_of(submission)
    try:
        submitted = report.read([submission])
    except DataError as error:
        return Verdict([Finding("files", "refused", str(error))])
    candidates: dict[str, Candidate] = {}
    for run in tqdm(submitted.runs, desc="Verifying", unit="run", disable=None):
        folder = folder_name(run.model)
        candidate = candidates.setdefault(folder, Candidate(run.model))
        candidate.add(run, options)
    refused = _files_of_hosts(submission)
    for problem in submitted.problems:
        refused.append(Finding("files", "refused", problem.message))
    for candidate in candidates.values():
        candidate.check_groups()
        refused += candidate.refusals()
    if refused:
        return Verdict(refused)
    name = escape(printable(submission.resolve().name))
    with open_board(board) as opened:
        return _Admitter(opened, name, submitter, digest).admit(candidates)


def _check_places(submission: Path, board: Path) -> None:
    """Raise ConfigError if the submission is no folder, or one of the two folders holds the other."""
    if not submission.is_dir():
        raise ConfigError(
            f"{submission}: expected the folder of one submission, found none."
        )
    if board.exists() and not board.is_dir():
        raise ConfigError(f"--board {board}: expected a folder, got a file.")
    source = submission.resolve()
    place = board.resolve()
    if source.is_relative_to(place) or place.is_relative_to(source):
        raise ConfigError(
            f"--board {board}: expected a folder beside the submission, got one that holds it or is in it."
        )


def _files_of_hosts(submission: Path) -> list[Finding]:
    """Refuse files that only a board has, as reports read them beside runs."""
    findings = []
    for name in (FILE, "board.yaml"):
        for file in sorted(submission.rglob(name)):
            findings.append(Finding("files", "refused", f"{file}: only a board has it"))
    return findings


def _files_of(submission: Path) -> Iterator[Path]:
    """Yield all files of a submission, but no links."""
    for file in submission.rglob("*"):
        if file.is_file() and not file.is_symlink():
            yield file


def _size_of(submission: Path) -> int:
    """Return the bytes of all files as they state them; a sparse file fills less of the disk."""
    return sum(file.stat().st_size for file in _files_of(submission))


def digest_of(submission: Path) -> str:
    """Return the SHA-256 of the lines that `sha256sum` prints about all files in order of their names."""
    lines_by_name = {}
    for file in _files_of(submission):
        name = file.relative_to(submission).as_posix()
        lines_by_name[name] = f"{sha256_of(file)}  ./{name}\n"
    lines = [lines_by_name[name] for name in sorted(lines_by_name)]
    text = "".join(lines).encode("utf-8", "surrogateescape")
    return hashlib.sha256(text).hexdigest()


@dataclass
class _Admitter:
    """Admits the runs of one submission to an open board."""

    board: BoardFolder
    submission: str
    submitter: str
    digest: str

    def admit(self, candidates: Mapping[str, Candidate]) -> Verdict:
        """Write all runs to the board, or none if one is refused."""
        admissions = self.board.admissions()
        refused = self._check_owner(admissions)
        if refused:
            return Verdict(refused)
        home = self.board.path / folder_name(self.submission)
        new = {}
        admitted = {}
        with self.board.stage() as stage:
            for folder, candidate in candidates.items():
                target = home / folder
                _check_replaced(candidate, target)
                _check_name(candidate)
                self._check_copies(candidate, target, admissions)
                admission = self._admission_of(candidate, target, admissions)
                refused += candidate.refusals()
                if refused:
                    continue
                staged = stage / "new" / folder
                candidate.write(staged, admission)
                new[target] = staged
                # The next model of the submission is compared with this one.
                admissions.pop(target, None)
                admissions[staged] = admission
                admitted[str(target)] = admission
            if not refused:
                self.board.replace(stage, new)
        return Verdict(refused) if refused else Verdict(admitted=admitted)

    def _check_owner(self, admissions: dict[Path, Admission]) -> list[Finding]:
        """Refuse a name that is another submission's or submitter's."""
        for target, admission in admissions.items():
            if target.parent.name != folder_name(self.submission):
                continue
            owner = admission.submission
            if owner != self.submission:
                sentence = f"its name is too much like that of the submission {owner!r}"
                return [Finding("submission", "refused", sentence)]
            who = admission.submitter
            if who and self.submitter and who != self.submitter:
                sentence = f"the submission {owner!r} belongs to {who!r}, not to {self.submitter!r}"
                return [Finding("submission", "refused", sentence)]
        return []

    def _check_copies(
        self, candidate: Candidate, target: Path, admissions: dict[Path, Admission]
    ) -> None:
        """Compare the responses with those of all other runs on the board."""
        folders = [folder for folder in admissions if folder != target]
        twins = list(twins_of(candidate.texts(), folders))
        for twin in twins:
            admission = admissions[twin.folder]
            is_own = admission.submission == self.submission
            of_whom = f"{admission.model} in the submission {admission.submission}"
            if twin.share >= COPIED and not is_own:
                candidate.refuse("copies", f"{twin.text} are those of {of_whom}")
            else:
                candidate.claim("copies", f"{twin.text} are those of {of_whom}.")
        if not twins:
            sentence = "No other run on the board has half of the long responses."
            candidate.findings.append(Finding("copies", "checked", sentence))

    def _admission_of(
        self, candidate: Candidate, target: Path, admissions: dict[Path, Admission]
    ) -> Admission:
        """Say what was found about a run, for its page on the board."""
        model = self._name_of(candidate, target, admissions)
        who = self.submitter or "the submission"
        candidate.claim(
            "model", f"Nobody can check that {model} gave the responses; {who} says it."
        )
        items = []
        for finding in candidate.all_findings():
            if finding.outcome != "refused":
                sentence = escape(without_secrets(finding.sentence))[:_MAX_SENTENCE]
                item = AdmissionItem(
                    name=finding.name, status=finding.outcome, sentence=sentence
                )
                items.append(item)
        now = datetime.now(UTC)
        return Admission(
            submission=self.submission,
            submitter=self.submitter,
            admitted_at=now.isoformat(timespec="seconds"),
            sha256=self.digest,
            model=model,
            items=items,
        )

    def _name_of(
        self, candidate: Candidate, target: Path, admissions: dict[Path, Admission]
    ) -> str:
        """Return the name of a model on the board, which belongs to who brought it first."""
        owners = {}
        for folder, admission in admissions.items():
            if folder != target:
                owners[name_key(admission.model)] = admission.submission
        name = candidate.model
        owner = owners.get(name_key(name))
        if owner is None:
            return name
        sentence = f"The submission names its model {name!r}, as the submission {owner!r} did first."
        candidate.claim("name", sentence)
        own_name = f"{name} ({self.submission})"
        number = 1
        # Who takes this name, too, must not keep the submission from its model.
        while name_key(own_name) in owners:
            number += 1
            own_name = f"{name} ({self.submission}, {number})"
        return own_name


def _check_replaced(candidate: Candidate, target: Path) -> None:
    """Refuse a run that has less than the run whose place it would take."""
    lost = candidate.lost_tasks(target)
    if lost:
        sentence = (
            f"the run at {target} has more; remove its folder first if it is to go"
        )
        candidate.refuse("runs", sentence, lost)


def _check_name(candidate: Candidate) -> None:
    """Refuse the name of a model that people cannot read, or would take for another name."""
    name = candidate.model
    if not letters_of(name):
        sentence = f"the name {name!r} has no letter and no digit"
        candidate.refuse("model", sentence)
    alphabets = mixed_alphabets(name)
    if alphabets:
        sentence = f"the name {name!r} mixes letters of {' and '.join(alphabets)}"
        candidate.refuse("model", sentence)

"""Samples beside the page, in files that it loads when somebody opens them.

A page from disk may not fetch files, but it may load scripts that lie beside it. So each file is a script of one call:
a name, and JSON as a text, which `samples.js` parses; nothing of a sample is ever a program. Everything is below
`samples/`:

- `runs/RUN/index-N.js`: of 5,000 samples each what a list shows and a quick search finds.
- `runs/RUN/responses-N.js` and `outcomes-N.js`: of 200 samples each what the model wrote, and what was made of it under
  every variant.
- `questions/HASH.js`: what 200 samples were asked, by the hash of the content: runs over the same documents share it.
- `pictures/HASH.png`: see `sample_pictures`.
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import fin_tasks
from fin_tasks.report.collect import Collected
from fin_tasks.report.earlier import Parts, code_version, key_of_part
from fin_tasks.report.entry import RunFacts, Scores
from fin_tasks.report.site.item_samples import beside
from fin_tasks.report.site.sample_pictures import Gallery, find_pictures
from fin_tasks.report.site.sample_runs import Job, RunSamples, SampleIndex, write_runs
from fin_tasks.settings import Settings

__all__ = ["SampleIndex", "write_samples"]

FOLDER = "samples"
_WORTH_PROCESSES = 128 * 2**20  # bytes to read from which on the start of other processes pays
_MOST_PROCESSES = 4
_SHARES = 4  # of a process: the more there are, the finer the progress, and the more questions are made twice


def write_samples(
    collected: Collected,
    out: Path,
    *,
    folders: Sequence[Path] | None = None,
    parts: Parts | None = None,
    meanwhile: Callable[[], None] | None = None,
    on_done: Callable[[int, int], None] | None = None,
) -> SampleIndex:
    """Write the samples of every run that has a file of them.

    Args:
        collected: Whose runs.
        out: The folder of the page, which is there; files go below `samples/` in it.
        folders: Where pictures lie that may be shown, beside those of each run's own folder; where None the folders
            of data that the environment names, and the samples that come along.
        parts: Those of an earlier report, from which runs that are unchanged are taken over.
        meanwhile: Done while other processes write, before any run is waited for.
        on_done: Told how many runs are written, and of how many.

    Returns:
        What the page is told. A run whose file cannot be read any more is not in it.
    """
    root = out / FOLDER
    root.mkdir(parents=True, exist_ok=True)
    files = {run.id: path for run in collected.runs if (path := collected.samples(run.id)) is not None}
    known = _data_folders() if folders is None else folders
    gallery = find_pictures([*known, *dict.fromkeys(path.parent for path in files.values())])
    jobs = {run.id: _job(run, files[run.id], collected) for run in collected.runs if run.id in files}
    # before anything is read: what changes meanwhile must be read again
    keys = {name: _keys(job, gallery) for name, job in jobs.items()} if parts else {}
    written = dict(_taken(parts, keys)) if parts else {}
    pending = [job for name, job in jobs.items() if name not in written]
    for some in _write_all(pending, root, gallery, meanwhile or (lambda: None)):
        for one in some:
            written[one.run] = one
            if parts:
                parts.add(keys[one.run][one.asked_pictures], list(_files(one)), asdict(one))
        if on_done is not None:
            on_done(len(written), len(jobs))
    return SampleIndex(tuple(written[name] for name in jobs if name in written))


def _job(run: RunFacts, path: Path, collected: Collected) -> Job:
    scores = None if run.source == "lm-eval" else collected.scores(run.id)
    return Job(run=run.id, task=run.task, path=path, scores=scores)


def _keys(job: Job, gallery: Gallery) -> tuple[str, str]:
    """Return the key of a run's samples where no picture is asked for, and where one is."""
    files = [job.path, *(beside(job.path) if job.scores is not None else ())]
    stats = [(str(file.resolve()), file.stat()) for file in files if file.exists()]
    same = [(name, stat.st_size, stat.st_mtime_ns) for name, stat in stats]
    decides = (code_version(), job.run, same, _digest(job.scores or {}))
    return key_of_part(*decides), key_of_part(*decides, gallery.fingerprint)


def _digest(scores: Mapping[str, Scores]) -> str:
    digest = hashlib.sha256()
    for variant, one in scores.items():
        digest.update(repr((variant, one.ids, list(one.values))).encode("utf-8", "backslashreplace"))
        for values in one.values.values():
            digest.update(values.tobytes())
    return digest.hexdigest()


def _taken(parts: Parts, keys: Mapping[str, tuple[str, str]]) -> Iterator[tuple[str, RunSamples]]:
    for name, own in keys.items():
        facts: Any = next((found for key in own if (found := parts.take(key)) is not None), None)
        if facts is not None:
            lists: dict[str, Any] = {key: tuple(of) for key, of in facts.items() if isinstance(of, list)}
            yield name, RunSamples(**{**facts, **lists})


def _files(run: RunSamples) -> Iterator[str]:
    yield f"{FOLDER}/runs/{run.folder}/"
    yield from (f"{FOLDER}/questions/{name}.js" for name in dict.fromkeys(run.questions))
    yield from (f"{FOLDER}/pictures/{name}" for name in run.pictures)


def _write_all(
    jobs: Sequence[Job], root: Path, gallery: Gallery, meanwhile: Callable[[], None]
) -> Iterable[list[RunSamples]]:
    """Write runs, many of them side by side; gives what is written as it comes."""
    sizes = [job.path.stat().st_size if job.path.exists() else 0 for job in jobs]
    if sum(sizes) < _WORTH_PROCESSES or len(jobs) < 2:
        meanwhile()
        yield write_runs(jobs, root, gallery)
        return
    from joblib import Parallel, cpu_count, delayed

    count = min(cpu_count(), _MOST_PROCESSES, len(jobs))
    shares = _shares(dict(zip(jobs, sizes, strict=True)), most=sum(sizes) / (count * _SHARES))
    done = Parallel(n_jobs=count, return_as="generator_unordered")(
        delayed(write_runs)(share, root, gallery) for share in shares
    )
    try:
        meanwhile()
    except Exception:
        list(done)  # nobody may write any more when the folder goes away
        raise
    yield from done


def _shares(sizes: Mapping[Job, int], *, most: float) -> list[list[Job]]:
    """Deal out runs by size, runs of a task together: they have the same questions. The largest shares come first."""
    shares: list[list[Job]] = []
    held: list[int] = []
    for job in sorted(sizes, key=lambda job: (job.task, -sizes[job])):
        if not shares or shares[-1][-1].task != job.task or held[-1] + sizes[job] > most:
            shares.append([])
            held.append(0)
        shares[-1].append(job)
        held[-1] += sizes[job]
    return [share for _, share in sorted(zip(held, shares, strict=True), key=lambda one: -one[0])]


def _data_folders() -> list[Path]:
    settings = Settings.from_environ()
    own = Path(fin_tasks.__file__).parent / "benchmarks"
    return [own, *([settings.data_dir] if settings.data_dir else []), settings.cache_dir]

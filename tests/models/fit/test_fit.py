"""Which model is chosen for which computer, and the reasons against the others."""

from typing import Any

import msgspec
import pytest

from sapo_desktop.core.errors import TooBig
from sapo_desktop.core.fitting import Fit, Parts, PassSeconds, ProductTimes, Way
from sapo_desktop.core.models import HubModel, Installed, KeptFile
from sapo_desktop.core.settings import Settings
from sapo_desktop.models.catalogue import model_catalogue
from sapo_desktop.models.describe import supposed
from sapo_desktop.models.fit.fit import _badge, badges, estimate, fit
from sapo_desktop.models.fit.pace import round_seconds
from sapo_desktop.models.fit.room import OTHER_PROCESSES, available, described
from sapo_desktop.models.fit.ways import Model, plan, to_be_measured, way_for, ways
from sapo_desktop.system.hardware import Gpu, Hardware
from tests.builders import MACHINE

GIB = 2**30
CATALOGUE = model_catalogue()
SETTINGS = Settings()
ROOMY = msgspec.structs.replace(MACHINE, cores=8, memory_free=64 * GIB)


def chosen(ram: float, vram: float = 0, settings: Settings = SETTINGS) -> Fit:
    return fit(described(ram, vram, MACHINE), CATALOGUE, settings)


def model(name: str) -> Model:
    entry = CATALOGUE.find(name)
    assert entry is not None
    return Model.of(entry)


@pytest.mark.parametrize(
    ("ram", "vram", "name", "generator", "trainer", "device"),
    [
        (0.8, 0, "starter", "llama.cpp", "none", "cpu"),
        (1, 0, "starter", "torch", "torch", "cpu"),
        (2, 0, "smollm2-135m", "torch", "torch", "cpu"),
        (4, 0, "smollm2-360m", "torch", "torch", "cpu"),
        (8, 0, "qwen2.5-0.5b", "torch", "torch", "cpu"),
        (16, 0, "qwen3-0.6b", "torch", "torch", "cpu"),
        (16, 8, "qwen3-4b", "torch", "torch", "cuda"),
        (32, 12, "qwen2.5-7b", "torch", "torch", "cuda"),
        (32, 24, "qwen3-8b", "torch", "torch", "cuda"),
        (64, 48, "qwen3-8b", "torch", "torch", "cuda"),
    ],
)
def test_from_weak_to_strong(ram: float, vram: float, name: str, generator: str, trainer: str, device: str) -> None:
    found = chosen(ram, vram)
    way = found.chosen
    assert (way.model, way.generator, way.trainer, way.device) == (name, generator, trainer, device)
    assert way.fits and way.why_not == ""
    assert way.memory.total <= found.available.memory_free
    assert way.device_memory.total <= found.available.device_memory_free
    assert (way.micro_batch == 0) == (trainer == "none")


def test_more_memory_never_means_a_smaller_model() -> None:
    sizes = [model(chosen(ram).chosen.model).parameters for ram in (2, 3, 4, 6, 8, 12, 16, 32, 64, 128)]
    assert sizes == sorted(sizes)


def test_what_is_not_chosen_is_explained_with_numbers() -> None:
    found = chosen(8, settings=Settings(round_most=20))
    others = {line.split(":")[0].split(" could")[0].split(" is never")[0]: line for line in map(str, found.bigger)}
    larger = [entry for entry in CATALOGUE.models if entry.exact_parameters > model(found.chosen.model).parameters]
    assert set(others) == {entry.name for entry in larger}
    assert "weights 6.2 GB" in others["Qwen2.5 1.5B Instruct"] and "6.4 GB are free" in others["Qwen2.5 1.5B Instruct"]
    assert "is never chosen automatically" in others["Llama 3.2 1B Instruct"]
    assert "a round would take about" in others["Qwen3 0.6B"] and "round_most allows 20 s" in others["Qwen3 0.6B"]


def test_the_ways_go_from_answering_only_to_a_server_that_answers() -> None:
    found = chosen(8, settings=Settings(remote_url="http://127.0.0.1:1")).ways
    assert [(way.generator, way.trainer) for way in found] == [
        ("llama.cpp", "none"),
        ("llama.cpp", "torch"),
        ("torch", "torch"),
        ("remote", "torch"),
    ]
    assert min(found, key=lambda way: way.estimate) is found[0]
    assert "remote" not in {way.generator for way in chosen(8).ways}, "a server that nobody named is no way"
    assert [way.unmeasured for way in found] == [False, False, False, True]
    assert all(way.memory.reserve == 500_000_000 for way in found)


def test_graphics_cards_and_half_precision_are_marked_unmeasured() -> None:
    assert chosen(16, 8).chosen.unmeasured
    fast = msgspec.structs.replace(MACHINE, fast_bfloat16=True)
    way = ways(model("qwen2.5-0.5b"), fast, SETTINGS)[2]
    assert way.precision == "bfloat16" and way.unmeasured


def test_the_format_of_a_run_and_of_full_training_stays() -> None:
    fast = msgspec.structs.replace(MACHINE, fast_bfloat16=True)
    entry = model("qwen2.5-0.5b")
    assert plan(entry, fast, SETTINGS).precision == "bfloat16"
    kept, light = plan(entry, fast, SETTINGS, precision="float32"), plan(entry, fast, SETTINGS)
    assert kept.precision == "float32" and kept.memory.weights == 2 * light.memory.weights
    large = msgspec.structs.replace(fast, memory_free=64 * GIB)
    for before in ("", "bfloat16"):
        assert plan(entry, large, Settings(method="full"), precision=before).precision == "float32"


def test_a_run_that_began_on_a_processor_binds_no_card() -> None:
    card = msgspec.structs.replace(MACHINE, gpus=[Gpu("card", 6 * GIB, 6 * GIB)])
    assert plan(model("qwen2.5-1.5b"), card, SETTINGS, precision="float32").precision == "bfloat16"


def test_only_where_it_decides_anything_is_a_width_measured() -> None:
    large, small = model("qwen2.5-0.5b"), model("starter")
    assert to_be_measured(large, MACHINE, SETTINGS, "")
    assert not to_be_measured(small, MACHINE, SETTINGS, "")
    assert not to_be_measured(large, MACHINE, Settings(method="full"), "")
    card = msgspec.structs.replace(MACHINE, gpus=[Gpu("card", 24 * GIB, 24 * GIB)])
    assert not to_be_measured(large, card, SETTINGS, "") and to_be_measured(large, card, SETTINGS, "cpu")
    seconds = PassSeconds(generating=1e-9, learning=1e-9)
    times = ProductTimes(hidden=large.shape.hidden, float32=seconds, bfloat16=seconds)
    assert not to_be_measured(large, msgspec.structs.replace(MACHINE, products=[times]), SETTINGS, "")


def test_the_next_round_is_answered_during_the_step_where_there_is_room_left() -> None:
    entry = model("qwen2.5-0.5b")
    roomy, alone = plan(entry, ROOMY, SETTINGS), plan(entry, ROOMY, Settings(overlap=False))
    assert roomy.overlap and not alone.overlap and roomy.estimate > alone.estimate
    assert (roomy.batch, roomy.micro_batch, roomy.max_tokens) == (alone.batch, alone.micro_batch, alone.max_tokens)
    short = msgspec.structs.replace(ROOMY, memory_free=roomy.memory.total - 1)
    assert plan(entry, short, SETTINGS) == plan(entry, short, Settings(overlap=False))


@pytest.mark.parametrize(
    ("settings", "changes"),
    [
        (Settings(threads=1), {}),
        (SETTINGS, {"cores": 3}),
        (SETTINGS, {"gpus": [Gpu("card", 24 * GIB, 24 * GIB)]}),
    ],
)
def test_it_takes_two_threads_of_a_processor(settings: Settings, changes: dict[str, Any]) -> None:
    assert not plan(model("starter"), msgspec.structs.replace(ROOMY, **changes), settings).overlap


def test_settings_that_were_changed_are_wishes() -> None:
    way = chosen(8, settings=Settings(model="qwen2.5-0.5b", answers=6, max_tokens=64, lora_rank=4)).chosen
    assert (way.answers, way.max_tokens, way.lora_rank) == (6, 64, 4)
    assert way.memory.reserve == 500_000_000


def test_what_was_set_for_another_model_is_left_to_the_program_again() -> None:
    way = chosen(8, settings=Settings(model="starter", learning_rate=2e-3)).chosen
    assert way.settings == {"model": way.model, "max_tokens": "0", "learning_rate": "0"}


# -- what the machine has to say ---------------------------------------------------------------------------


def test_of_several_cards_the_one_with_most_free_memory_counts() -> None:
    cards = [Gpu("big", 24 * GIB, 4 * GIB), Gpu("small", 12 * GIB, 11 * GIB)]
    here = available(msgspec.structs.replace(MACHINE, gpus=cards), SETTINGS)
    assert (here.device, here.device_name, here.device_memory_free) == ("cuda", "small", 11 * GIB)
    assert "Of 2 graphics cards" in str(here.notes[0])


def test_a_card_in_use_is_taken_for_what_it_has_left() -> None:
    busy = msgspec.structs.replace(MACHINE, gpus=[Gpu("card", 24 * GIB, 5 * GIB)])
    found = fit(busy, CATALOGUE, SETTINGS)
    assert "The graphics card is in use: 20.4 GB of 25.8 GB are taken." in map(str, found.available.notes)
    assert found.chosen.device_memory.total <= 5 * GIB


def test_a_card_is_left_alone_where_the_settings_say_so() -> None:
    card = msgspec.structs.replace(MACHINE, gpus=[Gpu("card", 24 * GIB, 24 * GIB)])
    assert available(card, Settings(device="cpu")).device == "cpu"


def test_one_memory_for_graphics_and_processor_is_counted_once() -> None:
    mac = msgspec.structs.replace(MACHINE, unified=True, memory=16 * GIB, memory_free=12 * GIB)
    for device in ("auto", "mps"):
        found = fit(mac, CATALOGUE, Settings(device=device))
        assert found.chosen.device_memory.total == 0 and found.chosen.unmeasured
        assert found.chosen.memory.total <= 12 * GIB
        assert any("counted once" in str(note) for note in found.available.notes)


def test_containers_and_swap_are_said() -> None:
    here = available(msgspec.structs.replace(MACHINE, memory_limited=True, swap=4 * GIB), SETTINGS)
    assert tuple(map(str, here.notes)) == (
        "A container limits memory to 8.6 GB.",
        "4.3 GB of swap are not counted: a model in swap is too slow to use.",
    )
    assert here.memory_free == MACHINE.memory_free


def test_a_described_machine_is_assumed_to_have_most_of_its_memory_free() -> None:
    there = described(4, 8, msgspec.structs.replace(MACHINE, memory_limited=True, swap=GIB))
    assert (there.memory, there.memory_free, there.memory_limited, there.swap) == (4 * GIB, 3 * GIB, False, 0)
    assert there.gpus[0].memory == 8 * GIB and there.gpus[0].free < 8 * GIB
    assert described(None, 0, there).gpus == [] and described(None, None, there) is there


# -- badges ------------------------------------------------------------------------------------------------


def installed(name: str, source: str, sha256: str = "0" * 64) -> Installed:
    files = {"model.gguf": KeptFile(bytes=1, sha256=sha256)}
    return Installed(name=name, kind="gguf", source=source, installed=1.0, files=files)


def test_a_model_of_the_catalogue_is_recognised_under_any_name() -> None:
    entry = CATALOGUE.find("smollm2-135m")
    assert entry is not None and entry.package is not None
    for here in (
        installed("mine", "/home/me/x.gguf", entry.package.sha256),
        installed("HuggingFaceTB--SmolLM2-135M-Instruct", entry.repository),
        installed("smollm2-135m", "/home/me/x.gguf"),
    ):
        found = {badge.id: badge.here for badge in badges(MACHINE, CATALOGUE, SETTINGS, [here]) if badge.downloaded}
        assert found == {"starter": "starter", "smollm2-135m": here.name}
    twice = [installed("mine", entry.repository), installed("smollm2-135m", entry.repository)]
    assert [badge.here for badge in badges(MACHINE, CATALOGUE, SETTINGS, twice)][1] == "smollm2-135m"
    assert not any(badge.here == "mine" for badge in badges(MACHINE, CATALOGUE, SETTINGS, [installed("mine", "/x")]))


def test_a_model_of_the_hub_is_estimated_near_to_what_its_files_would_say() -> None:
    for entry in CATALOGUE.models[1:]:
        exact = estimate(Model.of(entry), MACHINE, SETTINGS)
        hub = HubModel(
            repository=entry.repository,
            kind="transformers",
            architecture=entry.architecture,
            parameters=int(0.9 * entry.exact_parameters),
            bytes=1,
        )
        about = estimate(supposed(hub), MACHINE, SETTINGS)
        assert about.parameters == pytest.approx(hub.parameters, rel=0.05)
        assert about.round_seconds == 0 or 0.7 < about.round_seconds / exact.round_seconds < 1, entry.id
    answers = HubModel(repository="o/x", kind="gguf", parameters=4 * 10**9, bytes=3 * 10**9)
    only = estimate(supposed(answers), described(64, 0, MACHINE), SETTINGS, llama_cpp=False)
    assert only.badge == "fits" and only.round_seconds == 0 and 3 * 10**9 < only.estimate < 16 * 10**9
    assert estimate(supposed(answers), described(2, 0, MACHINE), SETTINGS).badge == "too big"
    for parameters in (1, 10**13):  # whatever a hub says, nothing fails
        strange = msgspec.structs.replace(answers, parameters=parameters, architecture="LlamaForCausalLM")
        assert estimate(supposed(strange), MACHINE, SETTINGS).estimate > 0


def test_badges_tell_what_fits_here() -> None:
    here = msgspec.structs.replace(MACHINE, memory_free=int(7.2e9))
    found = {badge.id: badge for badge in badges(here, CATALOGUE, SETTINGS, [installed("qwen3-8b", "o/x")])}
    assert len(found) == len(CATALOGUE.models)
    assert (found["starter"].badge, found["starter"].downloaded) == ("fits", True)
    assert (found["qwen3-8b"].badge, found["qwen3-8b"].downloaded) == ("too big", True)
    assert found["qwen3-8b"].estimate > 30e9
    assert str(found["qwen3-8b"].way) == "answers with llama.cpp (Q4_K_M), learns nothing"
    assert "tight" in {badge.badge for badge in found.values()}
    assert found["llama-3.2-1b"].gate == "account" and found["llama-3.2-1b"].unverified


# -- the loader's question ---------------------------------------------------------------------------------


def with_free(free: float) -> Hardware:
    return msgspec.structs.replace(MACHINE, memory_free=int(free * 1e9))


def test_where_memory_is_plenty_the_settings_stand() -> None:
    way = plan(model("starter"), with_free(6), SETTINGS)
    assert (way.micro_batch, way.max_tokens, way.answers) == (16, 256, 8)
    assert way.batch == 64 and way.why_not == ""


def test_less_at_once_comes_before_shorter_answers() -> None:
    def found(gigabytes: float) -> Way:
        return plan(model("qwen2.5-0.5b"), with_free(gigabytes), Settings(max_tokens=512))

    assert (found(12).batch, found(12).recompute) == (64, False)
    assert found(4.5).batch < 64 and found(4.5).recompute and found(4.5).max_tokens == 512
    assert found(3.2).batch < 8 and found(3.2).max_tokens < 512


def test_a_card_that_lacks_room_holds_the_base_in_8_bits_before_answers_get_shorter() -> None:
    def found(name: str, gigabytes: float) -> Way:
        here = msgspec.structs.replace(MACHINE, gpus=[Gpu("card", 24 * GIB, int(gigabytes * 1e9))])
        return plan(model(name), here, Settings(device="cuda", answers=8, max_tokens=256))

    assert not found("qwen3-1.7b", 7).rounded and found("qwen3-1.7b", 5).recompute
    way = found("qwen3-1.7b", 4.2)
    assert (way.rounded, way.recompute, way.max_tokens, way.why_not) == (True, True, 256, "")
    assert (found("qwen3-4b", 8).rounded, found("qwen3-4b", 16).rounded) == (True, False)
    assert "bfloat16, its matrices in 8 bits" in str(way.words)


def test_on_a_card_layers_are_made_again_where_larger_micro_batches_take_less_time() -> None:
    def found(gigabytes: float) -> Way:
        here = msgspec.structs.replace(MACHINE, gpus=[Gpu("card", 24 * GIB, int(gigabytes * 1e9))])
        return plan(model("qwen2.5-0.5b"), here, Settings(device="cuda"))

    scarce, plenty = found(4), found(22)
    assert (scarce.recompute, scarce.micro_batch) == (True, 16)
    assert (plenty.recompute, plenty.micro_batch) == (False, 16)
    shape = model("qwen2.5-0.5b").shape
    kept = msgspec.structs.replace(scarce, recompute=False, micro_batch=1)  # what else has room in 4 GB
    assert scarce.round_seconds < round_seconds(kept, shape, MACHINE, 8, 4) / 2


def test_what_is_said_to_lack_is_the_least_that_would_do() -> None:
    here = msgspec.structs.replace(MACHINE, gpus=[Gpu("card", 8 * GIB, 7 * GIB)])
    settings = Settings(device="cuda", trainer="torch")
    found = way_for(model("qwen3-8b"), here, settings, llama_cpp=False)
    assert not found.fits and found.rounded and found.device_memory.total < 12.5e9


def ways_of(name: str, here: Hardware) -> list[Way]:
    return ways(model(name), here, Settings(max_tokens=256))


def test_eight_bits_never_come_with_shorter_answers_or_a_handful_at_once() -> None:
    found = []
    for tenths in range(18, 90, 3):
        here = msgspec.structs.replace(MACHINE, gpus=[Gpu("card", 24 * GIB, tenths * 10**8)])
        found += [way for way in ways_of("qwen3-1.7b", here) if way.rounded and way.fits]
    assert found and all(way.batch >= 8 and way.max_tokens == 256 for way in found)


def test_a_processor_computes_with_the_base_as_it_is() -> None:
    for free in (2, 3, 4, 6):
        here = msgspec.structs.replace(with_free(free), fast_bfloat16=True)
        [way] = [way for way in ways_of("qwen2.5-0.5b", here) if way.generator == way.trainer]
        assert (way.precision, way.rounded) == ("bfloat16", False)


def test_three_gigabytes_teach_half_a_billion_parameters() -> None:
    way = plan(model("qwen2.5-0.5b"), with_free(3.5), Settings(answers=8, max_tokens=256))
    assert way.fits and way.why_not == "" and way.max_tokens == 256 and way.estimate < 3e9


def test_the_reserve_is_given_up_before_the_model_is() -> None:
    way = plan(model("qwen2.5-0.5b"), with_free(2.9), SETTINGS)
    assert way.fits and "other programs' reserve is used up" in str(way.why_not)
    with pytest.raises(TooBig, match=r"qwen2\.5-0\.5b does not fit: .* GB are free\. Close other programs, or"):
        plan(model("qwen2.5-0.5b"), with_free(2.3), SETTINGS)


def test_a_ceiling_means_less_at_once_and_one_that_is_too_low_names_the_least_that_would_do() -> None:
    settings = msgspec.structs.replace(SETTINGS, memory_most=4.0)
    way = plan(model("qwen2.5-0.5b"), with_free(20), settings)
    assert way.fits and way.estimate - way.memory.reserve <= 4.0e9 - OTHER_PROCESSES
    with pytest.raises(TooBig, match=r"memory_most leaves .* Set memory_most to (\d+\.\d) GB or more") as refused:
        plan(model("qwen2.5-0.5b"), with_free(20), msgspec.structs.replace(SETTINGS, memory_most=1.0))
    assert "other programs" not in str(refused.value), "they are not in the way"
    least = float(str(refused.value).partition("memory_most to ")[2].split()[0])
    enough = msgspec.structs.replace(SETTINGS, memory_most=least)
    assert plan(model("qwen2.5-0.5b"), with_free(20), enough).fits


def test_a_ceiling_of_the_card_that_is_too_low_names_the_least_that_would_do() -> None:
    here = msgspec.structs.replace(MACHINE, gpus=[Gpu("card", 24 * GIB, 20 * GIB)])
    little = msgspec.structs.replace(SETTINGS, device="cuda", card_memory_most=1.0)
    with pytest.raises(TooBig, match=r"card_memory_most leaves 1\.0 GB") as refused:
        plan(model("qwen2.5-0.5b"), here, little)
    least = float(str(refused.value).partition("card_memory_most to ")[2].split()[0])
    enough = msgspec.structs.replace(little, card_memory_most=least)
    assert plan(model("qwen2.5-0.5b"), here, enough).device_memory.total <= least * 1e9


def test_what_the_waiting_process_holds_already_is_not_counted_twice() -> None:
    with pytest.raises(TooBig):
        plan(model("qwen2.5-0.5b"), with_free(2.3), SETTINGS)
    assert plan(model("qwen2.5-0.5b"), with_free(2.3), SETTINGS, running=400_000_000).fits


def test_next_to_a_generator_of_its_own_the_trainer_gets_less() -> None:
    alone = plan(model("qwen2.5-0.5b"), with_free(5.5), SETTINGS)
    beside = plan(model("qwen2.5-0.5b"), with_free(5.5), SETTINGS, generator="llama.cpp")
    assert beside.generator == "llama.cpp" and beside.estimate <= 5.5e9
    assert beside.micro_batch <= alone.micro_batch


def test_a_card_that_is_too_small_or_in_use_leaves_the_processor() -> None:
    for vram in (0.5, 1):
        found = chosen(32, vram)
        assert (found.chosen.model, found.chosen.device, found.chosen.fits) == ("qwen3-0.6b", "cpu", True)
        assert found.available.device == "cpu"
    busy = msgspec.structs.replace(MACHINE, gpus=[Gpu("busy", 24 * GIB, GIB // 2)])
    way = way_for(model("qwen2.5-0.5b"), busy, SETTINGS, llama_cpp=True)
    assert (way.fits, way.trainer, way.device) == (True, "torch", "cpu")
    # A user who names the card gets the card, or the reason why not.
    named = way_for(model("qwen2.5-0.5b"), busy, Settings(device="cuda", trainer="torch"), llama_cpp=True)
    assert not named.fits and named.device == "cuda"


def test_cards_that_torch_cannot_use_are_named_and_not_counted() -> None:
    here = msgspec.structs.replace(MACHINE, idle_gpus=["GeForce 4 MX"])
    assert available(here, SETTINGS).device == "cpu"
    assert "GeForce 4 MX: not used" in str(available(here, SETTINGS).notes[0])


def test_a_model_is_tight_by_its_memory_alone() -> None:
    here = available(MACHINE, Settings())
    way = msgspec.structs.replace(
        chosen(32).chosen, memory=Parts(weights=here.memory_free // 2), micro_batch=1, fits=True
    )
    assert _badge(way, here) == "fits", "one answer a pass is slow, and takes no more"
    assert _badge(msgspec.structs.replace(way, memory=Parts(weights=here.memory_free)), here) == "tight"

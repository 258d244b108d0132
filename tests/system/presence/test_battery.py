"""The computer's power supplies, as kernels list them."""

from pathlib import Path

import pytest

from sapo_desktop.system.presence.watch import Power, power

pytestmark = pytest.mark.skipif("sys.platform != 'linux'", reason="the kernel's list is Linux's")

MOUSE = "type=Battery scope=Device status=Discharging capacity=55 online=1"
BATTERY = "type=Battery present=1 status=Discharging capacity=80"


def listed(folder: Path, supplies: dict[str, str]) -> Power:
    for name, values in supplies.items():
        place = folder / name
        place.mkdir()
        for word in values.split():
            key, _, value = word.partition("=")
            (place / key).write_text(value.replace("_", " ") + "\n")
    return power(folder)


@pytest.mark.parametrize(
    ("supplies", "expected"),
    [
        ({}, Power()),
        ({"hidpp_battery_0": MOUSE}, Power()),
        ({"hidpp_battery_0": MOUSE, "AC": "type=Mains online=1"}, Power()),
        ({"hid-ups": "type=UPS scope=Device status=Discharging"}, Power()),
        ({"BAT0": BATTERY, "hidpp_battery_0": MOUSE.replace("55", "3")}, Power(True, 80, "BAT0")),
        ({"macsmc-battery": BATTERY}, Power(True, 80, "macsmc-battery")),
        ({"CMB1": BATTERY, "ACAD": "type=Mains online=0"}, Power(True, 80, "CMB1")),
        ({"qcom-battmgr-bat": BATTERY, "ucsi": "type=USB online=0"}, Power(True, 80, "qcom-battmgr-bat")),
        ({"sbs-5-000b": BATTERY, "ucsi": "type=USB online=1"}, Power(False, 80, "sbs-5-000b")),
        ({"BAT0": BATTERY, "ADP1": "type=Mains online=1"}, Power(False, 80, "BAT0")),
        ({"BAT0": "type=Battery present=0 status=Discharging"}, Power()),
        ({"BAT0": "type=Battery status=Unknown", "AC": "type=Mains online=0"}, Power(True, None, "BAT0")),
        ({"BAT0": "type=Battery status=Not_charging", "AC": "type=Mains online=0"}, Power(False, None, "BAT0")),
        ({"BAT0": "type=Battery status=Full capacity=x"}, Power(False, None, "BAT0")),
        ({"ups": "type=UPS scope=System status=Discharging capacity=90"}, Power(True, 90, "ups")),
    ],
)
def test_only_what_powers_the_computer_counts_whatever_its_name(
    tmp_path: Path, supplies: dict[str, str], expected: Power
) -> None:
    assert listed(tmp_path, supplies) == expected


def test_of_two_batteries_the_one_in_use_decides_and_both_are_charge(tmp_path: Path) -> None:
    first = "type=Battery status=Unknown energy_now=30 energy_full=30"
    second = "type=Battery status=Discharging energy_now=15 energy_full=60"
    assert listed(tmp_path, {"BAT0": first, "BAT1": second}) == Power(True, 50, "BAT1")


@pytest.mark.parametrize(("roles", "on_battery"), [("[source]_sink", True), ("source_[sink]", False)])
def test_a_port_that_charges_a_phone_is_no_plug(tmp_path: Path, roles: str, on_battery: bool) -> None:
    port = tmp_path / "ucsi" / "device" / "typec" / "port0"
    port.mkdir(parents=True)
    (port / "power_role").write_text(roles.replace("_", " "))
    (tmp_path / "ucsi" / "type").write_text("USB")
    (tmp_path / "ucsi" / "online").write_text("1")
    assert listed(tmp_path, {"BAT0": BATTERY}).on_battery is on_battery


def test_where_nothing_is_listed_nothing_is_on_battery(tmp_path: Path) -> None:
    assert power(tmp_path / "nowhere") == Power()

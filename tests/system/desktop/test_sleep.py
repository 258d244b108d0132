"""Work before the computer sleeps: a real bus, and a service on it that stands in for logind."""

import textwrap
from pathlib import Path

import pytest

from tests.system.on_a_bus import needs_a_bus, plays

NIGHTS = textwrap.dedent(
    """
    import select, threading
    from jeepney import DBusAddress, new_method_return, new_signal
    from jeepney.bus_messages import message_bus
    from jeepney.io.blocking import open_dbus_connection
    from sapo_desktop.system.desktop import sleep
    from sapo_desktop.system.presence.bus import NoBus

    calls = []
    try:
        sleep.follow(calls.append)
        raise AssertionError("nobody is there to tell")
    except NoBus as error:
        assert "login1 does not answer" in str(error), error

    serving = open_dbus_connection("SESSION", enable_fds=True)
    serving.send_and_get_reply(message_bus.RequestName("org.freedesktop.login1"))
    sender = DBusAddress("/org/freedesktop/login1", interface="org.freedesktop.login1.Manager")

    def say(name, signature, *values):
        serving.send(new_signal(sender, name, signature, values))

    def is_held():
        return not select.select([ours], [], [], 0)[0]

    threading.Thread(target=sleep.follow, args=(lambda: calls.append(is_held()),), daemon=True).start()
    for night in (1, 2):
        while (asked := serving.receive()).header.fields.get(3) != "Inhibit":
            pass
        assert (asked.body[0], asked.body[3]) == ("sleep", "delay"), asked.body
        ours, theirs = os.pipe()
        serving.send(new_method_return(asked, "h", (theirs,)))
        os.close(theirs)
        say("SessionNew", "so", "1", "/org/freedesktop/login1/session/_31")
        say("PrepareForSleep", "b", True)
        assert select.select([ours], [], [], 20)[0], "the computer may sleep"
        assert calls == [True] * night, "it was held until all was written"
        say("PrepareForSleep", "b", False)
    print("done")
    """
)


@pytest.mark.allowed_skip("D-Bus is what Linux desktops have")
@needs_a_bus
def test_logind_holds_the_sleep_back_until_all_is_written_each_time(tmp_path: Path) -> None:
    plays(NIGHTS, tmp_path)

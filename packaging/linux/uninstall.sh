#!/bin/sh
# Takes SAPO Desktop away: `sapo-desktop-uninstall`. Asks what is to become of models and history, which are yours;
# `--keep` and `--delete` answer beforehand. What the package manager installed it leaves to the package manager.
set -eu
data=${XDG_DATA_HOME:-$HOME/.local/share}
config=${XDG_CONFIG_HOME:-$HOME/.config}
mine=$data/sapo-desktop
program=$(dirname "$(readlink -f "$0")")
answer=${1:-}

if [ -d "$mine" ] && [ "$answer" != --keep ] && [ "$answer" != --delete ]; then
    echo "Your models, checkpoints and history lie in $mine ($(du -sh "$mine" | cut -f1))."
    printf 'Delete them too? This cannot be undone. [y/N] '
    read -r word || word=n
    case $word in [yY]*) answer=--delete ;; *) answer=--keep ;; esac
fi
if [ "$answer" = --delete ]; then rm -rf "$mine"; else rm -rf "$mine/engine"; fi
rm -f "$config"/autostart/sapo-desktop*.desktop

case $program in
    "$data"/sapo-desktop-app)
        rm -f "$data/applications/sapo-desktop.desktop" "$data/metainfo/org.sapo_desktop.SapoDesktop.metainfo.xml"
        rm -f "$data/icons/hicolor/scalable/apps/sapo-desktop.svg" "$data"/icons/hicolor/*/apps/sapo-desktop.png
        rm -f "$HOME/.local/bin/sapo-desktop" "$HOME/.local/bin/sapo-desktop-uninstall"
        if command -v update-desktop-database >/dev/null; then
            update-desktop-database -q "$data/applications" || echo "The list of programs was not updated: log in again if SAPO Desktop is missing there or still shown."
        fi
        rm -rf "$program"
        ;;
    *) echo "The program itself came as a package: sudo apt remove sapo-desktop (Fedora: sudo dnf remove sapo-desktop)" ;;
esac
if [ -d "$mine" ]; then echo "Kept: $mine"; else echo "Your models, checkpoints and history are gone. A key in the keyring, if one is there, is named sapo-desktop."; fi

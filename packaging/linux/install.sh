#!/bin/sh
# Installs SAPO Desktop for this user, without root: unpacks what follows the last line of this file.
#     sh sapo-desktop-VERSION.run                installs, or puts a newer version in an older one's place
#     sh sapo-desktop-VERSION.run --check        only says whether the file is whole
set -eu
lines=@LINES@
expected=@SHA256@
data=${XDG_DATA_HOME:-$HOME/.local/share}
place=$data/sapo-desktop-app
new=$place.new

fail() { echo "$*" >&2; exit 1; }
payload() { tail -n "+$((lines + 1))" "$0"; }

[ "$(uname -sm)" = "Linux x86_64" ] || fail "This file is for Linux on x86-64; here is $(uname -sm). A clone of the repository may run here."
command -v xz >/dev/null || fail "xz is missing, which unpacks this file. On Debian and Ubuntu: sudo apt install xz-utils"
[ "$(payload | sha256sum | cut -d' ' -f1)" = "$expected" ] || fail "This file is damaged: fetch it again."
[ "${1:-}" != --check ] || { echo "The file is whole."; exit 0; }
glibc=$(getconf GNU_LIBC_VERSION 2>/dev/null | cut -d' ' -f2)
case $glibc in 2.[0-9]|2.[0-2][0-9]|2.3[0-4]) fail "This Linux is too old (glibc $glibc): it takes 2.35 or newer, as Debian 12 and Ubuntu 22.04 have. Update the system first." ;; esac

mkdir -p "$data"
rm -rf "$new"
free=$(df -Pk "$data" | awk 'NR == 2 { print $4 }')
[ "$free" -gt @KILOBYTES@ ] || fail "It takes $((@KILOBYTES@ / 1024)) MB in $data, and $((free / 1024)) MB are free. Make room there."
mkdir "$new"
trap 'rm -rf "$new"' EXIT
echo "Unpacking ..."
payload | xz -dc | tar -xf - -C "$new"
rm -rf "$place"  # a running program keeps its open files, and ends as the former version
mv "$new" "$place"
trap - EXIT

mkdir -p "$HOME/.local/bin" "$data/applications" "$data/metainfo"
ln -sf "$place/sapo-desktop" "$HOME/.local/bin/sapo-desktop"
ln -sf "$place/uninstall" "$HOME/.local/bin/sapo-desktop-uninstall"
(cd "$place/share" && find icons metainfo -type f -exec sh -c 'mkdir -p "$0/$(dirname "$1")" && cp "$1" "$0/$1"' "$data" {} \;)
sed "s|^Exec=.*|Exec=\"$(printf '%s' "$place/sapo-desktop" | sed 's/%/%%/g; s/[\\&|]/\\&/g')\" %u|" \
    "$place/share/applications/sapo-desktop.desktop" > "$data/applications/sapo-desktop.desktop"
if command -v update-desktop-database >/dev/null; then
    update-desktop-database -q "$data/applications" || echo "The list of programs was not updated: log in again if SAPO Desktop is missing there or still shown."
fi
echo "Installed. It is in the menu of programs as SAPO Desktop; in a terminal: $HOME/.local/bin/sapo-desktop"
echo "To take it away: $HOME/.local/bin/sapo-desktop-uninstall"
exit 0

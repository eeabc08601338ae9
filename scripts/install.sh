#!/bin/sh
# Installs Culvert on a Linux machine with systemd: the program, completion, a man page, users, a settings file and units.
# Run it again after a new build: it replaces program and units, and leaves settings and data alone.
#
#   sh scripts/install.sh              install or upgrade (as root)
#   sh scripts/install.sh --dry-run    say what would be done
#   sh scripts/install.sh --uninstall  remove program and units; settings and data stay
#
# DESTDIR=/some/folder installs below that folder and touches neither users nor systemd (for packages and tests).
set -eu

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
made=$here/../dist
[ -e "$made/culvert" ] || [ ! -e "$here/../culvert" ] || made=$here/.. # the archive of a release
program=$made/culvert
shared='bash-completion/completions/culvert fish/vendor_completions.d/culvert.fish man/man1/culvert.1 zsh/site-functions/_culvert'
example=$here/../config.example.toml
dest=${DESTDIR:-}
sockets='culvert.socket culvert-https.socket culvert-agents.socket culvert-api.socket'
dry=no
action=install

usage() {
  echo "usage: install.sh [--dry-run] [--uninstall]" >&2
  exit 2
}

for argument in "$@"; do
  case $argument in
    --dry-run) dry=yes ;;
    --uninstall) action=uninstall ;;
    *) usage ;;
  esac
done

fail() {
  echo "install.sh: $*" >&2
  exit 1
}

# Says what it does, and does it unless this is a dry run.
run() {
  echo "  $*"
  if [ "$dry" = no ]; then "$@"; fi
}

# Users and systemd belong to the running machine, not to a folder that becomes a package.
on_host() { [ -z "$dest" ]; }
has_systemd() { on_host && [ -d /run/systemd/system ]; }

make_user() {
  if id "$1" >/dev/null 2>&1; then return; fi
  run useradd --system --user-group --no-create-home --home-dir "$2" --shell /usr/sbin/nologin "$1"
}

# Replaces a file in one step: a running program keeps the file that it was started from.
put() {
  run install -m "$1" "$2" "$3.new"
  run mv -f "$3.new" "$3"
}

# Folder $3 with mode $1, owned by $2 where there are users.
folder() {
  run install -d -m "$1" "$3"
  if on_host; then run chown "$2" "$3"; fi
}

# The example with every key commented out but the data folder and three that suit a public server: only operators create accounts, nothing is
# sold, and no plan limits tunnels. What is left out keeps its default through upgrades.
write_settings() {
  echo "  write $1"
  if [ "$dry" = yes ]; then return; fi
  sed -e 's|^data_dir = .*|data_dir = "/var/lib/culvert"|; t' \
    -e 's/^signup = "open"/signup = "closed"/; t' \
    -e 's/^mode = "mock"/mode = "none"/; t' \
    -e 's/^default = "free"/default = "enterprise"/; t' \
    -e 's/^\([a-z0-9_]* = \)/#\1/' "$example" >"$1.new"
  chmod 640 "$1.new"
  if on_host; then chgrp culvert "$1.new"; fi
  mv "$1.new" "$1"
}

# The version of the program. A program that does not start here (a library is missing, another processor) is not installed.
try_program() {
  [ -x "$program" ] || fail "there is no $program: run 'npm ci && npm run build' first"
  if ! version=$("$program" version 2>&1); then
    fail "$program does not start on this machine: ${version:-it printed nothing}. Build it again here: 'npm ci && npm run build'"
  fi
}

install_all() {
  try_program
  echo "users"
  if on_host; then
    make_user culvert /var/lib/culvert
    make_user culvert-agent /nonexistent
  fi
  echo "program"
  run install -d -m 755 "$dest/usr/local/bin"
  put 755 "$program" "$dest/usr/local/bin/culvert"
  echo "completion and man page"
  for file in $shared; do
    [ -e "$made/share/$file" ] || continue # a build of an older version
    run mkdir -p "$dest/usr/local/share/${file%/*}"
    put 644 "$made/share/$file" "$dest/usr/local/share/$file"
  done
  echo "settings and data"
  folder 755 root:root "$dest/etc/culvert"
  folder 750 root:culvert-agent "$dest/etc/culvert/agents"
  folder 700 culvert:culvert "$dest/var/lib/culvert"
  if [ -e "$dest/etc/culvert/culvert.toml" ]; then
    echo "  keep $dest/etc/culvert/culvert.toml"
  else
    write_settings "$dest/etc/culvert/culvert.toml"
  fi
  echo "units"
  run install -d -m 755 "$dest/etc/systemd/system"
  put 644 "$here/culvert.service" "$dest/etc/systemd/system/culvert.service"
  put 644 "$here/culvert-agent@.service" "$dest/etc/systemd/system/culvert-agent@.service"
  for socket in $sockets; do put 644 "$here/$socket" "$dest/etc/systemd/system/$socket"; done
  if has_systemd; then run systemctl daemon-reload; fi
  echo
  if [ "$dry" = yes ]; then
    echo "No changes were made."
    return
  fi
  if has_systemd && systemctl is-active --quiet culvert; then
    echo "Upgraded: $version. Next: systemctl restart culvert   (requests in flight get time to finish)"
  else
    echo "Installed: $version. Next, with your domain and email address:"
    echo "  culvert setup example.com --email ann@example.com"
    echo "It checks DNS and ports, writes /etc/culvert/culvert.toml and starts the server. To do that by hand, edit the file, then:"
    echo "  culvert config check /etc/culvert/culvert.toml"
    echo "  systemctl enable --now culvert"
    echo "  journalctl -u culvert | grep -A 2 'owns the server'        (the password of the first account)"
    echo "For restarts that refuse no visitors, let systemd hold the sockets: set ListenStream= of $sockets"
    echo "as in the settings (systemctl edit culvert.socket), and enable the units of the listeners that you use."
  fi
}

uninstall_all() {
  if has_systemd; then
    # shellcheck disable=SC2086 # several words
    run systemctl disable --now $sockets culvert || true
    for unit in $(systemctl list-units --plain --no-legend 'culvert-agent@*' | cut -d ' ' -f 1); do
      run systemctl disable --now "$unit" || true
    done
  fi
  run rm -f "$dest/usr/local/bin/culvert"
  for file in $shared; do run rm -f "$dest/usr/local/share/$file"; done
  for unit in culvert.service culvert-agent@.service $sockets; do
    run rm -f "$dest/etc/systemd/system/$unit" "$dest/etc/systemd/system/$unit.d/culvert-setup.conf"
  done
  if has_systemd; then run systemctl daemon-reload; fi
  echo
  if [ "$dry" = yes ]; then
    echo "No changes were made."
    return
  fi
  echo "Removed. Settings, data and users are still there: /etc/culvert, /var/lib/culvert, culvert, culvert-agent."
}

if on_host && [ "$dry" = no ] && [ "$(id -u)" -ne 0 ]; then fail "needs root: run it with sudo, or use --dry-run"; fi
if [ "$action" = install ]; then install_all; else uninstall_all; fi

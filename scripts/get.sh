#!/bin/sh
# Installs the program of a Culvert release on Linux or macOS, after it has verified signature and checksum:
#
#   sh get.sh --from https://example.com/releases/1.0.0     or a folder: --from /media/usb/culvert
#
#   --to DIR                 where the program goes (/usr/local/bin)
#   --no-verify-signature    install without a check of the signature
set -eu

# The public key of releases, second line of culvert.pub. `npm run release` writes it here.
KEY='@RELEASE_KEY@'
from='' to=/usr/local/bin verify=yes work='' new=''

main() {
  while [ $# -gt 0 ]; do
    case $1 in
      --from) [ $# -gt 1 ] || usage; from=${2%/}; shift 2 ;;
      --to) [ $# -gt 1 ] || usage; to=${2%/}; shift 2 ;;
      --no-verify-signature) verify=no; shift ;;
      *) usage ;;
    esac
  done
  [ -n "$from" ] || usage
  case $from in http://* | https://* | /*) ;; *) from=$PWD/$from ;; esac
  case $to in /*) ;; *) to=$PWD/$to ;; esac
  find_platform
  work=$(mktemp -d)
  trap clean EXIT
  trap 'exit 1' HUP INT TERM
  cd "$work"
  fetch SHA256SUMS 1000000 || fail "there is no SHA256SUMS at $from. Give the address or folder of a release with --from."
  verify_signature
  install_program
}

usage() {
  echo "usage: get.sh --from URL|FOLDER [--to DIR] [--no-verify-signature]" >&2
  exit 2
}

fail() {
  echo "get.sh: $*" >&2
  exit 1
}

clean() { rm -rf "$work" ${new:+"$new"}; }

find_platform() {
  case $(uname -s) in
    Linux) os=linux ;;
    Darwin) os=darwin ;;
    *) fail "there is no program for $(uname -s). On Windows use install.ps1." ;;
  esac
  case $(uname -m) in
    x86_64 | amd64) cpu=x64 ;;
    aarch64 | arm64) cpu=arm64 ;;
    *) fail "there is no program for $(uname -m)" ;;
  esac
  # The program needs glibc.
  if [ $os = linux ] && ls /lib/ld-musl-* >/dev/null 2>&1 && ! ls /lib*/ld-linux-* /lib/*/ld-linux-* >/dev/null 2>&1; then
    fail "musl (Alpine) is not supported. Use the container image of the release."
  fi
}

# Gets file $1 of the release, of at most $2 bytes.
fetch() {
  case $from in
    http://* | https://*)
      if command -v curl >/dev/null 2>&1; then
        curl -fsSL --retry 2 --connect-timeout 20 --max-filesize "$2" -o "$1" "$from/$1"
      elif command -v wget >/dev/null 2>&1; then
        wget -q -T 20 -O "$1" "$from/$1"
      else
        fail "curl or wget is needed. Install one, or give a folder with --from."
      fi
      ;;
    *) cp "$from/$1" "$1" 2>/dev/null ;;
  esac
}

verify_signature() {
  if [ $verify = no ]; then
    echo "get.sh: the signature is not verified (--no-verify-signature)" >&2
    return
  fi
  case $KEY in @*) fail "this get.sh has no key: use the one of a release" ;; esac
  fetch SHA256SUMS.sig 10000 || fail "there is no SHA256SUMS.sig at $from, so the release can not be verified"
  printf 'untrusted comment: public key of Culvert releases\n%s\n' "$KEY" >key.pub
  for signify in signify-openbsd signify; do
    command -v $signify >/dev/null 2>&1 || continue
    if $signify -q -V -p key.pub -m SHA256SUMS -x SHA256SUMS.sig >/dev/null 2>&1; then return; fi
    fail "the signature of SHA256SUMS is not valid. Nothing was installed."
  done
  if ! openssl pkeyutl -help 2>&1 | grep -q -e -rawin; then
    fail "the signature can not be verified: install OpenSSL 3 or signify. --no-verify-signature installs without."
  fi
  # OpenSSL takes the 32 bytes of the key behind the head of their format, and the 64 bytes of the signature.
  { printf '\060\052\060\005\006\003\053\145\160\003\041\000'; tail -n 1 key.pub | openssl base64 -d -A | tail -c 32; } >key.der
  tail -n 1 SHA256SUMS.sig | openssl base64 -d -A | tail -c 64 >sig.raw
  if ! openssl pkeyutl -verify -pubin -inkey key.der -keyform DER -rawin -in SHA256SUMS -sigfile sig.raw >/dev/null 2>&1; then
    fail "the signature of SHA256SUMS is not valid. Nothing was installed."
  fi
}

install_program() {
  grep -E "^[0-9a-f]{64} [ *]culvert-[0-9][A-Za-z0-9.+-]*-$os-$cpu\.tar\.gz\$" SHA256SUMS >wanted || true
  [ "$(wc -l <wanted)" -eq 1 ] || fail "the release at $from has no archive for $os-$cpu"
  archive=$(cut -c 67- wanted)
  fetch "$archive" 500000000 || fail "$archive could not be fetched from $from"
  if command -v sha256sum >/dev/null 2>&1; then sum=$(sha256sum <"$archive"); else sum=$(shasum -a 256 <"$archive"); fi
  [ "${sum%% *}" = "$(cut -c -64 wanted)" ] || fail "$archive is not the file of the release: its checksum differs. Nothing was installed."
  mkdir -p "$to" 2>/dev/null || true
  [ -w "$to" ] || fail "$to is not writable. Run this as root, or choose another folder with --to."
  new=$to/.culvert.$$.new
  tar -xzOf "$archive" "${archive%.tar.gz}/culvert" >"$new" || fail "$archive could not be unpacked into $to"
  chmod 755 "$new"
  version=$("$new" version) || fail "the program does not start on this machine. Nothing was installed."
  mv -f "$new" "$to/culvert" # in one step: a running one keeps its file
  new=''
  # For `culvert setup`, which keeps the files of the release for other machines.
  case $to in
    */bin) (mkdir -p "${to%/bin}/share/culvert" && printf '%s\n' "$from" >"${to%/bin}/share/culvert/installed-from") 2>/dev/null || true ;;
  esac
  echo "Installed: $to/culvert, $version"
  install_share || echo "For completion in your shell, see: culvert help completion"
  echo "Next, on a server:       culvert setup DOMAIN"
  echo "Next, on other machines: culvert login"
}

# Completion and the man page, where shells and man look when the program is in that folder.
install_share() {
  case $to in
    /usr/local/bin | "${HOME:-}/.local/bin") share=${to%/bin}/share ;;
    *) return 1 ;;
  esac
  for file in bash-completion/completions/culvert fish/vendor_completions.d/culvert.fish man/man1/culvert.1 zsh/site-functions/_culvert; do
    tar -xzOf "$archive" "${archive%.tar.gz}/share/$file" >shared 2>/dev/null || return 1
    mkdir -p "$share/${file%/*}" 2>/dev/null || return 1
    cp shared "$share/$file" 2>/dev/null || return 1
  done
}

main "$@"

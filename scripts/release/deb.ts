/** The package for Debian and Ubuntu: an `ar` of two tar files. Written here, so the same files make the same bytes on every machine. */
import { execFileSync } from 'node:child_process';
import type { Release } from './contents.ts';
import { packageEntries, withFolders } from './contents.ts';
import { type Entry, makeTar } from './tar.ts';
import type { Target } from './targets.ts';

const CONFIG = '/etc/culvert/culvert.toml';

const POSTINST = `#!/bin/sh
set -e
[ "$1" = configure ] || exit 0
if command -v systemd-sysusers >/dev/null; then
  systemd-sysusers culvert.conf
else
  for user in culvert culvert-agent; do
    id "$user" >/dev/null 2>&1 ||
      useradd --system --user-group --no-create-home --home-dir /nonexistent --shell /usr/sbin/nologin "$user"
  done
fi
chgrp culvert ${CONFIG}
install -d -m 700 -o culvert -g culvert /var/lib/culvert
install -d -m 750 -o root -g culvert-agent /etc/culvert/agents
if [ -d /run/systemd/system ]; then
  systemctl daemon-reload
  systemctl try-restart culvert.service
fi
`;

const PRERM = `#!/bin/sh
set -e
if [ "$1" = remove ] && [ -d /run/systemd/system ]; then
  systemctl disable --now culvert.service culvert.socket culvert-https.socket culvert-agents.socket culvert-api.socket || true
fi
`;

const POSTRM = `#!/bin/sh
set -e
if [ -d /run/systemd/system ]; then systemctl daemon-reload; fi
`;

export function makeDeb(machine: NonNullable<Target['machine']>, program: Buffer, release: Release): Buffer {
  const { epoch, xzLevel } = release;
  const files = withFolders(packageEntries(program, release, 'debian'));
  const size = files.reduce((sum, { content }) => sum + Math.ceil(content.length / 1024), 0);
  const script = (name: string, content: string): Entry => ({ name, mode: 0o755, content: Buffer.from(content) });
  const control = [
    { name: 'control', mode: 0o644, content: Buffer.from(controlFile(machine.debian, size, release)) },
    { name: 'conffiles', mode: 0o644, content: Buffer.from(`${CONFIG}\n`) },
    script('postinst', POSTINST),
    script('postrm', POSTRM),
    script('prerm', PRERM),
  ];
  return makeAr(
    [
      ['debian-binary', Buffer.from('2.0\n')],
      ['control.tar.xz', xz(makeTar(inHere(control), epoch), xzLevel)],
      ['data.tar.xz', xz(makeTar(inHere(files), epoch), xzLevel)],
    ],
    epoch,
  );
}

/** `~` sorts before the end: 1.0.0~rc.1 is older than 1.0.0. */
export function packageVersion(version: string): string {
  return version.replace('-', '~');
}

function controlFile(architecture: string, size: number, { version, isTest }: Release): string {
  return `Package: culvert
Version: ${packageVersion(version)}
Architecture: ${architecture}
Maintainer: Culvert <culvert@example.invalid>
Installed-Size: ${size}
Depends: libc6 (>= 2.28), libgcc-s1, libstdc++6 (>= 6), passwd
Recommends: ca-certificates
Section: net
Priority: optional
Description: publish a local port on a public name (server and agent)${isTest ? '\n This is a test release: a throw-away key signed it.' : ''}
`;
}

/** dpkg writes every path with `./` before it. */
function inHere(entries: readonly Entry[]): Entry[] {
  const root: Entry = { name: '.', mode: 0o755, content: Buffer.alloc(0), kind: 'folder' };
  return [root, ...entries.map((entry) => ({ ...entry, name: `./${entry.name}` }))];
}

/** One thread: with more the bytes depend on their number. */
function xz(input: Buffer, level: number): Buffer {
  return execFileSync('xz', [`-${level}`, '-T1', '--stdout'], { input, maxBuffer: 1 << 30 });
}

function makeAr(members: readonly (readonly [string, Buffer])[], epoch: number): Buffer {
  const parts = members.flatMap(([name, content]) => {
    const fields: [string, number][] = [
      [name, 16],
      [String(epoch), 12],
      ['0', 6],
      ['0', 6],
      ['100644', 8],
      [String(content.length), 10],
    ];
    const head = `${fields.map(([value, length]) => value.padEnd(length)).join('')}\`\n`;
    return [Buffer.from(head), content, Buffer.from(content.length % 2 === 0 ? '' : '\n')];
  });
  return Buffer.concat([Buffer.from('!<arch>\n'), ...parts]);
}

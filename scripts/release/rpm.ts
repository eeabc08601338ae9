/** The package for Fedora, Alma and SUSE, by rpmbuild. It takes the prepared files and compiles nothing, so any machine can make it. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { packageEntries, type Release, TEST_NOTE } from './contents.ts';
import { packageVersion } from './deb.ts';
import type { Entry } from './tar.ts';
import type { Target } from './targets.ts';

const CONFIG = 'etc/culvert/culvert.toml';

/** `work`: an empty folder, which is removed. */
export function makeRpm(
  machine: NonNullable<Target['machine']>,
  program: Buffer,
  { release, work }: { release: Release; work: string },
): Buffer {
  const files = join(work, 'files');
  const entries = packageEntries(program, release, 'other');
  for (const { name, mode, content } of entries) {
    const path = join(files, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content, { mode });
    utimesSync(path, release.epoch, release.epoch);
  }
  const spec = join(work, 'culvert.spec');
  writeFileSync(spec, specFile(entries, { release, files }));
  const define = (name: string, value: string): string[] => ['--define', `${name} ${value}`];
  execFileSync(
    'rpmbuild',
    [
      ...['--quiet', '-bb', '--target', `${machine.rpm}-linux`],
      ...define('_topdir', join(work, 'top')),
      ...define('_rpmdir', work),
      ...define('_build_name_fmt', 'culvert.rpm'),
      ...define('_dbpath', join(work, 'database')),
      spec,
    ],
    {
      cwd: work,
      env: { ...process.env, SOURCE_DATE_EPOCH: String(release.epoch) },
      stdio: ['ignore', 'ignore', 'inherit'],
    },
  );
  const made = readFileSync(join(work, 'culvert.rpm'));
  rmSync(work, { recursive: true });
  return made;
}

function specFile(entries: readonly Entry[], { release, files }: { release: Release; files: string }): string {
  const listed = entries.map(({ name, mode }) => {
    const kind = name === CONFIG ? '%config(noreplace) ' : '';
    return `${kind}%attr(${mode.toString(8)},root,root) /${name}`;
  });
  return `Name: culvert
Version: ${packageVersion(release.version)}
Release: 1
Summary: Publish a local port on a public name (server and agent)
License: Apache-2.0
AutoReqProv: no
Requires: glibc >= 2.28, libstdc++, libgcc
%global __os_install_post %{nil}
%global debug_package %{nil}
%global _build_id_links none
%global _binary_payload w${release.xzLevel}.xzdio
%global use_source_date_epoch_as_buildtime 1
%global clamp_mtime_to_source_date_epoch 1
%global _buildhost culvert.invalid
%description
Server and agent in one file, self-hosted.
${release.isTest ? TEST_NOTE : ''}
%install
cp -a "${files}/." %{buildroot}/
%post
systemd-sysusers culvert.conf || :
chgrp culvert /${CONFIG} || :
install -d -m 700 -o culvert -g culvert /var/lib/culvert || :
install -d -m 750 -o root -g culvert-agent /etc/culvert/agents || :
systemctl daemon-reload || :
systemctl try-restart culvert.service || :
%preun
if [ "$1" = 0 ]; then systemctl disable --now culvert.service culvert.socket culvert-https.socket culvert-agents.socket culvert-api.socket || :; fi
%postun
systemctl daemon-reload || :
%files
${listed.join('\n')}
`;
}

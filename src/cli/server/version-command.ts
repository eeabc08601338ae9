/** `culvert version`: the program, the commit it was built from, and what it runs on, for bug reports. */
import { buildInfo } from '../../base/process/version.ts';
import { EXIT, type ExitCode } from '../terminal/exit.ts';
import { type Io, print } from '../terminal/io.ts';

export async function version(io: Io): Promise<ExitCode> {
  const { version: number, commit, isTestRelease } = buildInfo();
  const release = isTestRelease ? 'test release, ' : '';
  const build = commit === null ? '' : `commit ${commit}, `;
  await print(
    io.stdout,
    `culvert ${number} (${release}${build}node ${process.versions.node}, ${process.platform}-${process.arch})`,
  );
  return EXIT.ok;
}

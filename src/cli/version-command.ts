/** `culvert version`: the program, and what it runs on, for bug reports. */
import { EXIT, type ExitCode } from './exit.ts';
import { type Io, writeLine } from './io.ts';
import { VERSION } from './version.ts';

export function version(io: Io): Promise<ExitCode> {
  writeLine(io.stdout, `culvert ${VERSION} (node ${process.versions.node}, ${process.platform}-${process.arch})`);
  return Promise.resolve(EXIT.ok);
}

/** Which install command is for a browser's system. Pure; drawn by install-line.tsx. */
import type { Downloads } from '../../api/types.ts';

interface Install {
  /** Undefined: the server has no file for the system. */
  readonly command?: string;
  /** Of the system, for users. */
  readonly name: string;
}

/** A phone gets no command: the download page has all of them. */
export function installFor({ install }: Pick<Downloads, 'install'>, userAgent: string): Install | undefined {
  const system = systemOf(userAgent);
  if (system === undefined) return undefined;
  const command = install[system];
  const name = { linux: 'Linux', macos: 'macOS', windows: 'Windows' }[system];
  return command === null ? { name } : { name, command };
}

/** As the download page does (src/control/download/systems.ts). */
function systemOf(userAgent: string): keyof Downloads['install'] | undefined {
  if (/Windows NT/i.test(userAgent)) return 'windows';
  if (/iPhone|iPad|Android|CrOS/i.test(userAgent)) return undefined;
  if (/Macintosh|Mac OS X|Darwin/i.test(userAgent)) return 'macos';
  return /Linux/i.test(userAgent) ? 'linux' : undefined;
}

/** The path of a request as names of folders and files. Whatever could mean another place than it says is refused, never cleaned up. */

export interface UrlPath {
  /** Decoded; none for the folder itself. */
  readonly names: readonly string[];
  /** It ends with a slash: a folder is meant. */
  readonly isFolder: boolean;
  /** With its question mark; empty without one. */
  readonly query: string;
}

/** `malformed`: the percent-encoding is broken. `unsafe`: no name of a file is meant, or one that is hidden. */
export function parseUrlPath(target: string): UrlPath | 'malformed' | 'unsafe' {
  const mark = target.indexOf('?');
  const path = mark < 0 ? target : target.slice(0, mark);
  if (!path.startsWith('/')) return 'malformed';
  const parts = path.slice(1).split('/');
  const isFolder = parts.at(-1) === '';
  if (isFolder) parts.pop();
  const names: string[] = [];
  for (const part of parts) {
    const name = decoded(part);
    if (name === undefined) return 'malformed';
    if (!isSafeName(name)) return 'unsafe';
    names.push(name);
  }
  if (isHidden(names)) return 'unsafe';
  return { names, isFolder, query: mark < 0 ? '' : target.slice(mark) };
}

/** Windows reads these as devices, in every folder and with any ending. */
const DEVICE = /^(?:con|prn|aux|nul|com[\d¹²³]|lpt[\d¹²³]|conin\$|conout\$)(?:\.|$)/i;

/** Whether a file may be asked for by this name. `platform` decides what else than `/` has a meaning. */
export function isSafeName(name: string, platform: NodeJS.Platform = process.platform): boolean {
  if (name === '' || name === '.' || name === '..' || /[/\\\0]/.test(name)) return false;
  // A colon names a drive or a stream of the file; dots and spaces at the end are left out.
  return platform !== 'win32' || !(/[:*?"<>|]|[. ]$/.test(name) || DEVICE.test(name));
}

/** Names with a dot in front are hidden, but for `/.well-known`. */
export function isHidden(names: readonly string[]): boolean {
  return names.some((name, at) => name.startsWith('.') && !(at === 0 && name === '.well-known'));
}

function decoded(part: string): string | undefined {
  try {
    return decodeURIComponent(part);
  } catch {
    return undefined;
  }
}

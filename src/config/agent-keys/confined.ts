/**
 * Files that a project's culvert.toml names. It may have come with a cloned repository: a folder of the user that it publishes, or a file that it shows to
 * a server, must lie in its own folder. Files that the user has named or written may name any.
 */
import { realpathSync } from 'node:fs';
import { isAbsolute, relative, sep } from 'node:path';

/** Why `path` can't be used by a settings file in `folder`, and how to allow it; undefined: it can. */
export function outsideReason(path: string, folder: string, file: string): string | undefined {
  if (isConfined(path, folder)) return undefined;
  return `${path} is outside of the project folder. To allow it, run culvert start --config ${file}, or move the tunnel to ~/.config/culvert/agent.toml`;
}

/** Whether `path` lies in `folder`, also behind symbolic links. Of a missing file its place counts; its reader reports it. */
export function isConfined(path: string, folder: string): boolean {
  const real = realOf(path);
  return isInside(path, folder) && (real === undefined || isInside(real, realOf(folder) ?? folder));
}

/** Also the folder itself. */
function isInside(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

/** Behind symbolic links; undefined: it is missing, which its reader reports. */
function realOf(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    return undefined;
  }
}

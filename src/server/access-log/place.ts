/** Checks whether the access log can be written and rotated at its path. Called at the start and by `culvert config check`. */
import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileFault } from '../../base/process/file-fault.ts';
import type { Settings } from '../../config/schema.ts';

type AccessSettings = Settings['log']['access'];

/** The problem, for the current user; null: there is none. */
export function accessLogProblem(access: Pick<AccessSettings, 'path' | 'rotate_mb' | 'rotate_every'>): Error | null {
  const { path } = access;
  if (path === null || path === '-') return null;
  const wrong = wrongKind(path);
  if (wrong !== null) return new Error(`log.access.path ${path} ${wrong}`);
  const folder = dirname(path);
  if (!existsSync(folder))
    return new Error(
      `log.access.path is in a folder that does not exist: create ${folder}, writable for the server's user`,
    );
  const isRotated = access.rotate_mb !== 0 || access.rotate_every !== null;
  if (existsSync(path)) {
    const problem = problemOf(path, constants.W_OK, `log.access.path ${path} can't be written`);
    if (problem !== null || !isRotated) return problem;
  }
  const what = existsSync(path)
    ? `log.access.path ${path} can't be rotated in ${folder}`
    : `log.access.path ${path} can't be created in ${folder}`;
  return problemOf(folder, constants.W_OK | constants.X_OK, what);
}

/** Of standard output and the like: rotation would rename them. With a redirection they look like a file. */
const DESCRIPTOR = /^\/(dev\/(stdin|stdout|stderr|fd\/\d+)|proc\/[^/]+\/fd\/\d+)$/;

/** What stands there in place of a file, and what to do; null: a file or nothing. */
function wrongKind(path: string): string | null {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found?.isDirectory() === true) return `is a folder. Set it to a file, such as ${join(path, 'access.log')}.`;
  if (!DESCRIPTOR.test(path) && found?.isFile() !== false) return null;
  return "is not a file that can be rotated. Set it to a file, to '-' for standard output, or to '' for no access log.";
}

function problemOf(place: string, rights: number, doing: string): Error | null {
  try {
    accessSync(place, rights);
    return null;
  } catch (error) {
    return fileFault(error, { doing, file: place, elsewhere: 'set log.access.path to another folder' });
  }
}

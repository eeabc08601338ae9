/** Settings → the access log of the server. Called by parts/logs.ts. */
import { messageOf } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import type { Settings } from '../../config/schema.ts';
import { AccessWriter } from './access-writer.ts';
import { combinedLine, jsonLine } from './lines.ts';
import { masked } from './mask.ts';
import { accessLogProblem } from './place.ts';
import { RotatingFile } from './rotating-file.ts';
import { standardOutput } from './standard-output.ts';

const MEGABYTE = 1 << 20;

/** Null where `log.access.path` is off. Its file is opened with the first line. Throws when it can't be written there, or not be rotated. */
export function openAccessWriter(
  { log: { access } }: Settings,
  { log, output, now }: { readonly log: Logger; readonly output: NodeJS.WritableStream; readonly now: () => number },
): AccessWriter | null {
  const { path, format, mask, rotate_mb: megabytes, rotate_every: maxAgeMs, keep } = access;
  if (path === null) return null;
  const problem = accessLogProblem(access);
  if (problem !== null) throw problem;
  const maxBytes = megabytes === 0 ? null : megabytes * MEGABYTE;
  const watch = {
    failed: (error: unknown) =>
      log.error({ error: messageOf(error) }, 'could not rotate the access log; its file grows until a rotation works'),
    mended: () => log.warn({}, 'the access log is rotated again'),
  };
  const sink =
    path === '-' ? standardOutput(output) : new RotatingFile(path, { maxBytes, maxAgeMs, keep }, { now, watch });
  const lineOf = format === 'json' ? jsonLine : combinedLine;
  return new AccessWriter(sink, mask.length === 0 ? lineOf : (entry) => lineOf(masked(entry, mask)), { log });
}

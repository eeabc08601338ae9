/** Settings → the access log of the server. Called by parts/logs.ts. */
import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Logger } from '../../base/log.ts';
import type { Settings } from '../../config/schema.ts';
import { AccessWriter } from './access-writer.ts';
import { combinedLine, jsonLine } from './lines.ts';
import { masked } from './mask.ts';
import { RotatingFile } from './rotating-file.ts';
import { standardOutput } from './standard-output.ts';

const MEGABYTE = 1 << 20;

/** Null where `log.access.path` is off. Its file is opened with the first line. Throws when there is no folder for it. */
export function openAccessWriter(
  { log: { access } }: Settings,
  { log, output, now }: { readonly log: Logger; readonly output: NodeJS.WritableStream; readonly now: () => number },
): AccessWriter | null {
  const { path, format, mask, rotate_mb: megabytes, rotate_every: maxAgeMs, keep } = access;
  if (path === null) return null;
  if (path !== '-' && !existsSync(dirname(path)))
    throw new Error(
      `log.access.path is in a folder that does not exist: create ${dirname(path)}, writable for the server's user`,
    );
  const maxBytes = megabytes === 0 ? null : megabytes * MEGABYTE;
  const sink = path === '-' ? standardOutput(output) : new RotatingFile(path, { maxBytes, maxAgeMs, keep }, now);
  const lineOf = format === 'json' ? jsonLine : combinedLine;
  return new AccessWriter(sink, mask.length === 0 ? lineOf : (entry) => lineOf(masked(entry, mask)), { log });
}

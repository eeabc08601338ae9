/** The release at the place that a user named, or at the one of the settings. */
import { resolve } from 'node:path';
import { readRelease, type SignedRelease } from '../../base/release/signed-release.ts';
import { openSource, type ReleaseSource } from '../../base/release/source.ts';
import type { Settings } from '../../config/schema.ts';
import { outboundBy } from '../client/outbound.ts';
import { usageError } from '../terminal/exit.ts';
import type { Io } from '../terminal/io.ts';

/** The program that reads it. */
export interface ReleaseReader {
  readonly version: string;
  /** Null in a build that is no release. */
  readonly releaseKey: string | null;
}

interface Asked {
  readonly io: Io;
  readonly program: ReleaseReader;
  readonly settings: Pick<Settings, 'releases_url'>;
}

/** The signed release at `from`, or else at `releases_url`. */
export async function findRelease(
  from: string | undefined,
  { io, program, settings }: Asked,
): Promise<{ readonly release: SignedRelease; readonly source: ReleaseSource }> {
  if (program.releaseKey === null) {
    throw new Error(
      'this program was not built as a release, so it has no key to verify one. Build the new version instead.',
    );
  }
  const place = from ?? settings.releases_url;
  if (place === null) throw usageError('name the release with --from URL or --from FOLDER, or set releases_url.');
  const source = openSource(/^https?:\/\//i.test(place) ? place : resolve(io.cwd, place), {
    outbound: outboundBy({ proxy: undefined, ca: undefined }, io.env),
  });
  return { source, release: await readRelease(source, program.releaseKey) };
}

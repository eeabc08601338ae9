/**
 * Which program this is. The build puts version and commit into the bundle; running from source, the version is read from package.json.
 */
import { readFileSync } from 'node:fs';

export interface BuildInfo {
  readonly version: string;
  /** Short hash of the commit that was built; null when that is unknown, as when running from source. */
  readonly commit: string | null;
  /** Public key that verifies releases (src/base/release); null in a build that is no release. */
  readonly releaseKey: string | null;
  /** The release was signed by a throw-away key: for tests of releases alone. */
  readonly isTestRelease: boolean;
}

/** Replaced by scripts/build.mjs; not there when running from source. */
declare const CULVERT_BUILD: BuildInfo | undefined;

/** Version and commit of the running program. */
export function buildInfo(): BuildInfo {
  if (typeof CULVERT_BUILD !== 'undefined') return CULVERT_BUILD;
  const manifest: unknown = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'));
  if (typeof manifest !== 'object' || manifest === null || !('version' in manifest)) {
    throw new Error('package.json has no version');
  }
  return { version: String(manifest.version), commit: null, releaseKey: null, isTestRelease: false };
}

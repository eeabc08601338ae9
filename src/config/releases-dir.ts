/** Where a server keeps the releases that it offers. */
import { join, resolve } from 'node:path';
import type { Settings } from './schema.ts';

/** `releases_dir`, or its default. A folder for each version is in it. */
export function releasesDirOf({
  releases_dir: folder,
  data_dir: dataDir,
}: Pick<Settings, 'releases_dir' | 'data_dir'>): string {
  return folder === null ? join(resolve(dataDir), 'releases') : resolve(folder);
}

/** Builds the dashboard into dist/, unless the one that is there was made of the same files. Used by scripts/test.ts. */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ROOT } from './files.ts';

/** Beside the folder of the dashboard, whose files are named after their content. */
const STAMP = join(ROOT, 'dist/dashboard/made-of');

export async function haveDashboard(): Promise<void> {
  const made = hashOfSources();
  if (existsSync(STAMP) && readFileSync(STAMP, 'utf8') === made) return;
  await promisify(execFile)(process.execPath, [join(ROOT, 'scripts/build.mjs'), '--dashboard'], { cwd: ROOT });
  writeFileSync(STAMP, made);
}

function hashOfSources(): string {
  const hash = createHash('sha256');
  const files = globSync(['src/dashboard/**/*', 'package-lock.json', 'scripts/build-dashboard.mjs'], {
    cwd: ROOT,
    withFileTypes: true,
  });
  const paths = files.filter((file) => file.isFile()).map((file) => join(file.parentPath, file.name));
  for (const path of paths.sort()) hash.update(path.slice(ROOT.length)).update('\0').update(readFileSync(path));
  return hash.digest('hex');
}

/** Builds dashboard and documentation into dist/, unless those that are there were made of the same files. Used by scripts/test.ts. */
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
  const sources = ['src/dashboard/**/*', 'src/docs-site/**/*', 'docs/*.md', 'CHANGELOG.md', 'SECURITY.md'];
  const makers = ['package-lock.json', 'scripts/{build-dashboard,build-docs,pack-file}.mjs', 'scripts/docs/*.ts'];
  const files = globSync([...sources, ...makers], { cwd: ROOT, withFileTypes: true });
  const paths = files.filter((file) => file.isFile()).map((file) => join(file.parentPath, file.name));
  for (const path of paths.sort()) hash.update(path.slice(ROOT.length)).update('\0').update(readFileSync(path));
  return hash.digest('hex');
}

/**
 * Makes Node 26 of node_modules start on a Linux machine without libatomic. `npm run node:check` runs it on npm's own Node when Node 26 does
 * not start, so it is plain JavaScript for older releases too.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync, realpathSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { removeLibatomic } from './release/libatomic.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));

function start(node) {
  return spawnSync(node, ['-e', '0'], { encoding: 'utf8' });
}

/** Writes a new file: npm's store and other checkouts may share the old one. */
function mend(node) {
  const file = readFileSync(node);
  removeLibatomic(file);
  const fresh = `${node}.new`;
  writeFileSync(fresh, file, { mode: 0o755 });
  renameSync(fresh, node);
}

const node = realpathSync(process.argv[2] ?? join(root, 'node_modules/.bin/node'));
const { status, stderr, error } = start(node);
if (status !== 0) {
  const reason = stderr || (error === undefined ? 'it ends without a message' : error.message);
  if (!stderr || !stderr.includes('libatomic.so.1'))
    throw new Error(`Node 26 does not start on this machine: ${reason}`);
  console.error(
    'culvert: this machine has no libatomic (Debian: libatomic1). The copy of Node in node_modules is changed to run without it.',
  );
  mend(node);
  const again = start(node);
  if (again.status !== 0) throw new Error(`Node 26 does not start on this machine: ${again.stderr}`);
}

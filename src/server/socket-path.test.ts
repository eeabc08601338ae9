/** Where the socket of a data folder is. Named pipes are of Windows: their names are tested here, by the platform as an argument. */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { API_SOCKET_FILE, socketPath } from './socket-path.ts';

const folder = mkdtempSync(join(tmpdir(), 'culvert-path-'));
after(() => rmSync(folder, { recursive: true }));
const dataDir = (name: string): string => {
  mkdirSync(join(folder, name), { recursive: true });
  return join(folder, name);
};
const pipe = (of: string, name?: string): string => socketPath(of, name, 'win32').path;

test('socket path: Windows has a named pipe for each socket of each data folder', () => {
  const [one, two] = [dataDir('one'), dataDir('two')];
  const names = [pipe(one), pipe(two), pipe(one, API_SOCKET_FILE), pipe(two, API_SOCKET_FILE)];
  for (const name of names) assert.match(name, /^\\\\\.\\pipe\\culvert-[0-9a-f]{32}-(admin|api)\.sock$/);
  assert.equal(new Set(names).size, 4);
  assert.ok(!names.some((name) => name.length > 256), 'Windows takes 256 characters');
});

test('socket path: a data folder has one pipe, however its path is written', () => {
  const one = dataDir('one');
  symlinkSync(one, join(folder, 'link'));
  assert.equal(pipe(join(folder, 'link')), pipe(one));
  assert.equal(pipe(`${folder}/two/../one/`), pipe(one));
});

test('socket path: a long data folder has a pipe of the same length', () => {
  assert.equal(pipe(dataDir('long'.repeat(40))).length, pipe(dataDir('one')).length);
});

test('socket path: elsewhere it is a file of the folder', () => {
  assert.equal(socketPath(dataDir('one'), undefined, 'darwin').path, join(folder, 'one/admin.sock'));
});

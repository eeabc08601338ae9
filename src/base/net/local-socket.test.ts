import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { listenLocal, namedPipe } from './local-socket.ts';

test('local socket: takes the place of a file, and is for its user alone', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'culvert-socket-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'a.sock');
  writeFileSync(path, 'left by a killed server');
  const server = createServer();
  t.after(() => server.close());
  await listenLocal(server, path);
  assert.ok(statSync(path).isSocket());
  assert.equal(statSync(path).mode & 0o777, 0o600);
});

test('local socket: a named pipe is listened on by its name, and is no file to remove or restrict', async (t) => {
  const path = namedPipe('culvert-test');
  assert.equal(path, '\\\\.\\pipe\\culvert-test');
  const server = createServer();
  // This machine has no named pipes: a change of the file system would fail for want of a file.
  const asked = t.mock.method(server, 'listen', () => setImmediate(() => server.emit('listening')));
  await listenLocal(server, path);
  assert.deepEqual(
    asked.mock.calls.map((call) => call.arguments),
    [[path]],
  );
});

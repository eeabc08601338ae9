import assert from 'node:assert/strict';
import { Readable, Writable } from 'node:stream';
import { test } from 'node:test';
import { z } from 'zod';
import type { Io } from '../terminal/io.ts';
import { printList, retyped } from './operator.ts';

/** A server with this many rows, which counts the pages that it is asked for. */
async function listed(rows: number) {
  const written = { stdout: '', stderr: '', pages: 0 };
  const stream = (name: 'stdout' | 'stderr') =>
    new Writable({
      write(chunk: Buffer, _encoding, done) {
        written[name] += chunk.toString();
        done();
      },
    });
  const io: Io = {
    stdin: Readable.from([]),
    stdout: stream('stdout'),
    stderr: stream('stderr'),
    env: {},
    cwd: '/',
    onSignal: () => () => {},
    onCrash: () => {},
    pause: async () => {},
  };
  const call = async (_method: string, path: string): Promise<unknown> => {
    written.pages++;
    const query = new URL(path, 'http://x').searchParams;
    assert.deepEqual([query.get('query'), query.has('status')], ['ann', false]);
    const first = Number(query.get('after') ?? 0) + 1;
    const size = Math.max(0, Math.min(Number(query.get('limit')), rows - first + 1));
    return Array.from({ length: size }, (_, index) => ({ id: String(first + index) }));
  };
  await printList(
    {
      operator: { call, read: async () => '', close: () => {} },
      io,
      file: null,
      usesAcme: false,
      args: [],
      flags: { json: true },
    },
    {
      path: '/superadmin/users',
      filter: { query: 'ann', status: undefined },
      schema: z.object({ id: z.string() }),
      cursorOf: (row) => row.id,
      columns: {},
    },
  );
  const ids = (JSON.parse(written.stdout) as { id: string }[]).map(({ id }) => Number(id));
  return { ...written, ids };
}

test('a list goes on to its last page, each row once', async () => {
  for (const [rows, pages] of [
    [0, 1],
    [199, 1],
    [200, 2],
    [450, 3],
  ] as const) {
    const { ids, pages: asked, stderr } = await listed(rows);
    assert.deepEqual([ids.length, new Set(ids).size, asked, stderr], [rows, rows, pages, '']);
  }
});

test('a list ends at its bound, and says so', async () => {
  const { ids, pages, stderr } = await listed(1_000_000);
  assert.deepEqual([ids.length, pages], [10_000, 50]);
  assert.match(stderr, /only the first 10000 are shown\. Filter them with --query/);
});

test('a command is typed again with its settings, for sudo passes no environment on', () => {
  assert.equal(retyped('admin …', null), 'culvert admin …');
  assert.equal(
    retyped('backup x.db', '/etc/culvert/culvert.toml'),
    'culvert backup x.db --config /etc/culvert/culvert.toml',
  );
});

/** The access log of a whole server: a file that rotates and is opened again on SIGHUP's behalf, masks, metrics, and a disk that is full. */
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { type Culvert, get, startCulvert, startOrigin } from '../harness.ts';

const METRICS = '[metrics]\nlisten = "127.0.0.1:0"\n';
const SOON_MS = 20_000;

function newFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'culvert-access-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

async function linesOf(file: string, count: number): Promise<Array<Record<string, unknown>>> {
  for (const until = Date.now() + SOON_MS; ; await pause(25)) {
    const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n').slice(0, -1) : [];
    if (lines.length >= count) return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
    if (Date.now() > until) throw new Error(`${lines.length} of ${count} lines came`);
  }
}

async function metricsOf({ server }: Culvert): Promise<string> {
  const port = server.addresses.metrics?.port ?? 0;
  return (await get(`http://127.0.0.1:${port}/metrics`, port)).body;
}

test('access log: requests are lines of a file, which names tunnel, organization and key, and masks', async (t) => {
  const file = join(newFolder(t), 'access.log');
  const { port } = await startOrigin(t, (_request, response) => response.end('hello'));
  const culvert = await startCulvert(t, `${METRICS}[log.access]\npath = "${file}"\nmask = ["query", "address"]`);
  const { url } = await culvert.publish('http', port, { subdomain: 'shop' });
  await culvert.get(`${url}/a?secret=1`);
  const [line] = await linesOf(file, 1);
  assert.deepEqual(
    [line?.['tunnel'], line?.['path'], line?.['remote_ip'], line?.['status']],
    ['shop', '/a?***', '127.0.0.0', 200],
  );
  const shown = await culvert.account.call('GET', `/inspector/${String(line?.['request_id'])}`);
  assert.deepEqual(
    [shown.body['trace_id'], shown.body['tunnel_id']],
    [line?.['trace_id'], line?.['tunnel_id']],
    'the line leads to the request in the inspector',
  );

  renameSync(file, `${file}.1`);
  culvert.server.reopenLogs();
  await culvert.get(`${url}/b`);
  assert.equal((await linesOf(file, 1))[0]?.['path'], '/b');
  const metrics = await metricsOf(culvert);
  assert.match(metrics, /^culvert_access_log_lines_total\{outcome="written"\} 2$/m);
});

test('access log: a folder that has gone costs lines, and no request', async (t) => {
  const folder = newFolder(t);
  const { port } = await startOrigin(t, (_request, response) => response.end('hello'));
  const culvert = await startCulvert(t, `${METRICS}[log.access]\npath = "${join(folder, 'access.log')}"`);
  const { url } = await culvert.publish('http', port, { subdomain: 'shop' });
  rmSync(folder, { recursive: true });
  assert.equal((await culvert.get(`${url}/a`)).status, 200);
  for (const until = Date.now() + SOON_MS; ; await pause(50)) {
    const metrics = await metricsOf(culvert);
    if (/^culvert_access_log_lines_total\{outcome="dropped"\} [1-9]/m.test(metrics)) break;
    assert.ok(Date.now() < until, metrics);
  }
  assert.equal((await culvert.get(`${url}/b`)).status, 200);
});

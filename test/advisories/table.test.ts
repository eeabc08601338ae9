/** Every row of the table has its test; and the parts that the others are about are not there yet. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { checkServerConfig } from '../../src/config/load.ts';
import { startOrigin } from '../harness.ts';
import { ADVISORIES, CLASSES, NOT_BUILT, type NotBuilt } from './table.ts';
import { answersIn, request, serverFixture } from './fixture.ts';

const WITHIN = { timeout: 120_000 };
const fixture = serverFixture();

/** Titles of all tests of this folder, from their sources. */
function titles(): string[] {
  const files = readdirSync(import.meta.dirname).filter((name) => name.endsWith('.test.ts'));
  assert.ok(files.length >= 10, files.join());
  const sources = files.map((name) => readFileSync(join(import.meta.dirname, name), 'utf8'));
  return sources.flatMap((source) =>
    [...source.matchAll(/^test\(\s*(['`])(.*?)\1,/gms)].map(([, , title]) => title ?? ''),
  );
}

test('every row has a test whose title begins with its id, and every class one with its name', () => {
  const all = titles();
  assert.ok(all.length > 80, `${all.length} titles`);
  const missing = [...ADVISORIES.map(({ id }) => id), ...CLASSES].filter(
    (id) => !all.some((title) => title.startsWith(id) && /^(:| |,)/.test(title.slice(id.length))),
  );
  assert.deepEqual(missing, []);
  assert.equal(new Set(ADVISORIES.map(({ id }) => id)).size, ADVISORIES.length, 'no id is there twice');
});

/** Neither path nor setting is there. */
async function isAbsent({ paths, toml, part }: NotBuilt): Promise<void> {
  const { ann, ask } = fixture();
  const bearer = { authorization: `Bearer ${ann.bearer}` };
  for (const path of paths)
    for (const method of ['GET', 'POST'])
      assert.equal(
        (await ask(method, path, method === 'GET' ? undefined : {}, bearer)).status,
        404,
        `${part}: ${method} ${path}`,
      );
  assert.throws(() => checkServerConfig(toml, 'x.toml'), /x\.toml:\d/, part);
}
const partOf = (id: string): NotBuilt => {
  const found = NOT_BUILT.find(({ ids }) => ids.includes(id));
  assert.ok(found !== undefined, id);
  return found;
};

test('what is not built is not half there', WITHIN, async () => {
  for (const part of NOT_BUILT) await isAbsent(part);
});

test('ngrok agent 3.24.0: nothing promises that visitors show certificates', WITHIN, () =>
  isAbsent(partOf('ngrok agent 3.24.0')),
);

test('wg-easy #2702: no name of a tunnel breaks out of a label of the metrics', WITHIN, async () => {
  for (const subdomain of ['a"b', 'a\nb', 'a\\b', 'a{b="c"}', 'a b'])
    assert.equal((await fixture().ann.call('POST', '/tunnels', { localPort: 1, subdomain })).status, 400, subdomain);
  const { ann, ask } = fixture();
  const answer = await ask('GET', '/metrics/prometheus', undefined, { authorization: `Bearer ${ann.bearer}` });
  const text = await answer.text();
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  assert.ok(lines.length > 2, text);
  for (const line of lines)
    assert.match(line, /^culvert_[a-z_]+(\{tunnel="[0-9a-f-]{36}",subdomain="[a-z0-9-]+"\})? \d+$/);
});

test('wg-easy #1071: a path of a page is no path of the machine', WITHIN, async () => {
  for (const path of [
    '/app/..%2f..%2fpackage.json',
    '/docs/%2e%2e%2fpackage.json',
    '/app/assets/..%5c..%5cpackage.json',
    '/docs/.env',
  ])
    assert.ok([404, 400].includes((await fixture().ask('GET', path)).status), path);
});

test(
  'wormhole PR#5: what the server itself answers is on its own host; on a tunnel’s all paths are the service’s',
  WITHIN,
  async () => {
    const { say, take } = fixture();
    take();
    const paths = [
      '/health',
      '/ready',
      '/metrics',
      '/openapi.json',
      '/.well-known/culvert',
      '/.well-known/jwks.json',
      '/auth/login',
      '/edge-auth/start',
      '/edge-auth/callback',
      '/superadmin/users',
      '/app/',
      '/.culvert/visitor?ticket=x',
      '/.culvert/sign-out',
    ];
    for (const path of paths) {
      assert.deepEqual(answersIn(await say(request(`GET ${path}`, 'Host: shop.localhost'))), ['200'], path);
      assert.deepEqual(
        take().map(({ service, line }) => [service, line]),
        [['shop', `GET ${path}`]],
      );
      for (const host of ['localhost', '127.0.0.1', 'api.localhost', 'admin.localhost'])
        assert.deepEqual(
          answersIn(await say(request(`GET ${path}`, `Host: ${host}`))),
          ['404 tunnel_not_found'],
          `${host}${path}`,
        );
    }
  },
);

test('wormhole PR#5: the end of one who served a name is not the end of who serves it now', WITHIN, async (t) => {
  const { culvert, say, take } = fixture();
  const first = await startOrigin(t, (_got, response) => response.end('first'));
  const second = await startOrigin(t, (_got, response) => response.end('second'));
  const old = await culvert.publish('http', first.port, { subdomain: 'turns' });
  await culvert.publish('http', second.port, { subdomain: 'turns' });
  const visit = () => say(request('GET /', 'Host: turns.localhost'));
  assert.match(await visit(), /second$/);
  old.agent.destroy();
  await old.agent.done;
  assert.match(await visit(), /second$/);
  take();
});

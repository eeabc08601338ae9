/** Several services behind one name, from the settings file to the visitor and back to the inspector: a real server, agent and services. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { start, tempHome } from '../../src/cli/fixtures/in-process.ts';
import { startCulvert, startOrigin } from '../harness.ts';

async function fixture(t: TestContext) {
  const culvert = await startCulvert(t);
  const got: string[] = [];
  const origin = (name: string) =>
    startOrigin(t, ({ url = '', headers }, response) => {
      got.push(`${name} ${url}${headers['culvert-replay'] === undefined ? '' : ' again'}`);
      response.end(name);
    });
  const [api, root] = [await origin('api'), await origin('root')];
  const home = tempHome(t);
  const env = { CULVERT_SERVER: culvert.account.apiUrl, CULVERT_TOKEN: culvert.token };
  const url = (path: string): string => `http://web.localhost:${culvert.httpPort}${path}`;
  const visit = async (path: string): Promise<string> => {
    const { body, code } = await culvert.get(url(path));
    return code ?? body;
  };
  return { culvert, got, api, root, home, env, visit };
}

test('start: routes of the file, their reload, and a replay that goes to the same service', async (t) => {
  const { culvert, got, api, root, home, env, visit } = await fixture(t);
  const file = join(home, 'culvert.toml');
  const route = (path: string, port: number): string =>
    `[[tunnels.web.routes]]\npath = "${path}"\ntarget = "127.0.0.1:${port}"\n`;
  const head = '[tunnels.web]\nsubdomain = "web"\n';
  writeFileSync(file, head + route('/api', api.port) + route('/', root.port));
  const agent = start(t, ['start', '--json', '--inspect-port', '0'], { home, env });
  const count = (event: string): number => agent.stdout.split(`"event":"${event}"`).length - 1;
  await agent.until(() => count('tunnel_online') === 1);
  assert.match(agent.stdout, /"target":"\/api → 127\.0\.0\.1:\d+, \/ → 127\.0\.0\.1:\d+"/);
  assert.deepEqual([await visit('/api/1'), await visit('/1')], ['api', 'root']);
  const { body: tunnels } = await culvert.account.call('GET', '/tunnels?limit=10');
  assert.match(JSON.stringify(tunnels), /web/);

  const page = /"inspector_online".*?"url":"([^"]+)"/.exec(agent.stdout)?.[1] ?? assert.fail();
  const list = (await (await fetch(new URL('/api/requests/http', page))).json()) as {
    requests: { id: string; uri: string; request: { uri: string } }[];
  };
  for (const path of ['/api/1', '/1']) {
    const found = list.requests.find(({ request }) => request.uri === path) ?? assert.fail(JSON.stringify(list));
    const replayed = await fetch(new URL('/api/requests/http', page), {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ id: found.id }),
    });
    assert.equal(replayed.status, 204);
  }
  while (got.length < 4) await pause(20);
  assert.deepEqual(got.splice(0).slice(2).toSorted(), ['api /api/1 again', 'root /1 again']);

  writeFileSync(file, head + route('/v2', api.port));
  agent.signal('SIGHUP');
  await agent.until(() => count('settings_reloaded') === 1 && count('tunnel_online') === 2);
  assert.match(agent.stdout, /"settings_reloaded",.*"changed":\["web"\]/);
  assert.deepEqual(
    [await visit('/v2/x'), await visit('/api/1'), await visit('/v2/..%2fx')],
    ['api', 'tunnel_not_found', 'bad_request'],
  );
});

test('http --route: the target takes what no route has', async (t) => {
  const { api, root, home, env, visit } = await fixture(t);
  const words = ['http', `${root.port}`, '--subdomain', 'web', '--route', `/api=${api.port}`, '--json', '--no-inspect'];
  const agent = start(t, words, { home, env });
  await agent.until(() => agent.stdout.includes('tunnel_online'));
  assert.deepEqual([await visit('/api'), await visit('/apiary')], ['api', 'root']);
});

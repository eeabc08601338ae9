/** A service that speaks HTTP/2 alone, from the settings file to the visitor and to the local inspector: a real server, agent and service. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { http2Origin } from '../../src/agent/http2/testing.ts';
import { start, tempHome } from '../../src/cli/fixtures/in-process.ts';
import { startCulvert } from '../harness.ts';

async function fixture(t: TestContext) {
  const culvert = await startCulvert(t);
  const got: string[] = [];
  const origin = await http2Origin(t, (stream, headers) => {
    const again = headers['culvert-replay'] === undefined ? '' : ' again';
    got.push(`${headers[':authority']} ${headers[':path']}${again}`);
    stream.respond({ ':status': 200 }, { waitForTrailers: true });
    stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
    stream.end('over HTTP/2');
  });
  const home = tempHome(t);
  const env = { CULVERT_SERVER: culvert.account.apiUrl, CULVERT_TOKEN: culvert.token };
  const visit = (path: string) => culvert.get(`http://web.localhost:${culvert.httpPort}${path}`);
  return { got, port: origin.port, home, env, visit };
}

test('start: upstream_protocol reaches a service over HTTP/2, which the inspector shows and sends again', async (t) => {
  const { got, port, home, env, visit } = await fixture(t);
  writeFileSync(
    join(home, 'culvert.toml'),
    `[tunnels.web]\nsubdomain = "web"\ntarget = ${port}\nupstream_protocol = "http2"\nhost_header = "rewrite"\n`,
  );
  const agent = start(t, ['start', '--json', '--inspect-port', '0'], { home, env });
  await agent.until(() => agent.stdout.includes('tunnel_online'));
  for (const path of ['/one', '/two']) assert.equal((await visit(path)).body, 'over HTTP/2');
  const page = /"inspector_online".*?"url":"([^"]+)"/.exec(agent.stdout)?.[1] ?? assert.fail();
  const list = (await (await fetch(new URL('/api/requests/http', page))).json()) as {
    requests: { id: string; request: { uri: string }; response: { status_code: number } }[];
  };
  const shown = list.requests.find(({ request }) => request.uri === '/one') ?? assert.fail(JSON.stringify(list));
  assert.equal(shown.response.status_code, 200);
  const replayed = await fetch(new URL('/api/requests/http', page), {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ id: shown.id }),
  });
  assert.equal(replayed.status, 204);
  while (got.length < 3) await pause(20);
  assert.deepEqual(got, [`localhost:${port} /one`, `localhost:${port} /two`, `localhost:${port} /one again`]);
});

test('http: a service over HTTP/2 without the flag is a fault of the target that names it', async (t) => {
  const { port, home, env, visit } = await fixture(t);
  const agent = start(t, ['http', `${port}`, '--subdomain', 'web', '--json', '--no-inspect'], { home, env });
  await agent.until(() => agent.stdout.includes('tunnel_online'));
  assert.equal((await visit('/')).code, 'local_speaks_http2');
  await agent.until(() => agent.stdout.includes('--upstream-protocol http2'));
});

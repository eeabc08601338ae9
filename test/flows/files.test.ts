/** `culvert files` through a real server: what visitors get of a folder, by HTTP/1.1 and slowly. */
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { setImmediate as turn } from 'node:timers/promises';
import { test } from 'node:test';
import { run, start, tempHome } from '../../src/cli/fixtures/in-process.ts';
import { startCulvert } from '../harness.ts';

const BIG = Buffer.alloc(12_000_000, 'culvert ');

test('files: a folder is published, and nothing beside it', async (t) => {
  const culvert = await startCulvert(t);
  const home = tempHome(t);
  mkdirSync(join(home, 'dist'));
  writeFileSync(join(home, 'dist/index.html'), '<p>hello');
  writeFileSync(join(home, 'dist/big.bin'), BIG);
  writeFileSync(join(home, 'secret.txt'), 'secret');
  const env = { CULVERT_SERVER: culvert.account.apiUrl, CULVERT_TOKEN: culvert.token };
  for (const args of [
    ['files', 'dist'],
    ['http', 'file://dist'],
  ]) {
    const agent = start(t, [...args, '--json', '--inspect-port', '0'], { home, env });
    await agent.until(() => agent.stdout.includes('"tunnel_online"'));
    const events = agent.stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { event: string; url: string });
    const urlOf = (event: string): string => events.find((each) => each.event === event)?.url ?? '';
    const url = urlOf('tunnel_online');
    const shown = (await (await fetch(`${urlOf('inspector_online')}/api/tunnels`)).json()) as {
      tunnels: { config: { addr: string } }[];
    };
    assert.equal(shown.tunnels[0]?.config.addr, pathToFileURL(join(home, 'dist')).href);
    assert.deepEqual(await culvert.get(url), { status: 200, code: undefined, body: '<p>hello' });
    assert.equal((await culvert.get(`${url}/..%2fsecret.txt`)).status, 404);
    const { pathname, host } = new URL('/big.bin', url);
    // A visitor that reads in pieces, with pauses: the agent holds the file back, and all of it comes.
    let received = 0;
    const outgoing = request({ host: '127.0.0.1', port: culvert.httpPort, path: pathname, headers: { host } }).end();
    const [response] = await new Promise<[AsyncIterable<Buffer>]>((resolve) =>
      outgoing.on('response', (r) => resolve([r])),
    );
    for await (const chunk of response) {
      received += chunk.length;
      await turn();
    }
    assert.equal(received, BIG.length);
    agent.signal('SIGTERM');
    assert.equal(await agent.exit, 0);
  }
});

test('files: what is no folder is refused before anything is published', async (t) => {
  const home = tempHome(t);
  writeFileSync(join(home, 'page.html'), '');
  const env = { CULVERT_TOKEN: 'mtk_x' };
  for (const [args, message] of [
    [['files', 'absent'], /there is no folder .*absent/],
    [['files', 'page.html'], /page\.html is a file\. Name its folder/],
    [['https', 'file:///tmp'], /a folder is published as http/],
    [['tcp', 'file:///tmp'], /a folder is published as http/],
  ] as const) {
    const { code, stderr } = await run(args, { home, env });
    assert.equal(code, 2);
    assert.match(stderr, message);
  }
  writeFileSync(
    join(home, 'culvert.toml'),
    '[tunnels.a]\ntarget = "file://none"\n[tunnels.b]\ntarget = 1\nspa = true\n',
  );
  const { code, stderr } = await run(['config', 'check'], { home });
  assert.equal(code, 2);
  assert.match(
    stderr,
    /culvert\.toml:2: tunnels\.a\.target: there is no folder .*\n.*:5: tunnels\.b\.spa: is for a target that is a folder/,
  );
});

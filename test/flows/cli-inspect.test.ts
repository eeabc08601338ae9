/** `culvert inspect` against a real server, tunnel and service: a person is logged in. The command is a process of its own where its reader leaves. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { connect, createServer, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { loggedInAt } from '../../src/cli/fixtures/played-server.ts';
import { type Program, start } from '../../src/cli/fixtures/in-process.ts';
import { type Program as ProcessProgram, start as startProcess } from '../../src/cli/fixtures/program.ts';
import { startCulvert, startOrigin } from '../harness.ts';

interface Fixture {
  readonly asked: string[];
  /** Answers to `/slow` wait for it. */
  readonly slow: PromiseWithResolvers<void>;
  /** Breaks the connections of commands to the server. */
  cut(): void;
  visit(method: string, path: string, body?: string): Promise<void>;
  /** A command that has been started. */
  inspect(...words: string[]): Program;
  /** The same in a process of its own. */
  spawn(...words: string[]): ProcessProgram;
  /** Standard output of one that must end well. */
  said(...words: string[]): Promise<string>;
}

/** A proxy to a port of this machine that breaks on command. */
async function breakableLine(t: TestContext, port: number): Promise<{ url: string; cut: () => void }> {
  const open = new Set<Socket>();
  const cut = (): void => {
    for (const socket of open) socket.destroy();
  };
  const server = createServer((near) => {
    const far = connect(port, '127.0.0.1');
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      open.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => {
        open.delete(socket);
        other.destroy();
      });
      socket.pipe(other);
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    cut();
    server.close();
  });
  const at = server.address();
  assert.ok(at !== null && typeof at === 'object');
  return { url: `http://127.0.0.1:${at.port}`, cut };
}

async function makeFixture(t: TestContext): Promise<Fixture> {
  const culvert = await startCulvert(t, '[inspector]\nreplay = true');
  const asked: string[] = [];
  const slow = Promise.withResolvers<void>();
  const origin = await startOrigin(t, (incoming, response) => {
    void text(incoming).then(async (body) => {
      asked.push(`${incoming.method} ${incoming.url} ${body}`);
      if (incoming.url === '/slow') await slow.promise;
      response.writeHead(incoming.url === '/missing' ? 404 : 200, { 'content-type': 'text/plain' });
      response.end('line one\nline two \u001b[31mred');
    });
  });
  await culvert.publish('http', origin.port, { subdomain: 'shop' });
  const line = await breakableLine(t, Number(new URL(culvert.account.apiUrl).port));
  const { home, file } = loggedInAt(t, line.url);
  const owner = culvert.server.firstOwner;
  const answer = await fetch(`${culvert.account.apiUrl}/auth/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email: owner?.email, password: owner?.password.reveal() }),
  });
  const cookie = /qnt_refresh=([^;]+)/.exec(answer.headers.get('set-cookie') ?? '')?.[1] ?? '';
  writeFileSync(file, readFileSync(file, 'utf8').replace('cookie-0', cookie), { mode: 0o600 });
  const options = { home, env: { CULVERT_SERVER: line.url } };
  const inspect: Fixture['inspect'] = (...words) => start(t, ['inspect', ...words], options);
  return {
    asked,
    slow,
    cut: line.cut,
    inspect,
    spawn: (...words) => startProcess(t, ['inspect', ...words], options),
    visit: async (method, path, body) => {
      const headers = { host: `shop.localhost:${culvert.httpPort}`, cookie: 's=secret-cookie' };
      const outgoing = request({ host: '127.0.0.1', port: culvert.httpPort, method, path, headers, agent: false });
      outgoing.end(body);
      const [response] = await once(outgoing, 'response');
      await text(response);
    },
    said: async (...words) => {
      const program = inspect(...words);
      assert.equal(await program.exit, 0, program.stderr);
      return program.stdout;
    },
  };
}

test('a person sees what came, looks at one, takes it elsewhere, and sends it again', async (t) => {
  const { asked, inspect, said, visit } = await makeFixture(t);
  const none = inspect();
  assert.equal(await none.exit, 0);
  assert.match(none.stderr, /No requests are recorded yet/);
  await visit('POST', '/orders?x=1', '{"item": "book"}');
  await visit('GET', '/missing');

  const [heading, newest, older, ...rest] = (await said()).trimEnd().split('\n');
  assert.match(heading ?? '', /^TIME \(UTC\) +TUNNEL +METHOD +PATH +STATUS +REMARK +MS +IN +OUT +FROM +ID$/);
  assert.match(newest ?? '', /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d +shop +GET +\/missing +404 /);
  assert.match(older ?? '', / +POST +\/orders\?x=1 +200 +[\d.]+ +16 +\d+ +127\.0\.0\.1 +[0-9a-f-]{36}$/);
  assert.deepEqual(rest, []);
  const filtered = await said(
    '--tunnel',
    'shop',
    '--status',
    '2xx',
    '--method',
    'POST',
    '--path',
    'orders',
    '--since',
    '1h',
    '--json',
  );
  const [item] = JSON.parse(filtered) as Array<{ id: string; path: string }>;
  assert.equal(item?.path, '/orders?x=1');
  const id = item?.id ?? '';

  const detail = await said(id);
  assert.match(detail, /^POST \/orders\?x=1 200 in [\d.]+ ms\n/);
  for (const line of ['outcome   forwarded', '  cookie: s=secret-cookie', '  {"item": "book"}', '  line two ?[31mred'])
    assert.ok(
      detail.split('\n').some((one) => one.toLowerCase() === line.toLowerCase()),
      `${line}\n${detail}`,
    );
  assert.ok(!detail.includes('\u001b'));
  assert.equal((JSON.parse(await said(id, '--json')) as { id: string }).id, id);

  const asCommand = inspect(id, '--curl');
  assert.equal(await asCommand.exit, 0, asCommand.stderr);
  assert.match(asCommand.stderr, /^Credentials and cookies are masked/);
  const command = asCommand.stdout;
  assert.match(command, /^curl -X|^curl 'http:\/\/shop\.localhost/);
  assert.ok(command.includes(`--data-raw '{"item": "book"}'`) && !command.includes('secret-cookie'), command);
  assert.ok((await said(id, '--curl', '--secrets')).includes('secret-cookie'));
  const archive = JSON.parse(await said('--har', '--limit', '1')) as { log: { entries: unknown[] } };
  assert.equal(archive.log.entries.length, 1);
  const missing = await said('--har', '--status', '4xx', '--method', 'get', '--since', '1h', '--tunnel', 'shop');
  const { entries } = (JSON.parse(missing) as { log: { entries: Array<{ request: { url: string } }> } }).log;
  assert.deepEqual(
    entries.map(({ request: { url } }) => new URL(url).pathname),
    ['/missing'],
  );

  assert.match(await said(id, '--replay'), /^Sent again: 200 in [\d.]+ ms\. See: culvert inspect [0-9a-f-]{36}\n$/);
  assert.deepEqual(asked.filter((line) => line === 'POST /orders?x=1 {"item": "book"}').length, 2);

  const refused: ReadonlyArray<readonly [readonly string[], number, RegExp]> = [
    [[id, '--follow'], 2, /--follow: can't be used with a request ID/],
    [['--curl'], 2, /--curl: needs a request ID/],
    [['--follow', '--status', '404'], 2, /--status: can't be used with --follow/],
    [['--since', 'noon'], 2, /--since: "noon" is not a time\. Use .*15m/],
    [['--status', 'bad'], 2, /status/],
    [['--secrets'], 2, /--secrets: needs --curl or --har/],
    [[id, '--curl', '--har'], 2, /choose one/],
    [['--tunnel', 'shed'], 1, /there is no tunnel "shed"/],
    [['00000000-0000-7000-8000-000000000000'], 1, /no record with this id/],
  ];
  for (const [words, code, message] of refused) {
    const program = inspect(...words);
    assert.equal(await program.exit, code, words.join(' '));
    assert.match(program.stderr, message);
  }
});

test('--follow shows requests as they come, across a feed that breaks, each once, and ends with its reader', async (t) => {
  const { asked, cut, slow, spawn, visit } = await makeFixture(t);
  const underWay = visit('GET', '/slow');
  while (asked.length === 0) await sleep(20);
  await visit('GET', '/before');
  const program = spawn('--follow', '--json');
  // A visit that comes before the feed is open is fetched, so one is enough, whenever it comes.
  await visit('GET', '/1');
  const paths = () =>
    program.stdout
      .trimEnd()
      .split('\n')
      .map((line) => (JSON.parse(line) as { path: string }).path);
  let more = 1;
  while (program.stdout === '') {
    await visit('GET', `/${++more}`);
    await sleep(200);
  }
  await visit('GET', '/last');
  await program.until(() => program.stdout.includes('/last'));
  assert.ok(!program.stdout.includes('/before'));
  slow.resolve();
  await underWay;
  await program.until(() => program.stdout.includes('/slow'));
  cut();
  await visit('GET', '/while-it-was-broken');
  await program.until(() => program.stdout.includes('/while-it-was-broken'));
  assert.match(program.stderr, /The live feed disconnected\. Reconnecting/);
  assert.equal(new Set(paths()).size, paths().length, 'each once');
  const pretty = spawn('--follow', '--tunnel', 'shop');
  while (pretty.stdout === '') {
    await visit('GET', '/missing');
    await sleep(200);
  }
  assert.match(pretty.stdout, /^\d\d:\d\d:\d\d shop 404 GET \/missing [\d.]+ ms from 127\.0\.0\.1 [0-9a-f-]{36}\n/);
  // Its reader goes: the next line ends it.
  pretty.child.stdout?.destroy();
  const over = pretty.exit;
  for (;;) {
    await visit('GET', '/missing');
    const code = await Promise.race([over, sleep(100)]);
    if (code === undefined) continue;
    assert.equal(code, 0);
    break;
  }
  program.child.kill('SIGINT');
  await program.exit;
});

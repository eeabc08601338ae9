/** The agent's commands as a user's shell sees them: exit codes, what stands on which stream, signals, files, secrets. A process where it is the subject. */
import assert from 'node:assert/strict';
import { on } from 'node:events';
import { existsSync, mkdirSync, readFileSync, statSync, watch, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { type FakePeer, FakeServer } from '../agent/fixtures/fake-server.ts';
import type { RefusalCode } from '../wire/messages.ts';
import { run, start, tempHome } from './fixtures/in-process.ts';
import { start as startProcess } from './fixtures/program.ts';

const KEY = 'mtk_0123456789abcdefghijABCDEFGHIJ0123456789abc';
let server: FakeServer;
before(async () => {
  server = await FakeServer.start();
});
after(() => server.close());

const envOf = (on: FakeServer = server): NodeJS.ProcessEnv => ({ CULVERT_TOKEN: KEY, CULVERT_SERVER: on.url.href });

interface JsonEvent {
  readonly event: string;
  readonly [field: string]: unknown;
}
const jsonLines = (text: string): JsonEvent[] =>
  text
    .trimEnd()
    .split('\n')
    .map((line): JsonEvent => JSON.parse(line));

test('without a key, or with an unusable key file, it exits with 2 before it dials', async (t) => {
  const home = tempHome(t);
  const file = join(home, 'key');
  const open = join(home, 'open');
  writeFileSync(file, '-----BEGIN PRIVATE KEY-----\nabc\n', { mode: 0o600 });
  writeFileSync(open, `${KEY}\n`, { mode: 0o644 });
  const before = server.peers.length;
  const env = { CULVERT_SERVER: server.url.href };
  for (const [args, message] of [
    [
      ['http', '3000'],
      /no key for http:\S+ \(--server names another\)\. .*`culvert login --server http.*CULVERT_TOKEN_FILE/s,
    ],
    [['http', '3000', '--token-file', 'absent'], /absent: there is no such key file/],
    [['http', '3000', '--token-file', file], /is not an access key/],
    [['http', '3000', '--token-file', open], /other users of this machine can read the key: chmod 600/],
  ] as const) {
    const { code, stderr } = await run(args, { home, env });
    assert.equal(code, 2);
    assert.match(stderr, message);
    assert.ok(!stderr.includes('PRIVATE') && !stderr.includes(KEY));
  }
  assert.equal(server.peers.length, before);
});

test('elsewhere than on a terminal: the public URL alone on standard output, log lines as JSON on standard error', async (t) => {
  const home = tempHome(t);
  const program = start(t, ['http', '3000', '--subdomain', 'shop'], { home, env: envOf() });
  const peer = await server.peer();
  assert.equal((await peer.hear('hello')).token, KEY);
  const claim = await peer.serve();
  assert.deepEqual([claim.subdomain, claim.localPort, claim.protocol], ['shop', 3000, 'http']);
  assert.deepEqual(await program.lines(1), ['http://shop.localhost:8080']);
  // It comes back at the same URL: that is no news for a script.
  server.cut();
  const again = await server.peer();
  await again.serve();
  await program.until(() => program.stderr.split('tunnel is live').length === 3);
  program.signal('SIGTERM');
  assert.equal(await program.exit, 0);
  assert.equal(program.stdout, 'http://shop.localhost:8080\n');
  for (const line of program.stderr.trimEnd().split('\n')) assert.equal(typeof JSON.parse(line), 'object', line);
  assert.ok(!program.stderr.includes(KEY), 'the key is in no log line');
});

test('the key stands in no argument of the process, and in no file that the agent writes', async (t) => {
  const home = tempHome(t);
  const keyFile = join(home, 'key');
  writeFileSync(keyFile, `${KEY}\n`, { mode: 0o600 });
  const env = { CULVERT_SERVER: server.url.href, CULVERT_TOKEN_FILE: keyFile };
  const program = startProcess(t, ['http', '3000'], { home, env });
  const peer = await server.peer();
  assert.equal((await peer.hear('hello')).token, KEY);
  await peer.serve();
  await program.lines(1);
  assert.ok(!readFileSync(`/proc/${program.child.pid}/cmdline`, 'utf8').includes(KEY));
  const file = join(home, 'run/culvert', `agent-${program.child.pid}.json`);
  assert.equal(statSync(file).mode & 0o777, 0o600);
  assert.ok(!readFileSync(file, 'utf8').includes(KEY));
});

test('--json: one object per line with stable names', async (t) => {
  const home = tempHome(t);
  const program = start(t, ['http', '3000', '--json', '--inspect-port', '0'], { home, env: envOf() });
  const peer = await server.peer();
  const claim = await peer.serve();
  assert.equal((await peer.hear('watch')).requests, true);
  await program.lines(3);
  const line = { slot: claim.ref, at: 1_700_000_000_000, method: 'GET', path: '/a', status: 200, ms: 1.5 };
  peer.say({ type: 'requests', items: [line], dropped: 0 });
  peer.say({ type: 'unbound', slot: claim.ref, code: 'superseded', message: 'taken over by host-b' });
  assert.equal(await program.exit, 4);
  const [page, ...events] = jsonLines(program.stdout).map(({ at, ...event }) => {
    assert.ok(!Number.isNaN(Date.parse(String(at))));
    return event;
  });
  assert.equal(page?.event, 'inspector_online');
  assert.match(String(page['url']), /^http:\/\/127\.0\.0\.1:\d+$/);
  assert.deepEqual(events, [
    {
      event: 'connected',
      agent_id: '00000000-0000-4000-8000-000000000001',
      account: 'a@example.com',
      server_version: '9.9',
    },
    {
      event: 'tunnel_online',
      name: 'http',
      url: 'http://calm-otter.localhost:8080',
      protocol: 'http',
      target: 'localhost:3000',
      tunnel_id: '00000000-0000-4000-8000-0000000000aa',
      expires_at: null,
    },
    {
      event: 'request',
      name: 'http',
      started_at: '2023-11-14T22:13:20.000Z',
      method: 'GET',
      path: '/a',
      status: 200,
      ms: 1.5,
    },
    { event: 'tunnel_refused', name: 'http', code: 'superseded', message: 'taken over by host-b', final: true },
    { event: 'stopped', exit_code: 4, message: 'taken over by host-b' },
  ]);
});

test('the page is there while the agent runs, and goes with it', async (t) => {
  const program = start(t, ['http', '3000', '--json', '--inspect-port', '0'], { home: tempHome(t), env: envOf() });
  const peer = await server.peer();
  assert.equal((await peer.serve()).inspect, undefined);
  const [first = ''] = await program.lines(3);
  const url = String(jsonLines(first)[0]?.['url']);
  const answer = await fetch(`${url}/api/tunnels`);
  const { tunnels } = (await answer.json()) as { tunnels: { public_url: string }[] };
  assert.equal(tunnels[0]?.public_url, 'http://calm-otter.localhost:8080');
  program.signal('SIGTERM');
  assert.equal(await program.exit, 0);
  await assert.rejects(fetch(url));
});

test('--no-inspect, or the agent file: no page, and the claim asks the server to keep nothing', async (t) => {
  const home = tempHome(t);
  writeFileSync(join(home, 'culvert.toml'), 'inspect = false\n');
  const open = tempHome(t);
  writeFileSync(join(open, 'culvert.toml'), 'inspect_port = 0\n[tunnels.web]\ntarget = 3000\ninspect = false\n');
  for (const [args, at, events] of [
    [['http', '3000', '--no-inspect'], tempHome(t), ['connected', 'tunnel_online']],
    [['http', '3000'], home, ['connected', 'tunnel_online']],
    [['start', '--no-inspect'], open, ['connected', 'tunnel_online']],
    // A tunnel that is left out is one among others: the page is there for those.
    [['start'], open, ['inspector_online', 'connected', 'tunnel_online']],
  ] as const) {
    const program = start(t, [...args, '--json'], { home: at, env: envOf() });
    const peer = await server.peer();
    assert.equal((await peer.serve()).inspect, false, args.join(' '));
    await program.lines(events.length);
    program.signal('SIGTERM');
    assert.equal(await program.exit, 0);
    const said = jsonLines(program.stdout).map(({ event }) => event);
    assert.deepEqual(said.slice(0, events.length), events, args.join(' '));
  }
});

const REFUSALS: ReadonlyArray<readonly [RefusalCode, 'hello' | 'claim', number]> = [
  ['unauthorized', 'hello', 3],
  ['unauthorized', 'claim', 3],
  ['duplicate_name', 'claim', 4],
  ['quota_exceeded', 'claim', 4],
  ['upgrade_required', 'claim', 4],
  ['superseded', 'claim', 4],
  ['invalid_request', 'claim', 4],
];
for (const [code, when, exit] of REFUSALS) {
  test(`${code} at ${when} exits with ${exit} and says why`, async (t) => {
    const program = start(t, ['http', '3000'], { home: tempHome(t), env: envOf() });
    const peer = await server.peer();
    await peer.hear('hello');
    if (when === 'hello') peer.say({ type: 'bye', code, message: `because of ${code}` });
    else {
      peer.welcome();
      const { ref } = await peer.hear('claim');
      peer.say({ type: 'refused', ref, code, message: `because of ${code}` });
    }
    assert.equal(await program.exit, exit);
    assert.match(program.stderr, new RegExp(`culvert: because of ${code}`));
    assert.equal(program.stderr.split(`because of ${code}`).length, 2, 'once');
    assert.equal(program.stdout, '');
  });
}

test('--url-file: written whole when live, removed at exit; --quiet says nothing else', async (t) => {
  const home = tempHome(t);
  const file = join(home, 'url');
  const program = start(t, ['http', '3000', '--url-file', file, '--quiet'], { home, env: envOf() });
  await (await server.peer()).serve();
  await program.lines(1);
  // Watching from here on: a change between the look and the wait counts.
  const watcher = watch(home);
  t.after(() => watcher.close());
  const changes = on(watcher, 'change', { signal: AbortSignal.timeout(10_000) });
  if (!existsSync(file)) for await (const _ of changes) if (existsSync(file)) break;
  assert.equal(readFileSync(file, 'utf8'), 'http://calm-otter.localhost:8080\n');
  program.signal('SIGTERM');
  assert.equal(await program.exit, 0);
  assert.ok(!existsSync(file));
  assert.equal(program.stderr, '');
});

test("a server's words can't steer the terminal or forge lines", async (t) => {
  const program = start(t, ['http', '3000'], { home: tempHome(t), env: envOf() });
  const peer = await server.peer();
  await peer.hear('hello');
  peer.welcome();
  const { ref } = await peer.hear('claim');
  const tunnelId = '00000000-0000-4000-8000-0000000000aa';
  const url = 'http://a\nhttp://forged';
  peer.say({ type: 'bound', ref, slot: 1, tunnelId, subdomain: 'a', url, protocol: 'http', expiresAt: null });
  assert.deepEqual(await program.lines(1), ['http://a?http://forged']);
  peer.say({ type: 'bye', code: 'unauthorized', message: 'no\u001b]52;c;eA==\u0007' });
  assert.equal(await program.exit, 3);
  assert.ok(!program.stderr.includes('\u001b'));
});

test('Ctrl-C exits with 130', async (t) => {
  const program = startProcess(t, ['http', '3000'], { home: tempHome(t), env: envOf() });
  await (await server.peer()).serve();
  await program.lines(1);
  program.signal('SIGINT');
  assert.equal(await program.exit, 130);
});

test('SIGTERM lets a stream in flight end, and tells the server; a second one cuts', async (t) => {
  const home = tempHome(t);
  const { createServer } = await import('node:net');
  const origin = createServer((socket) => socket.on('error', () => {}).pipe(socket)).listen(0, '127.0.0.1');
  t.after(() => origin.close());
  await new Promise((resolve) => origin.once('listening', resolve));
  const address = origin.address();
  assert.ok(typeof address === 'object' && address !== null);

  const inFlight = async (): Promise<[ReturnType<typeof startProcess>, FakePeer]> => {
    const program = startProcess(t, ['tcp', `127.0.0.1:${address.port}`], { home, env: envOf() });
    const peer = await server.peer();
    await peer.serve();
    await program.lines(1);
    return [program, peer];
  };
  const [program, peer] = await inFlight();
  const wire = peer.open(1, Buffer.from('half'));
  await wire.atLeast(6);
  program.signal('SIGTERM');
  await peer.hear('drain');
  wire.stream.write(Buffer.from('whole'));
  wire.stream.end();
  assert.equal((await wire.ended).toString('utf8', 2), 'halfwhole');
  assert.equal(await program.exit, 0);

  const [forced, stuck] = await inFlight();
  const open = stuck.open(1, Buffer.from('x'));
  await open.atLeast(3);
  forced.signal('SIGTERM');
  await stuck.hear('drain');
  forced.signal('SIGTERM');
  assert.equal(await forced.exit, 0);
  await open.reset;
});

test('a server that is away does not end it, and SIGHUP tries at once', async (t) => {
  const away = await FakeServer.start();
  const env = envOf(away);
  await away.close();
  const program = start(t, ['http', '3000'], { home: tempHome(t), env });
  await program.until(() => program.stderr.includes('not connected; retrying'));
  program.signal('SIGHUP');
  program.signal('SIGTERM');
  assert.equal(await program.exit, 0);
  assert.equal(program.stdout, '');
});

test('start runs the tunnels of ./culvert.toml over one session, or those named', async (t) => {
  const home = tempHome(t);
  writeFileSync(
    join(home, 'culvert.toml'),
    '[tunnels.web]\ntarget = 3000\nsubdomain = "shop"\n[tunnels.db]\nprotocol = "tcp"\ntarget = "nas.local:5432"\n',
  );
  const all = start(t, ['start'], { home, env: envOf() });
  const peer = await server.peer();
  await peer.hear('hello');
  peer.welcome();
  const claims = [await peer.hear('claim'), await peer.hear('claim', 1)];
  assert.deepEqual(
    claims.map(({ protocol, target, subdomain }) => [protocol, target, subdomain]),
    [
      ['http', 'localhost:3000', 'shop'],
      ['tcp', 'nas.local:5432', undefined],
    ],
  );
  for (const claim of claims) peer.bind(claim);
  assert.equal((await all.lines(2)).length, 2);

  const one = start(t, ['start', 'db'], { home, env: envOf() });
  const second = await server.peer();
  assert.equal((await second.serve()).target, 'nas.local:5432');
  await one.lines(1);

  const none = await run(['start', 'dbx'], { home, env: envOf() });
  assert.equal(none.code, 2);
  assert.match(none.stderr, /no tunnel "dbx"\. The file has web, db/);
});

test('a mistake in the agent file names file, line and key, and exits with 2', async (t) => {
  const home = tempHome(t);
  const file = join(home, 'agent.toml');
  const env = { ...envOf(), CULVERT_AGENT_CONFIG: file };
  for (const [text, message] of [
    ['server = "http://x"\ntoken = "abc"\n', `${file}:2: token: unknown key`],
    ['[tunnels.web]\ntarget = true\n', `${file}:2: tunnels.web.target: must be a port`],
    ['[tunnels.web]\n\ntarget = "x y"\n', `${file}:3: tunnels.web.target: "x y" is not a valid target`],
    ['[tunnels.web]\ntarget = 1\nprotocol = "icmp"\n', `${file}:3: tunnels.web.protocol: must be "http"`],
    ['[tunnels.web]\nsubdomain = "x"\n', `${file}:1: tunnels.web.target: `],
    ['[tunnels.web]\ntarget = 1\nproxy_protocol = true\n', `${file}:3: tunnels.web.proxy_protocol: is for tcp`],
    ['server = \n', `${file}:1: column`],
  ] as const) {
    writeFileSync(file, text);
    const { code, stderr } = await run(['start'], { home, env });
    assert.equal(code, 2);
    assert.ok(stderr.startsWith(`culvert: ${message}`), stderr);
    assert.equal(stderr.trimEnd().split('\n').length, 1);
  }
});

test('config check: 0 for a good file, 2 with file, line and key for a bad one', async (t) => {
  const home = tempHome(t);
  writeFileSync(join(home, 'good.toml'), '[edge]\ndomain = "example.com"\n');
  writeFileSync(join(home, 'bad.toml'), '[edge]\n\ndomian = "example.com"\n');
  const good = await run(['config', 'check', 'good.toml'], { home });
  assert.deepEqual([good.code, good.stdout], [0, 'good.toml: ok\n']);
  writeFileSync(join(home, 'logs.toml'), '[log.access]\npath = "nowhere/access.log"\n');
  const logs = await run(['config', 'check', 'logs.toml'], { home });
  assert.match(logs.stderr, /^logs\.toml: log\.access\.path is in a folder that does not exist: create \S+nowhere/m);
  const bad = await run(['config', 'check', 'bad.toml'], { home });
  assert.equal(bad.code, 2);
  assert.match(bad.stderr, /^culvert: bad\.toml:3: edge\.domian: unknown key/);
});

test("config check: an agent's file, named or in this folder, with each mistake", async (t) => {
  const home = tempHome(t);
  writeFileSync(join(home, 'culvert.toml'), 'server = "example.com"\n[tunnels.web]\ntarget = 3000\n');
  const good = await run(['config', 'check'], { home });
  assert.deepEqual([good.code, good.stdout, good.stderr], [0, 'culvert.toml: ok\n', '']);
  const text = '[tunnels.a]\ntarget = "x y"\n[tunnels.b]\nprotocol = "udp"\ntarget = 1\n[tunnels.c]\ntarget = 2\n';
  writeFileSync(join(home, 'bad.toml'), text);
  writeFileSync(join(home, 'logs.toml'), '[log.access]\npath = "nowhere/access.log"\n');
  const logs = await run(['config', 'check', 'logs.toml'], { home });
  assert.match(logs.stderr, /^logs\.toml: log\.access\.path is in a folder that does not exist: create \S+nowhere/m);
  const bad = await run(['config', 'check', 'bad.toml'], { home });
  assert.equal(bad.code, 2);
  assert.match(
    bad.stderr,
    /^culvert: bad\.toml:2: tunnels\.a\.target: .*\nculvert: bad\.toml:4: tunnels\.b\.protocol: .*\n$/,
  );
  writeFileSync(join(home, 'bad.toml'), 'server = "ftp://x"\n[tunnels.c]\ntarget = 2\n');
  assert.match(
    (await run(['config', 'check', 'bad.toml'], { home })).stderr,
    /^culvert: bad\.toml:1: server: is not a server URL/,
  );
});

test("an agent in a folder with a server's culvert.toml says so and goes on", async (t) => {
  const home = tempHome(t);
  writeFileSync(join(home, 'culvert.toml'), 'data_dir = "./data"\n');
  const program = start(t, ['http', '3000'], { home, env: envOf() });
  await (await server.peer()).serve();
  assert.deepEqual(await program.lines(1), ['http://calm-otter.localhost:8080']);
  const said = jsonLines(program.stderr).filter(({ file }) => file === join(home, 'culvert.toml'));
  assert.deepEqual(
    said.map(({ msg }) => msg),
    ['the settings file here is of a server: the agent goes on without it'],
  );
  const none = await run(['start'], { home, env: envOf() });
  assert.equal(none.code, 2);
  assert.match(none.stderr, /^culvert: no tunnel to start\..*culvert\.toml is the settings file of a server\n$/);
});

test('status shows running agents, forgets dead ones, and asks the server', async (t) => {
  const home = tempHome(t);
  const program = startProcess(t, ['http', '3000'], { home, env: envOf() });
  await (await server.peer()).serve();
  await program.lines(1);
  const folder = join(home, 'run/culvert');
  // Written after the line: what reads it is another program.
  const ownFile = join(folder, `agent-${program.child.pid}.json`);
  while (!readFileSync(ownFile, 'utf8').includes('calm-otter')) await new Promise((resolve) => setTimeout(resolve, 10));
  writeFileSync(join(folder, 'agent-999999.json'), readFileSync(ownFile, 'utf8').replace(/"pid":\d+/, '"pid":999999'));

  const shown = await run(['status'], { home, env: envOf() });
  assert.equal(shown.code, 0);
  assert.match(shown.stdout, /online, version 9\.9/);
  assert.match(
    shown.stdout,
    new RegExp(`pid ${program.child.pid} .*online\\n +http://calm-otter.*\\n +requests +http://127\\.0\\.0\\.1:\\d+`),
  );
  assert.ok(!shown.stdout.includes('999999') && !existsSync(join(folder, 'agent-999999.json')));

  program.signal('SIGKILL');
  await program.exit;
  const json = await run(['status', '--json'], { home, env: envOf() });
  const { agents, server: asked } = JSON.parse(json.stdout);
  assert.deepEqual(agents, []);
  assert.equal(asked.ok, true);

  const away = await FakeServer.start();
  const env = envOf(away);
  await away.close();
  const down = await run(['status'], { home, env });
  assert.equal(down.code, 1);
  assert.match(down.stdout, /ECONNREFUSED/);
});

test('the key file is read again at each reconnect', async (t) => {
  const home = tempHome(t);
  const keyFile = join(home, 'key');
  writeFileSync(keyFile, KEY, { mode: 0o600 });
  const program = start(t, ['http', '3000', '--token-file', keyFile], {
    home,
    env: { CULVERT_SERVER: server.url.href },
  });
  const first = await server.peer();
  await first.serve();
  await program.lines(1);
  writeFileSync(keyFile, KEY.replace('mtk_0', 'mtk_9'), { mode: 0o600 });
  server.cut();
  const second = await server.peer();
  assert.equal((await second.hear('hello')).token, KEY.replace('mtk_0', 'mtk_9'));
});

test("a project file alone can't send the user's key to its server", async (t) => {
  const home = tempHome(t);
  mkdirSync(join(home, '.config/culvert'), { recursive: true });
  writeFileSync(join(home, 'key'), KEY, { mode: 0o600 });
  writeFileSync(join(home, '.config/culvert/agent.toml'), 'token_file = "~/key"\n');
  writeFileSync(join(home, 'culvert.toml'), 'server = "https://evil.example"\n[tunnels.web]\ntarget = 1\n');
  for (const env of [{}, { CULVERT_TOKEN: KEY }, { CULVERT_TOKEN_FILE: 'key' }]) {
    const { code, stderr } = await run(['start'], { home, env });
    assert.equal(code, 2);
    assert.match(
      stderr,
      /culvert\.toml:1: server: your access key \(.*\) was not sent, because only a project file sets this server/,
    );
  }
});

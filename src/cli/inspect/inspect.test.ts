/** What visitors and a server send reaches no terminal as a command, in whatever way of `culvert inspect` shows it. */
import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { type TestContext, test } from 'node:test';
import { loggedInAt, playServer, refreshWith } from '../fixtures/played-server.ts';
import { TUNNEL_ITEM } from '../fixtures/tunnel-item.ts';
import { inspect } from './inspect.ts';
import type { Io, Output } from '../terminal/io.ts';

/** Clears a screen in seven bits and in eight, turns text around, hides it, and begins a line of its own. */
const HOSTILE = '\u001b[2J\u009b31m\u202eelgoog\u200b\ufeff\r\nadmin\u0000';
const ITEM = {
  id: HOSTILE,
  tunnel_id: HOSTILE,
  timestamp: HOSTILE,
  method: HOSTILE,
  path: `/${HOSTILE}`,
  status: 200,
  latency_ms: 1,
  request_size: 30,
  response_size: 30,
  remote_ip: HOSTILE,
  outcome: HOSTILE,
  code: HOSTILE,
  replay_of: HOSTILE,
};
const BODY = Buffer.from(HOSTILE.replace('\u0000', '')).toString('base64');
const FIELDS = [{ name: HOSTILE, value: HOSTILE }];
const DETAIL = {
  ...ITEM,
  host: HOSTILE,
  http_version: HOSTILE,
  request_header_list: FIELDS,
  response_header_list: FIELDS,
  request_body: BODY,
  response_body: BODY,
  request_body_truncated: true,
  response_body_truncated: false,
  trace: {
    outcome: HOSTILE,
    code: HOSTILE,
    scheme: HOSTILE,
    steps: [{ step: HOSTILE, index: 0, rule: HOSTILE, verdict: HOSTILE, code: HOSTILE }],
    agent_id: HOSTILE,
    connection: HOSTILE,
    retried: false,
    policy_ms: 1,
    first_byte_ms: 1,
  },
};

interface Words {
  readonly flags?: Readonly<Record<string, unknown>>;
  readonly args?: readonly string[];
}

/** A response with headers. */
class Part {
  readonly items: readonly unknown[];
  readonly headers: Record<string, string>;

  constructor(items: readonly unknown[], headers: Record<string, string>) {
    this.items = items;
    this.headers = headers;
  }
}

/** A user who is logged in at this server, with a terminal. */
function terminalAt(t: TestContext, url: string) {
  const { home } = loggedInAt(t, url);
  const stdout = Object.assign(new PassThrough(), { isTTY: true }) as unknown as Output & PassThrough;
  const stderr = Object.assign(new PassThrough(), { isTTY: true }) as unknown as Output & PassThrough;
  const io: Io = {
    stdin: process.stdin,
    stdout,
    stderr,
    env: { HOME: home, CULVERT_SERVER: url, NO_COLOR: '1' },
    cwd: home,
    onSignal: () => () => {},
    onCrash: () => {},
    pause: async () => {},
  };
  return { io, stdout, stderr };
}

/** What stands on standard output and standard error, both a terminal, once the server has answered the requests in this order. */
async function said(
  t: TestContext,
  { flags = {}, args = [] }: Words,
  ...answers: unknown[]
): Promise<[string, string]> {
  const server = await playServer(t);
  const { io, stdout, stderr } = terminalAt(t, server.url);
  const done = inspect(io, { args, flags });
  refreshWith(await server.next(), 'cookie-1');
  for (const answer of answers) {
    const asked = await server.next();
    if (answer instanceof Part) asked.answer(200, answer.items, answer.headers);
    else asked.answer(200, answer);
  }
  assert.equal(await done, 0);
  return [String(stdout.read() ?? ''), String(stderr.read() ?? '')];
}

async function shownOn(t: TestContext, words: Words, ...answers: unknown[]): Promise<string> {
  const shown = (await said(t, words, ...answers)).join('');
  assert.ok(shown.includes('elgoog'), shown);
  return shown;
}

const one = { args: ['some-id'] };
const ways: Readonly<Record<string, readonly [Parameters<typeof shownOn>[1], ...unknown[]]>> = {
  'a list': [{}, [ITEM], []],
  'a list as JSON': [{ flags: { json: true } }, [ITEM]],
  'one request': [one, DETAIL, []],
  'one as JSON': [{ ...one, flags: { json: true } }, DETAIL],
  'a command': [{ ...one, flags: { curl: true } }, `curl '${HOSTILE}'`, DETAIL],
  'an archive': [{ flags: { har: true } }, { log: { entries: [HOSTILE] } }],
  'an archive of one': [{ ...one, flags: { har: true } }, { log: { entries: [HOSTILE] } }],
  'one that was sent again': [
    { ...one, flags: { replay: true } },
    { id: HOSTILE, status: 200, latency_ms: 1, code: HOSTILE },
  ],
};
for (const [name, [asked, ...answers]] of Object.entries(ways)) {
  test(`${name}: nothing in it is obeyed by a terminal`, { timeout: 120_000 }, async (t) => {
    const shown = await shownOn(t, asked, ...answers);
    assert.doesNotMatch(shown, /[^\n\P{C}]/u);
    assert.doesNotMatch(shown, /^admin/mu);
  });
}

const COMMAND = "curl 'http://shop.localhost/' \\\n  -H 'Authorization: ***'";
const withFields = (...names: string[]) => names.map((name) => ({ name, value: '***' }));
const passed = (step: string) => ({ step, index: null, verdict: 'passed', code: null });
// biome-ignore format: a table
const LACKS: ReadonlyArray<readonly [string, object, Readonly<Record<string, unknown>>, RegExp]> = [
  ['a masked credential', { request_header_list: withFields('Host', 'authorization') }, {}, /^Credentials and cookies are masked.*--secrets.*\n$/],
  ['a masked cookie', { request_header_list: withFields('COOKIE') }, {}, /^Credentials and cookies are masked.*\n$/],
  ['nothing masked', { request_header_list: withFields('Host') }, {}, /^$/],
  ['a credential that was asked for', { request_header_list: withFields('Cookie') }, { secrets: true }, /^$/],
  ["a tunnel's password", { trace: { steps: [passed('basic_gate')] } }, { secrets: true }, /^The tunnel requires a password.*-u .*\n$/],
  ["a tunnel's sign-in", { trace: { steps: [passed('visitor_gate')] } }, {}, /^The tunnel requires a visitor login.*\n$/],
];
for (const [name, change, flags, expected] of LACKS) {
  test(`--curl says beside the command what it lacks: ${name}`, { timeout: 120_000 }, async (t) => {
    const detail = { request_header_list: [], trace: { steps: [] }, ...change };
    const [stdout, stderr] = await said(t, { ...one, flags: { curl: true, ...flags } }, COMMAND, detail);
    assert.match(stderr, expected);
    assert.doesNotMatch(stdout, /masked|asks/);
  });
}

test('a list of nothing says what is not recorded at all', { timeout: 120_000 }, async (t) => {
  const off = { enabled: false, not_recorded: [] };
  const [stdout, stderr] = await said(t, { flags: { method: 'GET' } }, [], off);
  assert.equal(stdout, '');
  assert.match(
    stderr,
    /^No recorded request matches\. This server does not record requests.*inspector\.enabled off\.\n$/,
  );
});

const ID = '01a20b7e-1c55-7d0c-9f4e-2b8d6a90c3f1';

test('a search that ran out of time says how far it came, and how to continue', { timeout: 120_000 }, async (t) => {
  const headers = { link: `<?body=x&before=${ID}>; rel="next"`, 'culvert-searched-to': '2026-11-22T10:41:07.250Z' };
  const parts = Array.from({ length: 50 }, (_, i) => new Part(i === 3 ? [ITEM] : [], headers));
  for (const json of [true, false]) {
    const [stdout, stderr] = await said(t, { flags: { body: 'x', json } }, ...parts, ...(json ? [] : [[]]));
    assert.equal(stderr, `Searched back to 2026-11-22 10:41:07 UTC. To search further back, add --before ${ID}\n`);
    assert.match(stdout, /elgoog/);
  }
});

test('filters reach the server as its parameters', { timeout: 120_000 }, async (t) => {
  const server = await playServer(t);
  const { io } = terminalAt(t, server.url);
  const flags = { body: 'a b', header: 'x:y', traceId: 'f'.repeat(32), minLatencyMs: '5', before: ID, json: true };
  const done = inspect(io, { args: [], flags });
  refreshWith(await server.next(), 'cookie-1');
  const asked = await server.next();
  asked.answer(200, []);
  await done;
  const expected = { body: 'a b', header: 'x:y', trace_id: 'f'.repeat(32), min_latency_ms: '5', before: ID };
  assert.deepEqual(Object.fromEntries(new URLSearchParams(asked.what.split('?')[1])), expected);
});

test('and of which tunnels', { timeout: 120_000 }, async (t) => {
  const some = { enabled: true, not_recorded: ['id-1', 'id-2'] };
  const [, stderr] = await said(t, {}, [], some, [{ ...TUNNEL_ITEM, id: 'id-1', subdomain: 'quiet' }]);
  assert.match(stderr, /^No requests are recorded yet\. Requests to quiet, id-2 are not recorded: .*--no-inspect\.\n$/);
});

test('where all is recorded a list of nothing names the live feed', { timeout: 120_000 }, async (t) => {
  const [, stderr] = await said(t, {}, [], { enabled: true, not_recorded: [] });
  assert.match(stderr, /^No requests are recorded yet\. culvert inspect --follow .*\n$/);
});

test('of a body that is no text it says how much is kept, and of how much', { timeout: 120_000 }, async (t) => {
  const body = Buffer.alloc(65_536, 0xff).toString('base64');
  const detail = { ...DETAIL, request_body: body, request_size: 100_000 };
  const [stdout] = await said(t, one, detail, []);
  assert.match(stdout, /\(65536 bytes of binary data; --json/);
  assert.match(stdout, /… 65536 of 100000 bytes recorded/);
});

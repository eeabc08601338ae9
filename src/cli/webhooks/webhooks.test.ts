/** `culvert webhooks`: what it asks a server, and what it prints. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { loggedInAt, type PlayedServer, playServer, refreshWith } from '../fixtures/played-server.ts';
import { type Program, type ProgramOptions, start } from '../fixtures/in-process.ts';
import { start as startProcess } from '../fixtures/program.ts';
import { TUNNEL_ITEM } from '../fixtures/tunnel-item.ts';

const WITHIN = { timeout: 120_000 };
const RECEIVER = {
  id: '019aa3c2-5b78-7a4e-9c61-2d8f0b7e5a13',
  name: 'orders',
  validator: 'github',
  url: 'https://api.example.com/webhooks/019aa3c2-5b78-7a4e-9c61-2d8f0b7e5a13',
  last_received_at: '2026-11-21T09:05:00.000Z',
  stored: 2,
  displaced: 0,
  refused: { total: 0, last_at: null, last_reason: null },
  waiting: 0,
  forward: { tunnel_id: 't1', path: '/hook' },
};
const OTHER = { ...RECEIVER, id: '019aa3c2-5b78-7a4e-9c61-2d8f0b7e5a14', name: 'mails', forward: null };
const PATH = `/webhook-receivers/${RECEIVER.id}`;

function event(n: number, state = 'delivered', more: object = {}): object {
  return {
    id: `event-${n}`,
    received_at: `2026-11-21T09:05:0${n}.000Z`,
    event_type: 'push',
    body: Buffer.from(`body ${n}`).toString('base64'),
    forward: { state, attempts: 1, last_status: 200, last_error: null, next_attempt_at: null, ...more },
  };
}

/** A person's command, behind the refresh. */
async function asking(
  t: TestContext,
  words: readonly string[],
  more: Partial<ProgramOptions> = {},
): Promise<{ program: Program; server: PlayedServer }> {
  const server = await playServer(t);
  const { home } = loggedInAt(t, server.url);
  const program = start(t, ['webhooks', ...words], { home, ...more });
  refreshWith(await server.next(), 'cookie-1');
  return { program, server };
}

async function expect(server: PlayedServer, what: string, answer: unknown, status = 200): Promise<unknown> {
  const request = await server.next();
  assert.equal(request.what, what);
  request.answer(status, answer);
  return request.body;
}

test('list: receivers, and the names of the tunnels that they send on to', WITHIN, async (t) => {
  const { program, server } = await asking(t, []);
  await expect(server, 'GET /webhook-receivers', [
    RECEIVER,
    OTHER,
    { ...OTHER, forward: { tunnel_id: 'x', path: '/' } },
  ]);
  await expect(server, 'GET /tunnels', [TUNNEL_ITEM]);
  assert.equal(await program.exit, 0, program.stderr);
  const [head = '', ...rows] = program.stdout.trimEnd().split('\n');
  assert.match(head, /^NAME +VALIDATOR +URL +FORWARDED TO /);
  assert.match(rows[0] ?? '', /^orders +github +https:\/\/\S+ +shop \/hook +2 +0 +0 +2026-11-21 09:05:00 /);
  assert.match(rows[1] ?? '', /^mails .* - +2 /);
  assert.match(rows[2] ?? '', /\(deleted\) \//);
});

test('webhooks list: counts refused deliveries and shows the last reason', WITHIN, async (t) => {
  const refused = { total: 12, last_at: '2026-11-21T09:04:50.000Z', last_reason: 'signature_wrong' };
  const { program, server } = await asking(t, ['events', 'orders']);
  await expect(server, 'GET /webhook-receivers', [{ ...RECEIVER, refused }]);
  await expect(server, `GET ${PATH}/events?limit=500`, []);
  assert.equal(await program.exit, 0, program.stderr);
  assert.match(
    program.stderr,
    /^orders: no deliveries are stored\. 12 refused, the last at 2026-11-21 09:04:50 UTC: signed with another secret\. --follow/,
  );
  const list = await asking(t, ['list']);
  const { refused: _, ...ofOldServer } = OTHER;
  await expect(list.server, 'GET /webhook-receivers', [{ ...RECEIVER, forward: null, refused }, ofOldServer]);
  await expect(list.server, 'GET /tunnels', []);
  assert.equal(await list.program.exit, 0, list.program.stderr);
  const [head = '', ...rows] = list.program.stdout.trimEnd().split('\n');
  assert.match(head, / REFUSED /);
  assert.match(rows[0] ?? '', / 2 +0 +12 +2026/);
  assert.match(rows[1] ?? '', / 2 +0 +0 +2026/);
});

test('events: page after page to the end, with what became of each', WITHIN, async (t) => {
  const { program, server } = await asking(t, ['events', 'orders', '--after', 'event-0']);
  await expect(server, 'GET /webhook-receivers', [OTHER, RECEIVER]);
  const waiting = { attempts: 2, last_status: 500, next_attempt_at: '2026-11-21T09:10:00.000Z' };
  await expect(server, `GET ${PATH}/events?after=event-0&limit=500`, [event(1), event(2, 'waiting', waiting)]);
  const failed = { last_status: 502, last_error: 'local_unreachable' };
  await expect(server, `GET ${PATH}/events?after=event-2&limit=500`, [event(3, 'failed', failed), event(4, 'none')]);
  await expect(server, `GET ${PATH}/events?after=event-4&limit=500`, []);
  assert.equal(await program.exit, 0, program.stderr);
  const rows = program.stdout.trimEnd().split('\n').slice(1);
  assert.match(rows[0] ?? '', /^2026-11-21 09:05:01 +push +6 +delivered +1 +200 +- +event-1$/);
  assert.match(rows[1] ?? '', /waiting +2 +500 +09:10:00 +event-2$/);
  assert.match(rows[2] ?? '', /failed +1 +local_unreachable +- +event-3$/);
  assert.match(rows[3] ?? '', / - +1 +200 +- +event-4$/);
});

test('events: no more than --limit, as the server sent them with --json', WITHIN, async (t) => {
  const { program, server } = await asking(t, ['events', RECEIVER.id, '--limit', '2', '--json']);
  await expect(server, 'GET /webhook-receivers', [RECEIVER]);
  await expect(server, `GET ${PATH}/events?limit=2`, [event(1)]);
  await expect(server, `GET ${PATH}/events?after=event-1&limit=1`, [event(2)]);
  assert.equal(await program.exit, 0, program.stderr);
  assert.deepEqual(JSON.parse(program.stdout), [event(1), event(2)]);
});

test('a receiver that is not there, or a name that several have: said, and nothing is asked', WITHIN, async (t) => {
  for (const [rows, said] of [
    [[OTHER], /there is no webhook receiver "orders"/],
    [[RECEIVER, { ...OTHER, name: 'orders' }], /2 webhook receivers have the name "orders"\. Use the ID/],
  ] as const) {
    const { program, server } = await asking(t, ['events', 'orders']);
    await expect(server, 'GET /webhook-receivers', rows);
    assert.equal(await program.exit, 1);
    assert.match(program.stderr, said);
  }
});

test('redeliver and forward', WITHIN, async (t) => {
  const again = await asking(t, ['redeliver', 'orders', 'event-1']);
  await expect(again.server, 'GET /webhook-receivers', [RECEIVER]);
  await expect(again.server, `POST ${PATH}/events/event-1/redeliver`, { ok: true }, 202);
  assert.equal(await again.program.exit, 0, again.program.stderr);
  assert.match(again.program.stdout, /^event-1: queued for the tunnel of orders\. culvert webhooks events \S+ shows/);

  const crowded = await asking(t, ['redeliver', 'orders', 'event-1']);
  await expect(crowded.server, 'GET /webhook-receivers', [{ ...RECEIVER, waiting: 2 }]);
  await expect(crowded.server, `POST ${PATH}/events/event-1/redeliver`, { ok: true }, 202);
  assert.equal(await crowded.program.exit, 0, crowded.program.stderr);
  assert.match(crowded.program.stdout, /orders, at the front of the queue \(2 waiting\)\. /);

  const nowhere = await asking(t, ['redeliver', 'mails', 'event-1']);
  await expect(nowhere.server, 'GET /webhook-receivers', [RECEIVER, OTHER]);
  assert.equal(await nowhere.program.exit, 4);
  assert.match(nowhere.program.stderr, new RegExp(`culvert webhooks forward ${OTHER.id} TUNNEL`));

  const on = await asking(t, ['forward', 'orders', 'shop', '--path', '/x?y=z']);
  await expect(on.server, 'GET /webhook-receivers', [RECEIVER]);
  await expect(on.server, 'GET /tunnels', [TUNNEL_ITEM]);
  assert.deepEqual(await expect(on.server, `PATCH ${PATH}`, RECEIVER), {
    forward: { tunnel_id: 't1', path: '/x?y=z' },
  });
  assert.equal(await on.program.exit, 0, on.program.stderr);
  assert.match(on.program.stdout, /forwarded to shop \/x\?y=z$/m);

  const along = await asking(t, ['forward', 'orders', 'shop']);
  await expect(along.server, 'GET /webhook-receivers', [{ ...RECEIVER, waiting: 3 }]);
  await expect(along.server, 'GET /tunnels', [TUNNEL_ITEM]);
  await expect(along.server, `PATCH ${PATH}`, { ...RECEIVER, waiting: 2 });
  assert.equal(await along.program.exit, 0, along.program.stderr);
  assert.match(along.program.stdout, /forwarded to shop \/, after the 2 waiting$/m);

  const off = await asking(t, ['forward', 'orders', '--off']);
  await expect(off.server, 'GET /webhook-receivers', [{ ...RECEIVER, waiting: 2 }]);
  assert.deepEqual(await expect(off.server, `PATCH ${PATH}`, RECEIVER), { forward: null });
  assert.equal(await off.program.exit, 0, off.program.stderr);
  assert.match(off.program.stdout, /new deliveries are only stored; the 2 waiting are not forwarded/);

  for (const words of [['orders'], ['orders', 'shop', '--off'], ['orders', '--off', '--path', '/']]) {
    const server = await playServer(t);
    const { home } = loggedInAt(t, server.url);
    const program = start(t, ['webhooks', 'forward', ...words], { home });
    assert.equal(await program.exit, 2, program.stderr);
    assert.equal(server.count, 0);
  }
});

test('events --state: also from a server that does not know it', WITHIN, async (t) => {
  const { program, server } = await asking(t, ['events', 'orders', '--state', 'failed']);
  await expect(server, 'GET /webhook-receivers', [RECEIVER]);
  await expect(server, `GET ${PATH}/events?limit=500&state=failed`, [event(1), event(2, 'failed')]);
  await expect(server, `GET ${PATH}/events?after=event-2&limit=500&state=failed`, []);
  assert.equal(await program.exit, 0, program.stderr);
  const [, ...rows] = program.stdout.trimEnd().split('\n');
  assert.equal(rows.length, 1);
  assert.match(rows[0] ?? '', /event-2$/);
});

test('attempts: result, duration and the start of the response on a line', WITHIN, async (t) => {
  const { program, server } = await asking(t, ['attempts', 'orders', 'event-1']);
  await expect(server, 'GET /webhook-receivers', [RECEIVER]);
  const one = { attempted_at: '2026-11-21T09:05:01.000Z', duration_ms: 38, error: null };
  const body = Buffer.from('{\n "error": "no such order"}').toString('base64');
  await expect(server, `GET ${PATH}/events/event-1/attempts`, [
    { ...one, attempt: 3, status: 500, response_body: body },
    { ...one, attempt: 2, status: 504, error: 'local_timeout', response_body: null },
  ]);
  assert.equal(await program.exit, 0, program.stderr);
  const [, ...rows] = program.stdout.trimEnd().split('\n');
  assert.match(rows[0] ?? '', /^2026-11-21 09:05:01 +3 +500 +38 +\{ "error": "no such order"\}$/);
  assert.match(rows[1] ?? '', / 2 +local_timeout +38 +-$/);
});

test('redeliver a time range, and count it first', WITHIN, async (t) => {
  const range = ['redeliver', 'orders', '--from', '2026-11-21T02:00:00Z', '--to', '2026-11-21T05:00+01:00'];
  const asked = { from: '2026-11-21T02:00:00.000Z', to: '2026-11-21T04:00:00.000Z' };
  for (const [flags, body, answer, said] of [
    [['--dry-run'], { state: 'failed', dry_run: true }, { matched: 12, queued: 0 }, /^orders: 12 deliveries would be/],
    [
      ['--state', 'all'],
      { state: 'all', dry_run: false },
      { matched: 1, queued: 1 },
      /^orders: 1 of 1 delivery queued$/m,
    ],
    [
      [],
      { state: 'failed', dry_run: false },
      { matched: 1001, queued: 1000, continue_from: '2026-11-21T03:00:00.000Z' },
      /1000 of 1001 deliveries queued\. Then run it again with --from 2026-11-21T03:00:00\.000Z$/m,
    ],
  ] as const) {
    const { program, server } = await asking(t, [...range, ...flags]);
    await expect(server, 'GET /webhook-receivers', [RECEIVER]);
    const sent = await expect(server, `POST ${PATH}/redeliver`, { continue_from: null, ...answer }, 202);
    assert.deepEqual(sent, { ...asked, ...body });
    assert.equal(await program.exit, 0, program.stderr);
    assert.match(program.stdout, said);
  }
  for (const words of [[], ['--from', 'yesterday'], ['event-1', '--from', '2026-11-21']]) {
    const { program, server } = await asking(t, ['redeliver', 'orders', ...words]);
    await expect(server, 'GET /webhook-receivers', [RECEIVER]);
    assert.equal(await program.exit, 2, program.stderr);
  }
});

test('test: the event that was sent, and where to look', WITHIN, async (t) => {
  const { program, server } = await asking(t, ['test', 'orders', '--type', 'push']);
  await expect(server, 'GET /webhook-receivers', [RECEIVER]);
  assert.deepEqual(await expect(server, `POST ${PATH}/test`, event(1, 'waiting'), 202), { type: 'push' });
  assert.equal(await program.exit, 0, program.stderr);
  assert.match(
    program.stdout,
    /^orders: test event push stored\. culvert webhooks attempts \S+ event-1 shows the result$/m,
  );
});

test('--follow: what is stored, then what comes, past a server that goes away, and each once', WITHIN, async (t) => {
  const pauses: number[] = [];
  const pause = async (ms: number) => void pauses.push(ms);
  const { program, server } = await asking(t, ['events', 'orders', '--follow'], { pause });
  await expect(server, 'GET /webhook-receivers', [RECEIVER]);
  await expect(server, `GET ${PATH}/events?limit=100&wait=0`, [event(1), event(2)]);
  assert.deepEqual(
    (await program.lines(2)).map((line) => line.split(' ').at(-1)),
    ['event-1', 'event-2'],
  );
  await expect(server, `GET ${PATH}/events?after=event-2&limit=100&wait=25`, [event(3)]);
  assert.match((await program.lines(3))[2] ?? '', /^09:05:03 push 6 bytes delivered event-3$/);
  (await server.next()).drop();
  await expect(server, 'GET /webhook-receivers', [RECEIVER]);
  await expect(server, `GET ${PATH}/events?after=event-3&limit=100&wait=25`, [event(4)]);
  await program.lines(4);
  assert.match(program.stderr, /The server does not respond\. Retrying/);
  assert.deepEqual(pauses, [500]);
  await expect(server, `GET ${PATH}/events?after=event-4&limit=100&wait=25`, { message: 'No such receiver.' }, 404);
  await expect(server, 'GET /webhook-receivers', [OTHER]);
  assert.equal(await program.exit, 1);
  assert.match(program.stderr, /No such receiver/);
});

test(
  '--follow: what waited has one more line when it is decided, also past others and what is gone',
  WITHIN,
  async (t) => {
    const { program, server } = await asking(t, ['events', 'orders', '--follow'], { pause: async () => {} });
    const last = async (lines: number) => (await program.lines(lines))[lines - 1];
    await expect(server, 'GET /webhook-receivers', [RECEIVER]);
    const stored = [event(1, 'sending'), event(2), event(3, 'waiting'), event(4, 'waiting'), event(5, 'waiting')];
    await expect(server, `GET ${PATH}/events?limit=100&wait=0`, stored);
    assert.equal(await last(5), '09:05:05 push 6 bytes waiting event-5');

    // The oldest alone is looked at, now and then; what comes meanwhile is shown.
    await expect(server, `GET ${PATH}/events?limit=1&wait=0`, [event(1, 'sending')]);
    await expect(server, `GET ${PATH}/events?after=event-5&limit=100&wait=1`, [event(6)]);
    assert.equal(await last(6), '09:05:06 push 6 bytes delivered event-6');

    // While they are decided, more and more of them. The third is gone.
    await expect(server, `GET ${PATH}/events?limit=1&wait=0`, [event(1)]);
    assert.equal(await last(7), '09:05:01 push 6 bytes delivered event-1');
    await expect(server, `GET ${PATH}/events?after=event-2&limit=2&wait=0`, [
      event(4, 'failed', { last_status: 410 }),
      event(5, 'waiting'),
    ]);
    assert.equal(await last(8), '09:05:04 push 6 bytes failed (410) event-4');
    (await server.next()).drop();
    await expect(server, 'GET /webhook-receivers', [RECEIVER]);
    await expect(server, `GET ${PATH}/events?after=event-4&limit=1&wait=0`, [event(5, 'none')]);
    assert.equal(await last(9), '09:05:05 push 6 bytes - event-5');
    await expect(server, `GET ${PATH}/events?after=event-6&limit=100&wait=25`, [event(7)]);
    assert.equal(await last(10), '09:05:07 push 6 bytes delivered event-7');
  },
);

test('--follow: ends with the login, and when the reader of the output leaves', WITHIN, async (t) => {
  const { program, server } = await asking(t, ['events', 'orders', '--follow', '--json', '--after', 'event-8']);
  await expect(server, 'GET /webhook-receivers', [RECEIVER]);
  await expect(server, `GET ${PATH}/events?after=event-8&limit=100&wait=0`, [event(9)]);
  assert.deepEqual(JSON.parse((await program.lines(1))[0] ?? ''), event(9));
  await expect(server, `GET ${PATH}/events?after=event-9&limit=100&wait=25`, { message: 'Your role may not.' }, 403);
  assert.equal(await program.exit, 3, program.stderr);

  const other = await playServer(t);
  const { home } = loggedInAt(t, other.url);
  const left = startProcess(t, ['webhooks', 'events', 'orders', '--follow'], { home });
  refreshWith(await other.next(), 'cookie-1');
  await expect(other, 'GET /webhook-receivers', [RECEIVER]);
  left.child.stdout?.destroy();
  await expect(other, `GET ${PATH}/events?limit=100&wait=0`, [event(1)]);
  assert.equal(await left.exit, 0, left.stderr);
});

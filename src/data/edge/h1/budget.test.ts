import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { test, type TestContext } from 'node:test';
import { testGrant } from '../../fixtures/link.ts';
import type { Budget } from '../../../plane/spend.ts';
import { httpOrigin, perHead, rawOrigin, Rig, type Wire } from '../testing/rig.ts';

const WITHIN = { timeout: 120_000 };
/** At 10 cents per GB: a megabyte. */
const MEGABYTE_CENTS = 0.01;
const SWITCH = 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n';

async function cappedRig(t: TestContext, capCents: number | null): Promise<Rig> {
  const rig = await Rig.start(t);
  rig.link.grants.set('good', testGrant('token-1', { tunnelQuota: 50, budgets: [budget(capCents)] }));
  return rig;
}

function budget(capCents: number | null): Budget {
  return { accountId: 'a', month: new Date().toISOString().slice(0, 7), spentCents: 0, capCents };
}

/** Status and code of a request on a connection that goes on. */
async function ask(wire: Wire, ...fields: string[]): Promise<string> {
  wire.ask('GET /', ...fields);
  const { status, head } = await wire.response();
  return `${status} ${/\r\nculvert-error: (\w+)/.exec(head)?.[1] ?? ''}`.trim();
}

test(
  'a cap of 0 lets nothing pass, the connection goes on, and a cap that is raised lets the next request pass',
  WITHIN,
  async (t) => {
    const rig = await cappedRig(t, 0);
    let asked = 0;
    const origin = await httpOrigin(t, (_request, response) => {
      asked++;
      response.end('hello');
    });
    await rig.serve('shop', origin.port);
    const wire = await rig.visit();
    assert.equal(await ask(wire), '503 budget_exhausted');
    assert.equal(asked, 0);
    rig.link.change({ kind: 'budget', budget: budget(1) });
    assert.equal(await ask(wire), '200');
    rig.link.change({ kind: 'budget', budget: budget(0) });
    assert.equal(await ask(wire), '503 budget_exhausted');
    rig.link.change({ kind: 'budget', budget: budget(null) });
    assert.equal(await ask(wire), '200');
    assert.equal(asked, 2);
  },
);

test('budget: the response says what the owner can do, and has no Retry-After', WITHIN, async (t) => {
  const rig = await cappedRig(t, 0);
  await rig.serve('shop', 9);
  const wire = await rig.visit();
  wire.ask('GET /');
  const { head, body } = await wire.response();
  assert.match(body, /raise the budget/);
  assert.doesNotMatch(head, /retry-after/i);
});

test('maintenance, a stop and an absent agent are said before a budget', WITHIN, async (t) => {
  const rig = await cappedRig(t, 0);
  const agent = await rig.serve('shop', 9);
  const wire = await rig.visit();
  rig.route('shop', { maintenance: '' });
  assert.equal(await ask(wire), '503 maintenance');
  rig.route('shop');
  assert.equal(await ask(wire), '503 budget_exhausted');
  agent.destroy();
  await agent.closed;
  while ((await ask(wire)) === '503 budget_exhausted');
  assert.equal(await ask(wire), '503 tunnel_offline');
});

test(
  'at the cap a download, an upload and an upgraded connection are cut, also while the control plane is away',
  WITHIN,
  async (t) => {
    const rig = await cappedRig(t, MEGABYTE_CENTS);
    rig.link.onReport = () => Promise.reject(new Error('away'));
    const origin = await rawOrigin(
      t,
      perHead((socket, head) => {
        if (head.startsWith('GET /endless'))
          socket.write('HTTP/1.1 200 OK\r\nContent-Length: 10000000000\r\n\r\nbegin');
        if (head.startsWith('GET /socket')) socket.write(SWITCH);
        if (head.startsWith('GET /big'))
          socket.write(`HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n${'x'.repeat(1e6)}`);
      }),
    );
    const agent = await rig.serve('shop', origin.port);
    const download = await rig.visit();
    download.ask('GET /endless');
    await download.until('begin');
    const upgraded = await rig.visit();
    upgraded.ask('GET /socket', 'Connection: Upgrade', 'Upgrade: websocket');
    await upgraded.until('101');
    const upload = await rig.visit();
    upload.ask('POST /upload', 'Content-Length: 1000');
    upload.send('half');
    const spender = await rig.visit();
    spender.ask('GET /big');
    await spender.response();
    const kept = await rig.visit();
    // Counted with the next walk, refused from then on; cut by the next sweep.
    const early = await upload.response();
    assert.match(early.head, /budget_exhausted/);
    assert.equal(await download.closed, 'cut');
    assert.equal(await upgraded.closed, 'cut');
    assert.equal(await ask(kept), '503 budget_exhausted');
    assert.equal(await ask(spender), '503 budget_exhausted');
    assert.equal(rig.node.connections().length, 1);
    rig.link.change({ kind: 'budget', budget: budget(null) });
    spender.ask('GET /big');
    assert.equal((await spender.response()).status, 200);
    agent.destroy();
  },
);

/** What was reported for a key so far. */
function usageOf({ link }: Rig, tokenId: string): { requests: number; bytesOut: number } {
  const sum = { requests: 0, bytesOut: 0 };
  for (const event of link.batches.flatMap(({ events }) => events))
    if (event.kind === 'usage' && event.tokenId === tokenId) {
      sum.requests += event.requests;
      sum.bytesOut += event.bytesOut;
    }
  return sum;
}

interface Superseded {
  readonly rig: Rig;
  /** A response without end that the first agent carries; `send` makes its service send more. */
  readonly download: Wire;
  readonly send: (text: string) => void;
}

/** An agent of `token-1` has a download under way when one of `token-2` takes its name over. The keys are strangers to each other. */
async function superseded(t: TestContext, first: number | null, second: number | null): Promise<Superseded> {
  const rig = await cappedRig(t, first);
  const origin = await rawOrigin(
    t,
    perHead((socket) => socket.write(`HTTP/1.1 200 OK\r\nContent-Length: 10000000000\r\n\r\nbegin`)),
  );
  await rig.serve('shop', origin.port);
  const download = await rig.visit();
  download.ask('GET /');
  await download.until('begin');
  rig.link.grants.set('good', testGrant('token-2', { budgets: [{ ...budget(second), accountId: 'b' }] }));
  await rig.serve('shop', origin.port);
  return { rig, download, send: (text) => void origin.sockets[0]?.write(text) };
}

test(
  'what a superseded agent still carries counts for its own key, and the cap of that key cuts it',
  WITHIN,
  async (t) => {
    const { rig, download, send } = await superseded(t, MEGABYTE_CENTS, null);
    send('x'.repeat(1e6));
    assert.equal(await download.closed, 'cut');
    await rig.node.close();
    assert.deepEqual(usageOf(rig, 'token-1'), { requests: 1, bytesOut: download.text.length });
    assert.deepEqual(usageOf(rig, 'token-2'), { requests: 0, bytesOut: 0 });
  },
);

test(
  'a key at its cap that takes a name over refuses what is new, and cuts nothing of the key before it',
  WITHIN,
  async (t) => {
    const { rig, download, send } = await superseded(t, null, 0);
    assert.equal(await ask(await rig.visit()), '503 budget_exhausted');
    // Something that the same sweep does cut says when it has been.
    rig.link.grants.set('good', testGrant('token-3', { budgets: [{ ...budget(null), accountId: 'c' }] }));
    const silent = await rawOrigin(t, () => {});
    await rig.serve('site', silent.port);
    const other = await rig.visit();
    other.ask('GET /', 'Host: site.example.test');
    await silent.arrived(/\r\n\r\n/);
    rig.link.change({ kind: 'budget', budget: { ...budget(0), accountId: 'c' } });
    assert.match((await other.response()).head, /budget_exhausted/);
    send('end');
    await download.until('beginend');
  },
);

test(
  'a request that is sent once more, to the agent that took over, is answered at the cost of its key',
  WITHIN,
  async (t) => {
    const rig = await cappedRig(t, null);
    const answer = 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello';
    let lost: Socket | undefined;
    const origin = await rawOrigin(
      t,
      perHead((socket, _head, count) => {
        if (count === 2) lost = socket;
        else socket.write(answer);
      }),
    );
    await rig.serve('shop', origin.port);
    const wire = await rig.visit();
    assert.equal(await ask(wire), '200');
    wire.ask('GET /again');
    await origin.arrived(/again/);
    rig.link.grants.set('good', testGrant('token-2'));
    await rig.serve('shop', origin.port);
    lost?.destroy();
    assert.equal((await wire.response()).status, 200);
    await rig.node.close();
    const { requests, bytesOut } = usageOf(rig, 'token-1');
    assert.equal(requests, 2);
    assert.deepEqual(usageOf(rig, 'token-2'), { requests: 0, bytesOut });
  },
);

test(
  'what is counted is what was sent: heads and bodies, chunk frames, and what travels with an upgrade',
  WITHIN,
  async (t) => {
    const rig = await cappedRig(t, null);
    // By how what has arrived ends.
    const answers: ReadonlyArray<readonly [RegExp, string]> = [
      [/Upgrade: websocket\r\n\r\n$/, `${SWITCH}first`],
      [/abc$/, 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello'],
      [
        /\r\n0\r\n\r\n$/,
        'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nTrailer: yes\r\n\r\n',
      ],
      [
        /GET \/hints [^]*\r\n\r\n$/,
        'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok',
      ],
      [/early$/, 'second'],
      [/later$/, 'third'],
    ];
    const origin = await rawOrigin(t, (socket, text) => {
      const answer = answers.find(([end]) => end.test(text));
      if (answer !== undefined) socket.write(answer[1]);
    });
    const agent = await rig.serve('shop', origin.port);
    const asked: ReadonlyArray<readonly [string, RegExp]> = [
      ['POST /plain HTTP/1.1\r\nHost: shop.example.test\r\nContent-Length: 3\r\n\r\nabc', /hello$/],
      [
        'POST /chunks HTTP/1.1\r\nHost: shop.example.test\r\nTransfer-Encoding: chunked\r\n\r\n3;x=y\r\nabd\r\n0\r\n\r\n',
        /\r\n0\r\n\r\n$/,
      ],
      ['GET /hints HTTP/1.1\r\nHost: shop.example.test\r\n\r\n', /ok$/],
      [
        'GET / HTTP/1.1\r\nHost: shop.example.test\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\nearly',
        /second$/,
      ],
    ];
    let sent = 0;
    let got = 0;
    for (const [request, end] of asked) {
      const wire = await rig.visit();
      wire.send(request);
      await wire.until(end);
      sent += request.length;
      if (request.endsWith('early')) {
        wire.send('later');
        await wire.until(/third$/);
        sent += 'later'.length;
      }
      got += wire.text.length;
    }
    const stranger = await rig.visit();
    assert.equal(await ask(stranger, 'Host: none.example.test'), '404 tunnel_not_found');
    agent.destroy();
    await rig.node.close();
    const usage = rig.link.batches.flatMap(({ events }) => events).filter((event) => event.kind === 'usage');
    const sum = (what: 'requests' | 'bytesIn' | 'bytesOut'): number =>
      usage.reduce((all, event) => all + event[what], 0);
    assert.deepEqual([sum('requests'), sum('bytesIn'), sum('bytesOut')], [4, sent, got]);
  },
);

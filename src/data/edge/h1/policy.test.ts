import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import type { PolicyAction } from '../../../plane/policy.ts';
import type { TestAgent } from '../../fixtures/agent.ts';
import { until } from '../../fixtures/gateway.ts';
import { httpOrigin, rawOrigin, Rig, type Wire } from '../testing/rig.ts';

const WITHIN = { timeout: 120_000 };

/** An action as it comes from the control plane: enforced unless it says otherwise. */
type Written = PolicyAction extends infer A
  ? A extends PolicyAction
    ? Omit<A, 'enforce'> & { enforce?: boolean }
    : never
  : never;

/** A tunnel `shop` under this policy, in front of a service that says which path and headers it got. */
async function underPolicy(
  t: TestContext,
  ...actions: Written[]
): Promise<{ rig: Rig; wire: Wire; agent: TestAgent; change(...next: Written[]): void; asked: string[] }> {
  const rig = await Rig.start(t, { trustedProxies: ['127.0.0.9'] });
  const asked: string[] = [];
  const origin = await httpOrigin(t, (request, response) => {
    asked.push(request.url ?? '');
    response.setHeader('Server', 'origin');
    response.end(JSON.stringify(request.headers));
  });
  const agent = await rig.serve('shop', origin.port);
  let setAt = 0;
  const change = (...next: Written[]): void => {
    const spec = {
      setAt: ++setAt,
      actions: next.map((action) => Object.assign({ enforce: true }, action) as PolicyAction),
    };
    rig.route('shop', { policy: next.length === 0 ? null : spec });
  };
  change(...actions);
  return { rig, wire: await rig.visit(), agent, change, asked };
}

async function ask(wire: Wire, line: string, ...fields: string[]): Promise<string> {
  wire.ask(line, ...fields);
  const { status, head } = await wire.response(line.startsWith('HEAD'));
  return `${status} ${/\r\nculvert-error: (\w+)/.exec(head)?.[1] ?? ''}`.trim();
}

test('a denied path never reaches the service, in whatever form; the connection goes on', WITHIN, async (t) => {
  const { wire, asked } = await underPolicy(t, { kind: 'deny', pathPrefix: '/admin' });
  for (const path of ['/admin', '/%61dmin/x', '//admin', '/shop/../admin', 'http://shop.example.test/admin'])
    assert.equal(await ask(wire, `GET ${path}`), '403 denied', path);
  assert.equal(await ask(wire, 'GET /shop?to=/admin'), '200');
  assert.equal(await ask(wire, 'GET http://shop.example.test'), '200');
  assert.deepEqual(asked, ['/shop?to=/admin', '/']);
});

test('a change of the policy counts from the next request on, on a connection that is kept', WITHIN, async (t) => {
  const { wire, change } = await underPolicy(t);
  assert.equal(await ask(wire, 'GET /a'), '200');
  change({ kind: 'deny', pathPrefix: '/a' });
  assert.equal(await ask(wire, 'GET /a'), '403 denied');
  change({ kind: 'deny', pathPrefix: '/b' });
  assert.equal(await ask(wire, 'GET /a'), '200');
  change();
  assert.equal(await ask(wire, 'GET /b'), '200');
});

test('policy: with enforce: false a match passes, and is counted by action', WITHIN, async (t) => {
  const { wire, rig } = await underPolicy(
    t,
    { kind: 'header_set', name: 'X-A', value: 'a', enforce: false },
    { kind: 'deny', pathPrefix: '/admin', enforce: false },
    { kind: 'rate_limit', requestsPerMinute: 1, perClientIp: false, enforce: false },
    { kind: 'deny', pathPrefix: '/no' },
  );
  for (const path of ['/admin/a', '/admin/b?token=1', '/c']) assert.equal(await ask(wire, `GET ${path}`), '200');
  assert.equal(await ask(wire, 'GET /no'), '403 denied');
  await rig.node.close();
  const told = rig.link.batches.flatMap(({ events }) => events).filter((event) => event.kind === 'dry_run');
  const sample = (path: string, code: string) => ({ method: 'GET', path, clientIp: '127.0.0.1', code });
  assert.deepEqual(
    told.map(({ setAt, index, action, refused, sample }) => ({ setAt, index, action, refused, sample })),
    [
      { setAt: 1, index: 1, action: 'deny', refused: 2, sample: sample('/admin/b', 'denied') },
      { setAt: 1, index: 2, action: 'rate_limit', refused: 2, sample: sample('/c', 'rate_limited') },
    ],
  );
});

test('the screen of the agent shows how a tried action would have answered', WITHIN, async (t) => {
  const { wire, agent } = await underPolicy(t, { kind: 'deny', pathPrefix: '/admin', enforce: false });
  agent.send({ type: 'watch', requests: true });
  // Messages of an agent are taken in their order: the answer to this one comes behind the other.
  await agent.bind('other');
  for (const path of ['/admin', '/shop']) assert.equal(await ask(wire, `GET ${path}`), '200');
  const { items } = await agent.next('requests');
  assert.deepEqual(
    items.map(({ path, status, dryRun }) => ({ path, status, dryRun })),
    [
      { path: '/admin', status: 200, dryRun: { status: 403, code: 'denied' } },
      { path: '/shop', status: 200, dryRun: undefined },
    ],
  );
});

test(
  'a rate limit refuses what is over it and says until when; a denied request uses none of it',
  WITHIN,
  async (t) => {
    const { wire, change } = await underPolicy(
      t,
      { kind: 'rate_limit', requestsPerMinute: 2, perClientIp: false },
      { kind: 'deny', pathPrefix: '/no' },
    );
    assert.equal(await ask(wire, 'GET /no'), '403 denied');
    assert.equal(await ask(wire, 'GET /1'), '200');
    assert.equal(await ask(wire, 'GET /2'), '200');
    wire.ask('GET /3');
    const { status, head } = await wire.response();
    assert.equal(status, 429);
    const wait = Number(/\r\nRetry-After: (\d+)\r\n/.exec(head)?.[1]);
    assert.ok(wait >= 55 && wait <= 60, `Retry-After: ${wait}`);
    // The window goes on when something else of the policy changes, and ends with the limit.
    change({ kind: 'rate_limit', requestsPerMinute: 2, perClientIp: false });
    assert.equal(await ask(wire, 'GET /4'), '429 rate_limited');
    change({ kind: 'rate_limit', requestsPerMinute: 3, perClientIp: false });
    assert.equal(await ask(wire, 'GET /5'), '200');
  },
);

test('policy: networks allow or block the true address', WITHIN, async (t) => {
  const { wire, change } = await underPolicy(t, { kind: 'ip_allow', networks: ['10.0.0.0/8', '::1'] });
  assert.equal(await ask(wire, 'GET /', 'X-Forwarded-For: 10.0.0.1'), '403 denied');
  change({ kind: 'ip_allow', networks: ['127.0.0.0/8'] });
  assert.equal(await ask(wire, 'GET /'), '200');
  change({ kind: 'ip_deny', networks: ['127.0.0.1'] });
  assert.equal(await ask(wire, 'GET /'), '403 denied');
  change({ kind: 'ip_deny', networks: ['127.0.0.2'] });
  assert.equal(await ask(wire, 'GET /'), '200');
});

test(
  'headers are set over what the visitor and the service say, and nothing else of them changes',
  WITHIN,
  async (t) => {
    const { wire } = await underPolicy(
      t,
      { kind: 'header_set', name: 'X-Tenant', value: 'blue' },
      { kind: 'response_header_set', name: 'Server', value: 'shop' },
      { kind: 'response_header_set', name: 'X-Frame-Options', value: 'DENY' },
      { kind: 'header_set', name: 'X-Tried', value: 'no', enforce: false },
    );
    for (let i = 0; i < 2; i++) {
      wire.ask('GET /', 'X-Tenant: red', 'x_tenant: red', 'X-Other: 1');
      const { status, head, body } = await wire.response();
      assert.equal(status, 200);
      const got = JSON.parse(body);
      assert.deepEqual(
        [got['x-tenant'], got['x_tenant'], got['x-other'], got['x-tried']],
        ['blue', undefined, '1', undefined],
      );
      assert.equal(head.match(/\r\nServer: /gi)?.length, 1);
      assert.match(head, /\r\nServer: shop\r\nX-Frame-Options: DENY\r\n/);
    }
  },
);

test('policy: a refused upload ends its connection, so that its body is no next request', WITHIN, async (t) => {
  const { wire } = await underPolicy(t, { kind: 'deny', pathPrefix: '/' });
  wire.ask('POST /', 'Content-Length: 30');
  wire.send('GET / HTTP/1.1\r\nHost: shop');
  const text = await wire.all();
  assert.match(text, /^HTTP\/1\.1 403 [^]*\r\nConnection: close\r\n/);
  assert.equal(text.match(/HTTP\/1\.1/g)?.length, 1);
});

test('what a rule sets is not said again by a trailer, in either direction', WITHIN, async (t) => {
  const rig = await Rig.start(t);
  const origin = await rawOrigin(t, (socket, text) => {
    if (!text.endsWith('\r\n\r\n') || !text.includes('\r\n0\r\n')) return;
    const fields = 'X-Frame-Options: ALLOWALL\r\nx_frame_options: no\r\nX-Sum: 1\r\n';
    socket.write(`HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n${fields}\r\n`);
  });
  await rig.serve('shop', origin.port);
  const actions: PolicyAction[] = [
    { kind: 'header_set', name: 'X-Tenant', value: 'good', enforce: true },
    { kind: 'response_header_set', name: 'X-Frame-Options', value: 'DENY', enforce: true },
  ];
  rig.route('shop', { policy: { setAt: 1, actions } });
  const wire = await rig.visit();
  for (let n = 0; n < 2; n++) {
    wire.ask('POST /', 'Transfer-Encoding: chunked', 'X-Tenant: v');
    wire.send('1\r\na\r\n0\r\nx-tenant: evil\r\nX_Tenant: evil\r\nX-Sum: 1\r\nCulvert-Visitor-Email: x@y.test\r\n\r\n');
    const { head } = await wire.response();
    assert.match(head, /X-Frame-Options: DENY/);
    await until(() => wire.text.endsWith('\r\n\r\n'));
    assert.doesNotMatch(wire.text, /frame.options/i);
    wire.text = '';
  }
  const got = origin.texts.join('');
  assert.equal(got.match(/X-Tenant: good/g)?.length, 2);
  assert.doesNotMatch(got, /evil|visitor-email/i);
  assert.equal(got.match(/X-Sum: 1/g)?.length, 2, 'others pass');
});

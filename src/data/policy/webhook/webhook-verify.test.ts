/** `--webhook-verify` at the edge: what is signed reaches the service unchanged, over HTTP/1.1 and HTTP/2, and nothing else does. */
import assert from 'node:assert/strict';
import { createHmac, randomBytes } from 'node:crypto';
import { connect as connectHttp2 } from 'node:http2';
import { test, type TestContext } from 'node:test';
import { quickHash } from '../../../../test/harness/quick-hasher.ts';
import type { Narrowing } from '../../../plane/narrowing.ts';
import { until } from '../../fixtures/gateway.ts';
import { httpOrigin, Rig, type Wire } from '../../edge/testing/rig.ts';

const WITHIN = { timeout: 120_000 };
const SECRET = 's3cret';
const BODY = '{"action":"opened"}';
const MIB = 1 << 20;

const OTHERS = { allow: [], deny: [], gate: null, policy: null, visitors: null, endsAt: null };

function narrowingOf(kind: string, secrets: readonly string[]): Narrowing {
  return { ...OTHERS, names: ['webhook_verify'], domain: null, remotePort: null, webhook: { kind, secrets } };
}

/** The tunnel `shop` of an agent that requires signatures, in front of a service that answers with the length of what it got. */
async function guarded(
  t: TestContext,
  kind = 'github',
  secrets: readonly string[] = [SECRET],
): Promise<{ rig: Rig; got: string[] }> {
  const rig = await Rig.start(t);
  const got: string[] = [];
  const origin = await httpOrigin(t, (request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      got.push(Buffer.concat(chunks).toString('latin1'));
      response.end('ok');
    });
  });
  const grant = rig.link.onClaim;
  rig.link.onClaim = (question) => {
    const answer = grant(question);
    return answer.ok ? { ...answer, narrowing: narrowingOf(kind, secrets) } : answer;
  };
  await rig.serve('shop', origin.port);
  return { rig, got };
}

function signed(body: string | Buffer, secret = SECRET): string {
  return `X-Hub-Signature-256: sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;
}

async function post(wire: Wire, body: string, ...fields: string[]): Promise<string> {
  wire.ask('POST /hook', `Content-Length: ${body.length}`, ...fields);
  wire.send(body);
  const { status, head } = await wire.response();
  return `${status} ${/\r\nculvert-error: (\w+)/.exec(head)?.[1] ?? ''}`.trim();
}

test('webhook verification: a signed body passes as it came, and the connection goes on', WITHIN, async (t) => {
  const { rig, got } = await guarded(t);
  const wire = await rig.visit();
  assert.equal(await post(wire, BODY, signed(BODY)), '200');
  assert.equal(await post(wire, BODY, signed(BODY)), '200');
  assert.deepEqual(got, [BODY, BODY]);
});

test('webhook verification: what is unsigned or signed wrong never reaches the service', WITHIN, async (t) => {
  const { rig, got } = await guarded(t);
  const ask = async (body: string, ...fields: string[]) => post(await rig.visit(), body, ...fields);
  assert.equal(await ask(BODY), '401 invalid_signature');
  assert.equal(await ask(BODY, signed(BODY, 'other')), '401 invalid_signature');
  assert.equal(await ask(`${BODY} `, signed(BODY)), '401 invalid_signature');
  const wire = await rig.visit();
  wire.ask('GET /');
  assert.equal((await wire.response()).status, 401);
  // Without a body the connection stays, and a body without a signature is not awaited.
  wire.ask('POST /', 'Content-Length: 1000');
  assert.equal((await wire.response()).status, 401);
  assert.deepEqual(got, []);
});

test('webhook verification: chunks cut anywhere, and a request behind them', WITHIN, async (t) => {
  const { rig, got } = await guarded(t);
  const wire = await rig.visit();
  wire.ask('POST /hook', 'Transfer-Encoding: chunked', signed(BODY));
  const chunked = `5;x=y\r\n${BODY.slice(0, 5)}\r\n${(BODY.length - 5).toString(16)}\r\n${BODY.slice(5)}\r\n0\r\n\r\n`;
  for (const byte of chunked) {
    wire.send(byte);
    await new Promise(setImmediate);
  }
  wire.ask('POST /hook', `Content-Length: ${BODY.length}`, signed(BODY));
  wire.send(BODY);
  assert.deepEqual([(await wire.response()).status, (await wire.response()).status], [200, 200]);
  assert.deepEqual(got, [BODY, BODY]);
});

test('webhook verification: a password that is checked first, and then the body', WITHIN, async (t) => {
  const { rig, got } = await guarded(t);
  rig.route('shop', { gate: { username: 'ann', passwordHash: quickHash('pw'), version: '1' } });
  const wire = await rig.visit();
  const password = `Authorization: Basic ${Buffer.from('ann:pw').toString('base64')}`;
  assert.equal(await post(wire, BODY, signed(BODY), password), '200');
  assert.equal(await post(wire, BODY, signed(BODY), password), '200');
  assert.equal(await post(wire, BODY, signed(BODY)), '401 unauthorized');
  assert.equal(await post(await rig.visit(), BODY, signed(BODY, 'other'), password), '401 invalid_signature');
  assert.deepEqual(got, [BODY, BODY]);
});

test('webhook verification: both of two secrets hold', WITHIN, async (t) => {
  const { rig } = await guarded(t, 'github', ['new', 'old']);
  const wire = await rig.visit();
  assert.equal(await post(wire, BODY, signed(BODY, 'old')), '200');
  assert.equal(await post(wire, BODY, signed(BODY, 'new')), '200');
});

test('webhook verification: up to 1 MiB, and its sender may wait for 100 Continue', WITHIN, async (t) => {
  const { rig, got } = await guarded(t);
  const whole = randomBytes(MIB).toString('latin1');
  const wire = await rig.visit();
  wire.ask('POST /hook', `Content-Length: ${MIB}`, signed(Buffer.from(whole, 'latin1')), 'Expect: 100-continue');
  await wire.until('HTTP/1.1 100 Continue\r\n\r\n');
  wire.send(whole);
  await wire.until(/HTTP\/1\.1 200 OK[^]*ok$/);
  assert.ok(got[0] === whole);
  const sized = await rig.visit();
  sized.ask('POST /hook', `Content-Length: ${MIB + 1}`, 'X-Hub-Signature-256: sha256=00');
  sized.send('x'.repeat(MIB + 1));
  assert.match((await sized.response()).head, /^HTTP\/1\.1 413 [^]*culvert-error: body_too_large/);
  const chunks = await rig.visit();
  chunks.ask('POST /hook', 'Transfer-Encoding: chunked', 'X-Hub-Signature-256: sha256=00');
  chunks.send(`${(MIB + 1).toString(16)}\r\n${'x'.repeat(MIB + 1)}`);
  assert.match((await chunks.response()).head, /^HTTP\/1\.1 413 /);
  assert.equal(got.length, 1);
});

test('webhook verification: broken chunks are refused, and a visitor that leaves costs nothing', WITHIN, async (t) => {
  const { rig, got } = await guarded(t);
  const broken = await rig.visit();
  broken.ask('POST /hook', 'Transfer-Encoding: chunked', signed(BODY));
  broken.send('zz\r\n');
  assert.equal((await broken.response()).status, 400);
  const gone = await rig.visit();
  gone.ask('POST /hook', 'Content-Length: 1000', signed(BODY));
  gone.send('x'.repeat(500));
  await new Promise((resolve) => setTimeout(resolve, 50));
  gone.socket.destroy();
  assert.equal(await post(await rig.visit(), BODY, signed(BODY)), '200');
  assert.deepEqual(got, [BODY]);
});

test('webhook verification: a body that stops halfway is a timeout', WITHIN, async (t) => {
  const rig = await Rig.start(t, { limits: { bodyIdleTimeoutSeconds: 0.1 }, sweepMs: 20 });
  const grant = rig.link.onClaim;
  rig.link.onClaim = (question) => {
    const answer = grant(question);
    return answer.ok ? { ...answer, narrowing: narrowingOf('github', [SECRET]) } : answer;
  };
  const origin = await httpOrigin(t, (_request, response) => response.end());
  await rig.serve('shop', origin.port);
  const wire = await rig.visit();
  wire.ask('POST /hook', 'Content-Length: 1000', signed(BODY));
  wire.send('x');
  assert.equal((await wire.response()).status, 408);
});

test(
  'webhook verification: Slack and Discord get the answers to their checks, once they are signed',
  WITHIN,
  async (t) => {
    const { rig, got } = await guarded(t, 'slack');
    const check = JSON.stringify({ type: 'url_verification', challenge: 'c' });
    const fields = (body: string, at = Math.floor(Date.now() / 1000), secret = SECRET) => [
      `X-Slack-Request-Timestamp: ${at}`,
      `X-Slack-Signature: v0=${createHmac('sha256', secret).update(`v0:${at}:${body}`).digest('hex')}`,
    ];
    const send = async (...of: string[]) => {
      const wire = await rig.visit();
      wire.ask('POST /', `Content-Length: ${check.length}`, ...of);
      wire.send(check);
      return wire.response();
    };
    const { status, body } = await send(...fields(check));
    assert.deepEqual([status, body], [200, '{"challenge":"c"}']);
    assert.equal((await send(...fields(check, undefined, 'other'))).status, 401);
    const stale = Math.floor(Date.now() / 1000) - 400;
    assert.equal((await send(...fields(check, stale))).status, 401);
    assert.deepEqual(got, []);
  },
);

test('webhook verification: a kind that this node does not know allows no request', WITHIN, async (t) => {
  const { rig, got } = await guarded(t, 'of_a_newer_server');
  assert.equal(await post(await rig.visit(), BODY, signed(BODY)), '503 policy_failed');
  assert.deepEqual(got, []);
});

test(
  'webhook verification: policy and gate apply both, and the agent that takes over brings its own',
  WITHIN,
  async (t) => {
    const { rig } = await guarded(t);
    rig.route('shop', {
      policy: { setAt: 1, actions: [{ kind: 'deny', pathPrefix: '/hook', enforce: true }] },
    });
    assert.equal(await post(await rig.visit(), BODY, signed(BODY)), '403 denied');
    rig.route('shop', { policy: { setAt: 2, actions: [{ kind: 'deny', pathPrefix: '/x', enforce: true }] } });
    assert.equal(await post(await rig.visit(), BODY, signed(BODY)), '200');
    assert.equal(await post(await rig.visit(), BODY), '401 invalid_signature');
    // While a body is awaited the policy changes: all is asked anew.
    const wire = await rig.visit();
    wire.ask('POST /hook', `Content-Length: ${BODY.length}`, signed(BODY));
    wire.send(BODY.slice(0, 5));
    await new Promise((resolve) => setTimeout(resolve, 50));
    rig.route('shop', { policy: { setAt: 3, actions: [{ kind: 'deny', pathPrefix: '/hook', enforce: true }] } });
    wire.send(BODY.slice(5));
    assert.equal((await wire.response()).status, 403);
  },
);

test('webhook verification: over HTTP/2, bodies of all sizes', WITHIN, async (t) => {
  const { rig, got } = await guarded(t);
  const session = connectHttp2(`https://127.0.0.1:${rig.httpsPort}`, { rejectUnauthorized: false });
  t.after(() => session.destroy());
  const send = (body: Buffer, signature: string) =>
    new Promise<string>((resolve, reject) => {
      const stream = session.request({
        ':method': 'POST',
        ':path': '/hook',
        ':authority': 'shop.example.test',
        authorization: `Basic ${Buffer.from('ann:pw').toString('base64')}`,
        'x-hub-signature-256': signature.slice('X-Hub-Signature-256: '.length),
      });
      stream.on('response', (fields) => {
        stream.resume();
        resolve(`${fields[':status']} ${String(fields['culvert-error'] ?? '')}`.trim());
      });
      stream.on('error', reject);
      stream.end(body);
    });
  for (const length of [1, 1_000, 300_000, MIB, 0, 5, 300_001, MIB - 1]) {
    // From here on a password is checked first, which takes a while.
    if (length === 0) rig.route('shop', { gate: { username: 'ann', passwordHash: quickHash('pw'), version: '1' } });
    const body = randomBytes(length);
    assert.equal(await send(body, signed(body)), '200', String(length));
    assert.ok(got.pop() === body.toString('latin1'), String(length));
    assert.equal(await send(body, signed(body, 'other')), '401 invalid_signature', String(length));
  }
  const large = randomBytes(MIB + 1);
  assert.equal(await send(large, signed(large)), '413 body_too_large');
  assert.equal(await send(Buffer.from(BODY), signed(BODY)), '200');
  assert.deepEqual(got, [BODY]);
});

test('webhook verification: the record of a request says which step refused it', WITHIN, async (t) => {
  const { rig } = await guarded(t);
  await post(await rig.visit(), BODY, signed(BODY, 'other'));
  await post(await rig.visit(), BODY, signed(BODY));
  await until(() => rig.link.inspections.flatMap(({ records }) => records).length === 2);
  const records = rig.link.inspections.flatMap(({ records }) => records);
  assert.deepEqual(
    records.map(({ trace }) => trace.steps.map(({ step, verdict }) => `${step} ${verdict}`)),
    [['webhook_verify refused'], ['webhook_verify passed']],
  );
  assert.doesNotMatch(JSON.stringify(records), new RegExp(SECRET));
});

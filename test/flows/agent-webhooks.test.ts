/** `--webhook-verify` on the whole product: it acts beside the API's access control, is shown without its secret, and ends with the agent. */
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { AskedNarrowing } from '../../src/wire/narrowing.ts';
import { startCulvert, startOrigin } from '../harness.ts';

const BODY = '{"action":"opened"}';
const SECRET = 'correct-horse-battery';

const verify = (kind: string, ...secrets: string[]): AskedNarrowing => ({ webhook_verify: { kind, secrets } });

async function fixture(t: TestContext) {
  const culvert = await startCulvert(t, '[inspector]\nreplay = true\n');
  const got: string[] = [];
  const origin = await startOrigin(t, (request, response) => {
    request.setEncoding('utf8');
    request.on('data', (text: string) => got.push(text));
    request.on('end', () => response.end('hello'));
  });
  const publish = (narrow: AskedNarrowing) => culvert.publish('http', origin.port, { subdomain: 'shop', narrow });
  const send = async (headers: Record<string, string> = {}) => {
    const url = `http://127.0.0.1:${culvert.httpPort}/hook`;
    const host = { ...headers, host: 'shop.localhost' };
    const { request } = await import('node:http');
    return new Promise<string>((resolve, reject) => {
      const asked = request(url, { method: 'POST', headers: { ...host, 'content-length': BODY.length } }, (answer) => {
        answer.resume();
        resolve(`${answer.statusCode} ${String(answer.headers['culvert-error'] ?? '')}`.trim());
      });
      asked.on('error', reject);
      asked.end(BODY);
    });
  };
  const tunnel = async () => {
    const [first] = (await culvert.account.call('GET', '/tunnels')).body as unknown as Array<{ id: string }>;
    return (await culvert.account.call('GET', `/tunnels/${first?.id}`)).body as unknown as {
      id: string;
      setByAgent: unknown;
    };
  };
  return { culvert, got, publish, send, tunnel };
}

const signed = (secret = SECRET): Record<string, string> => ({
  'x-hub-signature-256': `sha256=${createHmac('sha256', secret).update(BODY).digest('hex')}`,
});

function stripe(at: number): Record<string, string> {
  return { 'stripe-signature': `t=${at},v1=${createHmac('sha256', SECRET).update(`${at}.${BODY}`).digest('hex')}` };
}

test('webhook verification: signed requests pass, and the secret is shown, recorded and stored nowhere', async (t) => {
  const { culvert, got, publish, send, tunnel } = await fixture(t);
  await publish(verify('github', SECRET));
  assert.deepEqual(
    [await send(signed()), await send(), await send(signed('other'))],
    ['200', '401 invalid_signature', '401 invalid_signature'],
  );
  assert.deepEqual(got, [BODY]);
  assert.deepEqual((await tunnel()).setByAgent, { webhook_verify: 'github' });
  const { body } = await culvert.account.call('GET', '/events?action=tunnel.agent_flags');
  assert.deepEqual(
    (body as unknown as Array<{ details: unknown }>).map(({ details }) => details),
    [{ webhook_verify: 'github' }],
  );
  for (const path of ['/tunnels', '/connections', '/events', '/inspector'])
    assert.doesNotMatch(JSON.stringify((await culvert.account.call('GET', path)).body), new RegExp(SECRET));
});

test('webhook verification: an old signature is refused, and a second secret holds beside the first', async (t) => {
  const { publish, send } = await fixture(t);
  await publish(verify('stripe', 'whsec_new', SECRET));
  const now = Math.floor(Date.now() / 1000);
  assert.deepEqual([await send(stripe(now)), await send(stripe(now - 400))], ['200', '401 invalid_signature']);
});

test('webhook verification: the policy of the API applies too, and both end on their own', async (t) => {
  const { culvert, publish, send, tunnel } = await fixture(t);
  const { agent } = await publish(verify('github', SECRET));
  const { id } = await tunnel();
  const deny = { actions: [{ kind: 'deny', path_prefix: '/hook' }] };
  await culvert.account.call('PUT', `/tunnels/${id}/policy`, deny);
  assert.equal(await send(signed()), '403 denied');
  await culvert.account.call('DELETE', `/tunnels/${id}/policy`);
  assert.deepEqual([await send(signed()), await send()], ['200', '401 invalid_signature']);
  agent.drain(0);
  await agent.done;
  await publish({ deny_cidr: ['192.0.2.7'] });
  assert.equal(await send(), '200');
});

test('webhook verification: a replay from the inspector needs no new signature', async (t) => {
  const { culvert, got, publish, send } = await fixture(t);
  await publish(verify('github', SECRET));
  assert.equal(await send(signed()), '200');
  let found: ReadonlyArray<{ id: string }> = [];
  while (found.length === 0) {
    await sleep(50);
    const { body } = await culvert.account.call('GET', '/inspector');
    found = body as unknown as ReadonlyArray<{ id: string }>;
  }
  const edits = { headers: { 'x-hub-signature-256': 'sha256=00' } };
  const replayed = await culvert.account.call('POST', `/inspector/${found[0]?.id}/replay`, edits);
  assert.ok(replayed.status < 300, JSON.stringify(replayed.body));
  while (got.length < 2) await sleep(20);
  assert.deepEqual(got, [BODY, BODY]);
});

for (const [narrow, message] of [
  [verify('magic', 'x'), /--webhook-verify: "magic" is none of generic_hmac_sha256, github/],
  [verify('discord', 'x'), /--webhook-verify: the secret must be the public key of the Discord app/],
  [verify('github'), /--webhook-verify: /],
] as const) {
  test(`webhook verification: ${JSON.stringify(narrow)} is refused for good`, async (t) => {
    const { publish } = await fixture(t);
    await assert.rejects(publish(narrow), message);
  });
}

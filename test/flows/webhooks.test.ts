/** A webhook of GitHub, from the sender to the service: while its agent is away, while the service fails, and across a kill of the server. */
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { test } from 'node:test';
import { verify } from '@octokit/webhooks-methods';
import { spawnCulvert, startOrigin } from '../harness.ts';

const SECRET = 'shared with the sender';

/** What the service got, in order. */
interface Got {
  readonly body: string;
  readonly attempt: string;
  readonly event: string;
  readonly isGenuine: boolean;
}

interface Progress {
  readonly state: string;
  readonly attempts: number;
  readonly last_status: number | null;
}

const number = (n: number) => JSON.stringify({ number: n, text: 'ü\n' });

test('deliveries wait for the agent, come in order past one that fails twice, and outlive a kill -9 in the middle', {
  timeout: 120_000,
}, async (t) => {
  const got: Got[] = [];
  const held: ServerResponse[] = [];
  let isHolding = true;
  const origin = await startOrigin(t, (request, response) => {
    void buffer(request).then(async (bytes) => {
      const body = bytes.toString();
      const { headers, url } = request;
      const isGenuine = await verify(SECRET, body, String(headers['x-hub-signature-256']));
      const attempt = String(headers['culvert-webhook-attempt']);
      got.push({ body, attempt, event: String(headers['culvert-webhook-delivery']), isGenuine });
      const isFailing = body === number(3) && Number(attempt) <= 2;
      if (url !== '/github?x=1' || isFailing) response.writeHead(500).end('not now');
      else if (body === number(5) && isHolding) held.push(response);
      else response.writeHead(204).end();
    });
  });
  const culvert = await spawnCulvert(t);
  const { account } = culvert;
  const tunnel = await account.call('POST', '/tunnels', { localPort: origin.port, subdomain: 'hooks' });
  assert.ok(tunnel.status < 300, JSON.stringify(tunnel.body));
  const forward = { tunnel_id: tunnel.body['id'], path: '/github?x=1' };
  const made = await account.call('POST', '/webhook-receivers', {
    name: 'github',
    validator: 'github',
    secret: SECRET,
    forward,
  });
  assert.equal(made.status, 201, JSON.stringify(made.body));
  const id = String(made.body['id']);

  const deliver = async (n: number): Promise<void> => {
    const body = number(n);
    const signature = `sha256=${createHmac('sha256', SECRET).update(body).digest('hex')}`;
    const { status } = await fetch(`${culvert.apiUrl}/webhooks/${id}`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'x-hub-signature-256': signature,
        'x-github-event': 'push',
        'x-github-delivery': `delivery ${n}`,
        connection: 'close',
      },
      body,
    });
    assert.equal(status, 202);
  };
  const progress = async (): Promise<readonly Progress[]> => {
    const { body } = await account.call('GET', `/webhook-receivers/${id}/events`);
    return (body as unknown as ReadonlyArray<{ forward: Progress }>).map((event) => event.forward);
  };
  const until = async (holds: () => boolean | Promise<boolean>, what: string): Promise<void> => {
    const end = performance.now() + 60_000;
    while (!(await holds())) {
      assert.ok(performance.now() < end, `${what}: ${JSON.stringify([got, await progress()])}`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  };

  for (const n of [1, 2, 3, 4, 5]) await deliver(n);
  assert.deepEqual(
    (await progress()).map(({ state, attempts }) => [state, attempts]),
    Array.from({ length: 5 }, () => ['waiting', 0]),
  );
  assert.equal(got.length, 0);

  culvert.agent(['http', String(origin.port), '--subdomain', 'hooks']);
  await until(() => held.length > 0, 'the fifth');
  assert.deepEqual(
    got.map(({ body, attempt }) => [body, attempt]),
    [
      [number(1), '1'],
      [number(2), '1'],
      ...['1', '2', '3'].map((a) => [number(3), a]),
      [number(4), '1'],
      [number(5), '1'],
    ],
  );
  await deliver(6);
  await until(async () => (await progress())[3]?.state === 'delivered', 'what was done is written down');
  assert.deepEqual(
    (await progress()).map(({ state, attempts }) => [state, attempts]),
    [
      ['delivered', 1],
      ['delivered', 1],
      ['delivered', 3],
      ['delivered', 1],
      ['sending', 0],
      ['waiting', 0],
    ],
  );

  await culvert.killServer();
  isHolding = false;
  for (const response of held) response.destroy();
  const before = got.length;
  await culvert.startServer();
  await deliver(7);
  await until(async () => (await progress()).every(({ state }) => state === 'delivered'), 'the rest');
  assert.deepEqual(
    got.slice(before).map(({ body }) => body),
    [number(5), number(6), number(7)],
    'what was under way comes again, and the rest once',
  );
  assert.ok(
    got.every(({ isGenuine }) => isGenuine),
    'the service can check the signature by itself',
  );
  assert.equal(new Set(got.map(({ event }) => event)).size, 7);
});

/** A receiver and its sender for tests of webhooks over HTTP: the node is played, the rest is real. */
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import type { TestContext } from 'node:test';
import { Plane } from '../../core/testing/plane.ts';
import { servePlane } from '../../core/testing/plane-api.ts';
import { Team } from '../../core/testing/team.ts';
import { TunnelNode } from '../../tunnels/testing.ts';

const SECRET = 'shared';

export interface Listed {
  readonly id: string;
  readonly body: string;
  readonly forward: Readonly<Record<string, unknown>>;
  readonly [field: string]: unknown;
}

/** A person with a tunnel and a receiver that forwards to it; the forwarder runs. */
export async function openReceiver(t: TestContext, { validator = 'generic_hmac_sha256', secret = SECRET } = {}) {
  const plane = new Plane();
  const api = await servePlane(plane);
  const node = new TunnelNode(plane);
  const team = new Team(plane, api);
  const ann = await team.person('ann@example.test');
  t.after(async () => {
    await plane.control.forwarder.stop(0);
    await api.close();
    plane.close();
  });
  plane.control.forwarder.start();
  const tunnel = String((await ann.call('POST', '/tunnels', { localPort: 3000 })).body['id']);
  const forward = { tunnel_id: tunnel, path: '/hook' };
  const made = await ann.call('POST', '/webhook-receivers', { name: 'orders', validator, secret, forward });
  assert.equal(made.status, 201, made.text);
  const id = String(made.body['id']);
  const path = `/webhook-receivers/${id}`;
  return {
    ...{ plane, api, node, team, ann, tunnel, id, path },
    deliver: async (body: string): Promise<void> => {
      const signature = `sha256=${createHmac('sha256', SECRET).update(body).digest('hex')}`;
      const url = `http://127.0.0.1:${api.port}/webhooks/${id}`;
      const answer = await fetch(url, { method: 'POST', headers: { 'x-signature-256': signature }, body });
      assert.equal(answer.status, 202);
    },
    events: async (query = ''): Promise<readonly Listed[]> => {
      const answer = await ann.call('GET', `${path}/events${query}`);
      assert.equal(answer.status, 200, answer.text);
      return answer.body as unknown as readonly Listed[];
    },
    /** Time passes for the queue. */
    pass: (ms: number): void => {
      plane.now += ms;
      plane.control.forwarder.wake();
    },
  };
}

export const textOf = ({ body }: { readonly body: string }): string => Buffer.from(body, 'base64').toString();

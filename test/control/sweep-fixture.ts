/** One of each thing that has an id, for tests that hold for all routes. */
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { eq } from 'drizzle-orm';
import { domains, identities, webhookDeliveries } from '../../src/control/db/schema.ts';
import { recorded } from '../../src/control/inspector/testing.ts';
import type { ConnectionInfo } from '../../src/plane/link.ts';
import { STATS } from '../../src/control/operator/testing.ts';
import type { Answer } from '../../src/control/core/testing/harness.ts';
import { addNetwork, aKey } from '../../src/control/networks/testing.ts';
import { type Plane, VISIT } from '../../src/control/core/testing/plane.ts';
import type { Person } from '../../src/control/core/testing/team.ts';
import { IDLE_NODE } from '../../src/control/core/testing/idle-node.ts';

/** Of a request that was sent again. */
const REPLAY = '00000000-0000-7000-8000-00000000000a';

/** One of each thing that has an id, of one person and the organization that they own. */
export interface Fixture {
  readonly org: string;
  readonly user: string;
  readonly session: string;
  readonly identity: string;
  readonly tunnel: string;
  readonly token: string;
  readonly project: string;
  readonly projectToken: string;
  readonly reserved: string;
  readonly domain: string;
  readonly receiver: string;
  readonly delivery: string;
  readonly alert: string;
  /** Its channel, which waits for a confirmation. */
  readonly channel: string;
  readonly connection: string;
  /** Of a request that a visitor made. */
  readonly record: string;
  /** A link to it. */
  readonly share: string;
  readonly metricKey: string;
  readonly invitation: string;
  /** A private network with a server, and a device in it. */
  readonly network: string;
  readonly device: string;
}

/** Makes fixtures, each with things of its own. `connections`: what the data node says that there is. */
export class Fixtures {
  readonly connections: ConnectionInfo[] = [];
  readonly #plane: Plane;
  #made = 0;

  constructor(plane: Plane) {
    this.#plane = plane;
    plane.control.nodes.attach({
      ...IDLE_NODE,
      testPolicy: async () => ({ ok: true, verdicts: [] }),
      connections: () => this.connections,
      disconnect: () => true,
      isOnline: () => true,
      isTaken: () => true,
      send: async () => ({ ok: true, id: REPLAY, status: 200, code: null, latencyMs: 1 }),
      stats: async () => STATS,
    });
  }

  /** New things for a person, in the organization that they own. */
  async of(person: Person): Promise<Fixture> {
    const n = ++this.#made;
    const made = async (path: string, body: object): Promise<Answer['body']> => {
      const answer = await person.call('POST', path, body);
      assert.ok(answer.status < 300, `${path}: ${answer.text}`);
      return answer.body;
    };
    const invited = await made(`/orgs/${person.home}/invitations`, { email: `i${n}@example.test`, role: 'viewer' });
    const token = await made('/tokens', { name: 'swept' });
    const open = await made('/tunnels', { localPort: 3000 });
    const space = await made('/projects', { slug: `p${n}`, name: 'Swept' });
    const projectToken = await made(`/projects/p${n}/tokens`, { name: 'swept' });
    const kept = await made('/reserved-subdomains', { subdomain: `kept-${n}` });
    const domain = await made('/domains', { domain: `d${n}.example.net` });
    const forward = { tunnel_id: open['id'] };
    const receiver = await made('/webhook-receivers', { name: `r${n}`, validator: 'github', secret: 'x', forward });
    const delivery = this.#deliver(String(receiver['id']));
    const channels = [{ type: 'email', to: `ops-${n}@example.test` }];
    const alert = await made('/alerts', { kind: 'tunnel_offline', for_minutes: 5, channels });
    const metricKey = await made('/metrics/keys', { name: 'swept' });
    const { id: network } = addNetwork(this.#plane, person.home, { name: `n${n}` });
    const device = await made(`/private-networks/${network}/devices`, { name: 'swept', public_key: aKey() });
    // As if its record were in the DNS: it can be bound.
    this.#plane.control.store.db
      .update(domains)
      .set({ verifiedAt: 0, checkedAt: 0 })
      .where(eq(domains.id, String(domain['id'])))
      .run();
    await this.#plane.control.sessions.login({ email: person.email, password: person.password }, VISIT);
    const { sessions } = (await person.call('GET', '/auth/sessions')).body as unknown as {
      sessions: ReadonlyArray<{ id: string; current: boolean }>;
    };
    const connection = `a0000000-0000-4000-8000-${String(n).padStart(12, '0')}`;
    this.connections.push({
      agentId: connection,
      orgId: person.home,
      tokenId: String(token['id']),
      remoteIp: '192.0.2.1',
      hostname: 'laptop',
      version: '0.1.0',
      connectedAt: 0,
      tunnelIds: [],
      uninspectedIds: [],
      networkIds: [],
    });
    const record = recorded({ orgId: person.home, tunnelId: String(open['id']) });
    await this.#plane.control.link.inspect({ records: [record], unrecorded: [] });
    const share = await made(`/inspector/${record.id}/share`, { expires_in_seconds: 3_600 });
    const identity = `b0000000-0000-7000-8000-${String(n).padStart(12, '0')}`;
    this.#plane.control.store.db
      .insert(identities)
      .values({
        id: identity,
        userId: person.id,
        provider: 'google',
        issuer: 'https://issuer.test',
        subject: String(n),
        email: person.email,
        createdAt: 0,
        lastUsedAt: 0,
      })
      .run();
    return {
      org: person.home,
      user: person.id,
      session: sessions.find(({ current }) => !current)?.id ?? '',
      identity,
      tunnel: String(open['id']),
      alert: String(alert['id']),
      channel: (alert['channels'] as ReadonlyArray<{ id: string }>)[0]?.id ?? '',
      token: String(token['nonce']),
      project: String(space['slug']),
      projectToken: String(projectToken['nonce']),
      reserved: String(kept['id']),
      domain: String(domain['id']),
      receiver: String(receiver['id']),
      delivery,
      connection,
      record: record.id,
      share: String(share['id']),
      metricKey: String(metricKey['id']),
      invitation: String(invited['id']),
      network,
      device: (device['device'] as { id: string }).id,
    };
  }

  /** A delivery in the mailbox, as its sender signs it; its id. */
  #deliver(receiverId: string): string {
    const body = Buffer.from('{}');
    const signature = `sha256=${createHmac('sha256', 'x').update(body).digest('hex')}`;
    const { mailbox, store } = this.#plane.control;
    const headers = { 'x-hub-signature-256': signature };
    mailbox.receive(receiverId, { headers, body, url: '', remoteIp: '192.0.2.1' });
    const [row] = store.db.select().from(webhookDeliveries).where(eq(webhookDeliveries.receiverId, receiverId)).all();
    return row?.id ?? '';
  }
}

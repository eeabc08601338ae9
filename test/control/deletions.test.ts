/**
 * Deletion of a full project and of a full organization: the messages to data nodes, the audit log, emails and rows that are left, all in
 * their order. The expected lists were recorded before deletions became events.
 */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { asc, eq, sql } from 'drizzle-orm';
import { auditEvents, capabilityTokens, projects } from '../../src/control/db/schema.ts';
import type { Delta } from '../../src/plane/routes.ts';
import { Plane } from '../../src/control/core/testing/plane.ts';
import { type PlaneApi, servePlane } from '../../src/control/core/testing/plane-api.ts';
import { type Fixture, Fixtures } from './sweep-fixture.ts';
import { type Person, Team } from '../../src/control/core/testing/team.ts';

let plane: Plane;
let api: PlaneApi;
let team: Team;
let ann: Person;
let fixture: Fixture;
/** Names of ids, for lists that can be read. */
let names: Map<string, string>;

const db = () => plane.control.store.db;

beforeEach(async () => {
  plane = new Plane();
  api = await servePlane(plane);
  team = new Team(plane, api);
  ann = await team.person('ann@example.test');
  const fixtures = new Fixtures(plane);
  fixture = await fixtures.of(ann);
  names = new Map(Object.entries(fixture).map(([name, id]) => [id, name]));
  await fill();
  for (const { id, name, nonce } of db().select().from(capabilityTokens).all()) {
    names.set(id, names.get(nonce) ?? name);
    names.set(nonce, names.get(nonce) ?? name);
  }
  const [project] = db().select().from(projects).where(eq(projects.slug, fixture.project)).all();
  names.set(project?.id ?? '', 'project');
  plane.deltas.length = 0;
});
afterEach(async () => {
  await api.close();
  plane.close();
});

async function made(path: string, body: object): Promise<Readonly<Record<string, unknown>>> {
  const answer = await ann.call('POST', path, body);
  assert.ok(answer.status < 300, `${path}: ${answer.text}`);
  return answer.body;
}

/** Tunnels and keys in the project and beside it, and others in the organization. */
async function fill(): Promise<void> {
  await made('/orgs', { name: 'Elsewhere' });
  const projectSlug = fixture.project;
  const name = async (as: string, path: string, body: object): Promise<void> => {
    names.set(String((await made(path, body))['id']), as);
  };
  await name('tcp tunnel', '/tunnels', { localPort: 22, protocol: 'tcp' });
  await name('web tunnel of project', '/tunnels', { localPort: 3000, subdomain: 'web', projectSlug });
  await name('tcp tunnel of project', '/tunnels', { localPort: 22, protocol: 'tcp', projectSlug });
  const bound = await ann.call('PUT', `/domains/${fixture.domain}/bind`, { tunnel_id: fixture.tunnel });
  assert.equal(bound.status, 200, bound.text);
  const master = plane.control.masterKeys.mint(await actorOf(ann), { name: 'master key', ttlDays: 30 });
  const minted = await api.call('POST', `/projects/${projectSlug}/tokens`, {
    as: master.apiKey,
    body: { name: 'key of master key' },
  });
  assert.equal(minted.status, 200, minted.text);
  const revoked = await made('/tokens', { name: 'revoked before' });
  await ann.call('DELETE', `/tokens/${revoked['nonce']}`);
  const bob = await team.member('bob@example.test', ann, 'owner');
  const carol = await team.member('carol@example.test', ann, 'member');
  await team.acting(bob, ann.home);
  await team.acting(carol, ann.home);
}

async function actorOf({ token }: Person) {
  const actor = await plane.control.sessions.authenticate(token, '192.0.2.1');
  assert.ok(actor !== undefined);
  return actor;
}

const named = (id: string | null): string => names.get(id ?? '') ?? String(id);

/** Messages in their order; those of one kind that follow each other are sorted, for their order is not fixed. */
function deltas(): string[] {
  const runs: Array<{ kind: string; lines: string[] }> = [];
  for (const delta of plane.deltas) {
    if (runs.at(-1)?.kind !== delta.kind) runs.push({ kind: delta.kind, lines: [] });
    runs.at(-1)?.lines.push(lineOf(delta));
  }
  return runs.flatMap(({ lines }) => lines.sort());
}

function lineOf(delta: Delta): string {
  switch (delta.kind) {
    case 'revoke_token':
      return `revoke_token ${named(delta.tokenId)}: ${delta.message}`;
    case 'remove':
      return `remove ${named(delta.tunnelId)}: ${delta.code}, ${delta.message}`;
    case 'relay_gone':
      return `relay_gone ${named(delta.networkId)}: ${delta.code}, ${delta.message}`;
    default:
      return delta.kind;
  }
}

/** Audit rows since `from`, in the order in which they were written. All are the action of ann. */
function auditFrom(from: number): string[] {
  const rows = db().select().from(auditEvents).orderBy(asc(auditEvents.id)).all().slice(from);
  assert.deepEqual(
    [...new Set(rows.map(({ actorLabel, ipAddress, orgId }) => `${actorLabel} ${ipAddress} ${orgId}`))],
    [`${ann.email} 127.0.0.1 ${ann.home}`],
  );
  return rows.map(({ action, resourceId, details }) => {
    const text = JSON.stringify(details).replaceAll(/[0-9a-f]{32}/g, (nonce) => `<${named(nonce)}>`);
    return `${action} | ${named(resourceId)} | ${text}`;
  });
}

const audited = (): number => db().select().from(auditEvents).all().length;

/** Rows of every table that has any. */
function counts(): Record<string, number> {
  const tables = db().all<{ name: string }>(
    sql`SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name`,
  );
  const rows = tables.map(({ name }) => {
    const found = db().get<{ n: number }>(sql`SELECT count(*) AS n FROM ${sql.identifier(name)}`);
    return [name, found?.n ?? 0] as const;
  });
  return Object.fromEntries(rows);
}

/** How the rows of each table changed in number. */
function changed(before: Record<string, number>): Record<string, number> {
  const after = counts();
  const differences = Object.entries(after).map(([name, n]) => [name, n - (before[name] ?? 0)] as const);
  return Object.fromEntries(differences.filter(([, n]) => n !== 0));
}

test('project deletion: messages, audit log and rows are in their order', async () => {
  const [before, from] = [counts(), audited()];
  const gone = await ann.call('DELETE', `/projects/${fixture.project}`);
  assert.deepEqual([gone.status, gone.body], [200, { success: true, deletedTunnels: 2, revokedTokens: 2 }]);
  await plane.control.drains.settled();
  assert.deepEqual(deltas(), [
    'revoke_token key of master key: The project p1 was deleted.',
    'revoke_token projectToken: The project p1 was deleted.',
    'remove tcp tunnel of project: tunnel_deleted, The tunnel was deleted. Start the agent again.',
    'remove web tunnel of project: tunnel_deleted, The tunnel was deleted. Start the agent again.',
  ]);
  assert.deepEqual(auditFrom(from), [
    'token.revoke | projectToken | {"name":"swept","kind":"project","cause":"project_deleted"}',
    'token.revoke | key of master key | {"name":"key of master key","kind":"project","cause":"project_deleted"}',
    'tunnel.delete | web tunnel of project | null',
    'tunnel.delete | tcp tunnel of project | null',
    'project.delete | project | {"slug":"p1","deletedTunnels":2,"revokedTokens":2}',
  ]);
  assert.deepEqual(changed(before), {
    audit_events: 5,
    resting_names: 2,
    resting_ports: 1,
    revoked_nonces: 2,
  });
});

test('organization deletion: messages, audit log, emails and rows are in their order', async () => {
  const [before, from] = [counts(), audited()];
  const gone = await ann.call('DELETE', `/orgs/${ann.home}`);
  assert.deepEqual([gone.status, gone.body], [200, { success: true, revoked_tokens: 4, deleted_tunnels: 4 }]);
  await plane.control.drains.settled();
  assert.deepEqual(deltas(), [
    'revoke_token key of master key: The organization ann was deleted. Use a key of another one.',
    'revoke_token master key: The organization ann was deleted. Use a key of another one.',
    'revoke_token projectToken: The organization ann was deleted. Use a key of another one.',
    'revoke_token token: The organization ann was deleted. Use a key of another one.',
    'remove tcp tunnel of project: tunnel_deleted, The tunnel was deleted. Start the agent again.',
    'remove tcp tunnel: tunnel_deleted, The tunnel was deleted. Start the agent again.',
    'remove tunnel: tunnel_deleted, The tunnel was deleted. Start the agent again.',
    'remove web tunnel of project: tunnel_deleted, The tunnel was deleted. Start the agent again.',
    'relay_gone network: network_deleted, The private network n1 was deleted.',
  ]);
  assert.deepEqual(auditFrom(from), [
    'invitation.revoke | invitation | null',
    'token.revoke | token | {"name":"swept","kind":"agent"}',
    'token.revoke | projectToken | {"name":"swept","kind":"project"}',
    'token.revoke | master key | {"name":"master key","kind":"master"}',
    'token.revoke | key of master key | {"name":"key of master key","kind":"project","parent":"<master key>"}',
    'reserved_subdomain.delete | reserved | {"subdomain":"kept-1"}',
    'tunnel.delete | tunnel | null',
    'tunnel.delete | tcp tunnel | null',
    'tunnel.delete | web tunnel of project | null',
    'tunnel.delete | tcp tunnel of project | null',
    'network.delete | network | {"name":"n1","devices":1}',
    'domain.delete | domain | {"domain":"d1.example.net"}',
    'webhook_receiver.delete | receiver | {"name":"r1"}',
    'alert.delete | alert | {"kind":"tunnel_offline"}',
    'org.delete | org | {"name":"ann"}',
  ]);
  assert.deepEqual(changed(before), {
    alert_channels: -1,
    alert_rules: -1,
    audit_events: 15,
    domains: -1,
    inspector_shares: -1,
    metric_keys: -1,
    network_devices: -1,
    outgoing_mails: 1,
    private_networks: -1,
    reserved_subdomains: -1,
    resting_names: 6,
    resting_ports: 3,
    revoked_nonces: 3,
    webhook_deliveries: -1,
    webhook_forwards: -1,
    webhook_receivers: -1,
  });
  const [email] = team.emails();
  assert.deepEqual([email?.kind, email?.to], ['organization_deleted', 'bob@example.test']);
});

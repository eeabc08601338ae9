/** The command that the API shows of a tunnel: who sees it, which key it names, and what becomes of it. */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { Plane } from '../../../core/testing/plane.ts';
import { type PlaneApi, servePlane } from '../../../core/testing/plane-api.ts';
import { type Person, Team } from '../../../core/testing/team.ts';
import { agentCommands } from '../../../db/schema.ts';
import type { AgentCommand } from '../../../../wire/agent-command.ts';

const COMMAND: AgentCommand = { name: 'http', target: '3000', texts: { 'host-header': 'rewrite' } };

let plane: Plane;
let api: PlaneApi;
let team: Team;
let ann: Person;
beforeEach(async () => {
  plane = new Plane();
  api = await servePlane(plane);
  team = new Team(plane, api);
  ann = await team.person('ann@example.test');
});
afterEach(async () => {
  await api.close();
  plane.close();
});

async function mint(by: Person, name: string): Promise<{ apiKey: string; nonce: string }> {
  const body = { name, ttlHours: 24, tunnelQuota: 2, bandwidthLimitMbps: 10, allowedSubdomains: ['*'] };
  const answer = await by.call('POST', '/tokens', body);
  return { apiKey: String(answer.body['apiKey']), nonce: String(answer.body['nonce']) };
}

async function claim(apiKey: string, command?: AgentCommand): Promise<string> {
  const admitted = await plane.control.link.admit(apiKey);
  assert.ok(admitted.ok);
  const answer = await plane.control.link.claim({
    ...{ tokenId: admitted.grant.tokenId, agentId: 'a', liveTunnelIds: [], protocol: 'http', target: 'localhost:3000' },
    ...{ localPort: 3000, subdomain: 'shop' },
    ...(command === undefined ? {} : { command }),
  });
  assert.ok(answer.ok, JSON.stringify(answer));
  return answer.route.tunnelId;
}

const startCommand = async (id: string, as = ann.token): Promise<unknown> =>
  (await api.call('GET', `/tunnels/${id}`, { as })).body['startCommand'];
const rows = () => plane.control.store.db.select().from(agentCommands).all();

test('start command: has the words of the last agent and names its key, for those who may publish', async () => {
  const { apiKey, nonce } = await mint(ann, 'ci');
  const id = await claim(apiKey, COMMAND);
  const key = { name: 'ci', nonce, is_login: false, is_valid: true };
  const words = ['culvert', 'http', '3000', '--subdomain', 'shop', '--host-header', 'rewrite'];
  assert.deepEqual(await startCommand(id), { words, key });
  assert.equal(JSON.stringify(await startCommand(id)).includes(apiKey), false);
  await ann.call('DELETE', `/tokens/${nonce}`);
  assert.deepEqual(await startCommand(id), { words, key: { ...key, is_valid: false } });
  const viewer = await team.acting(await team.member('viv@example.test', ann, 'viewer'), ann.home);
  assert.equal(await startCommand(id, viewer), null);
});

test('start command: an agent without a command replaces that of the one before it', async () => {
  const { apiKey } = await mint(ann, 'ci');
  const id = await claim(apiKey, COMMAND);
  await claim(apiKey, COMMAND);
  assert.equal(rows().length, 1);
  await claim(apiKey);
  assert.deepEqual(rows(), []);
  const { words } = (await startCommand(id)) as { words: readonly string[] };
  assert.deepEqual(words, ['culvert', 'http', '3000', '--subdomain', 'shop']);
});

test('start command: a command of another tunnel counts as none', async () => {
  const { apiKey } = await mint(ann, 'ci');
  await claim(apiKey, COMMAND);
  const id = await claim(apiKey, { name: 'tcp', target: '5432' });
  assert.deepEqual(rows(), []);
  const { words } = (await startCommand(id)) as { words: readonly string[] };
  assert.deepEqual(words, ['culvert', 'http', '3000', '--subdomain', 'shop']);
});

test('start command: a tunnel without an agent has no key; a deleted one keeps no command', async () => {
  const made = String((await ann.call('POST', '/tunnels', { localPort: 8080, subdomain: 'new' })).body['id']);
  assert.deepEqual(await startCommand(made), { words: ['culvert', 'http', '8080', '--subdomain', 'new'], key: null });
  const { apiKey } = await mint(ann, 'ci');
  const id = await claim(apiKey, COMMAND);
  assert.equal(rows().length, 1);
  await ann.call('DELETE', `/tunnels/${id}`);
  assert.deepEqual(rows(), []);
});

/** Storms of API calls: deletions, writers, nested JSON, log-ins, routes that change. */
import { setTimeout as pause } from 'node:timers/promises';
import { ownerOf } from '../api.ts';
import { number } from '../report/tables.ts';
import { DOOMED_PROJECT } from './fill.ts';
import { hammer } from './hammer.ts';
import type { Storm } from './storm.ts';
import type { Fixture } from './fixture.ts';

/** Deletions in one window, evenly over it. */
export const DELETIONS = 2;
/** Rows are deleted for so long after the response. */
const DRAINED_MS = 3_000;
const WRITERS = 60;
const LOG_INS = 8;
const NESTED = 12;

export const WRITE = `
local n = 0
request = function()
  n = n + 1
  return wrk.format('PATCH', '/auth/me', nil, '{"name":"Writer ' .. n .. '"}')
end
`;

const LOG_IN = `
local body = '{"email":"' .. os.getenv('BENCH_EMAIL') .. '","password":"' .. os.getenv('BENCH_PASSWORD') .. '"}'
request = function() return wrk.format('POST', '/auth/login', nil, body) end
`;

/** Bodies of 1 MiB: as deep as possible, and flat enough to be parsed, in turn. */
const NEST = `
local half = 524280
local bodies = {
  string.rep('[', half) .. string.rep(']', half),
  string.rep('{"a":', half / 5) .. '1' .. string.rep('}', half / 5),
  '{"name":[' .. string.rep('{"a":[[{"b":[1,2,{"c":{}}]}]]},', 34000) .. '1]}',
}
local n = 0
request = function()
  n = n + 1
  return wrk.format('PATCH', '/auth/me', nil, bodies[n % 3 + 1])
end
`;

export function deletionStorms(fixture: Fixture): Storm[] {
  const { withProject, doomed } = fixture.filled;
  const projects = [...withProject];
  const organizations = [...doomed];
  return [
    {
      name: 'delete-project',
      title: `DELETE /projects/{slug} with 990 tunnels, ${DELETIONS} times`,
      settleMs: DRAINED_MS,
      prepare: () => logInAll(fixture, projects),
      run: (seconds) => deleteEach(fixture, projects, seconds, () => `/projects/${DOOMED_PROJECT}`),
    },
    {
      name: 'delete-org',
      title: `DELETE /orgs/{id} with 1,000 tunnels and 1,000 keys, ${DELETIONS} times`,
      settleMs: DRAINED_MS,
      prepare: () => logInAll(fixture, organizations),
      run: (seconds) => deleteEach(fixture, organizations, seconds, (orgId) => `/orgs/${orgId}`),
    },
  ];
}

async function logInAll(fixture: Fixture, orgIds: readonly string[]): Promise<void> {
  for (const orgId of orgIds) await fixture.logIn(orgId);
}

async function deleteEach(
  fixture: Fixture,
  left: string[],
  seconds: number,
  pathOf: (orgId: string) => string,
): Promise<string> {
  const orgIds = left.splice(0, DELETIONS);
  if (orgIds.length < DELETIONS) throw new Error('nothing is left to delete');
  const times: number[] = [];
  for (const orgId of orgIds) {
    const owner = await fixture.logIn(orgId);
    const from = performance.now();
    await owner.call('DELETE', pathOf(orgId));
    const took = performance.now() - from;
    times.push(took);
    await pause(Math.max(0, (seconds / DELETIONS) * 1_000 - took));
  }
  return `answered after ${times.map((took) => number(took, 0)).join(' and ')} ms`;
}

export function callStorms(fixture: Fixture): Storm[] {
  const { loggedIn } = fixture;
  const hammered = (name: string, script: string, connections: number) => async (seconds: number) =>
    hammer(fixture, { name, bearer: (await fixture.logIn()).bearer, connections, seconds, script });
  const prepare = async (): Promise<void> => void (await fixture.logIn());
  return [
    { name: 'writers', title: `${WRITERS} parallel PATCH /auth/me`, prepare, run: hammered('writers', WRITE, WRITERS) },
    {
      name: 'nested-json',
      title: `${NESTED} parallel bodies of 1 MiB of nested JSON`,
      prepare,
      run: async (seconds) => {
        const { bearer } = await fixture.logIn();
        const options = {
          name: 'nested-json',
          bearer,
          connections: NESTED,
          seconds,
          script: NEST,
          expects: 'refusal',
        } as const;
        return hammer(fixture, options);
      },
    },
    {
      name: 'log-ins',
      title: `${LOG_INS} parallel log-ins`,
      run: (seconds) => {
        const env = { BENCH_EMAIL: loggedIn.email, BENCH_PASSWORD: loggedIn.password };
        return hammer(fixture, { name: 'log-ins', bearer: '', connections: LOG_INS, seconds, script: LOG_IN, env });
      },
    },
    {
      name: 'routes',
      title: '10,000 routes published again and again: a superadmin changes the plan of 20 organizations',
      settleMs: 1_000,
      run: (seconds) => changePlans(fixture, seconds),
    },
  ];
}

/** Alternates a plan that limits the life of tunnels with one that does not: each change writes and publishes all tunnels of the organization. */
async function changePlans(fixture: Fixture, seconds: number): Promise<string> {
  const operator = await ownerOf(fixture.server);
  const until = performance.now() + seconds * 1_000;
  let changes = 0;
  const { all } = fixture.filled;
  while (performance.now() < until) {
    const plan = Math.floor(changes / all.length) % 2 === 0 ? 'team' : 'enterprise';
    await operator.call('PATCH', `/superadmin/orgs/${all[changes % all.length]}`, { plan });
    changes += 1;
  }
  return `${number(changes / all.length, 1)} times all of them`;
}

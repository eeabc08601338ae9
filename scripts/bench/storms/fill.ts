/**
 * Rows for the storms, written into the data folder of a stopped server: 10,000 tunnels in 20 organizations, an organization with a long history, and
 * organizations and projects to delete.
 */
import { systemClock } from '../../../src/base/clock.ts';
import { silentLog } from '../../../src/base/log.ts';
import { UsageStore } from '../../../src/control/db/usage/usage-store.ts';
import { fillDatabase, makeOrganization, makeProject, populate } from '../big-database.ts';
import { makeRecord } from '../recorded.ts';
import type { Rows } from '../rows.ts';

/** Limit of tunnels and keys of an organization. */
const MOST = 1_000;
const OF_A_PROJECT = 990;
export const DOOMED_PROJECT = 'doomed';
/** Time span of the history. */
const SPREAD_MS = 6 * 24 * 3_600_000;
const BATCH = 1_000;

export interface Filled {
  /** Organizations by id: together they have 10,000 tunnels. */
  readonly all: readonly string[];
  /** Has 1,000 tunnels and keys, and `history` audit events and recorded requests. */
  readonly historian: string;
  /** Each has a project DOOMED_PROJECT with 990 tunnels. */
  readonly withProject: readonly string[];
  /** Each has 1,000 tunnels and 1,000 keys. */
  readonly doomed: readonly string[];
}

/** `deletions`: number of organizations, and of projects, to delete. `history`: audit events, and recorded requests, of one organization. */
export async function fillForStorms(
  dataDir: string,
  owner: string,
  { deletions, history }: { readonly deletions: number; readonly history: number },
): Promise<Filled> {
  const { all, more } = fillDatabase(dataDir, owner, (rows, ownerId) =>
    fillMore(rows, ownerId, { deletions, history }),
  );
  const { historian, tunnelIds, ...rest } = more;
  await recordHistory(dataDir, { orgId: historian, tunnelIds, count: history });
  return { all, historian, ...rest };
}

function fillMore(rows: Rows, ownerId: string, { deletions, history }: { deletions: number; history: number }) {
  const historian = makeOrganization(rows, ownerId, 'historian');
  const tunnelIds = populate(rows, historian, { tokens: MOST, tunnels: MOST, events: history, ownerId });
  const each = Array.from({ length: deletions }, (_, i) => i);
  const withProject = each.map((i) => {
    const org = makeOrganization(rows, ownerId, `holder-${i}`);
    const project = makeProject(rows, org, { slug: DOOMED_PROJECT, isDefault: false });
    populate(rows, project, { tokens: 1, tunnels: OF_A_PROJECT, events: 0, ownerId });
    return org.id;
  });
  const doomed = each.map((i) => {
    const org = makeOrganization(rows, ownerId, `doomed-${i}`);
    populate(rows, org, { tokens: MOST, tunnels: MOST, events: MOST, ownerId });
    return org.id;
  });
  return { historian: historian.id, tunnelIds, withProject, doomed };
}

async function recordHistory(
  dataDir: string,
  {
    orgId,
    tunnelIds,
    count,
  }: { readonly orgId: string; readonly tunnelIds: readonly string[]; readonly count: number },
): Promise<void> {
  const store = new UsageStore({ dataDir, maxBytes: 2 ** 36, clock: systemClock, log: silentLog });
  // Numbers that makeRecord gives to the first organization.
  const owners = { organizations: [orgId], tunnels: [tunnelIds.slice(0, 5)] };
  const start = Date.now() - SPREAD_MS;
  try {
    for (let from = 0; from < count; from += BATCH) {
      const records = Array.from({ length: BATCH }, (_, i) =>
        makeRecord(owners, 4 * (from + i), start + ((from + i) / count) * SPREAD_MS),
      );
      await store.store({ records, unrecorded: [] });
    }
  } finally {
    await store.close();
  }
}

/** Projects without the rest of the control plane: what they do on events, and what they emit. */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { auditEvents, pendingWork, projects as table } from '../db/schema.ts';
import { on } from '../db/events.ts';
import { OpenSlice, START } from '../core/testing/open-slice.ts';
import { orgForgotten } from '../organizations/events.ts';
import { projectDeleted } from './events.ts';
import { projects } from './index.ts';
import type { ProjectRow } from './rows.ts';
import type { Projects } from './service.ts';

let opened: OpenSlice<Projects>;
/** Projects that were deleted, with the number of marks at that moment. */
let deleted: Array<[ProjectRow, number]>;
let isBroken: boolean;

const marks = (): number => opened.store.db.select().from(pendingWork).all().length;
const rows = () => opened.store.db.select().from(table).all();

beforeEach(() => {
  deleted = [];
  isBroken = false;
  opened = new OpenSlice(projects, {
    handlers: [
      on(projectDeleted, (_, project) => {
        deleted.push([project, marks()]);
        return { revokedTokens: 3 };
      }),
      on(projectDeleted, () => {
        if (isBroken) throw new Error('no');
        return { deletedTunnels: 2, revokedTokens: 1 };
      }),
    ],
  });
  // No rows to drain: tunnels and keys are not here.
  opened.drains.register('project_deleted', () => 0);
});
afterEach(() => opened.close());

test('projects: a new organization gets its default project in the same transaction', () => {
  const { orgId } = opened.owner();
  const [row, ...others] = rows();
  const expected = { orgId, slug: 'default', name: 'Default', isDefault: true, createdAt: START, deletedAt: null };
  assert.deepEqual([row, others], [{ id: row?.id, ...expected }, []]);
});

test('projects: rows of a forgotten organization are deleted, and those of others stay', () => {
  const [ann, bob] = [opened.owner(), opened.owner('bob@example.test')];
  opened.service.create(ann, { slug: 'web', name: 'Web' });
  opened.store.inTx((tx) => void tx.emit(orgForgotten, { orgIds: [ann.orgId] }));
  assert.deepEqual(
    rows().map(({ orgId }) => orgId),
    [bob.orgId],
  );
});

test('project deletion: its owners of tunnels and keys get the event before the mark, and their counts are the response', async () => {
  const ann = opened.owner();
  await opened.request('POST', '/projects', { as: ann, body: { slug: 'web', name: 'Web' } });
  const project = rows().find(({ slug }) => slug === 'web');
  const response = await opened.request('DELETE', '/projects/web', { as: ann });
  assert.deepEqual(await response.json(), { success: true, deletedTunnels: 2, revokedTokens: 4 });
  assert.deepEqual(deleted, [[project, 0]]);
  const audited = opened.store.db.select().from(auditEvents).all().at(-1);
  assert.deepEqual(
    [audited?.action, audited?.details],
    ['project.delete', { slug: 'web', deletedTunnels: 2, revokedTokens: 4 }],
  );
  assert.equal((await opened.request('GET', '/projects/web', { as: ann })).status, 404);
});

test('project deletion: it does not happen when a handler fails', async () => {
  const ann = opened.owner();
  opened.service.create(ann, { slug: 'web', name: 'Web' });
  isBroken = true;
  assert.equal((await opened.request('DELETE', '/projects/web', { as: ann })).status, 500);
  assert.equal(opened.service.get(ann, 'web').row.deletedAt, null);
  assert.equal(marks(), 0);
});

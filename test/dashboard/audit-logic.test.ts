import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AUDIT_ACTIONS } from '../../src/control/core/rules/audit.ts';
import { actionChoices, actionWords } from '../../src/dashboard/pages/audit/actions.ts';
import { filterIn, paramsOf, queryOf } from '../../src/dashboard/pages/audit/filter.ts';
import { setTimeZone } from '../../src/dashboard/parts/time/time-zone.ts';
import { changeWords } from '../../src/dashboard/pages/audit/changes.ts';
import { detailWords, moreWords, nameOf, pageOf } from '../../src/dashboard/pages/audit/details.ts';
import {
  type AuditEvent,
  collectEvents,
  csvCell,
  csvOf,
  MAX_EXPORTED,
} from '../../src/dashboard/pages/audit/export.ts';

test('audit filter: in the address, and by days of the chosen zone', (t) => {
  const filter = {
    action: 'tunnel.create',
    actor: 'ann',
    since: '2026-10-24',
    until: '2026-10-25',
    limit: 100,
    org: '',
  };
  assert.deepEqual(filterIn(paramsOf(filter)), filter);
  assert.equal(paramsOf(filterIn(new URLSearchParams('since=yesterday&limit=7&until=2026-13-41'))).size, 0);
  t.after(() => setTimeZone('local'));
  setTimeZone('utc');
  assert.deepEqual(queryOf({ ...filter, actor: ' ann ' }), {
    action: 'tunnel.create',
    actor: 'ann',
    start_time: '2026-10-24T00:00:00.000Z',
    end_time: '2026-10-26T00:00:00.000Z',
  });
  setTimeZone('local');
  const { start_time: start, end_time: end } = queryOf(filter);
  assert.deepEqual(
    [start, end],
    [new Date(2026, 9, 24), new Date(2026, 9, 26)].map((date) => date.toISOString()),
  );
});

const EVENT: AuditEvent = {
  id: '019aa3c2-5b7e-7c44-9d0e-6a3d1f8b2c11',
  timestamp: '2026-11-21T09:30:00.000Z',
  action: 'tunnel.create',
  resourceType: 'tunnel',
  resourceId: '019aa3c2-5b70-7b02-8a3e-0c9d3f5e7a10',
  userEmail: 'ann@example.com',
  actorType: 'user',
  ipAddress: '203.0.113.7',
  resourceName: 'shop',
  changes: [],
  details: null,
};

test('audit labels: every action of the server has exactly one', () => {
  const listed = actionChoices().flatMap(({ items }) => items.map(({ value }) => value));
  assert.deepEqual(listed.toSorted(), [...AUDIT_ACTIONS].toSorted());
  assert.equal(actionWords('tunnel.teleport'), 'tunnel.teleport');
});

test('audit details: in order, changes last and with an arrow', () => {
  assert.deepEqual(detailWords({ email: 'bob@example.com', from: 'viewer', to: 'member' }), [
    'bob@example.com',
    'viewer → member',
  ]);
  assert.deepEqual(detailWords({ from: null, to: 500 }), ['none → 500']);
  assert.deepEqual(detailWords({ grace_hours: 24, revokedTokens: 2, superadmin: true, note: null }), [
    'grace hours 24',
    'revoked tokens 2',
    'superadmin',
  ]);
  assert.deepEqual(detailWords({ from: 'here' }), ['from here']);
  assert.deepEqual(detailWords(null), []);
});

test('audit changes: the field in words, the old and the new value', () => {
  for (const [field, from, to, text] of [
    ['role', 'viewer', 'member', 'Role: viewer → member'],
    ['monthlyBudgetUsdCents', null, 500, 'Monthly budget (US cents): none → 500'],
    ['allowed_domains', 'a.test', null, 'Allowed domains: a.test → none'],
    ['stopped', false, true, 'Paused: no → yes'],
    ['actions.0', null, 'deny: status 403', 'Action 1: none → deny: status 403'],
    ['accounts.signup', 'open', '', 'accounts.signup: open → nothing'],
    ['password', null, 'changed', 'Password: changed'],
  ] as const)
    assert.equal(changeWords({ field, from, to }), text);
  // Users choose names.
  assert.equal(changeWords({ field: 'name', from: 'Ann', to: '9999-99-99T9Z' }), 'Name: Ann → 9999-99-99T9Z');
  assert.match(
    changeWords({ field: 'expiresAt', from: null, to: '2026-11-21T09:30:00.000Z' }),
    /^Expires: none → 2026-/,
  );
});

test('audit log: an entry has the name of its object, and says nothing twice', () => {
  const changes = [{ field: 'role', from: 'viewer', to: 'member' }];
  const event: AuditEvent = { ...EVENT, resourceName: 'bob@example.com', changes };
  const details = { email: 'bob@example.com', role: 'member', tokens: 2 };
  assert.deepEqual(moreWords({ ...event, details }), ['tokens 2', 'Role: viewer → member']);
  const policy = { details: { actions: 'deny' }, changes: [{ field: 'actions.0', from: null, to: 'deny: path /' }] };
  assert.deepEqual(moreWords({ ...EVENT, ...policy }), ['Action 1: none → deny: path /']);
  assert.equal(nameOf(event), 'bob@example.com');
  assert.equal(nameOf({ ...EVENT, resourceType: 'alert', resourceName: 'tunnel_offline' }), 'tunnel offline');
  assert.equal(nameOf({ ...EVENT, resourceName: null }), undefined);
  assert.equal(nameOf({ ...EVENT, resourceName: null }, 'Shop'), 'Shop');
});

test('audit log: an entry links to an existing resource by its id alone', () => {
  assert.equal(pageOf(EVENT), '/tunnels/019aa3c2-5b70-7b02-8a3e-0c9d3f5e7a10');
  assert.equal(pageOf({ ...EVENT, action: 'tunnel.delete' }), undefined);
  assert.equal(pageOf({ ...EVENT, resourceId: '../../evil' }), undefined);
  assert.equal(pageOf({ ...EVENT, resourceType: 'token', resourceId: 'a1b2' }), '/keys');
  assert.equal(pageOf({ ...EVENT, resourceType: 'session' }), undefined);
});

test('audit export: no cell is a spreadsheet formula', () => {
  for (const bad of ['=1+1', '+1', '-1', '@SUM(A1)', '\tx']) assert.equal(csvCell(bad), `'${bad}`);
  assert.equal(csvCell('\r=1'), `"'\r=1"`);
  assert.equal(csvCell('=HYPERLINK("http://evil","x")'), `"'=HYPERLINK(""http://evil"",""x"")"`);
  assert.equal(csvCell('a,b'), '"a,b"');
  assert.equal(csvCell('plain 1-2=3'), 'plain 1-2=3');
});

test('audit export: a header line and a line per event, with organizations where known', () => {
  const [head, line, end] = csvOf([{ ...EVENT, userEmail: '=cmd', details: { name: 'a' } }]).split('\r\n');
  assert.equal(
    head,
    'time,action,label,actor,actor_type,ip_address,resource_type,resource_id,resource_name,changes,details,id',
  );
  assert.match(String(line), /,tunnel\.create,created a tunnel,'=cmd,user,203\.0\.113\.7,tunnel,/);
  assert.match(String(line), /"\{""name"":""a""\}"/);
  assert.equal(end, '');
  const changed = csvOf([{ ...EVENT, changes: [{ field: 'role', from: 'viewer', to: 'member' }] }]);
  assert.match(changed, /,shop,"\[\{""field"":""role"",""from"":""viewer"",""to"":""member""\}\]",,/);
  assert.match(csvOf([{ ...EVENT, orgId: null }]), /^[^\r]*,organization\r\n/);
});

test('audit export: reads page after page, up to its limit', async () => {
  const asked: Array<[string | undefined, number]> = [];
  const give = (total: number) => async (before: string | undefined, limit: number) => {
    asked.push([before, limit]);
    const from = before === undefined ? 0 : Number(before) + 1;
    const count = Math.min(limit, total - from);
    return Array.from({ length: count }, (_, index) => ({ ...EVENT, id: String(from + index) }));
  };
  assert.equal((await collectEvents(give(1500))).length, 1500);
  assert.deepEqual(asked, [
    [undefined, 1000],
    ['999', 1000],
  ]);
  assert.equal((await collectEvents(give(1_000_000))).length, MAX_EXPORTED);
});

/** `/tunnels/{id}/inspector`: mask rules by the API, and what becomes of records that a node reports. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { constants, deflateRawSync } from 'node:zlib';
import { DAY_MS } from '../../../base/clock.ts';
import type { AccessEntry } from '../../../plane/access-log.ts';
import type { InspectedRequest } from '../../../plane/inspection.ts';
import { ENTRY } from '../../../server/access-log/testing.ts';
import { inspectorSettings } from '../../db/schema.ts';
import { said, startNeighbours } from '../../core/testing/team.ts';
import { head, recorded } from '../testing.ts';

const MASK = [{ header: 'X-Key' }, { json_path: '$.card.number' }, { query: 'token' }, { form: 'pin' }];

const { plane, api, ann, eve, viv, close } = await startNeighbours();
after(close);

async function newTunnel(): Promise<string> {
  const { body } = await ann.call('POST', '/tunnels', { localPort: 3000 });
  return String(body['id']);
}

async function report(tunnelId: string): Promise<string> {
  const record = recorded({
    ...{ orgId: ann.home, tunnelId, at: Date.now(), method: 'POST', target: '/pay?token=s3cret' },
    requestHead: head('POST /pay?token=s3cret HTTP/1.1', 'X-Key: s3cret', 'Content-Type: application/json'),
    requestBody: Buffer.from('{"card":{"number":"s3cret"},"amount":7}'),
  });
  await plane.control.link.inspect({ records: [record], unrecorded: [] });
  return record.id;
}

test('mask rules: what was put is shown, and replaces what was there', async () => {
  const id = await newTunnel();
  const path = `/tunnels/${id}/inspector`;
  const own = { id, websocket_frames: null, websocket_frames_default: false };
  assert.deepEqual((await ann.call('GET', path)).body, { ...own, mask: [] });
  assert.deepEqual((await ann.call('PUT', path, { mask: MASK })).body, { ...own, mask: MASK });
  assert.deepEqual((await ann.call('PUT', path, {})).body, { ...own, mask: MASK });
  assert.deepEqual((await ann.call('GET', path)).body, { ...own, mask: MASK });
  const events = (await ann.call('GET', '/events')).body as unknown as readonly Record<string, unknown>[];
  assert.ok(events.some(({ action, resourceId: of }) => action === 'tunnel.inspector' && of === id));
  assert.deepEqual((await ann.call('PUT', path, { mask: [] })).body, { ...own, mask: [] });
});

test('websocket frames: the setting goes to the edge at once, and stays when rules change', async (t) => {
  const id = await newTunnel();
  const path = `/tunnels/${id}/inspector`;
  const heard: unknown[] = [];
  const stop = plane.control.link.onDelta((delta) => {
    if (delta.kind === 'put' && delta.route.tunnelId === id) heard.push(delta.route.websocketFrames);
  });
  t.after(stop);
  for (const chosen of [true, false, null]) {
    const { body } = await ann.call('PUT', path, { websocket_frames: chosen });
    assert.equal(body['websocket_frames'], chosen);
    assert.equal((await ann.call('PUT', path, { mask: MASK })).body['websocket_frames'], chosen);
  }
  assert.deepEqual(heard, [true, false, undefined]);
  assert.deepEqual((await ann.call('PUT', path, { websocket_frames: 'yes' })).status, 400);
  const events = (await ann.call('GET', '/events')).body as unknown as readonly Record<string, unknown>[];
  const details = events.filter(({ resourceId: of }) => of === id).map((event) => JSON.stringify(event));
  assert.ok(details.some((text) => text.includes('websocket_frames')));
});

test('websocket frames: figures and frames of a connection come by updates, opened and masked', async () => {
  const id = await newTunnel();
  await ann.call('PUT', `/tunnels/${id}/inspector`, { mask: [{ json_path: '$..pin' }] });
  const record = recorded({ orgId: ann.home, tunnelId: id, at: Date.now(), status: 101 });
  const { link } = plane.control;
  await link.inspect({ records: [record], unrecorded: [] });
  const read = async () => (await ann.call('GET', `/inspector/${record.id}`)).body as Record<string, unknown>;
  const listed = async () => {
    const { body } = await ann.call('GET', `/inspector?tunnel_id=${id}`);
    return (body as unknown as readonly Record<string, unknown>[])[0]?.['websocket'] as Record<string, unknown>;
  };
  assert.deepEqual([(await read())['websocket_frames'], (await listed())['open']], [null, true]);
  const facts = {
    ...{ id: record.id, tunnelId: id, orgId: ann.home, isOpen: true, durationMs: 5, bytesIn: 9, bytesOut: 8 },
    ...{ framesIn: 2, framesOut: 1, isFramed: true, closedBy: null, closeCode: null, framesLeftOut: 0 },
  };
  const frame = { from: 'visitor', atMs: 1.5, opcode: 1, fragments: 1, isTruncated: false } as const;
  const plain = Buffer.from('{"pin":"s3cret"}');
  const packed = deflateRawSync(plain, { finishFlush: constants.Z_SYNC_FLUSH }).subarray(0, -4);
  const frames = [
    { ...frame, size: plain.length, isCompressed: false, bytes: plain },
    { ...frame, size: packed.length, isCompressed: true, bytes: packed },
  ];
  await link.inspect({ records: [], unrecorded: [], websockets: [{ ...facts, frames }] });
  const end = { isOpen: false, durationMs: 70_000, closedBy: 'service', closeCode: 1001, framesLeftOut: 3 } as const;
  await link.inspect({ records: [], unrecorded: [], websockets: [{ ...facts, ...end, frames: null }] });
  const expected = {
    ...{ open: false, duration_ms: 70_000, bytes_in: 9, bytes_out: 8, frames_in: 2, frames_out: 1 },
    ...{ valid_frames: true, closed_by: 'service', close_code: 1001, frames_not_recorded: 3 },
  };
  const detail = await read();
  assert.deepEqual(detail['websocket'], expected);
  assert.deepEqual(await listed(), expected);
  const data = Buffer.from('{"pin":"***"}').toString('base64');
  const one = { from: 'visitor', at_ms: 1.5, opcode: 'text', fragments: 1, compressed: false, truncated: false, data };
  assert.deepEqual(detail['websocket_frames'], [
    { ...one, size: plain.length },
    { ...one, size: packed.length },
  ]);
  await link.inspect({ records: [], unrecorded: [], websockets: [{ ...facts, orgId: eve.home, frames: [] }] });
  assert.deepEqual((await read())['websocket'], expected, 'an update of another organization changes nothing');
});

test('mask rules: the access log and exports hide what the inspector hides', async (t) => {
  const [masked, plain] = [await newTunnel(), await newTunnel()];
  await ann.call('PUT', `/tunnels/${masked}/inspector`, { mask: [...MASK, { header: 'User-Agent' }] });
  const heard: AccessEntry[] = [];
  t.after(plane.control.accessFeed.subscribe((entries) => void heard.push(...entries)));
  const [target, referer] = ['/pay?token=s3cret&b=1', 'https://shop.example.test/?a=1&Token=s3cret'];
  const entry = { ...ENTRY, orgId: ann.home, target, referer, userAgent: 'curl/8' };
  const entries = [masked, plain, null].map((tunnelId) => ({ ...entry, tunnelId }));
  await plane.control.link.logAccess({ entries });
  assert.deepEqual(
    heard.map((of) => [of.target, of.referer, of.userAgent]),
    [
      ['/pay?token=***&b=1', 'https://shop.example.test/?a=1&Token=***', '***'],
      [target, referer, 'curl/8'],
      [target, referer, 'curl/8'],
    ],
  );
  await plane.control.link.logAccess({ entries: [{ ...entry, tunnelId: masked, referer: '' }] });
  assert.equal(heard.at(-1)?.referer, '');
});

test('mask rules: other roles, other organizations and rules that are none are refused', async () => {
  const path = `/tunnels/${await newTunnel()}/inspector`;
  const mask = { mask: MASK };
  assert.deepEqual(said(await api.call('PUT', path, { as: viv, body: mask })), [403, 'forbidden']);
  assert.deepEqual(said(await api.call('GET', path, { as: viv })), [200]);
  for (const method of ['GET', 'PUT'])
    assert.deepEqual(said(await eve.call(method, path, method === 'GET' ? undefined : mask)), [404, 'not_found']);
  for (const rule of [
    {},
    { header: 'a b' },
    { header: 'a', query: 'b' },
    { json_path: 'card' },
    { cookie: 'a' },
    'header',
  ])
    assert.deepEqual(
      said(await ann.call('PUT', path, { mask: [rule] })),
      [400, 'invalid_request'],
      JSON.stringify(rule),
    );
});

test('mask rules: records are masked in the file, in the list, in the detail and in the live feed, from the change on', async (t) => {
  const tunnelId = await newTunnel();
  const before = await report(tunnelId);
  const shown: InspectedRequest[] = [];
  t.mock.method(
    plane.control.liveFeed,
    'publish',
    (records: readonly InspectedRequest[]) => void shown.push(...records),
  );
  await ann.call('PUT', `/tunnels/${tunnelId}/inspector`, { mask: MASK });
  const id = await report(tunnelId);
  const stored = await plane.control.records.find(ann.home, id);
  assert.ok(stored !== undefined);
  const bytes = [stored.requestHead, stored.requestBody].map((part) => Buffer.from(part).toString());
  assert.doesNotMatch([...bytes, stored.target, JSON.stringify(stored.trace)].join('\n'), /s3cret/);
  const detail = (await ann.call('GET', `/inspector/${id}`)).body;
  assert.equal(
    Buffer.from(String(detail['request_body']), 'base64').toString(),
    '{"card":{"number":"***"},"amount":7}',
  );
  assert.deepEqual(detail['masked'], [
    { side: 'request', kind: 'query', name: 'token' },
    { side: 'request', kind: 'header', name: 'x-key' },
    { side: 'request', kind: 'json_path', name: '$.card.number' },
  ]);
  const list = (await ann.call('GET', `/inspector?tunnel_id=${tunnelId}`)).body as unknown as readonly Record<
    string,
    unknown
  >[];
  assert.deepEqual(
    list.map(({ path }) => path),
    ['/pay?token=***', '/pay?token=s3cret'],
  );
  assert.match(JSON.stringify((await ann.call('GET', `/inspector/${before}`)).body), /s3cret/);
  assert.deepEqual(
    shown.map(({ target }) => target),
    ['/pay?token=***'],
  );
});

test('mask rules: a tunnel has at most 50', async () => {
  const path = `/tunnels/${await newTunnel()}/inspector`;
  const rules = Array.from({ length: 51 }, (_, i) => ({ header: `x-${i}` }));
  assert.deepEqual(said(await ann.call('PUT', path, { mask: rules })), [400, 'invalid_request']);
  assert.deepEqual(said(await ann.call('PUT', path, { mask: rules.slice(1) })), [200]);
});

test('mask rules: they outlive their tunnel by a day, for records that are on their way', async () => {
  const tunnelId = await newTunnel();
  await ann.call('PUT', `/tunnels/${tunnelId}/inspector`, { mask: MASK });
  await ann.call('DELETE', `/tunnels/${tunnelId}`);
  const stored = await plane.control.records.find(ann.home, await report(tunnelId));
  assert.equal(stored?.target, '/pay?token=***');
  const rows = (): number =>
    plane.control.store.db
      .select()
      .from(inspectorSettings)
      .all()
      .filter((row) => row.tunnelId === tunnelId).length;
  plane.control.retention.sweep();
  assert.equal(rows(), 1);
  plane.now += DAY_MS + 1_000;
  plane.control.retention.sweep();
  assert.equal(rows(), 0);
});

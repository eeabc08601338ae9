/** `GET /inspector`: its filters as users write them, and what they may not be used for. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { IDLE_NODE } from '../core/testing/idle-node.ts';
import { Plane } from '../core/testing/plane.ts';
import { type PlaneApi, servePlane } from '../core/testing/plane-api.ts';
import { type Person, said, Team } from '../core/testing/team.ts';
import { searchedTo } from './filter-schemas.ts';
import { head, recorded } from './testing.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';

let plane: Plane;
let api: PlaneApi;
let ann: Person;
let viv: string;

before(async () => {
  plane = new Plane();
  api = await servePlane(plane);
  plane.control.nodes.attach(IDLE_NODE);
  const team = new Team(plane, api);
  ann = await team.person('ann@example.test');
  viv = await team.acting(await team.member('viv@example.test', ann, 'viewer'), ann.home);
  const { body } = await ann.call('POST', '/tunnels', { localPort: 3000 });
  const tunnelId = String(body['id']);
  const at = Date.now() - 60_000;
  const of = (index: number, changes: Parameters<typeof recorded>[0]) =>
    recorded({ orgId: ann.home, tunnelId, at: at + index, target: `/${index}`, ...changes });
  await plane.control.link.inspect({
    records: [
      of(0, { requestBody: Buffer.from('{"order":"A-4711"}'), latencyMs: 3 }),
      of(1, {
        remoteIp: '198.51.100.9',
        requestHead: head(
          'GET /1 HTTP/1.1',
          'Authorization: Bearer abc',
          `traceparent: 00-${TRACE}-00f067aa0ba902b7-01`,
        ),
        latencyMs: 800,
      }),
    ],
    unrecorded: [],
  });
});
after(async () => {
  await api.close();
  plane.close();
});

async function paths(query: string, as = ann.token): Promise<unknown> {
  const answer = await api.call('GET', `/inspector?${query}`, { as });
  assert.equal(answer.status, 200, answer.text);
  return (answer.body as unknown as readonly { readonly path: string }[]).map(({ path }) => path);
}

test('search: each parameter of the list finds its requests', async () => {
  for (const [query, found] of [
    ['body=a-4711', ['/0']],
    ['address=198.51.100.0/24', ['/1']],
    ['header=authorization', ['/1']],
    ['header=authorization:%20abc', ['/1']],
    ['header=authorization:xyz', []],
    ['min_latency_ms=100', ['/1']],
    ['max_latency_ms=3', ['/0']],
    [`trace_id=${TRACE}`, ['/1']],
    ['body=a-4711&min_latency_ms=100', []],
  ] as const)
    assert.deepEqual(await paths(query), found, query);
});

test('search: a value that is none of its kind is refused', async () => {
  for (const query of [
    'address=shop',
    'address=10.0.0.0/33',
    'header=a%20b',
    'header=:x',
    'body=',
    'trace_id=12',
    'min_latency_ms=-1',
  ])
    assert.deepEqual(
      said(await api.call('GET', `/inspector?${query}`, { as: ann.token })),
      [400, 'invalid_request'],
      query,
    );
});

test('search: a viewer may search for credentials by name alone', async () => {
  assert.deepEqual(await paths('header=authorization', viv), ['/1']);
  assert.deepEqual(await paths('header=host:shop', viv), ['/0']);
  for (const path of ['/inspector', '/inspector/har'])
    assert.deepEqual(said(await api.call('GET', `${path}?header=Authorization:abc`, { as: viv })), [403, 'forbidden']);
});

test('search: the time to which it came is that of the record at which it stopped', () => {
  const { id, at } = recorded();
  assert.equal(searchedTo({ items: [], stoppedAt: id }), at);
  assert.equal(searchedTo({ items: [], stoppedAt: null }), undefined);
});

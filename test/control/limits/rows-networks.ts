/** The rows of the table of limits about private networks and their devices. */
import { sql } from 'drizzle-orm';
import { uuidv7 } from 'uuidv7';
import { privateNetworks } from '../../../src/control/db/schema.ts';
import { fill, type Filling } from './fillers.ts';
import { elsewhere, met, type Row } from './row.ts';
import { type LimitFixture, valueIn } from './fixture.ts';
import { aKey } from '../../../src/control/networks/testing.ts';
import { said } from '../../../src/control/core/testing/team.ts';

/** Devices of the network that is tried, of the others, and those that were enrolled today and are gone. */
type Devices = readonly [here: number, elsewhere: number, today: number];

export function networkLimits(): readonly Row[] {
  return [
    met<Filling>({
      limit: 'Private networks per organization',
      value: '100; 400 new ones per user in 24 hours',
      meet: async (w, filling) => {
        fill(w, 'network', filling);
        return said(await make(w));
      },
      below: [
        [['live', 98], [201]],
        [['today', 398], [201]],
      ],
      at: [
        [['live', 99], [201]],
        [['today', 399], [201]],
      ],
      above: [
        [
          ['live', 100],
          [409, 'conflict'],
        ],
        [
          ['today', 400],
          [429, 'rate_limited'],
        ],
      ],
    }),
    met<string>({
      limit: 'Name of a private network or a device',
      value: '1 to 63 characters',
      meet: async (w, name) => valueIn(await make(w, { name }), (body) => body['name']),
      below: [
        ['', [400, 'invalid_name']],
        ['x', 'x'],
      ],
      at: [['n'.repeat(63), 'n'.repeat(63)]],
      above: [['n'.repeat(64), [400, 'invalid_name']]],
    }),
    met<string>({
      limit: '`cidr` of a private network',
      value: '/8 to /30, private IPv4',
      meet: async (w, cidr) => valueIn(await make(w, { cidr }), (body) => body['cidr']),
      below: [['10.0.0.0/7', [400, 'invalid_cidr']]],
      at: [
        ['10.0.0.0/8', '10.0.0.0/8'],
        ['10.0.0.0/30', '10.0.0.0/30'],
      ],
      above: [['10.0.0.0/31', [400, 'invalid_cidr']]],
    }),
    met<number>({
      limit: '`server_listen_port` of a private network',
      value: '1..65535',
      meet: async (w, port) => {
        const path = `/private-networks/${await madeIn(w)}/server`;
        const server = { server_public_key: aKey(), server_listen_port: port };
        return valueIn(await w.caller().call('PUT', path, server), (body) => body['server_listen_port']);
      },
      below: [
        [0, [400, 'invalid_request']],
        [1, 1],
      ],
      at: [[65_535, 65_535]],
      above: [[65_536, [400, 'invalid_request']]],
    }),
    met<number>({
      limit: 'Name servers of a private network',
      value: '3',
      meet: (w, many) => changed(w, { dns: Array.from({ length: many }, (_, i) => `10.9.0.${i}`) }),
      below: [[2, [200]]],
      at: [[3, [200]]],
      above: [[4, [400, 'invalid_request']]],
    }),
    met<number>({
      limit: '`extra_allowed_ips` of a private network or a device',
      value: '16 networks; of a device /8 or smaller',
      meet: (w, many) => changed(w, { extra_allowed_ips: Array.from({ length: many }, (_, i) => `10.9.${i}.0/24`) }),
      below: [[15, [200]]],
      at: [[16, [200]]],
      above: [[17, [400, 'invalid_request']]],
    }),
    met<Devices>({
      limit: 'Devices per network',
      value: '4,096, and no more than its addresses',
      meet: enroll,
      below: [[[4_094, 0, 0], [201]]],
      at: [[[4_095, 0, 0], [201]]],
      above: [
        [
          [4_096, 0, 0],
          [409, 'network_full'],
        ],
      ],
    }),
    met<Devices>({
      limit: 'Devices per organization',
      value: '20,000; 10,000 new ones per user in 24 hours',
      meet: enroll,
      below: [
        [[0, 19_998, 0], [201]],
        [[0, 0, 9_998], [201]],
      ],
      at: [
        [[0, 19_999, 0], [201]],
        [[0, 0, 9_999], [201]],
      ],
      above: [
        [
          [0, 20_000, 0],
          [409, 'conflict'],
        ],
        [
          [0, 0, 10_000],
          [429, 'rate_limited'],
        ],
      ],
    }),
    elsewhere('UDP ports of private networks', '`edge.udp_ports`; then 409 `conflict`', [
      'src/control/networks/service.test.ts',
      'ports go round: an organization gets its own again, and when all are taken that is said',
    ]),
    elsewhere('Keepalive in configurations', '25 seconds', [
      'src/control/networks/configs.test.ts',
      'the config of a device has its address, and the server as its peer',
    ]),
  ];
}

const make = (w: LimitFixture, more: object = {}) =>
  w.caller().call('POST', '/private-networks', { name: 'more', cidr: '10.80.0.0/16', ...more });

async function madeIn(w: LimitFixture): Promise<string> {
  return String((await w.caller().done('POST', '/private-networks', { name: 'tried', cidr: '10.80.0.0/16' }))['id']);
}

async function changed(w: LimitFixture, changes: object): Promise<unknown[]> {
  return said(await w.caller().call('PATCH', `/private-networks/${await madeIn(w)}`, changes));
}

async function enroll(w: LimitFixture, [here, others, today]: Devices): Promise<unknown[]> {
  const id = await madeIn(w);
  const { actor } = w.caller();
  const { orgId } = actor;
  w.plane.control.store.inTx((tx) => {
    const other = uuidv7();
    const network = { id: other, orgId, name: 'other', cidr: '10.0.0.0/8', dns: [], extraAllowedIps: [] };
    tx.db
      .insert(privateNetworks)
      .values({ ...network, createdAt: tx.now, updatedAt: tx.now })
      .run();
    // By SQL alone: twenty thousand rows, one by one, would take seconds.
    const upTo = (many: number) =>
      sql`WITH RECURSIVE n(i) AS (SELECT 1 WHERE ${many} > 0 UNION ALL SELECT i + 1 FROM n WHERE i < ${many})`;
    for (const [networkId, many] of [
      [id, here],
      [other, others],
    ] as const) {
      tx.db.run(sql`
        INSERT INTO network_devices (id, network_id, org_id, name, public_key, host, extra_allowed_ips, created_at, updated_at)
        ${upTo(many)} SELECT ${networkId} || i, ${networkId}, ${orgId}, 'filler', 'key ' || i, i + 1, '[]', ${tx.now}, ${tx.now} FROM n`);
    }
    tx.db.run(sql`
      INSERT INTO audit_events (id, org_id, at, action, resource_type, resource_id, actor_kind, actor_id, actor_label, ip_address)
      ${upTo(today)} SELECT 'gone ' || i, ${orgId}, ${tx.now}, 'network_device.enroll', 'network_device', 'gone ' || i,
        'user', ${actor.userId}, ${actor.email}, '' FROM n`);
  });
  return said(await w.caller().call('POST', `/private-networks/${id}/devices`, { name: 'more', public_key: aKey() }));
}

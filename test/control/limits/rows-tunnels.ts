/** The rows of the table of limits about tunnels, names and projects. */
import { codeOf } from '../../../src/base/errors.ts';
import { type Plan, PLAN_NAMES } from '../../../src/control/core/rules/plans.ts';
import { fill, type Filling } from './fillers.ts';
import { elsewhere, met, type Row } from './row.ts';
import { type LimitFixture, valueIn } from './fixture.ts';
import { said } from '../../../src/control/core/testing/team.ts';

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const INVALID = [400, 'invalid_request'];
const UPGRADE = [402, 'upgrade_required'];
const CONFLICT = [409, 'conflict'];
const LIMITED = [429, 'rate_limited'];

const tunnel = async (w: LimitFixture, more: object, plan?: Plan) =>
  w.caller(plan).call('POST', '/tunnels', { localPort: 3000, ...more });
const project = async (w: LimitFixture, slug: string) =>
  w.caller().call('POST', '/projects', { slug, name: 'Project' });
const reserve = async (w: LimitFixture, subdomain: string, plan?: Plan) =>
  w.caller(plan).call('POST', '/reserved-subdomains', { subdomain });

/** Seconds from its creation to its end, or null. */
const life = ({ createdAt, expiresAt }: Record<string, unknown>) =>
  expiresAt === null ? null : (Date.parse(String(expiresAt)) - Date.parse(String(createdAt))) / 1000;

/** What holds of every name alike. */
function nameRows(limit: string, name: (w: LimitFixture, name: string) => Promise<unknown>): readonly Row[] {
  const long = 'l'.repeat(63);
  return [
    met<string>({
      limit,
      value: '1 to 63 characters',
      meet: name,
      below: [['', INVALID]],
      at: [
        ['a', 'a'],
        [long, long],
      ],
      above: [
        ['ab', 'ab'],
        [`${long}l`, INVALID],
      ],
    }),
    met<string>({
      limit: `${limit}, characters`,
      value: '[a-z0-9-], no dash at either end',
      meet: name,
      below: [
        ['-a', INVALID],
        ['-', INVALID],
      ],
      at: [
        ['a-1', 'a-1'],
        ['0', '0'],
      ],
      above: [
        ['a-', INVALID],
        ['A', INVALID],
        ['a_b', INVALID],
        ['a.b', INVALID],
        ['ä', INVALID],
        ['a b', INVALID],
        ['a\n', INVALID],
      ],
    }),
  ];
}

/** Default and most of one plan. */
function lifeRow(plan: Plan, most: number, value: string): Row {
  return met<number | undefined>({
    limit: `Tunnel \`ttlSeconds\`, plan ${PLAN_NAMES[plan]}`,
    value,
    meet: async (w, ttlSeconds) => valueIn(await tunnel(w, { ttlSeconds }, plan), life),
    below: [
      [59, INVALID],
      [60, 60],
    ],
    at: [[most, most]],
    above: [
      [most + 1, most],
      [Number.MAX_SAFE_INTEGER, most],
    ],
    leftOut: plan === 'enterprise' ? null : most,
  });
}

export const tunnelLimits = (): readonly Row[] => [
  met<number>({
    limit: 'Tunnel `localPort`',
    value: '1 to 65535',
    meet: async (w, localPort) => valueIn(await tunnel(w, { localPort }), (body) => body['localPort']),
    below: [[0, INVALID]],
    at: [
      [1, 1],
      [65_535, 65_535],
    ],
    above: [[65_536, INVALID]],
  }),
  ...nameRows('Tunnel `subdomain`', async (w, subdomain) =>
    valueIn(await tunnel(w, { subdomain }), (body) => body['subdomain']),
  ),
  ...nameRows('Project `slug`', async (w, slug) => valueIn(await project(w, slug), (body) => body['slug'])),
  ...nameRows('Reserved `subdomain`', async (w, name) => valueIn(await reserve(w, name), (body) => body['subdomain'])),
  met<number>({
    limit: 'Tunnel `subdomain` with its project suffix',
    value: '63 characters',
    meet: async (w, length) => {
      await project(w, 'team');
      const answer = await tunnel(w, { subdomain: 'l'.repeat(length), projectSlug: 'team' });
      return valueIn(answer, ({ subdomain }) => String(subdomain).length);
    },
    below: [[57, 62]],
    at: [[58, 63]],
    above: [[59, INVALID]],
  }),
  lifeRow('free', HOUR, '60 seconds to 1 hour; longer values are reduced'),
  lifeRow('pro', 24 * HOUR, '60 seconds to 24 hours; longer values are reduced'),
  lifeRow('team', 7 * DAY, '60 seconds to 7 days; longer values are reduced'),
  lifeRow('enterprise', 3650 * DAY, '60 seconds to 10 years, no default; longer values are reduced'),
  met<number>({
    limit: 'Tunnel expiry',
    value: 'to the millisecond by the clock, carried out within a second',
    meet: async (w, afterMs) => {
      const { actor, done } = w.caller('free');
      const { id } = await done('POST', '/tunnels', { localPort: 3000, ttlSeconds: 60 });
      w.at(60_000 + afterMs);
      w.plane.control.tunnels.expireDue();
      return w.plane.control.tunnels.get(actor, String(id)).row.expired;
    },
    below: [[-1, false]],
    at: [[0, true]],
    above: [[1, true]],
  }),
  met<readonly [Plan, number]>({
    limit: 'Reserved subdomains by plan',
    value: 'Free 0, Pro 5, Team and Enterprise unlimited',
    meet: async (w, [plan, wanted]) => {
      for (let i = 1; i < wanted; i++) await reserve(w, `kept-${i}`, plan);
      return said(await reserve(w, 'kept', plan));
    },
    below: [[['pro', 4], [201]]],
    at: [[['pro', 5], [201]]],
    above: [
      [['free', 1], UPGRADE],
      [['pro', 6], UPGRADE],
      [['team', 6], [201]],
      [['enterprise', 6], [201]],
    ],
  }),
  elsewhere('Tunnels per organization', '1,000', [
    'src/control/tunnels/room.test.ts',
    'nothing gives way that has a name, is served, or belongs to others',
  ]),
  elsewhere('New tunnels per organization', '5,000 in 24 hours, including those that agents open', [
    'src/control/tunnels/room.test.ts',
    'an organization makes 5,000 tunnels in a day, people and agents together, deleted ones too',
  ]),
  elsewhere('Command line of an agent', '4 KB; a longer one is not shown', [
    'src/cli/agent/sent-command.test.ts',
    'sent command: one that no terminal should show, or that is too long, is not sent',
  ]),
  elsewhere(
    'Expired tunnel',
    'deleted after 30 days, except on Enterprise',
    ['src/control/tunnels/idle.test.ts', 'a start and an agent that served it begin the 30 days anew'],
    ['src/control/tunnels/idle.test.ts', 'on Enterprise it stays, however long ago it ran out'],
  ),
  met<number>({
    limit: 'Public TCP or UDP ports of an organization, or of all organizations that one user created',
    value: 'three quarters, at least one; all ports if the server has no other organization, or none of another user',
    meet: async (w, wanted) => {
      // Of the four that a Plane has.
      for (let i = 1; i < wanted; i++) await w.caller().done('POST', '/tunnels', { localPort: 22, protocol: 'tcp' });
      return said(await tunnel(w, { protocol: 'tcp' }));
    },
    below: [[2, [201]]],
    at: [[3, [201]]],
    above: [[4, CONFLICT]],
  }),
  met<number>({
    limit: 'Cooldown of a public port',
    value: '24 hours',
    meet: async (w, ms) => {
      const tcp = (plan: Plan) => w.plane.create(w.caller(plan).actor, { protocol: 'tcp' }).row;
      const { actor } = w.caller('pro');
      w.plane.control.tunnels.delete(actor, tcp('pro').id);
      for (let i = 0; i < 3; i++) tcp('team');
      w.at(ms);
      try {
        return tcp('enterprise').tcpPort;
      } catch (error) {
        return codeOf(error);
      }
    },
    below: [[DAY * 1000 - 1, 'conflict']],
    at: [[DAY * 1000, 20_000]],
    above: [[DAY * 1000 + 1, 20_000]],
  }),
  met<Filling>({
    limit: 'Projects per organization',
    value: '200; 400 new ones per user in 24 hours',
    meet: async (w, filling) => {
      fill(w, 'project', filling);
      return said(await project(w, 'more'));
    },
    below: [
      [['live', 197], [201]],
      [['today', 398], [201]],
    ],
    at: [
      [['live', 198], [201]],
      [['today', 399], [201]],
    ],
    above: [
      [['live', 199], CONFLICT],
      [['today', 400], LIMITED],
    ],
  }),
  met<Filling>({
    limit: 'Reserved subdomains per organization',
    value: '1,000; 2,000 new ones per user in 24 hours',
    meet: async (w, filling) => {
      fill(w, 'reserved_subdomain', filling);
      return said(await reserve(w, 'more'));
    },
    below: [
      [['live', 998], [201]],
      [['today', 1998], [201]],
    ],
    at: [
      [['live', 999], [201]],
      [['today', 1999], [201]],
    ],
    above: [
      [['live', 1000], CONFLICT],
      [['today', 2000], LIMITED],
    ],
  }),
];

/** What the pages of tunnels decide without a browser: states, names, lists, times, and what a form sends. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { isLabel } from '../../src/control/core/rules/labels.ts';
import { listFaults, newPassword, tidyDomains } from '../../src/dashboard/pages/tunnels/access-values.ts';
import {
  BLANK,
  bodyOf,
  faultsOf,
  nameFault,
  publicName,
  ttlChoices,
} from '../../src/dashboard/pages/tunnels/new-tunnel-values.ts';
import { choiceIn, chosen, countsByState, paramsOf } from '../../src/dashboard/pages/tunnels/tunnel-list.ts';
import { isShut, stateOf } from '../../src/dashboard/pages/tunnels/tunnel-state.ts';

const NOW = Date.parse('2026-11-21T12:00:00Z');
const PAST = '2026-11-21T11:59:59Z';
const FUTURE = '2026-11-21T13:00:00Z';

const tunnelOf = (over: object = {}) => ({
  id: 'id',
  subdomain: 'shop',
  publicUrl: 'https://shop.example.com',
  status: 'active' as const,
  protocol: 'http' as const,
  localPort: 3000,
  projectSlug: 'default',
  authEnabled: false,
  edgeAuthEnabled: false,
  policyEnabled: false,
  state: 'online' as const,
  stateSince: null,
  stateReason: null,
  endedSessionId: null,
  maintenance: false,
  online: true,
  stopped: false,
  expiresAt: FUTURE as string | null,
  createdAt: PAST,
  bytesIn: 0,
  bytesOut: 0,
  totalRequests: 0,
  ...over,
});

suite('tunnel state', () => {
  const rows = [
    [{}, 'online'],
    [{ expiresAt: null }, 'online'],
    [{ online: false, state: 'never_connected' }, 'waiting'],
    [{ online: false, state: 'offline' }, 'offline'],
    [{ online: false, stopped: true }, 'stopped'],
    [{ online: false, expiresAt: PAST }, 'expired'],
    [{ expiresAt: PAST }, 'expired'],
    [{ maintenance: true }, 'maintenance'],
    [{ maintenance: true, stopped: true, online: false }, 'maintenance'],
  ] as const;
  for (const [over, want] of rows) {
    test(`${want}: ${JSON.stringify(over)}`, () => assert.equal(stateOf(tunnelOf(over), NOW), want));
  }
  test('tunnel state: stopped and expired win over maintenance', () => {
    assert.equal(isShut(tunnelOf({ maintenance: true, stopped: true }), NOW), true);
    assert.equal(isShut(tunnelOf({ expiresAt: PAST }), NOW), true);
    assert.equal(isShut(tunnelOf({ online: false }), NOW), false);
  });
});

suite('tunnel list', () => {
  const all = [
    tunnelOf({ id: 'c', subdomain: 'zebra', online: false, state: 'never_connected', bytesOut: 5 }),
    tunnelOf({ id: 'b', subdomain: 'app-docs', projectSlug: 'docs', localPort: 8080, bytesIn: 9 }),
    tunnelOf({ id: 'a', subdomain: 'mail', protocol: 'tcp', publicUrl: 'tcp://example.com:20001' }),
  ];
  const ids = (search: string) => chosen(all, choiceIn(new URLSearchParams(search)), NOW).map(({ id }) => id);

  test('tunnel list: searched by name, address, port and project, by every word', () => {
    assert.deepEqual(ids('q=ZEB'), ['c']);
    assert.deepEqual(ids('q=20001'), ['a']);
    assert.deepEqual(ids('q=docs 8080'), ['b']);
    assert.deepEqual(ids('q=docs 3000'), []);
  });
  test('tunnel list: filtered and sorted', () => {
    assert.deepEqual(ids('state=waiting'), ['c']);
    assert.deepEqual(ids('project=docs'), ['b']);
    assert.deepEqual(ids(''), ['c', 'b', 'a']);
    assert.deepEqual(ids('sort=name'), ['b', 'a', 'c']);
    assert.deepEqual(ids('sort=state'), ['b', 'a', 'c']);
    assert.deepEqual(ids('sort=traffic'), ['b', 'c', 'a']);
  });
  test('tunnel list: filters are in the address, and unknown values are ignored', () => {
    const choice = { search: 'a b', state: 'stopped', project: 'docs', sort: 'name' } as const;
    assert.deepEqual(choiceIn(paramsOf(choice)), choice);
    const usual = { search: '', state: null, project: null, sort: 'newest' } as const;
    assert.deepEqual(choiceIn(new URLSearchParams('state=__proto__&sort=constructor')), usual);
    assert.equal(paramsOf(usual).size, 0);
  });
  test('tunnel list: counted by state', () => {
    assert.deepEqual(countsByState(all, NOW), {
      online: 2,
      maintenance: 0,
      offline: 0,
      waiting: 1,
      stopped: 0,
      expired: 0,
    });
  });
});

suite('tunnel name', () => {
  const docs = { slug: 'docs', isDefault: false };
  const rows = ['shop', 'a', 'a-b', '1', 'a'.repeat(63), 'a'.repeat(64), '-a', 'a-', 'A', 'a.b', 'ä', 'a b'];
  for (const name of rows) {
    test(`${name.slice(0, 10)} of ${name.length}: as the server decides`, () =>
      assert.equal(nameFault(name, undefined) === undefined, isLabel(name)));
  }
  test('tunnel name: leaves space for the suffix of its project', () => {
    assert.equal(nameFault('a'.repeat(58), docs), undefined);
    assert.match(
      nameFault('a'.repeat(59), docs) ?? '',
      /^A name can have at most 58 characters before -docs\. This one has 59/,
    );
  });
  test('tunnel name: shown as visitors type it', () => {
    assert.equal(publicName('shop', docs, 'example.com'), 'shop-docs.example.com');
    assert.equal(publicName('shop', { slug: 'x', isDefault: true }, 'example.com'), 'shop.example.com');
    assert.equal(publicName('', docs, 'example.com'), '<random name>-docs.example.com');
  });
});

test('tunnel lifetime: choices end at the limit of the plan', () => {
  const labels = (max: number | null) => ttlChoices(max).map(({ label }) => label);
  assert.deepEqual(labels(3600), ['1 hour, the maximum of your plan']);
  assert.deepEqual(labels(86_400), ['1 day, the maximum of your plan', '1 hour', '8 hours']);
  assert.deepEqual(labels(null), ['Never', '1 hour', '8 hours', '1 day', '7 days', '30 days']);
});

test('new tunnel: the form sends only the chosen values', () => {
  assert.deepEqual(bodyOf({ ...BLANK, localPort: 3000 }), { protocol: 'http', localPort: 3000 });
  const all = { protocol: 'tcp', localPort: 22, subdomain: 'ssh', projectSlug: 'docs', ttlSeconds: '3600' } as const;
  assert.deepEqual(bodyOf(all), { ...all, ttlSeconds: 3600 });
  for (const localPort of ['', 0, 65_536, 1.5]) {
    assert.deepEqual(Object.keys(faultsOf({ ...BLANK, localPort }, undefined)), ['localPort']);
  }
  assert.deepEqual(faultsOf({ ...BLANK, localPort: 65_535 }, undefined), {});
});

test('visitor lists: normalized, and refused as on the server', () => {
  assert.deepEqual(tidyDomains([' @Example.COM ', 'example.com', '']), ['example.com']);
  assert.deepEqual(tidyDomains(['a.example, b.example;c.example', '@d.example,']), [
    'a.example',
    'b.example',
    'c.example',
    'd.example',
  ]);
  const faults = (domains: string[], emails: string[]) =>
    Object.keys(listFaults({ allowed_domains: domains, allowed_emails: emails }));
  assert.deepEqual(faults(['example.com'], ['ann@partner.example']), []);
  assert.deepEqual(faults([], []), ['allowed_domains']);
  assert.deepEqual(faults(['*.example.com'], ['ann']), ['allowed_domains', 'allowed_emails']);
  assert.deepEqual(faults([], ['@example.com', 'ann@b@example.com']), ['allowed_emails']);
  assert.deepEqual(
    faults(
      Array.from({ length: 101 }, (_, n) => `d${n}.example`),
      [],
    ),
    ['allowed_domains'],
  );
});

test('generated password: long, unambiguous and unique', () => {
  const made = Array.from({ length: 200 }, newPassword);
  for (const password of made) assert.match(password, /^[a-km-zA-HJ-NP-Z2-9]{24}$/);
  assert.equal(new Set(made).size, 200);
});

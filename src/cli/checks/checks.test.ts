/** Each check on a machine and a network that the test makes up: what is well, what is wrong, and what to do. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, Server } from 'node:net';
import { test } from 'node:test';
import { startDns } from '../../../test/harness/dns.ts';
import { checkCaa } from './caa-check.ts';
import type { Check } from './check.ts';
import { checkDns } from './dns-check.ts';
import { checkClock, checkDescriptors, checkDisk, checkIpv6 } from './machine-checks.ts';
import { checkFreePorts, checkInside, localOf } from './port-check.ts';
import { checkCertificate, checkOutsideApi, checkOutsideEdge } from './reach-check.ts';
import { realSystem, type Shown } from './system.ts';

const NAMES = { domain: 'example.com', apiHost: 'culvert.example.com', probe: 'x.example.com', behindProxy: false };
/** Addresses of the machine that the test makes up. */
const HERE4 = '8.8.4.4';
const HERE6 = '2606:4700::1';

const brief = ({ name, status }: Check): string => `${name} ${status}`;

function dns(four: readonly string[], six: readonly string[] = [], own: readonly string[] = [HERE4, HERE6]) {
  return {
    addresses: async (_name: string, family: 4 | 6) => (family === 4 ? four : six),
    ownAddresses: () => own,
  };
}

test('dns: names that lead to this machine by IPv4 and IPv6 are ok, in any spelling', async () => {
  const checks = await checkDns(dns([HERE4], ['2606:4700:0:0:0:0:0:1']), NAMES);
  assert.deepEqual(checks.map(brief), ['dns_domain ok', 'dns_dashboard ok', 'dns_wildcard ok']);
});

test('dns: a missing record, another machine, a stale AAAA record and a missing one each say what to add', async () => {
  const one = async (four: string[], six: string[], own?: string[]) => (await checkDns(dns(four, six, own), NAMES))[2];
  const none = await one([], []);
  assert.deepEqual([none?.status, none?.detail], ['fail', '*.example.com has no A or AAAA record.']);
  assert.match(none?.next ?? '', /^Add a record for \*\.example\.com that points at 8\.8\.4\.4 and 2606:4700::1\.$/);
  const away = await one(['1.1.1.1'], []);
  assert.match(`${away?.status} ${away?.detail}`, /^fail .*leads to 1\.1\.1\.1, which is not this machine\.$/);
  const stale = await one([HERE4], ['2606:4700::9']);
  assert.match(`${stale?.status} ${stale?.next}`, /^fail Point its AAAA record at/);
  const missing = await one([HERE4], []);
  assert.match(
    `${missing?.status} ${missing?.next}`,
    /^warn Add an AAAA record for \*\.example\.com with 2606:4700::1/,
  );
  const nat = await one(['1.1.1.1'], [], ['10.0.0.5']);
  assert.match(`${nat?.status} ${nat?.next}`, /^warn Make sure that 1\.1\.1\.1 forwards ports 80 and 443/);
});

test('dns: behind a proxy any address is ok, and a name server that fails is named', async () => {
  const behind = await checkDns(dns(['1.1.1.1']), { ...NAMES, behindProxy: true });
  assert.deepEqual(
    behind.map(({ status }) => status),
    ['ok', 'ok', 'ok'],
  );
  const broken = { ownAddresses: () => [HERE4], addresses: () => Promise.reject(new Error('queryA ESERVFAIL')) };
  const [first] = await checkDns(broken, NAMES);
  assert.match(`${first?.status} ${first?.detail} ${first?.next}`, /^fail .*ESERVFAIL\. Check the DNS servers/);
});

test('dns: a real name server with a wildcard record is asked by the resolver of the settings', async (t) => {
  const server = await startDns(t);
  const system = { ...realSystem([server.address]), ownAddresses: () => ['192.0.2.1'] };
  server.address4 = '192.0.2.1';
  assert.deepEqual(
    (await checkDns(system, NAMES)).map(({ status }) => status),
    ['ok', 'ok', 'ok'],
  );
  assert.ok(server.asked.includes('x.example.com'));
  server.address4 = undefined;
  assert.deepEqual(
    (await checkDns(system, NAMES)).map(({ status }) => status),
    ['fail', 'fail', 'fail'],
  );
});

test('ports: a port in use names its program, and one of this server is ok', async (t) => {
  const server = createServer().listen(0, '127.0.0.1');
  t.after(() => server.close());
  await once(server, 'listening');
  const address = server.address();
  assert.ok(typeof address === 'object' && address !== null);
  const port = { host: '127.0.0.1', port: address.port, key: 'edge.https_listen' };
  const system = realSystem();
  const [busy] = await checkFreePorts(system, [port], false);
  assert.equal(busy?.status, 'fail');
  if (process.platform === 'linux') assert.match(busy?.detail ?? '', new RegExp(`in use \\(.+, pid ${process.pid}\\)`));
  assert.match(busy?.next ?? '', /edge\.https_listen/);
  assert.deepEqual((await checkFreePorts(system, [port], true)).map(brief), [`port_${port.port} ok`]);
  assert.deepEqual((await checkInside(system, [port])).map(brief), [`inside_${port.port} ok`]);
  server.close();
  await once(server, 'close');
  assert.deepEqual((await checkFreePorts(system, [port], false)).map(brief), [`port_${port.port} ok`]);
  const [silent] = await checkInside(system, [port]);
  assert.match(`${silent?.status} ${silent?.detail}`, /^fail .*accepts no connection: ECONNREFUSED\.$/);
});

test('ports: a machine without IPv6 tries and reaches a listener on all addresses by IPv4', async (t) => {
  assert.deepEqual(['::', '0.0.0.0', '::1', '10.0.0.1'].map(localOf), ['127.0.0.1', '127.0.0.1', '::1', '10.0.0.1']);
  const { listen } = Server.prototype;
  // As Node does where a socket of IPv6 can't be made: a named address fails, none falls back.
  t.mock.method(Server.prototype, 'listen', function (this: Server, options: { host?: string; port: number }) {
    if (options.host?.includes(':') !== true) return listen.call(this, { ...options, host: '127.0.0.1' });
    process.nextTick(() => this.emit('error', Object.assign(new Error(), { code: 'EAFNOSUPPORT' })));
    return this;
  });
  const system = realSystem();
  const port = { host: '::', port: 0, key: 'edge.https_listen' };
  assert.deepEqual((await checkFreePorts(system, [port], false)).map(brief), ['port_0 ok']);
  assert.match((await checkIpv6(system)).detail, /^IPv6 is off on this machine \(EAFNOSUPPORT\)/);
});

test('ports: without the right to bind, the check asks for root', async () => {
  const system = { tryListen: async () => 'EACCES', holderOf: () => undefined };
  const [check] = await checkFreePorts(system, [{ host: '::', port: 80, key: 'edge.http_listen' }], false);
  assert.match(`${check?.status} ${check?.next}`, /^warn Run the command as root/);
});

test('caa: the closest name with records decides, and a missing authority is named with the record to add', async () => {
  const directoryUrl = 'https://acme-v02.api.letsencrypt.org/directory';
  const records = new Map([
    ['example.com', [{ critical: 0, issue: 'digicert.com' }]],
    ['ok.example.com', [{ critical: 0, issue: 'letsencrypt.org; validationmethods=http-01' }]],
    [
      'wild.example.com',
      [
        { critical: 0, issue: 'letsencrypt.org' },
        { critical: 0, issuewild: ';' },
      ],
    ],
    ['mail.example.com', [{ critical: 0, iodef: 'mailto:ann@example.com' }]],
  ]);
  const system = { caa: async (name: string) => records.get(name) ?? [] };
  const check = (host: string, wildcard = false) => checkCaa(system, { host, directoryUrl, wildcard });
  const refused = await check('culvert.example.com');
  assert.equal(refused.status, 'fail');
  assert.match(refused.next, /example\.com\. CAA 0 issue "letsencrypt\.org"$/);
  assert.equal((await check('a.ok.example.com')).status, 'ok');
  assert.equal((await check('wild.example.com')).status, 'ok');
  assert.match((await check('wild.example.com', true)).next, /CAA 0 issuewild "letsencrypt\.org"$/);
  assert.equal((await check('mail.example.com')).status, 'ok');
  assert.equal((await check('culvert.example.org')).status, 'ok');
  const broken = { caa: () => Promise.reject(new Error('queryCaa ESERVFAIL')) };
  assert.equal((await checkCaa(broken, { host: 'a.test', directoryUrl, wildcard: false })).status, 'warn');
});

test('clock: a difference warns, a larger one fails, and an authority out of reach is no fault of the clock', async () => {
  const url = new URL('https://acme.test/directory');
  const check = (ahead: number) =>
    checkClock({ now: () => 1e12, remoteTime: async () => 1e12 + ahead }, { url, caFile: null });
  assert.deepEqual(await Promise.all([0, -40_000, 600_000].map(async (ahead) => (await check(ahead)).status)), [
    'ok',
    'warn',
    'fail',
  ]);
  const failing = (reason: string) =>
    checkClock({ now: () => 0, remoteTime: () => Promise.reject(new Error(reason)) }, { url, caFile: null });
  assert.equal((await failing('connect ENETUNREACH')).status, 'warn');
  assert.match((await failing('certificate is not yet valid')).next, /set-ntp true$/);
});

test('machine: little disk, few descriptors and no IPv6 are named', async () => {
  const GB = 1024 ** 3;
  const disk = async (free: number) =>
    (await checkDisk({ space: async () => ({ free, total: 40 * GB }) }, '/d')).status;
  assert.deepEqual(await Promise.all([disk(10 * GB), disk(GB / 2), disk(GB / 10)]), ['ok', 'warn', 'fail']);
  assert.equal((await checkDisk(realSystem(), '/nowhere/at/all')).name, 'disk_space');
  const few = (limit: number | null) => checkDescriptors({ descriptorLimit: () => limit }, null).status;
  assert.deepEqual([few(null), few(1_024), few(65_536)], ['ok', 'warn', 'ok']);
  const none = { ownAddresses: () => [], tryListen: async () => 'EAFNOSUPPORT' };
  assert.match(`${(await checkIpv6(none)).status} ${(await checkIpv6(none)).detail}`, /^warn IPv6 is off/);
  assert.equal((await checkIpv6({ ...none, tryListen: async () => undefined })).status, 'ok');
});

test('reach: another server, a closed port and a foreign edge each have their own message', async () => {
  const apiUrl = new URL('https://culvert.example.com');
  const net = (body: string, headers: Record<string, string> = {}, status = 200) => ({
    addresses: async (_name: string, family: 4 | 6) => (family === 4 ? [HERE4] : []),
    visit: async () => ({ status, body, headers }),
  });
  const api = (system: Parameters<typeof checkOutsideApi>[0]) => checkOutsideApi(system, { apiUrl, serverId: 'me' });
  assert.equal((await api(net('{"server_id":"me"}'))).status, 'ok');
  assert.match((await api(net('{"server_id":"you"}'))).detail, /at 8\.8\.4\.4 is another server\.$/);
  assert.match((await api(net('', {}, 502))).detail, /responds with 502/);
  const closed = { ...net(''), visit: () => Promise.reject(Object.assign(new Error(), { code: 'ECONNREFUSED' })) };
  assert.match((await api(closed)).next, /^Open TCP port 443 in the firewall/);
  const edge = new URL('https://x.example.com');
  assert.equal((await checkOutsideEdge(net('', { 'culvert-error': 'tunnel_not_found' }, 404), edge)).status, 'ok');
  assert.match((await checkOutsideEdge(net('', {}, 404), edge)).detail, /not as a Culvert edge/);
});

test('certificate: the fallback, an untrusted one and one that ends soon are named', async () => {
  const now = 1e12;
  const well: Shown = {
    isForHost: true,
    isSelfSigned: false,
    isTrusted: true,
    reason: '',
    expiresAt: now + 30 * 864e5,
  };
  const check = (shown: Partial<Shown>) =>
    checkCertificate(
      { now: () => now, addresses: async () => [HERE4], handshake: async () => ({ ...well, ...shown }) },
      new URL('https://culvert.example.com'),
    );
  assert.equal((await check({})).status, 'ok');
  assert.match((await check({ isSelfSigned: true })).detail, /no certificate of its own yet/);
  assert.match((await check({ isTrusted: false, reason: 'UNABLE_TO_GET_ISSUER' })).detail, /UNABLE_TO_GET_ISSUER\.$/);
  assert.equal((await check({ expiresAt: now + 864e5 })).status, 'warn');
});

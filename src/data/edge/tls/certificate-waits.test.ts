/** Handshakes that wait for a certificate: who waits, how many, for how long, and who is never asked for. */
import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { before, test, type TestContext } from 'node:test';
import { connect, type ConnectionOptions, type TLSSocket } from 'node:tls';
import { testCertificate, type TestCertificate } from '../../fixtures/certificate.ts';
import { testRoute } from '../../fixtures/link.ts';
import { RouteEntry, type ServedTunnel } from '../../routing/entry.ts';
import { CertificateWaits, WAIT_LIMITS } from './certificate-waits.ts';
import { httpOrigin, Rig } from '../testing/rig.ts';

let made: TestCertificate;
let fallback: TestCertificate;
before(async () => {
  made = await testCertificate(['shop.example.test']);
  fallback = await testCertificate(['other.test']);
});

const serialOf = ({ cert }: TestCertificate): string => new X509Certificate(cert).serialNumber;

function dial(
  t: TestContext,
  rig: Rig,
  servername: string,
  over: ConnectionOptions & { localAddress?: string } = {},
): TLSSocket {
  const socket = connect({ host: '127.0.0.1', port: rig.httpsPort, servername, rejectUnauthorized: false, ...over });
  socket.on('error', () => {});
  t.after(() => void socket.destroy());
  return socket;
}

async function shown(socket: TLSSocket): Promise<string> {
  await once(socket, 'secureConnect');
  return socket.getPeerX509Certificate()?.serialNumber ?? '';
}

async function served(t: TestContext, limits: { tlsHandshakeTimeoutSeconds?: number } = {}): Promise<Rig> {
  const rig = await Rig.start(t, { certificatesOnDemand: true, limits });
  rig.node.setCertificates([fallback]);
  const origin = await httpOrigin(t, (_request, response) => response.end('hello'));
  await rig.serve('shop', origin.port);
  return rig;
}

test('visitors of a served name wait for its certificate, and it is asked for once', async (t) => {
  for (const maxVersion of ['TLSv1.2', 'TLSv1.3'] as const) {
    const rig = await served(t);
    const asked = Promise.withResolvers<void>();
    const come = Promise.withResolvers<boolean>();
    rig.link.onWanted = () => {
      asked.resolve();
      return come.promise;
    };
    const visitors = Array.from({ length: 5 }, () => shown(dial(t, rig, 'Shop.example.test', { maxVersion })));
    await asked.promise;
    rig.node.setCertificates([fallback, made]);
    come.resolve(true);
    assert.deepEqual(new Set(await Promise.all(visitors)), new Set([serialOf(made)]));
    assert.equal(await shown(dial(t, rig, 'shop.example.test')), serialOf(made));
    assert.deepEqual(rig.link.wanted, ['shop.example.test']);
  }
});

test('a handshake that waits is not cut by the time that a handshake has', async (t) => {
  const rig = await served(t, { tlsHandshakeTimeoutSeconds: 0.2 });
  rig.link.onWanted = async () => {
    await new Promise((resolve) => setTimeout(resolve, 600));
    rig.node.setCertificates([fallback, made]);
    return true;
  };
  assert.equal(await shown(dial(t, rig, 'shop.example.test')), serialOf(made));
});

test('certificates: names without a tunnel get the default at once and start no order', async (t) => {
  const rig = await served(t);
  rig.link.onWanted = () => new Promise(() => {});
  rig.route('lonely');
  rig.route('over', { expiresAt: Date.now() - 1 });
  for (const name of ['none.example.test', 'lonely.example.test', 'over.example.test', 'elsewhere.net', 'example.test'])
    assert.equal(await shown(dial(t, rig, name)), serialOf(fallback), name);
  assert.deepEqual(rig.link.wanted, []);
});

test('a name for which none comes gets the default, and is let alone for some seconds', async (t) => {
  const rig = await served(t);
  for (let i = 0; i < 10; i++) assert.equal(await shown(dial(t, rig, 'shop.example.test')), serialOf(fallback));
  assert.equal(rig.link.wanted.length, 1);
});

test('of one name sixteen wait, and the next gets the default at once; who leaves makes room', async (t) => {
  const rig = await served(t);
  const come = Promise.withResolvers<boolean>();
  rig.link.onWanted = () => come.promise;
  const waiting = Array.from({ length: 16 }, () => dial(t, rig, 'shop.example.test'));
  // The order of handshakes is that of their arrival; one that is answered shows that those before it wait.
  const seventeenth = await shown(dial(t, rig, 'shop.example.test'));
  assert.equal(seventeenth, serialOf(fallback));
  const [first, ...others] = waiting;
  first?.destroy();
  const free = async (): Promise<TLSSocket> => {
    for (;;) {
      const socket = dial(t, rig, 'shop.example.test');
      const answered = await Promise.race([
        once(socket, 'secureConnect').then(() => true),
        new Promise<boolean>((resolve) => setTimeout(resolve, 200, false)),
      ]);
      if (!answered) return socket;
    }
  };
  const late = await free();
  rig.node.setCertificates([fallback, made]);
  come.resolve(true);
  for (const socket of [...others, late]) assert.equal(await shown(socket), serialOf(made));
});

test('one address fills its own share of the waits, and others wait beside it', async (t) => {
  const rig = await served(t);
  const { port } = await httpOrigin(t, (_request, response) => response.end());
  for (const name of ['a', 'b', 'c', 'd']) {
    await rig.serve(name, port);
    rig.route(name, { orgId: name });
  }
  const come = Promise.withResolvers<boolean>();
  rig.link.onWanted = () => come.promise;
  for (let i = 0; i < 64; i++) dial(t, rig, `${'abcd'[i % 4]}.example.test`);
  while (rig.link.wanted.length < 4) await new Promise((resolve) => setTimeout(resolve, 10));
  assert.equal(await shown(dial(t, rig, 'shop.example.test')), serialOf(fallback));
  assert.equal(rig.node.stats().dropped['certificate_wait_full'], 1);
  const other = dial(t, rig, 'shop.example.test', { localAddress: '127.0.0.2' });
  while (!rig.link.wanted.includes('shop.example.test')) await new Promise((resolve) => setTimeout(resolve, 10));
  rig.node.setCertificates([fallback, made]);
  come.resolve(true);
  assert.equal(await shown(other), serialOf(made));
});

/** Names that begin with `<organization>-`, and how often there was no room. */
class Waits {
  full = 0;
  readonly #waits: CertificateWaits;

  constructor(want: (host: string) => Promise<boolean>) {
    const findByHost = (host: string): RouteEntry => {
      const entry = new RouteEntry({ ...testRoute('shop'), orgId: host.split('-')[0] ?? '' });
      entry.served = { draining: false } as ServedTunnel;
      return entry;
    };
    this.#waits = new CertificateWaits({ table: { findByHost }, want, onFull: () => this.full++ });
  }

  wait(name: string, goOn: () => void, address = `192.0.2.${name}`): (() => void) | null {
    return this.#waits.wait({ name, address }, goOn);
  }
}

/** Their time does not pass: no wait ends after its test. */
function waits(t: TestContext, want: (host: string) => Promise<boolean>): Waits {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  return new Waits(want);
}

/** As many as may wait of those that come; their ends. */
function fill(
  queue: Waits,
  count: number,
  of: (index: number) => { name: string; address?: string },
): Array<() => void> {
  const all = Array.from({ length: count }, (_, index) => {
    const { name, address } = of(index);
    return queue.wait(name, () => assert.fail(), address);
  });
  return all.filter((one) => one !== null);
}

const NEVER = (): Promise<boolean> => new Promise(() => {});

test('one organization has thirty-two waits, and one address sixty-four', (t) => {
  const queue = waits(t, NEVER);
  const first = fill(queue, 100, (i) => ({ name: `eve-${i}` }));
  assert.deepEqual([first.length, queue.full], [32, 68]);
  assert.notEqual(
    queue.wait('ann-shop', () => {}),
    null,
  );
  first[0]?.();
  assert.equal(fill(queue, 2, (i) => ({ name: `eve-more-${i}` })).length, 1, 'who leaves makes room');
  assert.equal(fill(queue, 100, (i) => ({ name: `org${i % 25}-${i}`, address: '198.51.100.1' })).length, 64);
});

test('many organizations, and many addresses, leave a quarter of the waits to those that have few', (t) => {
  const queue = waits(t, NEVER);
  assert.equal(fill(queue, 400, (i) => ({ name: `eve${i % 8}-${i}` })).length, 192);
  assert.equal(fill(queue, 10, (i) => ({ name: `ann-${i}` })).length, 4);
  assert.equal(fill(queue, 10, (i) => ({ name: `other${i}-${i}`, address: '198.51.100.9' })).length, 4);
});

test('a wait ends after twenty seconds, and the name is not asked again while the first question is open', async (t) => {
  const asked: string[] = [];
  const come = Promise.withResolvers<boolean>();
  const queue = waits(t, (host) => {
    asked.push(host);
    return come.promise;
  });
  let ended = 0;
  assert.notEqual(
    queue.wait('a', () => ended++),
    null,
  );
  t.mock.timers.tick(WAIT_LIMITS.waitMs - 1);
  assert.equal(ended, 0);
  t.mock.timers.tick(1);
  assert.equal(ended, 1);
  queue.wait('a', () => ended++);
  assert.deepEqual(asked, ['a']);
  come.resolve(true);
  await come.promise;
  await new Promise(setImmediate);
  assert.equal(ended, 2, 'once each');
});

test('all names together have 256 waits', (t) => {
  const queue = waits(t, NEVER);
  const leave = fill(queue, 256, (i) => ({ name: `org${i % 100}-${i}` }));
  assert.equal(leave.length, 256);
  assert.equal(
    queue.wait('one-more', () => {}),
    null,
  );
  leave[0]?.();
  leave[0]?.();
  assert.notEqual(
    queue.wait('one-more', () => {}),
    null,
  );
  assert.equal(
    queue.wait('and-another', () => {}),
    null,
    'who leaves twice makes one place',
  );
});

test('a question that fails is a no', async (t) => {
  const queue = waits(t, () => Promise.reject(new Error('the link is down')));
  await new Promise<void>((resolve) => assert.notEqual(queue.wait('a', resolve), null));
  assert.equal(
    queue.wait('a', () => {}),
    null,
  );
});

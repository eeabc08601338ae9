import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { before, test, type TestContext } from 'node:test';
import { connect, type ConnectionOptions, createServer, type TLSSocket } from 'node:tls';
import { DAY_MS } from '../../../base/clock.ts';
import { testCertificate, type TestCertificate } from '../../fixtures/certificate.ts';
import { VisitorCertificates } from './tls.ts';

const OF = { handshakeMs: 5_000, waits: null };
let certificate: TestCertificate;
before(async () => {
  certificate = await testCertificate();
});

async function visit(
  t: TestContext,
  options: ConnectionOptions,
  serve = (socket: TLSSocket): void => void socket.end('x'),
): Promise<TLSSocket> {
  const server = createServer(
    new VisitorCertificates([certificate], OF).serverOptions(
      true,
      () => '',
      () => false,
    ),
    serve,
  );
  server.on('tlsClientError', () => {});
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  const socket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false, ...options });
  await once(socket, 'secureConnect');
  socket.resume();
  return socket;
}

test('browsers get TLS 1.3 and HTTP/2, others HTTP/1.1 or TLS 1.2, and none less', async (t) => {
  const browser = await visit(t, { ALPNProtocols: ['h2', 'http/1.1'] });
  assert.deepEqual([browser.getProtocol(), browser.alpnProtocol], ['TLSv1.3', 'h2']);
  const plain = await visit(t, { ALPNProtocols: ['http/1.1'] });
  assert.equal(plain.alpnProtocol, 'http/1.1');
  const older = await visit(t, { maxVersion: 'TLSv1.2' });
  assert.equal(older.getProtocol(), 'TLSv1.2');
  await assert.rejects(visit(t, { minVersion: 'TLSv1', maxVersion: 'TLSv1.1' }));
});

test('tls: no renegotiation on a connection', async (t) => {
  const served = (on: TLSSocket): void => void on.on('error', () => on.destroy()).resume();
  const socket = await visit(t, { maxVersion: 'TLSv1.2' }, served);
  t.after(() => socket.destroy());
  const failed = once(socket, 'error') as Promise<[NodeJS.ErrnoException]>;
  socket.renegotiate({}, () => assert.fail('it was taken'));
  assert.equal((await failed)[0].code, 'ERR_SSL_NO_RENEGOTIATION');
});

test('a visitor that comes back resumes its session, also when certificates were replaced meanwhile', async (t) => {
  const certificates = new VisitorCertificates([certificate], OF);
  const server = createServer(
    certificates.serverOptions(
      true,
      () => '',
      () => false,
    ),
    (socket) => socket.end('x'),
  );
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const to = { host: '127.0.0.1', port: (server.address() as AddressInfo).port, rejectUnauthorized: false };
  const first = connect(to);
  const [session] = (await once(first, 'session')) as [Buffer];
  first.destroy();
  certificates.replace([await testCertificate()]);
  server.setSecureContext(certificates.defaultContext());
  const second = connect({ ...to, session });
  await once(second, 'secureConnect');
  assert.equal(second.isSessionReused(), true);
  second.destroy();
});

test('ticket keys last a day: a ticket of before is good for nothing, a new one is', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const named = await testCertificate(['shop.example.test']);
  for (const servername of [undefined, 'shop.example.test'])
    for (const maxVersion of ['TLSv1.2', 'TLSv1.3'] as const) {
      const certificates = new VisitorCertificates([certificate, named], OF);
      const server = createServer(
        certificates.serverOptions(
          true,
          () => '',
          () => false,
        ),
        (socket) => socket.end('x'),
      );
      t.after(certificates.rotateTicketKeys(server));
      server.listen(0, '127.0.0.1');
      await once(server, 'listening');
      t.after(() => server.close());
      const to = { host: '127.0.0.1', port: (server.address() as AddressInfo).port, rejectUnauthorized: false };
      /** Comes with a ticket; whether it was taken, and the next ticket. */
      const come = async (session?: Buffer): Promise<{ resumed: boolean; ticket: Buffer }> => {
        const socket = connect({
          ...to,
          maxVersion,
          ...(servername === undefined ? {} : { servername }),
          ...(session === undefined ? {} : { session }),
        });
        const ticket = once(socket, 'session');
        await once(socket, 'secureConnect');
        const resumed = socket.isSessionReused();
        // TLS 1.2 gives a resumed session no new ticket.
        const given = resumed && session !== undefined ? session : ((await ticket) as [Buffer])[0];
        socket.destroy();
        return { resumed, ticket: given };
      };
      const { ticket: first } = await come();
      assert.equal((await come(first)).resumed, true);
      t.mock.timers.tick(DAY_MS);
      const { resumed, ticket: second } = await come(first);
      assert.equal(resumed, false);
      assert.equal((await come(second)).resumed, true);
    }
});

test('a key of another certificate is found at the start', async () => {
  const other = await testCertificate();
  const wrong = { cert: certificate.cert, key: other.key };
  assert.throws(() => new VisitorCertificates([wrong], OF), /key values mismatch/);
  assert.throws(() => new VisitorCertificates([], OF), /at least one/);
});

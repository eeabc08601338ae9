/**
 * What a visitor sees when the service breaks a response off: never a shorter success. In this process, so that each moment can be waited for.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { suite, test } from 'node:test';
import { connect as connectTls } from 'node:tls';
import { startCulvert, startOrigin } from '../harness.ts';
import { ResponseReader } from '../soak/response-reader.ts';

const HALF = 'half of what was announced';

/** What came in order, and how it ended. */
function readAll(socket: Socket): Promise<{ sizes: number[]; rest: number; end: string }> {
  const sizes: number[] = [];
  let size = 0;
  const reader = new ResponseReader({
    onHead: () => undefined,
    onBody: (bytes) => (size += bytes.length),
    onComplete: () => {
      sizes.push(size);
      size = 0;
    },
  });
  return new Promise((resolve) => {
    socket.on('data', (bytes: Buffer) => reader.feed(bytes));
    socket.on('end', () => {
      reader.end();
      resolve({ sizes, rest: size, end: 'end' });
    });
    socket.on('error', (error: NodeJS.ErrnoException) => resolve({ sizes, rest: size, end: error.code ?? 'error' }));
  });
}

suite('a response that is broken off', { timeout: 120_000 }, () => {
  for (const tls of [false, true]) {
    test(`and has no length is a reset to a visitor by ${tls ? 'TLS' : 'plain TCP'}`, async (t) => {
      const begun = Promise.withResolvers<Socket>();
      const origin = await startOrigin(t, (request, response) => {
        response.useChunkedEncodingByDefault = false;
        response.writeHead(200, { connection: 'close' }).write(HALF, () => begun.resolve(request.socket));
      });
      const culvert = await startCulvert(t);
      await culvert.publish('http', origin.port, { subdomain: 'shop' });
      const socket = tls
        ? connectTls({
            port: culvert.httpsPort,
            host: '127.0.0.1',
            servername: 'shop.localhost',
            rejectUnauthorized: false,
          })
        : connect(culvert.httpPort, '127.0.0.1');
      t.after(() => socket.destroy());
      const seen = readAll(socket);
      socket.write('GET / HTTP/1.1\r\nhost: shop.localhost\r\n\r\n');
      const service = await begun.promise;
      await once(socket, 'data');
      service.resetAndDestroy();
      assert.deepEqual(await seen, { sizes: [], rest: HALF.length, end: 'ECONNRESET' });
    });
  }
});

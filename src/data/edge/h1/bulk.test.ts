// alone: it reads how much memory its process holds
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { rounds } from '../../../base/testing.ts';
import { httpOrigin, Rig, type Wire } from '../testing/rig.ts';

const WITHIN = { timeout: 120_000 };
const MB = 1 << 20;
/** Visitor, edge, agent and service are all in this process, each with its buffers. */
const ROOM = 130 * MB;
/** More than there is room for, so that what keeps a body is found. */
const TOTAL = rounds(160, 256) * MB;

/** How much the process has grown at most since the start, looked at whenever bytes flow. */
class Growth {
  readonly #start = process.memoryUsage.rss();
  #peak = 0;

  look(): void {
    this.#peak = Math.max(this.#peak, process.memoryUsage.rss() - this.#start);
  }

  check(): void {
    this.look();
    assert.ok(this.#peak < ROOM, `grew by ${Math.round(this.#peak / MB)} MB`);
  }
}

for (const tls of [false, true]) {
  test(`hundreds of megabytes each way need no memory of their own (${tls ? 'TLS' : 'plain'})`, WITHIN, async (t) => {
    const rig = await Rig.start(t);
    const piece = Buffer.alloc(MB, 'x');
    let uploaded = 0;
    const origin = await httpOrigin(t, (request, response) => {
      if (request.method === 'POST') {
        request.on('data', (chunk: Buffer) => (uploaded += chunk.length));
        request.on('end', () => response.end(String(uploaded)));
        return;
      }
      response.setHeader('content-length', TOTAL);
      let left = TOTAL;
      const go = (): void => {
        while (left > 0) {
          left -= MB;
          if (!response.write(piece)) return void response.once('drain', go);
        }
        response.end();
      };
      go();
    });
    await rig.serve('shop', origin.port);
    const growth = new Growth();
    const up = await rig.visit({ tls });
    up.ask('POST /', `Content-Length: ${TOTAL}`);
    for (let sent = 0; sent < TOTAL; sent += MB) {
      if (!up.socket.write(piece)) await once(up.socket, 'drain');
      growth.look();
    }
    assert.equal((await up.response()).body, String(TOTAL));
    growth.check();

    const down = await rig.visit({ tls });
    let read = 0;
    down.socket.removeAllListeners('data');
    down.socket.on('data', (chunk: Buffer) => {
      read += chunk.length;
      growth.look();
    });
    down.ask('GET /', 'Connection: close');
    assert.equal(await down.closed, 'end');
    assert.ok(read > TOTAL && read < TOTAL + 1_000, `${read} bytes`);
    growth.check();
  });
}

test('bulk: slow readers on either side delay no other and hold no memory', WITHIN, async (t) => {
  const rig = await Rig.start(t);
  const piece = Buffer.alloc(MB, 'x');
  let offered = 0;
  const origin = await httpOrigin(t, (request, response) => {
    if (request.url === '/hole') return void request.pause();
    if (request.url !== '/flood') return void response.end('quick');
    const go = (): void => {
      while (!response.destroyed) {
        offered += MB;
        if (!response.write(piece)) return void response.once('drain', go);
      }
    };
    return go();
  });
  await rig.serve('shop', origin.port);
  const growth = new Growth();
  const lazy: Wire[] = [];
  for (let i = 0; i < 8; i++) {
    const reader = await rig.visit();
    reader.socket.pause();
    reader.ask('GET /flood');
    const writer = await rig.visit();
    writer.ask('POST /hole', `Content-Length: ${TOTAL}`);
    const pour = (): void => {
      while (!writer.socket.destroyed) if (!writer.socket.write(piece)) return void writer.socket.once('drain', pour);
    };
    pour();
    lazy.push(reader, writer);
  }
  const quick = await rig.visit();
  for (let i = 0; i < 200; i++) {
    quick.ask('GET /quick');
    assert.equal((await quick.response()).body, 'quick');
    growth.look();
  }
  // Windows, kernel buffers and pieces of 1 MB under way; not what the service would send or the visitor too.
  assert.ok(offered < 8 * 16 * MB, `${offered / MB} MB were taken from the service`);
  growth.check();
  for (const wire of lazy) wire.socket.destroy();
});

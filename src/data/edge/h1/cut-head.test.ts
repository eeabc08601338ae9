import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CutHead } from '../../../http1/cut-head.ts';
import { perHead, rawOrigin, Rig } from '../testing/rig.ts';

const bytes = (text: string): Buffer => Buffer.from(`@@${text}@@`, 'latin1');
const end = (text: string): number => 2 + text.length;

/** Adds each piece; the last answer. */
function add(cut: CutHead, held: Buffer, ...pieces: string[]): Buffer | null {
  let now: Buffer | null = held;
  for (const piece of pieces) now = now === null ? null : cut.add(now, bytes(piece), 2, end(piece));
  return now;
}

test('what comes is added, however it is cut, until a line has ended or it is too long', () => {
  const cut = new CutHead(2_000);
  let held = cut.keep(bytes('GET'), 2, end('GET'));
  held = add(cut, held, ' ', '/', 'x'.repeat(900), 'y'.repeat(700)) as Buffer;
  assert.equal(held.toString('latin1'), `GET /${'x'.repeat(900)}${'y'.repeat(700)}`);
  assert.equal(add(cut, held, 'ends\n'), null);
  assert.equal(add(cut, held, 'more'), null, 'it is forgotten then');
  held = cut.keep(bytes('z'.repeat(2_000)), 2, end('z'.repeat(2_000)));
  assert.equal(add(cut, held, 'z'), null);
});

test('what was kept is a copy, and nothing but that is added to', () => {
  const cut = new CutHead(100);
  const from = bytes('GET');
  const held = cut.keep(from, 2, 5);
  from.fill(0);
  assert.equal(held.toString(), 'GET');
  assert.equal(cut.add(Buffer.from('GET'), bytes(' '), 2, 3), null);
});

for (const tls of [false, true]) {
  test(`heads that come byte by byte, both ways, arrive as they were sent (${tls ? 'TLS' : 'plain'})`, {
    timeout: 120_000,
  }, async (t) => {
    const rig = await Rig.start(t);
    const origin = await rawOrigin(
      t,
      perHead((socket, head) => {
        const value = /X-Long: (.*)\r\n/.exec(head)?.[1] ?? '';
        for (const char of `HTTP/1.1 200 OK\r\nX-Long: ${value}\r\nContent-Length: 0\r\n\r\n`) socket.write(char);
      }),
    );
    await rig.serve('shop', origin.port);
    const wire = await rig.visit({ tls });
    wire.socket.setNoDelay(true);
    const value = Array.from({ length: 700 }, (_, i) => i).join('-');
    for (let i = 0; i < 2; i++) {
      for (const char of `GET / HTTP/1.1\r\nHost: shop.example.test\r\nX-Long: ${value}\r\n\r\n`) wire.send(char);
      assert.match((await wire.response()).head, new RegExp(`\r\nX-Long: ${value}\r\n`));
    }
  });
}

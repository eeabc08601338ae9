/**
 * Agents that break the protocol below HTTP: replies, resets, windows, floods of streams, and slowness. The visitor at hand gets a 502, 504 or a
 * clear cut; the process, other tunnels and, where the session survives, the tunnel itself go on.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FLAG, TYPE } from '../../mux/frame.ts';
import { HostileRig, type Line } from './testing/hostile-agent.ts';
import type { Wire } from './testing/rig.ts';

const WITHIN = { timeout: 120_000 };
const HELLO = 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello';

/** The code of the 502, 503 or 504 that comes. */
async function faultOf(wire: Wire): Promise<string> {
  const { status, head } = await wire.response();
  assert.ok(status >= 502, head);
  return /culvert-error: (\w+)/.exec(head)?.[1] ?? '';
}

test('a reply that is none, refuses, or is cut short is a fault of its own kind', WITHIN, async (t) => {
  let reply = '';
  const hostile = await HostileRig.start(t, (line) => {
    line.raw(reply);
    line.stream.end();
  });
  // biome-ignore format: a table
  const replies: ReadonlyArray<readonly [string, string]> = [
    ['', 'local_closed'], ['\x00', 'local_closed'], ['\x00\x05abc', 'local_closed'], ['\x00\x00', 'local_closed'],
    ['\x01\x00', 'local_unreachable'], ['\x02\x00', 'local_timeout'], ['\x03\x00', 'tunnel_offline'], ['\x05\x00', 'tunnel_offline'],
    ['\x06\x00', 'local_speaks_tls'], ['\x07\x00', 'local_speaks_http2'], ['\x08\x00', 'local_bad_response'], ['\xff\xff' + 'x'.repeat(255), 'local_bad_response'], ['HTTP/1.1 200 OK\r\n', 'local_closed'],
    [`H\x00${HELLO}`, 'local_bad_response'], [`\x01\x00${HELLO}`, 'local_unreachable'],
  ];
  for (const [text, code] of replies) {
    reply = text;
    const wire = await hostile.rig.visit();
    wire.ask('GET /');
    assert.equal(await faultOf(wire), code, JSON.stringify(text));
    assert.ok(hostile.count(code as 'local_closed') > 0);
  }
  await hostile.goesOn();
});

test('words of an agent are on no page and in no JSON, whatever they are', WITHIN, async (t) => {
  const words =
    `</p><script>alert(1)</script>"'&\r\n\r\nHTTP/1.1 200 OK\r\nSet-Cookie: evil=1\r\n\r\n\0\x1b[2J\x7f`.padEnd(
      255,
      '<',
    );
  const hostile = await HostileRig.start(t, (line) => {
    line.raw(`\x04\xff${words}`);
    line.stream.end();
  });
  const wire = await hostile.rig.visit();
  wire.ask('GET /', 'Accept: text/html');
  const page = await wire.response();
  assert.equal(page.status, 502);
  assert.doesNotMatch(page.head + page.body, /evil|script/);
  wire.ask('GET /');
  const { body, head } = await wire.response();
  assert.match(head, /Content-Type: application\/json\r\n/);
  assert.doesNotMatch((JSON.parse(body) as { message: string }).message, /evil|script/);
  assert.equal(wire.text, '');
});

// biome-ignore format: a table
const PHASES: ReadonlyArray<readonly [string, string | null, 'local_closed' | 'cut' | 'hello']> = [
  ['before the reply', null, 'local_closed'],
  ['behind the reply', '', 'local_closed'],
  ['in a status line', 'HTTP/1.1 2', 'local_closed'],
  ['in a head', 'HTTP/1.1 200 OK\r\nContent-Le', 'local_closed'],
  ['behind an interim response', 'HTTP/1.1 103 Early Hints\r\n\r\n', 'local_closed'],
  ['behind a head', 'HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n', 'cut'],
  ['in a body with a length', 'HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf', 'cut'],
  ['in chunks', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n', 'cut'],
  ['in trailers', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nX: 1\r\n', 'cut'],
  ['in a body without length', 'HTTP/1.1 200 OK\r\n\r\nhalf', 'cut'],
  ['behind the response', HELLO, 'hello'],
];

test('hostile agent: a reset in any phase is a 502 or a cut for its visitor alone', WITHIN, async (t) => {
  let said: string | null = null;
  const hostile = await HostileRig.start(t, (line) => {
    if (said !== null) line.say(said);
    line.stream.reset();
  });
  for (const method of ['GET', 'POST']) {
    for (const [name, text, outcome] of PHASES) {
      said = text;
      const wire = await hostile.rig.visit();
      // The POST is still being sent.
      wire.ask(`${method} /`, ...(method === 'POST' ? ['Content-Length: 10'] : []));
      if (outcome === 'cut') assert.equal(await wire.closed, 'cut', `${method} ${name}`);
      else {
        await wire.until(outcome === 'hello' ? 'hello' : /culvert-error: local_closed\r\n[^]*\n$/);
        if (method === 'POST') assert.equal(await wire.closed, 'end', name);
      }
      await hostile.goesOn();
    }
  }
});

test('a response head has to be whole in time, however busily it trickles', WITHIN, async (t) => {
  const hostile = await HostileRig.start(
    t,
    (line) => {
      line.say('HTTP/1.1 200 OK\r\nX: ');
      const drip = setInterval(() => line.say('x'), 50);
      t.after(() => clearInterval(drip));
    },
    { limits: { localTimeoutSeconds: 0.5 } },
  );
  const [wire, web] = [await hostile.rig.visit(), await hostile.rig.visit()];
  wire.ask('GET /');
  web.ask('POST /', 'Content-Length: 2');
  web.send('hi');
  assert.equal(await faultOf(wire), 'local_timeout');
  assert.equal(await faultOf(web), 'local_timeout');
  await hostile.goesOn();
});

test('interim responses say that work goes on, but not for ever', WITHIN, async (t) => {
  const hostile = await HostileRig.start(
    t,
    (line) => {
      let left = 4;
      const hint = setInterval(() => {
        if (left-- > 0) line.say('HTTP/1.1 102 Processing\r\n\r\n');
      }, 700);
      t.after(() => clearInterval(hint));
    },
    { limits: { localTimeoutSeconds: 0.5 } },
  );
  const wire = await hostile.rig.visit();
  wire.ask('GET /');
  const text = await wire.until('local_timeout');
  assert.ok(text.split('102 Processing').length > 3, text);
});

test('a stream without window is a 504 for its upload, and no other', WITHIN, async (t) => {
  const hostile = await HostileRig.start(t, () => {}, { limits: { localTimeoutSeconds: 0.5 } });
  // The agent takes nothing: its window is used up and never given back.
  hostile.agent.onStream = (stream) => {
    stream.sink = { onData: () => {}, onEnd: () => {}, onReset: () => {}, onDrain: () => {} };
  };
  const wire = await hostile.rig.visit({ allowHalfOpen: true });
  wire.ask('POST /', 'Content-Length: 100000000');
  wire.socket.write(Buffer.alloc(4 << 20));
  assert.equal(await faultOf(wire), 'local_timeout');
  await hostile.goesOn(true);
});

const offences: ReadonlyArray<readonly [string, (hostile: HostileRig, line: Line) => void]> = [
  ['a window beyond 32 bits', (hostile, { stream }) => hostile.frame(TYPE.window, 0, stream.id, 0xffff_ffff)],
  ['data for a stream that never was', (hostile) => hostile.frame(TYPE.data, 0, 40_000, 5, Buffer.from('hello'))],
  [
    'data behind the end of a stream',
    (hostile, line) => {
      line.say('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n');
      hostile.frame(TYPE.data, FLAG.fin, line.stream.id, 0);
      hostile.frame(TYPE.data, 0, line.stream.id, 9, Buffer.from('evil evil'));
    },
  ],
  ['a stream of the server’s own', (hostile) => hostile.frame(TYPE.window, FLAG.syn, 4_000, 0)],
  ['a frame of no kind', (hostile) => hostile.frame(9 as 0, 0, 0, 0)],
  ['a frame without end', (hostile, { stream }) => hostile.frame(TYPE.data, 0, stream.id, 0xffff_ffff)],
  ['the end of the fixture', (hostile) => hostile.frame(TYPE.goAway, 0, 0, 1)],
];

for (const [name, act] of offences) {
  test(
    `an agent that sends ${name} loses its session, its visitors get a 502, and other tunnels go on`,
    WITHIN,
    async (t) => {
      const hostile = await HostileRig.start(t, (line) => act(hostile, line));
      const wire = await hostile.rig.visit();
      wire.ask('GET /');
      await Promise.race([wire.until(/culvert-error: \w+\r\n[^]*\n$/).catch(() => ''), wire.closed]);
      assert.doesNotMatch(wire.text, /evil/);
      await hostile.agent.closed;
      await hostile.goesOn(true);
      const next = await hostile.rig.visit();
      next.ask('GET /own');
      assert.equal(await faultOf(next), 'tunnel_offline');
    },
  );
}

test('more data than a window allows ends the session, also towards a visitor who reads nothing', WITHIN, async (t) => {
  const hostile = await HostileRig.start(t, (line) => {
    line.say('HTTP/1.1 200 OK\r\n\r\n');
    const flood = Buffer.alloc(1 << 20, 'x');
    for (let i = 0; i < 64; i++) hostile.frame(TYPE.data, 0, line.stream.id, flood.length, flood);
  });
  const wire = await hostile.rig.visit();
  wire.socket.pause();
  wire.ask('GET /');
  await hostile.agent.closed;
  wire.socket.resume();
  assert.equal(await wire.closed, 'cut');
  assert.ok(wire.text.length < 8 << 20, `${wire.text.length} bytes`);
  await hostile.goesOn(true);
});

test('a giant window is taken, and an upload waits in the visitor’s machine all the same', WITHIN, async (t) => {
  const hostile = await HostileRig.start(t, (line) => {
    if (line.heads > 1) return;
    hostile.frame(TYPE.window, 0, line.stream.id, 0x7fff_ffff);
    line.say(HELLO);
  });
  const wire = await hostile.rig.visit();
  wire.ask('POST /', 'Content-Length: 9');
  assert.equal((await wire.response()).body, 'hello');
  await hostile.goesOn();
});

test(
  'streams that an agent opens towards the server are refused, and a flood of them ends its session',
  WITHIN,
  async (t) => {
    const hostile = await HostileRig.start(t, (line) => line.say(HELLO));
    const { session } = hostile.agent;
    for (let i = 0; i < 100; i++)
      session.open()?.write(Buffer.from('GET / HTTP/1.1\r\nHost: calm.example.test\r\n\r\n'));
    const wire = await hostile.rig.visit();
    wire.ask('GET /');
    assert.equal((await wire.response()).body, 'hello');
    await hostile.goesOn();
    const last = 1_000_001;
    for (let id = 10_001; id < last; id += 2) {
      hostile.frame(TYPE.window, FLAG.syn, id, 0);
      if (session.closed) break;
      if (id % 5_000 === 1) await new Promise((resolve) => setImmediate(resolve));
    }
    await hostile.agent.closed;
    await hostile.goesOn(true);
  },
);

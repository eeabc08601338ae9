/** The commands run in a real shell, against a server that keeps the bytes which it was sent. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { text } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import { missing } from '../../../../test/harness/tools.ts';
import type { InspectedRequest } from '../../../plane/inspection.ts';
import { curlCommand } from './curl.ts';
import { masked, readHead } from '../../core/rules/recorded-head.ts';
import { head, recorded } from '../testing.ts';

const NEEDS_CURL = { skip: missing('curl') };
/** What a POSIX shell is here, and another one where it is there. */
const SHELLS = ['sh', 'bash'].filter((name) => missing(name) === false);

interface Sent {
  readonly startLine: string;
  /** In their order, as `name: value`. */
  readonly fields: readonly string[];
  readonly body: Buffer;
}

/** A server that answers one request of each connection and keeps its bytes. */
async function rawServer(t: TestContext): Promise<{ host: string; took: () => Sent | undefined }> {
  let last: Sent | undefined;
  const server = createServer((socket) => {
    let bytes = Buffer.alloc(0);
    socket.on('data', (chunk: Buffer) => {
      bytes = Buffer.concat([bytes, chunk]);
      const end = bytes.indexOf('\r\n\r\n');
      if (end < 0) return;
      const { startLine, fields } = readHead(bytes.subarray(0, end));
      const length = Number(fields.find(({ name }) => /^content-length$/i.test(name))?.value ?? 0);
      const body = bytes.subarray(end + 4);
      if (body.length < length) return;
      last = { startLine, fields: fields.map(({ name, value }) => `${name}: ${value}`), body };
      socket.end('HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n');
    });
    socket.on('error', () => socket.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const at = server.address();
  assert.ok(at !== null && typeof at === 'object');
  return { host: `127.0.0.1:${at.port}`, took: () => last };
}

async function runIn(shell: string, command: string): Promise<void> {
  const child = spawn(shell, [], { stdio: ['pipe', 'ignore', 'pipe'] });
  child.stdin.end(Buffer.from(command, 'latin1'));
  const said = text(child.stderr);
  const [code] = await once(child, 'close');
  assert.equal(code, 0, `${shell}: ${await said}\n${command}`);
}

function shownOf(record: InspectedRequest) {
  return { record, request: readHead(record.requestHead), response: null };
}

/** A POST of these bytes. */
function posted(host: string, requestBody: Buffer, ...fields: string[]): InspectedRequest {
  return recorded({
    method: 'POST',
    target: '/',
    requestBody,
    requestHead: head('POST / HTTP/1.1', `Host: ${host}`, ...fields, `Content-Length: ${requestBody.length}`),
  });
}

test(
  'what a shell makes of the command is what was recorded: line, fields in their order, and every byte of the body',
  NEEDS_CURL,
  async (t) => {
    const server = await rawServer(t);
    const everyByte = Buffer.from(Array.from({ length: 256 }, (_, i) => i));
    const bodies: Readonly<Record<string, Buffer>> = {
      json: Buffer.from('{"who": "Ann\'s", "cost": "$5 `id` $(id) \\\\ !!"}\n'),
      quotes: Buffer.from("''\"'\"'\\''"),
      'a name of a file': Buffer.from('@/etc/passwd'),
      dash: Buffer.from('-n %s\u0001'),
      utf8: Buffer.from('Grüße, 世界 🙂\r\n'),
      'every byte': everyByte,
      'bytes in front of digits': Buffer.from([0, 0x31, 0x37, 0xff, 0x30, 0x00]),
      'two lines': Buffer.from('a\nb\n\n'),
      large: randomBytes(200_000),
      'large text': Buffer.from('0123456789'.repeat(10_000)),
      'hidden marks': Buffer.from('pay \u202e elgoog'),
    };
    const fields = [
      'Content-Type: application/json',
      'X-Quote: it\'s "quoted" `here` $HOME',
      'X-Latin: caf\u00e9',
      'X-Twice: one',
      'X-Empty:',
      'X-Twice: two',
      'Accept: */*',
      'User-Agent: test/1.0',
    ];
    for (const shell of SHELLS) {
      for (const [name, body] of Object.entries(bodies)) {
        await runIn(shell, curlCommand(shownOf(posted(server.host, body, ...fields))));
        const took = server.took();
        assert.equal(took?.startLine, 'POST / HTTP/1.1', name);
        assert.ok(took.body.equals(body), `${name} in ${shell}`);
        const own = took.fields.filter((line) => !/^(host|content-length):/i.test(line));
        assert.deepEqual(
          own,
          fields.map((line) => (line === 'X-Empty:' ? 'X-Empty: ' : line)),
          name,
        );
      }
    }
  },
);

test('the target goes as it came, and nothing is said that the visitor did not say', NEEDS_CURL, async (t) => {
  const server = await rawServer(t);
  const target = "/a/../b/./c%2e?x[]={1,2}&q='it'#&z=$HOME";
  const requestHead = head(`GET ${target} HTTP/1.1`, `Host: ${server.host}`);
  await runIn('sh', curlCommand(shownOf(recorded({ target, requestHead }))));
  // Whatever stands behind a `#` no client sends: the edge lets none in.
  assert.equal(server.took()?.startLine, "GET /a/../b/./c%2e?x[]={1,2}&q='it' HTTP/1.1");
  assert.deepEqual(server.took()?.fields, [`Host: ${server.host}`]);
});

test(
  'nothing that a visitor sent is obeyed by a terminal that shows the command, and the service gets it as it was',
  NEEDS_CURL,
  async (t) => {
    const server = await rawServer(t);
    const bytesOf = (text: string): string => Buffer.from(text).toString('latin1');
    // Behind the question mark: curl escapes a path's bytes by itself.
    const target = bytesOf('/a?q=\u202egnp\u009b31m&%41');
    const fields = [
      // As the bytes of UTF-8, as one byte for terminals of eight bits, and what turns and hides text.
      `User-Agent: ${bytesOf("it's a\u009b31mb\u202ec \\ %s")}`,
      'X-Latin: caf\u00e9 \u009b31m',
      `X-Hidden: ${bytesOf('-n\u200b\ufeff')}`,
      `X-Plain: ${bytesOf('Grüße')}`,
      'Accept: */*',
    ];
    const requestHead = head(`GET ${target} HTTP/1.1`, `Host: ${server.host}`, ...fields);
    const command = curlCommand(shownOf(recorded({ target, requestHead })));
    const text = Buffer.from(command, 'latin1').toString('utf8');
    assert.equal(Buffer.from(text).toString('latin1'), command, 'it is UTF-8');
    assert.doesNotMatch(text, /[^\n\P{C}]/u);
    assert.ok(text.includes('Grüße'));
    for (const shell of SHELLS) {
      await runIn(shell, command);
      assert.equal(server.took()?.startLine, `GET ${target} HTTP/1.1`, shell);
      assert.deepEqual(server.took()?.fields, [`Host: ${server.host}`, ...fields], shell);
    }
  },
);

test('every method is sent as it was, with a body and without', NEEDS_CURL, async (t) => {
  const server = await rawServer(t);
  for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', "M-SEARCH'S"]) {
    const requestHead = head(`${method} /x HTTP/1.1`, `Host: ${server.host}`);
    await runIn('sh', curlCommand(shownOf(recorded({ method, target: '/x', requestHead }))));
    assert.equal(server.took()?.startLine, `${method} /x HTTP/1.1`);
    assert.deepEqual(server.took()?.fields, [`Host: ${server.host}`], method);
  }
  const empty = recorded({
    method: 'PUT',
    target: '/x',
    requestHead: head('PUT /x HTTP/1.1', `Host: ${server.host}`, 'Content-Length: 0'),
  });
  await runIn('sh', curlCommand(shownOf(empty)));
  assert.deepEqual(server.took()?.fields, [`Host: ${server.host}`, 'Content-Length: 0']);
});

test('what the edge says to the service is left out, and what is masked stays so', () => {
  const record = recorded({
    requestHead: head(
      'GET / HTTP/1.1',
      'Host: shop.example.test',
      'Authorization: Bearer secret-1',
      'Cookie: s=secret-2',
      'X-Forwarded-For: 203.0.113.7',
      'X-Forwarded-Proto: https',
      'X-Real-IP: 203.0.113.7',
      'Culvert-Visitor-Email: ann@example.test',
      'X-Forwarded-User: ann',
      'Accept-Encoding: gzip',
    ),
    trace: { scheme: 'https' },
  });
  const { startLine, fields } = readHead(record.requestHead);
  const request = { startLine, fields: masked(fields) };
  assert.equal(
    curlCommand({ record, request, response: null }),
    [
      "curl 'https://shop.example.test/'",
      '--path-as-is --globoff',
      "-H 'Authorization: ***'",
      "-H 'Cookie: ***'",
      "-H 'X-Forwarded-User: ann'",
      "-H 'Accept-Encoding: gzip'",
      "-H 'User-Agent:'",
      "-H 'Accept:'",
      '--compressed\n',
    ].join(' \\\n  '),
  );
});

test('a request of whose body only a part was kept is no command', () => {
  const part = posted('shop.example.test', Buffer.from('hel'));
  assert.throws(() => curlCommand(shownOf({ ...part, requestBodyTruncated: true })), { code: 'body_truncated' });
  const left = { ...part, requestHead: head('POST / HTTP/1.1', 'Host: x', 'Content-Length: 5') };
  assert.throws(() => curlCommand(shownOf(left)), { code: 'body_truncated' });
});

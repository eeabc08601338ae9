/** What the inspector works out without a browser: filters, the bounded list, bodies, what is sent again. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { shownAs } from '../../src/dashboard/pages/inspector/body/body-kind.ts';
import { base64Of, bytesOf, hexDump, textOf } from '../../src/dashboard/pages/inspector/body/bytes.ts';
import { MAX_OPENED_BYTES, openCodings } from '../../src/dashboard/pages/inspector/body/codings.ts';
import { setOutJson } from '../../src/dashboard/pages/inspector/body/json-text.ts';
import { partsOf } from '../../src/dashboard/pages/inspector/body/multipart.ts';
import { filterIn, type Item, matches, queryOf, searchOf } from '../../src/dashboard/pages/inspector/filters/filter.ts';
import { LiveList, MAX_ROWS } from '../../src/dashboard/pages/inspector/live/live-list.ts';
import { bodyWords, recordedWords } from '../../src/dashboard/pages/inspector/body/body-words.ts';
import { covered, hasCover, uncovered } from '../../src/dashboard/pages/inspector/replay/covered-headers.ts';
import { brokenLine, draftOf, editsOf, lacksBody } from '../../src/dashboard/pages/inspector/replay/replay-edits.ts';
import { visibleLines, visiblePath, visibleText } from '../../src/dashboard/pages/inspector/visible-text.ts';
import { type Detail, timingOf } from '../../src/dashboard/pages/inspector/messages.ts';

const ID = '019aa3c2-5b90-7b02-8a3e-0c9d3f5e7a10';
const bytes = (text: string | Buffer): Uint8Array<ArrayBuffer> => Uint8Array.from(Buffer.from(text));

function item(at: number, more: Partial<Item> = {}): Item {
  const id = at.toString(16).padStart(8, '0');
  return {
    id,
    tunnel_id: ID,
    timestamp: new Date(1_700_000_000_000 + at).toISOString(),
    method: 'GET',
    path: '/',
    status: 200,
    latency_ms: 1,
    request_size: 0,
    response_size: 0,
    remote_ip: '203.0.113.7',
    outcome: 'forwarded',
    code: null,
    replay_of: null,
    websocket: null,
    ...more,
  };
}

function detail(more: Partial<Detail> = {}): Detail {
  return {
    ...item(1),
    host: 'shop.example.com',
    trace_id: null,
    http_version: '1.1',
    request_headers: {},
    response_headers: {},
    request_header_list: [],
    response_header_list: [],
    response_trailers: [],
    grpc_status: null,
    was_blocked: false,
    websocket_frames: null,
    masked: [],
    request_body: '',
    response_body: '',
    request_body_truncated: false,
    response_body_truncated: false,
    trace: {
      outcome: 'forwarded',
      code: null,
      scheme: 'https',
      steps: [],
      agent_id: null,
      token_id: null,
      connection: 'kept',
      retried: false,
      policy_ms: 0.5,
      first_byte_ms: 8,
    },
    ...more,
  };
}

suite('filters', () => {
  test('filters: invalid values of an address are dropped', () => {
    const filter = filterIn(
      `?tunnel=x&method=GE%20T&status=999&outcome=__proto__&since=constructor&path=/a&replayOf=1`,
    );
    assert.deepEqual(filter, { path: '/a' });
    assert.deepEqual(filterIn(searchOf({ tunnel: ID, status: '4xx', since: '1h' })), {
      tunnel: ID,
      status: '4xx',
      since: '1h',
    });
  });

  test('filters: a query names its start time', () => {
    assert.deepEqual(queryOf({ since: '15m', method: 'GET' }, Date.UTC(2026, 0, 1)), {
      method: 'GET',
      since: '2025-12-31T23:45:00.000Z',
    });
  });

  test('filters: live requests match as recorded ones do on the server', () => {
    const one = item(1, { method: 'POST', status: 404, path: '/Orders?x=1', outcome: 'refused' });
    for (const filter of [
      {},
      { method: 'post' },
      { status: '4xx' },
      { status: '404' },
      { path: 'ORDERS' },
      { tunnel: ID },
    ])
      assert.equal(matches(filter, one), true, JSON.stringify(filter));
    for (const filter of [
      { method: 'GET' },
      { status: '5xx' },
      { status: '0' },
      { path: '/y' },
      { outcome: 'failed' as const },
    ])
      assert.equal(matches(filter, one), false, JSON.stringify(filter));
  });
});

suite('the list', () => {
  test('live list: newest first, each request once, and bounded', () => {
    const list = new LiveList();
    list.add([item(5), item(3)]);
    list.add([item(4), item(5)]);
    assert.deepEqual(
      list.view().rows.map(({ id }) => Number.parseInt(id, 16)),
      [5, 4, 3],
    );
    list.add(Array.from({ length: 3 * MAX_ROWS }, (_, at) => item(at + 10)));
    assert.equal(list.view().rows.length, MAX_ROWS);
    assert.equal(list.view().rows[0]?.id, item(3 * MAX_ROWS + 9).id);
  });

  test('live list: counts new requests while the reader is scrolled down, and shows them then', () => {
    const list = new LiveList();
    list.add([item(1)]);
    const { rows } = list.view();
    list.hold(true);
    list.add([item(2), item(1)]);
    list.add([item(2), item(3)]);
    assert.equal(list.view().waiting, 2);
    assert.equal(list.view().rows, rows);
    list.hold(false);
    assert.deepEqual(
      list.view().rows.map(({ id }) => Number.parseInt(id, 16)),
      [3, 2, 1],
    );
    assert.equal(list.view().waiting, 0);
  });

  test('live list: waiting requests are bounded, and leave no hidden gap', () => {
    const list = new LiveList();
    list.add([item(1)]);
    list.hold(true);
    for (let at = 0; at < 3; at++) list.add(Array.from({ length: MAX_ROWS }, (_, i) => item(10 + at * MAX_ROWS + i)));
    assert.equal(list.view().waiting, 3 * MAX_ROWS);
    list.hold(false);
    assert.equal(list.view().rows.length, MAX_ROWS);
    assert.equal(list.view().rows.at(-1)?.id, item(10 + 2 * MAX_ROWS).id);
  });

  test('live list: older requests are dropped when more came during a disconnect than fit', () => {
    const ids = (list: LiveList): number[] => list.view().rows.map(({ id }) => Number.parseInt(id, 16));
    const list = new LiveList();
    list.add([item(1), item(2)]);
    list.add([item(99)]);
    list.restart([item(90), item(91)], item(2).timestamp);
    assert.deepEqual(ids(list), [99, 91, 90]);
    assert.equal(list.hold(true), false);
    list.restart([item(200), item(201)], item(99).timestamp);
    assert.deepEqual(ids(list), [99, 91, 90]);
    assert.equal(list.view().waiting, 2);
    assert.equal(list.hold(false), true);
    assert.deepEqual(ids(list), [201, 200]);
  });
});

suite('bodies', () => {
  test('bodies: JSON keeps numbers, repeated and dangerous names, and escapes', () => {
    const said = (text: string): string | undefined =>
      setOutJson(text)
        ?.pieces.map((piece) => piece.text)
        .join('');
    assert.equal(
      said('{"a":12345678901234567890,"a":1e400,"__proto__":{"x":"\\u003cb\\u003e, {"},"e":[],"o":{ }}'),
      '{\n  "a": 12345678901234567890,\n  "a": 1e400,\n  "__proto__": {\n    "x": "\\u003cb\\u003e, {"\n  },\n  "e": [],\n  "o": {}\n}',
    );
    assert.equal(said('{a:1}'), undefined);
    assert.equal(said('[1,'), undefined);
  });

  test('bodies: deeply nested brackets cost little memory and time', () => {
    const deep = setOutJson('['.repeat(30_000) + ']'.repeat(30_000));
    const length = deep?.pieces.reduce((sum, { text }) => sum + text.length, 0) ?? 0;
    assert.ok(length < 600_000, String(length));
    assert.equal(deep?.isCut, true);
    const wide = setOutJson(`[${'1,'.repeat(30_000)}1]`);
    assert.ok((wide?.pieces.length ?? 0) < 30_000);
  });

  test('bodies: codings are undone from the outermost, up to the limit', async () => {
    const twice = await openCodings(bytes(gzipSync(deflateSync('hello'))), 'deflate, gzip');
    assert.equal(textOf(twice.bytes), 'hello');
    assert.deepEqual(twice.undone, ['gzip', 'deflate']);
    const bomb = await openCodings(bytes(gzipSync(Buffer.alloc(50_000_000))), 'gzip');
    assert.equal(bomb.bytes.length, MAX_OPENED_BYTES);
    assert.match(bomb.remark ?? '', /first decoded megabyte/);
    const cut = await openCodings(bytes(gzipSync('x'.repeat(100_000) + Math.random()).subarray(0, 100)), 'gzip');
    assert.match(cut.remark ?? '', /end of the gzip data is missing|not valid/);
    const liar = await openCodings(bytes('plain'), 'gzip');
    assert.equal(textOf(liar.bytes), 'plain');
    assert.match(liar.remark ?? '', /not valid gzip/);
    for (const name of ['constructor', 'compress']) {
      const strange = await openCodings(bytes('plain'), name);
      assert.match(strange.remark ?? '', /can't decode/);
    }
    const packed = await openCodings(bytes(brotliCompressSync('hello')), 'br');
    assert.ok(packed.remark !== undefined || textOf(packed.bytes) === 'hello');
  });

  test('bodies: shown by their real type, and as bytes when the declared type is false', () => {
    const kind = (body: string | Buffer, type: string): string => shownAs(bytes(body), type).kind;
    assert.equal(kind('{"a":1}', 'application/json'), 'json');
    assert.equal(kind('{"a":1}', 'application/problem+json; charset=utf-8'), 'json');
    assert.equal(kind('{"a":1}', ''), 'json');
    assert.equal(kind('{a', 'application/json'), 'text');
    assert.equal(kind(Buffer.from([0xff, 0xfe, 0x00]), 'application/json'), 'bytes');
    assert.equal(kind('a=1&b=2', 'application/x-www-form-urlencoded'), 'form');
    assert.equal(kind('<script>', 'text/html'), 'text');
    assert.equal(kind('<svg onload=x>', 'image/svg+xml'), 'text');
    assert.equal(kind('a\u0000b', 'text/plain'), 'bytes');
    assert.equal(textOf(bytes(Buffer.from([0x63, 0x61, 0x66, 0xe9])), 'iso-8859-1'), 'café');
    assert.equal(textOf(bytes('x'), 'no-such-charset'), undefined);
    // Cut in the middle of a character.
    assert.equal(textOf(bytes(Buffer.from('aé').subarray(0, 2))), 'a');
  });

  test('bodies: multipart forms are split into parts', () => {
    const body = Buffer.concat([
      Buffer.from('--X\r\nContent-Disposition: form-data; name="note"\r\n\r\nÅ <b>\r\n--X\r\n'),
      Buffer.from(
        'Content-Disposition: form-data; name="f"; filename="a.bin"\r\nContent-Type: application/zip\r\n\r\n',
      ),
      Buffer.from([0, 255, 13, 10]),
      Buffer.from('\r\n--X--\r\n'),
    ]);
    const found = partsOf(bytes(body), 'multipart/form-data; boundary=X');
    assert.deepEqual(found?.parts, [
      { name: 'note', fileName: undefined, type: undefined, bytes: bytes('Å <b>') },
      { name: 'f', fileName: 'a.bin', type: 'application/zip', bytes: Uint8Array.of(0, 255, 13, 10) },
    ]);
    assert.equal(partsOf(bytes('x'), 'multipart/form-data'), undefined);
    const many = partsOf(bytes('--X\r\n\r\nv\r\n'.repeat(500)), 'multipart/form-data; boundary="X"');
    assert.deepEqual([many?.parts.length, many?.more], [100, 400]);
  });

  test('bodies: bytes travel as base64, and are dumped in lines', () => {
    const all = Uint8Array.from({ length: 20_000 }, (_, at) => at % 256);
    assert.deepEqual(bytesOf(base64Of(all)), all);
    assert.equal(
      hexDump(bytes('GET / <b>\r\n12345678'), 100).split('\n')[1],
      '000010  36 37 38                                         678',
    );
    assert.equal(hexDump(all, 32).split('\n').length, 2);
  });

  test('bodies: invisible characters are made visible', () => {
    assert.equal(
      visibleText('/a\u202egpj.exe\u0000\u200b\r\n\u{e0041}'),
      '/a\\u202egpj.exe\\u0000\\u200b\\u000d\\u000a\\u{e0041}',
    );
    assert.equal(visibleText('/caffè 日本 <b>'), '/caffè 日本 <b>');
    assert.equal(visibleLines('{\n\t"a": "\u202egpj\u0007"}\r\n'), '{\n\t"a": "\\u202egpj\\u0007"}\r\n');
    assert.equal(visiblePath(`/\u202e${'x'.repeat(20_000)}`).length, 306);
  });
});

suite('replay', () => {
  const first = detail({
    method: 'POST',
    path: '/pay',
    request_body: base64Of(bytes('one')),
    request_header_list: [
      { name: 'Host', value: 'shop.example.com' },
      { name: 'X-Forwarded-For', value: '203.0.113.7' },
      { name: 'Accept', value: '*/*' },
      { name: 'X-A', value: '1' },
      { name: 'x-a', value: '2' },
    ],
  });

  test('replay: unchanged by default; headers of the edge are not offered', () => {
    const draft = draftOf(first);
    assert.equal(draft.headers, 'Accept: */*\nX-A: 1\nx-a: 2');
    assert.deepEqual(editsOf(first, draft), {});
  });

  test('replay: only changes are sent; a removed header is null', () => {
    const draft = { method: 'PUT', path: '/pay?x=1', headers: 'X-A: 1\nX-New: a: b\n__proto__: x', body: 'two' };
    const edits = editsOf(first, draft);
    assert.deepEqual(
      [edits.method, edits.path, edits.body, Object.entries(edits.headers ?? {})],
      [
        'PUT',
        '/pay?x=1',
        'dHdv',
        [
          ['x-a', ['1']],
          ['x-new', ['a: b']],
          ['__proto__', ['x']],
          ['accept', null],
        ],
      ],
    );
    assert.equal(brokenLine('A: 1\nnonsense'), 'nonsense');
    assert.equal(brokenLine(draft.headers), undefined);
  });

  test('replay: recorded credentials are covered, and sent as they were', () => {
    const secret = detail({
      request_header_list: [
        { name: 'Authorization', value: 'Bearer abc' },
        { name: 'cookie', value: 'a=1' },
        { name: 'cookie', value: 'b=2' },
        { name: 'Accept', value: '*/*' },
      ],
    });
    const recorded = secret.request_header_list;
    const { headers } = draftOf(secret);
    const shown = covered(headers, recorded);
    assert.equal(shown, 'Authorization: ••••••••\ncookie: ••••••••\ncookie: •••••••• 2\nAccept: */*');
    assert.ok(hasCover(shown) && !hasCover(headers));
    assert.equal(brokenLine(shown), undefined);
    assert.equal(uncovered(shown, recorded), headers);
    assert.deepEqual(editsOf(secret, { ...draftOf(secret), headers: uncovered(shown, recorded) }), {});
    const changed = uncovered('authorization: mine\ncookie: •••••••• 2\nX-Key: ••••••••', recorded);
    assert.equal(changed, 'authorization: mine\ncookie: b=2\nX-Key: ••••••••', 'a cover of nothing stays');
    assert.equal(covered(changed, recorded), 'authorization: mine\ncookie: •••••••• 2\nX-Key: ••••••••');
  });

  test('body: its type is read from the headers of a record, whatever they are called', () => {
    assert.deepEqual(recordedWords({ 'content-type': 'text/plain', 'grpc-encoding': 'gzip' }), {
      ...{ type: 'text/plain', coding: '', grpcCoding: 'gzip' },
    });
    assert.equal(bodyWords((name) => (name === 'content-encoding' ? 'br' : undefined)).coding, 'br');
  });

  test('replay: a binary or truncated body is not invented', () => {
    assert.equal(draftOf(detail({ request_body: base64Of(Uint8Array.of(0, 255)) })).body, undefined);
    const cut = detail({ request_body: base64Of(bytes('{"a')), request_body_truncated: true });
    assert.equal(draftOf(cut).body, '');
    assert.equal(editsOf(cut, { ...draftOf(cut), body: '{}' }).body, 'e30=');
    assert.deepEqual(editsOf(cut, draftOf(cut)), {});
  });

  test('replay: a blocked request needs its body only if it had one', () => {
    const blocked = (more: Partial<Detail>): boolean =>
      lacksBody(detail({ outcome: 'refused', request_body_truncated: true, ...more }));
    assert.equal(blocked({ method: 'GET' }), false);
    assert.equal(blocked({ method: 'POST', request_headers: { 'content-length': '0' } }), false);
    assert.equal(blocked({ method: 'POST', request_headers: { 'content-length': '2' } }), true);
    assert.equal(blocked({ method: 'POST', request_headers: { 'transfer-encoding': 'chunked' } }), true);
    assert.equal(blocked({ method: 'POST', http_version: '2' }), true);
    assert.equal(blocked({ method: 'GET', http_version: '2' }), false);
    assert.equal(lacksBody(detail({ request_body_truncated: true })), true);
    assert.equal(lacksBody(detail({ request_headers: { 'content-length': '9' } })), false);
  });

  test('replay: line ends of a body are kept', () => {
    const multipart = '--b\r\nContent-Disposition: form-data; name="a"\r\n\r\none\ntwo\r\n--b--\r\n';
    const sent = detail({ request_body: base64Of(bytes(multipart)) });
    const typed = multipart.replaceAll('\r\n', '\n');
    const after = (body: string): string => {
      const edits = editsOf(sent, { ...draftOf(sent), body });
      return edits.body === undefined ? 'as it was' : Buffer.from(edits.body, 'base64').toString();
    };
    assert.equal(after(typed), 'as it was');
    assert.equal(after(typed.replace('one', 'ono')), multipart.replace('one', 'ono'));
    assert.equal(after(typed.replace('two', 'too\nfor')), multipart.replace('two', 'too\r\nfor'));
    assert.equal(after(typed.replace('"a"', '"b"')), multipart.replace('"a"', '"b"'));
  });
});

test('timing: the parts add up to the total', () => {
  const parts = timingOf(detail({ latency_ms: 10 }));
  assert.deepEqual(
    parts.map(({ key, ms }) => [key, ms]),
    [
      ['edge', 0.5],
      ['service', 7.5],
      ['answer', 2],
    ],
  );
  const { trace } = detail();
  const refused = timingOf(detail({ latency_ms: 0.5, trace: { ...trace, first_byte_ms: null } }));
  assert.deepEqual(
    refused.map(({ key }) => key),
    ['edge'],
  );
});

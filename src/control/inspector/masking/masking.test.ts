/** Mask rules on records: what is replaced, what stays as it was, and what is left out because it can't be read. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { brotliCompressSync, brotliDecompressSync, gunzipSync, gzipSync } from 'node:zlib';
import type { InspectedRequest } from '../../../plane/inspection.ts';
import type { MaskRule } from '../../db/schema.ts';
import { head, recorded } from '../testing.ts';
import { maskJson } from './json-mask.ts';
import { readJsonPath } from './json-path.ts';
import { maskRecord } from './mask-record.ts';
import { readRules } from './rules.ts';

function masked(json: string, ...paths: readonly string[]): string {
  const read = paths.map((path) => readJsonPath(path) ?? assert.fail(path));
  return maskJson(Buffer.from(json), read).bytes.toString();
}

test('mask: a JSON path replaces its values and leaves every other byte as it was', () => {
  const text =
    ' {"card": {"number": "4242", "exp":\t1.50e3}, "items":[{"s":[1,{"a":"}"}]},{"s":null}],"big":12345678901234567890}\n';
  for (const [path, expected] of [
    ['$.card.number', text.replace('"4242"', '"***"')],
    ["$['card']", text.replace('{"number": "4242", "exp":\t1.50e3}', '"***"')],
    ['$.items[*].s', text.replace('[1,{"a":"}"}]', '"***"').replace('null', '"***"')],
    ['$.items[1].s', text.replace('null', '"***"')],
    ['$..a', text.replace('"}"', '"***"')],
    ['$.*', ' {"card": "***", "items":"***","big":"***"}\n'],
    ['$..[0]', text.replace('{"s":[1,{"a":"}"}]}', '"***"')],
    ['$.none', text],
    ['$.big.deeper', text],
  ] as const)
    assert.equal(masked(text, path), expected, path);
  assert.equal(masked('{"a":{"b":1},"b":2}', '$.a', '$..b'), '{"a":"***","b":"***"}');
  assert.equal(
    masked('{"pass\\u0077ord":1,"p\\"x":2}', '$.password', "$['p\"x']"),
    '{"pass\\u0077ord":"***","p\\"x":"***"}',
  );
  assert.equal(masked('{"a":1,"a":2}\n{"a":3}', '$.a'), '{"a":"***","a":"***"}\n{"a":"***"}');
});

test('mask: a text that was cut is masked as far as it goes, and what is no JSON is left out from there on', () => {
  for (const [text, expected] of [
    ['{"a":"x","secret":"hun', '{"a":"x","secret":"***"'],
    ['{"a":"x","secret":{"b":[1,', '{"a":"x","secret":"***"'],
    ['{"a":"x","secret":', '{"a":"x","secret":'],
    ['{"a":"x', '{"a":"x'],
    ["{'secret':'hunter2'}", '{'],
    ['{"a":1} secret=hunter2', '{"a":1} '],
    ['{"a": /* no */ 1,"secret":2}', '{"a": '],
  ] as const)
    assert.equal(masked(text, '$..secret'), expected, text);
  const deep = `${'['.repeat(500)}{"secret":1}`;
  assert.doesNotMatch(masked(deep, '$..secret'), /secret/);
});

test('mask: paths that are none are refused', () => {
  for (const path of [
    '',
    '$',
    'a',
    '$a',
    '$.',
    '$.a.',
    '$[',
    '$[x]',
    "$['a]",
    '$.a b',
    '$.[0]',
    '$[-1]',
    `$${'.a'.repeat(17)}`,
  ])
    assert.equal(readJsonPath(path), undefined, path);
});

const JSON_TYPE = 'Content-Type: application/json';
const request = (...fields: readonly string[]): Buffer =>
  head('POST /pay?token=t0p&b=1 HTTP/1.1', 'Host: shop.example.test', ...fields);

function apply(rules: readonly MaskRule[], changes: Parameters<typeof recorded>[0]): InspectedRequest {
  return maskRecord(
    recorded({ method: 'POST', target: '/pay?token=t0p&b=1', requestHead: request(), ...changes }),
    readRules(rules),
  );
}

test('mask: headers, queries and trailers are replaced wherever they stand, and the record says so', () => {
  const record = apply([{ header: 'X-KEY' }, { query: 'Token' }], {
    requestHead: request('x-key: abc', 'Referer: https://shop.example.test/?a=1&token=t0p#x', 'X-Note: token=t0p'),
    responseHead: head('HTTP/1.1 302 Found', 'X-Key: def', 'Location: /next?token=t0p'),
    trace: { trailers: 'x-key: ghi\r\nx-other: 1\r\n' },
  });
  assert.equal(record.target, '/pay?token=***&b=1');
  assert.equal(
    String(record.requestHead),
    'POST /pay?token=***&b=1 HTTP/1.1\r\nHost: shop.example.test\r\nx-key: ***\r\nReferer: https://shop.example.test/?a=1&token=***#x\r\nX-Note: token=t0p\r\n\r\n',
  );
  assert.equal(String(record.responseHead), 'HTTP/1.1 302 Found\r\nX-Key: ***\r\nLocation: /next?token=***\r\n\r\n');
  assert.equal(record.trace.trailers, 'x-key: ***\r\nx-other: 1\r\n');
  assert.deepEqual(record.trace.masked, [
    { side: 'request', kind: 'query', name: 'token' },
    { side: 'request', kind: 'header', name: 'x-key' },
    { side: 'response', kind: 'header', name: 'x-key' },
    { side: 'response', kind: 'query', name: 'token' },
  ]);
});

test('mask: a record that no rule is about is the same one', () => {
  const plain = recorded({ responseBody: Buffer.from('{"a":1}') });
  assert.equal(
    maskRecord(plain, readRules([{ header: 'x-none' }, { json_path: '$.b' }, { query: 'b' }, { form: 'c' }])),
    plain,
  );
});

const bodyOf = (rules: readonly MaskRule[], body: Buffer, ...fields: readonly string[]): InspectedRequest =>
  apply(rules, { requestHead: request(...fields), requestBody: body });

test('mask: forms of both codings, events and coded bodies are masked', () => {
  const form = bodyOf(
    [{ form: 'pass word' }],
    Buffer.from('a=1&pass+word=x%26;y&pass%20word=2&c;Pass+Word=3'),
    'Content-Type: application/x-www-form-urlencoded',
  );
  assert.equal(String(form.requestBody), 'a=1&pass+word=***&pass%20word=***&c;Pass+Word=***');
  const parts =
    '--b\r\nContent-Disposition: form-data; name="pin"\r\n\r\n1234\r\n--b\r\nContent-Disposition: form-data; name="a"\r\n\r\nx\r\n--b--\r\n';
  const multipart = bodyOf([{ form: 'pin' }], Buffer.from(parts), 'Content-Type: multipart/form-data; boundary=b');
  assert.equal(String(multipart.requestBody), parts.replace('1234', '***'));
  const events = bodyOf(
    [{ json_path: '$.k' }],
    Buffer.from('event: x\ndata: {"k":1}\n\ndata: plain\ndata:{"k":2}\n'),
    'Content-Type: text/event-stream',
  );
  assert.equal(String(events.requestBody), 'event: x\ndata: {"k":"***"}\n\ndata: plain\ndata:{"k":"***"}\n');
  const text = Buffer.from('{"k":"hunter2"}');
  const zipped = bodyOf([{ json_path: '$.k' }], gzipSync(text), JSON_TYPE, 'Content-Encoding: gzip');
  assert.equal(String(gunzipSync(zipped.requestBody)), '{"k":"***"}');
  const brotli = bodyOf([{ json_path: '$.k' }], brotliCompressSync(text), JSON_TYPE, 'Content-Encoding: br');
  assert.equal(String(brotliDecompressSync(brotli.requestBody)), '{"k":"***"}');
  // Without a type, too.
  assert.equal(String(bodyOf([{ json_path: '$.k' }], text).requestBody), '{"k":"***"}');
});

test('mask: JSON that says it is a form, as `curl -d` sends it, is masked as JSON', () => {
  const form = 'Content-Type: application/x-www-form-urlencoded';
  const sent = bodyOf([{ json_path: '$.k' }, { form: 'pin' }], Buffer.from('{"k":"hunter2","a":1}'), form);
  assert.equal(String(sent.requestBody), '{"k":"***","a":1}');
  const mixed = bodyOf([{ json_path: '$.k' }, { form: 'pin' }], Buffer.from('{"k":1}&pin=1234'), form);
  assert.equal(String(mixed.requestBody), '{"k":"***"}');
  assert.equal(mixed.requestBodyTruncated, true);
});

test('mask: a body that a rule can not be applied to is left out, and marked as cut', () => {
  for (const [name, rule, body, fields] of [
    ['unknown coding', { json_path: '$.k' }, gzipSync('{"k":1}'), ['Content-Encoding: zip']],
    ['broken coding', { json_path: '$.k' }, Buffer.from('{"k":1}'), [JSON_TYPE, 'Content-Encoding: gzip']],
    ['a bomb', { json_path: '$.k' }, gzipSync(Buffer.alloc(5_000_000, '[')), [JSON_TYPE, 'Content-Encoding: gzip']],
    ['no boundary', { form: 'k' }, Buffer.from('--b\r\nname=k\r\n\r\n1'), ['Content-Type: multipart/form-data']],
    ['no JSON', { json_path: '$.k' }, Buffer.from('k=1'), [JSON_TYPE]],
  ] as const) {
    const record = bodyOf([rule], body, ...fields);
    assert.equal(record.requestBody.length, 0, name);
    assert.equal(record.requestBodyTruncated, true, name);
    assert.deepEqual(record.trace.masked, [{ side: 'request', kind: 'body', name: '' }], name);
  }
});

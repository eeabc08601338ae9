/** The archive against HAR 1.2 as it is specified: what must be there, of which type, and nothing else but what begins with `_`. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { z } from 'zod';
import { archiveOfMany, archiveOfOne, type FoundRequest, MAX_ARCHIVE_BYTES } from './archive.ts';
import { masked, readHead } from '../../core/rules/recorded-head.ts';
import type { ShownRequest } from '../views.ts';
import { head, recorded } from '../testing.ts';

const comment = z.string().optional();
const pair = z.strictObject({ name: z.string(), value: z.string(), comment });
const cookie = pair.extend({
  path: z.string().optional(),
  domain: z.string().optional(),
  expires: z.iso.datetime().optional(),
  httpOnly: z.boolean().optional(),
  secure: z.boolean().optional(),
});
const size = z.int().min(-1);
const ms = z.number().min(0);
const request = z.strictObject({
  method: z.string().min(1),
  url: z.url(),
  httpVersion: z.string().min(1),
  cookies: z.array(cookie),
  headers: z.array(pair),
  queryString: z.array(pair),
  postData: z
    .strictObject({ mimeType: z.string(), text: z.string(), comment, _encoding: z.literal('base64').optional() })
    .optional(),
  headersSize: size,
  bodySize: size,
  comment,
});
const response = z.strictObject({
  status: z.int(),
  statusText: z.string(),
  httpVersion: z.string().min(1),
  cookies: z.array(cookie),
  headers: z.array(pair),
  content: z.strictObject({
    size,
    compression: z.int().optional(),
    mimeType: z.string(),
    text: z.string().optional(),
    encoding: z.literal('base64').optional(),
    comment,
  }),
  redirectURL: z.string(),
  headersSize: size,
  bodySize: size,
  comment,
});
const entry = z
  .looseObject({
    startedDateTime: z.iso.datetime(),
    time: ms,
    request,
    response,
    cache: z.strictObject({}),
    timings: z.strictObject({ send: ms, wait: ms, receive: ms }),
    comment,
  })
  .refine((one) =>
    Object.keys(one).every(
      (key) =>
        key in { startedDateTime: 0, time: 0, request: 0, response: 0, cache: 0, timings: 0, comment: 0 } ||
        key.startsWith('_'),
    ),
  )
  .refine(
    ({ time, timings: { send, wait, receive } }) => Math.abs(send + wait + receive - time) < 0.001,
    'the parts make up the whole',
  );
const archive = z.strictObject({
  log: z.strictObject({
    version: z.literal('1.2'),
    creator: z.strictObject({ name: z.string(), version: z.string(), comment }),
    pages: z.array(z.never()),
    entries: z.array(entry),
    comment,
  }),
});

function shown(record = recorded(), isMasked = false): ShownRequest {
  const show = (bytes: Uint8Array) => {
    const read = readHead(bytes);
    return isMasked ? { ...read, fields: masked(read.fields) } : read;
  };
  return {
    record,
    request: show(record.requestHead),
    response: record.responseHead === null ? null : show(record.responseHead),
  };
}

type Log = z.output<typeof archive>['log'];

/** As a program reads it, and how many of the requests were looked at. `requests`: oldest first. */
async function readMany(requests: readonly ShownRequest[]): Promise<{ log: Log; bytes: Buffer; taken: number }> {
  let taken = 0;
  async function* newest(): AsyncGenerator<FoundRequest> {
    for (const shown of requests.toReversed()) {
      taken += 1;
      yield { shown, older: requests.length - taken };
    }
  }
  const { parts, byteLength } = await archiveOfMany(newest(), '1.0.0');
  const bytes = Buffer.concat(parts);
  assert.equal(bytes.length, byteLength);
  return { log: archive.parse(JSON.parse(bytes.toString())).log, bytes, taken };
}

async function read(...requests: ShownRequest[]): Promise<Log> {
  return (await readMany(requests)).log;
}

/** An answer with a content coding. */
function coded(responseBody: Buffer, coding = 'gzip', changes: Parameters<typeof recorded>[0] = {}): ShownRequest {
  const responseHead = head('HTTP/1.1 200 OK', `Content-Encoding: ${coding}`, 'Content-Type: text/html');
  return shown(recorded({ responseBody, responseHead, ...changes }));
}

test('an archive is HAR 1.2, of whatever was recorded', async () => {
  const binary = Buffer.from([0, 255, 1]);
  const log = await read(
    shown(),
    shown(recorded({ method: 'POST', requestBody: binary, responseBody: binary, requestBodyTruncated: true })),
    shown(
      recorded({
        status: 0,
        responseHead: null,
        responseBody: Buffer.alloc(0),
        trace: { outcome: 'failed', code: 'local_timeout', firstByteMs: null },
      }),
    ),
    shown(recorded({ target: '*', method: 'OPTIONS' })),
    shown(recorded({ target: 'http://shop.example.test?x=1', trace: { httpVersion: '2', firstByteMs: 99 } })),
    shown(recorded({ status: 101, trace: { httpVersion: '1.0' } })),
  );
  assert.equal(log.entries.length, 6);
  assert.deepEqual([log.entries[2]?.response.status, log.entries[2]?.comment], [0, 'failed: local_timeout']);
  assert.equal(log.entries[4]?.request.url, 'http://shop.example.test/?x=1');
  assert.equal(log.entries[1]?.response.content.text, 'AP8B');
  assert.equal(log.entries[1]?.response.content.encoding, 'base64');
});

test('har: fields, cookies and query parameters are listed one by one; masked ones stay masked', async () => {
  const record = recorded({
    target: '/a?x=1&y=%20&x=2',
    requestHead: head(
      'GET /a HTTP/1.1',
      'Host: shop.example.test:8080',
      'Cookie: a=1; b=2=3',
      'X-Twice: 1',
      'X-Twice: 2',
    ),
    responseHead: head(
      'HTTP/1.1 302 Elsewhere',
      'Location: /b',
      'Set-Cookie: s=1; Path=/; HttpOnly',
      'Set-Cookie: t=2',
    ),
    status: 302,
  });
  const [one] = (await read(shown(record))).entries;
  assert.equal(one?.request.url, 'http://shop.example.test:8080/a?x=1&y=%20&x=2');
  assert.deepEqual(
    one.request.queryString.map(({ name, value }) => `${name}=${value}`),
    ['x=1', 'y= ', 'x=2'],
  );
  assert.deepEqual(one.request.cookies, [
    { name: 'a', value: '1' },
    { name: 'b', value: '2=3' },
  ]);
  assert.deepEqual(
    one.response.cookies.map(({ name, value }) => `${name}=${value}`),
    ['s=1', 't=2'],
  );
  assert.deepEqual([one.response.statusText, one.response.redirectURL], ['Elsewhere', '/b']);
  assert.equal(one.request.headers.filter(({ name }) => name === 'X-Twice').length, 2);
  assert.ok(!JSON.stringify(await read(shown(record, true))).includes('2=3'));
});

test('a body with a content coding is shown without it; one that can not be opened, or holds too much, as it came', async () => {
  const whole = gzipSync('<p>hello hello hello hello</p>');
  const bomb = gzipSync(Buffer.alloc(8 * 1024 * 1024));
  const log = await read(coded(whole), coded(whole.subarray(0, 12)), coded(bomb), coded(whole, 'x-own'));
  const contents = log.entries.map(({ response: { content } }) => content);
  assert.deepEqual(
    [contents[0]?.text, contents[0]?.encoding, contents[0]?.size],
    ['<p>hello hello hello hello</p>', undefined, 30],
  );
  for (const [i, bytes] of [whole.subarray(0, 12), bomb, whole].entries())
    assert.equal(contents[i + 1]?.text, bytes.toString('base64'));
});

test('what counts is what comes out: bodies that stand for a thousand times as much make no larger archive', async () => {
  for (const byte of ['a', '\n', '\u0000']) {
    const bomb = gzipSync(Buffer.alloc(1024 * 1024, byte));
    const { log, bytes, taken } = await readMany(Array.from({ length: 500 }, () => coded(bomb)));
    assert.ok(bytes.length < MAX_ARCHIVE_BYTES + 1_000, `${bytes.length} bytes`);
    assert.ok(log.entries.length >= 10 && log.entries.length <= 16, `${log.entries.length} entries`);
    assert.equal(
      log.comment,
      `${500 - log.entries.length} older requests were left out: they would make it too large.`,
    );
    assert.equal(taken, log.entries.length + 1, 'what is left out is not fetched');
  }
});

test('of bodies that can not be opened only so many are tried, and of one that was cut none', async () => {
  const good = coded(gzipSync('<p>hello</p>'));
  const bomb = coded(gzipSync(Buffer.alloc(2 * 1024 * 1024)));
  const few = await read(good, ...Array.from({ length: 20 }, () => bomb));
  assert.equal(few.entries[0]?.response.content.text, '<p>hello</p>');
  const many = await read(good, ...Array.from({ length: 70 }, () => bomb));
  assert.equal(many.entries[0]?.response.content.encoding, 'base64');
  const cut = await read(coded(gzipSync('<p>hello</p>'), 'gzip', { responseBodyTruncated: true }));
  assert.equal(cut.entries[0]?.response.content.encoding, 'base64');
});

test('an escaped character never takes more than its two bytes: controls and long text are in base64', async () => {
  const long = 'x'.repeat(256 * 1024);
  const log = await read(
    ...['a\tb\r\nc', '\u001b[31m', '\u0000', long, `${long}x`].map((text) =>
      shown(recorded({ method: 'POST', requestBody: Buffer.from(text), responseBody: Buffer.from(text) })),
    ),
  );
  const encodings = [undefined, 'base64', 'base64', undefined, 'base64'];
  assert.deepEqual(
    log.entries.map(({ response: { content } }) => content.encoding),
    encodings,
  );
  assert.deepEqual(
    log.entries.map(({ request: { postData } }) => postData?._encoding),
    encodings,
  );
  assert.equal(Buffer.from(log.entries[4]?.response.content.text ?? '', 'base64').toString(), `${long}x`);
});

test('one that is too large by itself, and all behind it, are left out of many, and are there alone', async () => {
  const large = shown(recorded({ responseBody: Buffer.alloc(MAX_ARCHIVE_BYTES, 'x') }));
  const { log } = await readMany([shown(), large, shown()]);
  assert.equal(log.entries.length, 1);
  assert.match(log.comment ?? '', /^2 older/);
  const { parts } = await archiveOfOne(large, '1.0.0');
  const alone = archive.parse(JSON.parse(Buffer.concat(parts).toString())).log;
  assert.deepEqual([alone.entries.length, alone.comment], [1, undefined]);
});

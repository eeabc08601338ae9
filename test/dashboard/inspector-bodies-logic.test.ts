/** Bodies of the inspector taken apart without a browser: trees of JSON, events, gRPC frames, protobuf, GraphQL. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { messageTree, partShownAs, shownAs } from '../../src/dashboard/pages/inspector/body/body-kind.ts';
import { eventsOf } from '../../src/dashboard/pages/inspector/body/events.ts';
import { operationsOf } from '../../src/dashboard/pages/inspector/body/graphql.ts';
import { framesOf } from '../../src/dashboard/pages/inspector/body/grpc.ts';
import {
  allOpen,
  findIn,
  firstOpen,
  type JsonTree,
  MAX_NODES,
  nameOf,
  opened,
  parseTree,
  pathOf,
  rowsOf,
  valueOf,
} from '../../src/dashboard/pages/inspector/body/json-tree.ts';

const bytes = (content: string | Buffer | readonly number[]): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(typeof content === 'string' ? Buffer.from(content) : content);

function tree(text: string): JsonTree {
  const found = parseTree(text);
  assert.ok(found, text);
  return found;
}

/** `path = value` of the nodes that hold none. */
function leaves(of: JsonTree): string[] {
  return of.nodes.flatMap((node, at) =>
    node.kind === 'object' || node.kind === 'array'
      ? []
      : [`${pathOf(of, at)} = ${of.text.slice(node.start, node.end)}`],
  );
}

suite('JSON trees', () => {
  test('JSON tree: numbers, repeated and dangerous names, and escapes stay as they came', () => {
    const found = tree('{"a":12345678901234567890,"a":1e400,"__proto__":{"x y":"\\u003cb\\u003e, {"},"e":[],"o":{ }}');
    assert.deepEqual(leaves(found), [
      '$.a = 12345678901234567890',
      '$.a = 1e400',
      '$.__proto__["x y"] = "\\u003cb\\u003e, {"',
    ]);
    assert.equal(valueOf(found, 4), '<b>, {');
    assert.equal(nameOf(found, 4), 'x y');
  });

  test('JSON tree: invalid text is no tree', () => {
    for (const text of ['', '{a:1}', '[1,', '[1,]', '{"a" 1}', '{"a":}', '[}', '1 2', '"a', 'tru'])
      assert.equal(parseTree(text), undefined, text);
    for (const text of ['{a:1}', '[1,]x', '{"a" 1}', '[}', '}', 'plain text', '{"a":1}}'])
      assert.equal(parseTree(text, { mayBeCut: true }), undefined, text);
  });

  test('JSON tree: a truncated document shows what was recorded', () => {
    for (const [text, wanted] of [
      ['{"a":[1,2', ['$.a[0] = 1', '$.a[1] = 2']],
      ['{"a":[1,{"b":tr', ['$.a[0] = 1']],
      ['{"a":"x","b":"unfin', ['$.a = "x"']],
      ['{"a":"x","b', ['$.a = "x"']],
      ['{"a":"x",', ['$.a = "x"']],
    ] as const) {
      const found = parseTree(text, { mayBeCut: true });
      assert.deepEqual(found === undefined ? undefined : leaves(found), wanted, text);
      assert.equal(found?.isCut, true);
    }
    assert.equal(parseTree('{"a":1}', { mayBeCut: true })?.isCut, false);
  });

  test('JSON tree: rows of closed nodes are out of sight', () => {
    const found = tree('{"a":{"b":[1,2]},"c":3}');
    const names = (open: ReadonlySet<number>): string[] => rowsOf(found, open).map((at) => nameOf(found, at));
    assert.deepEqual(names(new Set()), ['']);
    assert.deepEqual(names(new Set([0])), ['', 'a', 'c']);
    assert.deepEqual(names(allOpen(found)), ['', 'a', 'b', '0', '1', 'c']);
    assert.deepEqual(names(opened(found, new Set([0]), 3)), ['', 'a', 'b', '0', '1', 'c']);
    assert.deepEqual(firstOpen(found), allOpen(found));
  });

  test('JSON tree: a long document opens at its first levels only', () => {
    const found = tree(JSON.stringify({ few: { a: 1 }, many: Array.from({ length: 5000 }, (_, at) => [at]) }));
    const open = firstOpen(found);
    assert.ok(open.has(0));
    assert.ok(rowsOf(found, open).length < 310);
    // The outermost is open, however much is in it.
    assert.equal(rowsOf(tree(`[${'1,'.repeat(5000)}1]`), firstOpen(tree(`[${'1,'.repeat(5000)}1]`))).length, 5002);
  });

  test('JSON tree: search finds names and values in either case, each node once', () => {
    const found = tree('{"Sku":"a.sku.sku","n":[1.5,{"x":"A.S"}],"e":{}}');
    assert.deepEqual(findIn(found, 'sku'), [1]);
    assert.deepEqual(
      findIn(found, 'a.s').map((at) => pathOf(found, at)),
      ['$.Sku', '$.n[1].x'],
    );
    assert.deepEqual(findIn(found, '{'), []);
    assert.deepEqual(findIn(found, ''), []);
    assert.deepEqual(findIn(found, '1.5'), [3]);
  });

  test('JSON tree: deep and long documents cost little and are bounded', () => {
    assert.equal(tree('['.repeat(50_000) + ']'.repeat(50_000)).nodes.length, 50_000);
    const long = tree(`[${'1,'.repeat(MAX_NODES)}1]`);
    assert.equal(long.nodes.length, MAX_NODES);
    assert.equal(long.isCut, true);
    const before = performance.now();
    const large = tree(JSON.stringify(Array.from({ length: 20_000 }, (_, id) => ({ id, name: `item ${id}` }))));
    assert.equal(findIn(large, 'item').length, 20_000);
    assert.equal(rowsOf(large, allOpen(large)).length, 60_001);
    assert.ok(performance.now() - before < 3000);
  });
});

suite('messages within a body', () => {
  test('events: type, id and data of several lines, by any line end', () => {
    const found = eventsOf(
      '\ufeff: hello\r\nevent: tick\rid: 7\ndata: one\r\ndata:two\n\ndata\n\nretry: 100\n\n:\nid: 8\ndata: {"a"',
    );
    assert.deepEqual(
      found.events.map(({ type, id, data, isCut }) => [type, id, data, isCut]),
      [
        ['tick', '7', 'one\ntwo', false],
        ['message', undefined, '', false],
        ['message', undefined, '', false],
        ['message', '8', '{"a"', true],
      ],
    );
    assert.equal(found.comments, 2);
    const many = eventsOf('data: x\n\n'.repeat(3000));
    assert.deepEqual([many.events.length, many.more], [1000, 2000]);
  });

  test('gRPC: frames, with what is compressed, cut or behind them', () => {
    const found = framesOf(
      bytes([0, 0, 0, 0, 2, 8, 1, 1, 0, 0, 0, 1, 9, 0x80, 0, 0, 0, 1, 65, 0, 0, 0, 0, 9, 1]),
      'application/grpc-web+proto',
    );
    assert.deepEqual(
      found?.frames.map(({ isCompressed, isTrailers, length, bytes: content }) => [
        isCompressed,
        isTrailers,
        length,
        content.length,
      ]),
      [
        [false, false, 2, 2],
        [true, false, 1, 1],
        [false, true, 1, 1],
        [false, false, 9, 1],
      ],
    );
    assert.equal(framesOf(bytes('no frame'), 'application/grpc'), undefined);
    assert.equal(framesOf(bytes([0, 0, 0, 0, 1, 7, 0, 0]), 'application/grpc')?.rest, 2);
    const text = `${Buffer.from([0, 0, 0, 0, 1, 7]).toString('base64')}${Buffer.from([0x80, 0, 0, 0, 0]).toString('base64')}`;
    assert.equal(framesOf(bytes(text), 'application/grpc-web-text')?.frames.length, 2);
    assert.equal(framesOf(bytes('<html>'), 'application/grpc-web-text'), undefined);
    const liar = framesOf(bytes([0, 255, 255, 255, 255, 1]), 'application/grpc');
    assert.deepEqual([liar?.frames[0]?.length, liar?.frames[0]?.bytes.length], [4_294_967_295, 1]);
  });

  test('protobuf: fields by number, with numbers, texts, messages and bytes', () => {
    const inner = [0x0a, 3, ...Buffer.from('abc'), 0x10, 5];
    const message = [
      ...[0x08, 0x96, 0x01],
      ...[0x10, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01],
      ...[0x1a, 5, ...Buffer.from('caf\u00e9')],
      ...[0x22, inner.length, ...inner],
      ...[0x2a, 3, 0, 255, 254],
      ...[0x35, 0, 0, 0xc0, 0x3f],
    ];
    const found = messageTree(bytes(message));
    assert.ok(found);
    assert.deepEqual(leaves(found), [
      '$["1"] = 150',
      '$["2"] = -1',
      '$["3"] = "café"',
      '$["4"]["1"] = "abc"',
      '$["4"]["2"] = 5',
      '$["5 (3 bytes)"] = "00 ff fe"',
      '$["6 (32 bits)"] = "1069547520 or 1.5"',
    ]);
  });

  test('protobuf: what is no message is shown as bytes', () => {
    assert.equal(messageTree(bytes([0x08])), undefined);
    assert.equal(messageTree(bytes([0x0a, 9, 1])), undefined);
    assert.equal(messageTree(bytes([0x00, 1])), undefined);
    assert.equal(messageTree(bytes([0x0b])), undefined);
    assert.equal(shownAs(bytes([0x08]), 'application/x-protobuf').kind, 'bytes');
    assert.equal(shownAs(bytes([0x08, 1]), 'application/x-protobuf').kind, 'message');
    // Messages in messages, each longer by two bytes: the stack and the time are bounded.
    let deep = Buffer.from([0x08, 1]);
    for (let i = 0; i < 120 && deep.length < 128; i++) deep = Buffer.concat([Buffer.from([0x0a, deep.length]), deep]);
    assert.ok(messageTree(bytes(deep)));
  });

  test('GraphQL: operations by body, batch and query', () => {
    const titles = (body: object | undefined, path = '/'): string[] =>
      operationsOf(body === undefined ? undefined : JSON.stringify(body), 'application/json', path).map(
        ({ title }) => title,
      );
    assert.deepEqual(titles({ query: 'query GetOrders($n: Int) { orders { id } }' }), ['query GetOrders']);
    assert.deepEqual(titles({ query: '# mutation No\n{ orders { id } }' }), ['query']);
    assert.deepEqual(titles({ query: 'query A { a } mutation B { b(text: "query C") }', operationName: 'B' }), [
      'mutation B',
    ]);
    assert.deepEqual(titles([{ query: '{ a }' }, { query: 'mutation B { b }' }]), ['query', 'mutation B']);
    assert.deepEqual(titles({ operationName: 'Hashed', extensions: { persistedQuery: {} } }), ['query Hashed']);
    assert.deepEqual(titles({ query: 'shoes' }), []);
    assert.deepEqual(titles([{ query: '{ a }' }, 1]), []);
    assert.deepEqual(titles({ query: 7 }), []);
    assert.deepEqual(titles(undefined, '/graphql?query=query%20Q%20%7B%20a%20%7D&variables=%7B%7D'), ['query Q']);
    assert.deepEqual(titles(undefined, '/search?query=shoes'), []);
    const [one] = operationsOf('{"query":"{ a }","variables":{"n":1e400}}', 'application/graphql-response+json', '/');
    assert.equal(one?.variables, '{"n":1e400}');
  });

  test('GraphQL: a string without its end costs no more than its length', () => {
    const body = JSON.stringify({ query: `{ a }${'\\"'.repeat(50_000)}` });
    const begun = performance.now();
    assert.equal(operationsOf(body, 'application/json', '/')[0]?.title, 'query');
    assert.ok(performance.now() - begun < 1_000, 'the page would stand still');
  });

  test('multipart: parts within parts are taken apart only so deep', () => {
    let content = 'the innermost';
    let type = 'text/plain';
    for (let level = 0; level < 1_000; level++) {
      content = `--b${level}\r\nContent-Type: ${type}\r\n\r\n${content}\r\n--b${level}--\r\n`;
      type = `multipart/mixed; boundary=b${level}`;
    }
    let shown = shownAs(bytes(content), type);
    let depth = 0;
    for (; shown.kind === 'parts' && depth < 100; depth++) {
      const part = shown.parts.parts[0];
      assert.ok(part);
      shown = partShownAs(part.bytes, part.type ?? '', depth + 1);
    }
    assert.equal(depth, 4);
    assert.equal(shown.kind, 'text');
  });

  test('bodies: kinds by the declared type', () => {
    const kind = (body: string | readonly number[], type: string): string => shownAs(bytes(body), type).kind;
    assert.equal(kind('data: x\n\n', 'text/event-stream; charset=utf-8'), 'events');
    assert.deepEqual(shownAs(bytes('{"a":1}\n\r\n{"a":'), 'application/x-ndjson'), {
      kind: 'lines',
      lines: ['{"a":1}', '{"a":'],
      more: 0,
    });
    assert.equal(kind([0, 0, 0, 0, 0], 'application/grpc+proto'), 'grpc');
    assert.equal(kind('error', 'application/grpc'), 'text');
    assert.equal(kind('{"query":"{ a }"}', 'application/json'), 'graphql');
    assert.equal(kind('--X\r\n\r\nv\r\n', 'multipart/mixed; boundary=X'), 'parts');
    assert.equal(shownAs(bytes('{"a":[1'), 'application/json', true).kind, 'json');
    assert.equal(shownAs(bytes('{"a":[1'), 'application/json').kind, 'text');
  });
});

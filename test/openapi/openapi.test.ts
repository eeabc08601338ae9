/** The API document against a running server: requests made from it, and every response held to it. The long form is `npm run fuzz -- openapi`. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { rounds } from '../../src/base/testing.ts';
import { BEHIND, BEHIND_OTHERS } from './behind.ts';
import { bodySchema, type NamedOperation } from './document.ts';
import { isObject } from './mistakes.ts';
import { roundOf } from './rounds.ts';
import { ApiTester } from './tester.ts';

let tester: ApiTester;
before(async () => {
  tester = await ApiTester.start();
});
after(() => tester.close());

/** Operations that succeed only behind another one, an email or another service: behind.test.ts reaches them. */
const ELSEWHERE: ReadonlySet<string> = new Set([...Object.keys(BEHIND), ...BEHIND_OTHERS]);

/** One mistake of so many is made of each operation: another one in the next, so that all kinds are. */
const ONE_IN = rounds(3, 1);

test('API document: every operation does what it says, for requests that fit and for requests with a mistake', async (t) => {
  let number = 0;
  // In parts: together they take minutes on a busy machine, and a test without a result for so long counts as hanging.
  const areas = Map.groupBy(tester.operations, ({ path }) => path.split('/')[1] ?? '');
  for (const [area, operations] of areas) {
    await t.test(`/${area}`, async () => {
      const faults: string[] = [];
      for (const operation of operations) {
        const first = number++;
        const picks = (place: number): boolean => (first + place) % ONE_IN === 0;
        const round = await roundOf(tester, operation, { runs: 1, seed: 1, picks });
        faults.push(...round.faults);
        if (!round.succeeded && !ELSEWHERE.has(operation.name)) faults.push(`${operation.name}: never succeeded`);
      }
      assert.deepEqual(faults, []);
    });
  }
  assert.ok(tester.sent > (10 / ONE_IN) * tester.operations.length, `${tester.sent} requests`);
});

test('API document: a method that a path does not list gets 405 and Allow with those that it lists', async () => {
  for (const [path, methods] of Object.entries(tester.document.paths)) {
    const listed = Object.keys(methods).map((method) => method.toUpperCase());
    const filled = path.replaceAll(/\{\w+\}/g, 'x');
    for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND']) {
      if (listed.includes(method)) continue;
      const got = await tester.request(method, filled);
      assert.equal(got.status, 405, `${method} ${path}: ${got.status} ${got.text}`);
      const allowed = String(got.headers['allow']).split(', ');
      assert.deepEqual(allowed.sort(), [...listed].sort(), `${method} ${path}`);
    }
  }
});

test('API document: HEAD has the status of GET and no body', async () => {
  const caller = await tester.caller();
  for (const operation of tester.operations.filter(({ method }) => method === 'GET')) {
    // Its GET completes a payment, which a program that only looks at the address must not.
    if (operation.path === '/billing/mock-checkout') continue;
    const sent = tester.fitting(operation, caller);
    const [get, head] = [
      await tester.send(operation, sent, caller),
      await tester.send(operation, { ...sent, method: 'HEAD' }, caller),
    ];
    assert.deepEqual([head.status, head.text], [get.status, ''], operation.name);
  }
});

test('API document: a path without an operation is 404, below /docs/ too', async () => {
  for (const path of [
    '/nothing',
    '/docs/nothing',
    '/docs/nothing/at/all',
    '/docs/assets/nothing.js',
    '/docs/api/nothing.js',
    '/tunnels/',
  ])
    assert.equal((await tester.request('GET', path)).status, 404, path);
});

test('API document: PATCH changes the fields of its body and no other', async () => {
  for (const operation of tester.operations.filter(({ method }) => method === 'PATCH')) {
    tester.forget();
    const caller = await tester.caller();
    const sent = tester.fitting(operation, caller);
    const before = await viewOf(operation, sent.body);
    const named = Object.keys(tester.schemas.propertiesOf(bodySchema(operation.operation) ?? {}));
    // A field of the view that the body does not have, changed to something else of its type.
    const others = Object.entries(before).filter(([name]) => !named.includes(name));
    const foreign = Object.fromEntries(others.map(([name, value]) => [name, otherThan(value)]));
    assert.deepEqual(await viewOf(operation, { ...foreign, ...(sent.body as object) }), before, operation.name);

    async function viewOf({ name }: NamedOperation, body: unknown): Promise<Record<string, unknown>> {
      const got = await tester.send(operation, { ...sent, body }, caller);
      assert.equal(got.status, 200, `${name}: ${got.text}`);
      const view: unknown = JSON.parse(got.text);
      assert.ok(isObject(view), name);
      return view;
    }
  }
});

function otherThan(value: unknown): unknown {
  if (typeof value === 'number') return value + 1;
  if (typeof value === 'boolean') return !value;
  return 'changed';
}

test('API document: every example fits its schema', () => {
  const faults: string[] = [];
  for (const { name, operation } of tester.operations) {
    const medias = [
      operation.requestBody?.content,
      ...Object.values(operation.responses).map(({ content }) => content),
    ];
    for (const { schema, example, examples } of medias.flatMap((content) => Object.values(content ?? {}))) {
      if (schema === undefined) continue;
      const shown = [
        example ?? tester.schemas.resolve(schema).example,
        ...Object.values(examples ?? {}).map(({ value }) => value),
      ];
      for (const value of shown.filter((each) => each !== undefined))
        faults.push(...tester.schemas.faults(schema, value).map((fault) => `${name}: ${fault}`));
    }
    for (const { name: parameter, schema } of operation.parameters ?? [])
      if (schema.example !== undefined)
        faults.push(...tester.schemas.faults(schema, schema.example).map((fault) => `${name}: ${parameter}: ${fault}`));
  }
  for (const [name, schema] of Object.entries(tester.document.components.schemas))
    if (schema.example !== undefined)
      faults.push(...tester.schemas.faults(schema, schema.example).map((fault) => `${name}: ${fault}`));
  assert.deepEqual([...new Set(faults)], []);
});

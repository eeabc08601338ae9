/** The routes and fields of the API and the flags of the command line are those of the files beside this test: a change is intended, or fails. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { changes, textOf } from './blocks.ts';
import { CONTRACTS } from './contract.ts';
import { openApiText } from './openapi-lines.ts';

for (const { name, file, read } of CONTRACTS) {
  test(`contract: the ${name} is the one that is written down`, async () => {
    const now = await read();
    const kept = readFileSync(file, 'utf8');
    const found = changes(kept, now);
    const path = `test/contract/${file.pathname.split('/').at(-1)}`;
    assert.ok(
      found.length === 0 && kept === now,
      [
        `The ${name} differs from ${path}:`,
        ...found,
        'If you intend it, run `npm run contract:write` and commit the file.',
      ].join('\n'),
    );
    assert.ok(kept.split('\n').length > 300, 'the file has the whole contract');
  });
}

/** A document with one operation and one schema. */
const document = (operation: object, schema: object): unknown => ({
  openapi: '3.1.0',
  paths: { '/tunnels/{id}': { patch: operation } },
  components: { schemas: { Tunnel: schema } },
});
const RESPONSES = { 200: { content: { 'application/json': { schema: { $ref: '#/components/schemas/Tunnel' } } } } };
const TUNNEL = {
  type: 'object',
  properties: { name: { type: 'string', maxLength: 63 }, tags: { type: 'array', items: { type: 'string' } } },
  required: ['name'],
};
const BEFORE = openApiText(document({ responses: RESPONSES }, TUNNEL));

test('contract: a change of the document is named with its route or schema', () => {
  const changed = (operation: object, schema: object = TUNNEL): string[] =>
    changes(BEFORE, openApiText(document({ responses: RESPONSES, ...operation }, schema)));
  const body = {
    required: true,
    content: { 'application/json': { schema: { type: 'object', properties: { name: { type: 'string' } } } } },
  };
  assert.deepEqual(changed({ requestBody: body }), ['+ PATCH /tunnels/{id}: body.name?: string']);
  assert.deepEqual(
    changed({ parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'string', format: 'uuid' } }] }),
    ['+ PATCH /tunnels/{id}: path id: string format="uuid"'],
  );
  const gone = { 404: { content: { 'application/json': { schema: {}, examples: { not_found: { value: {} } } } } } };
  assert.deepEqual(changed({ responses: { ...RESPONSES, ...gone } }), ['+ PATCH /tunnels/{id}: 404 not_found: any']);
  assert.deepEqual(changed({ security: [] }), ['+ PATCH /tunnels/{id}: security: []']);
  assert.deepEqual(changed({}, { ...TUNNEL, required: [] }), [
    '- schema Tunnel: name: string maxLength=63',
    '+ schema Tunnel: name?: string maxLength=63',
  ]);
  assert.deepEqual(changed({}, { ...TUNNEL, properties: { name: { type: 'string', maxLength: 63 } } }), [
    '- schema Tunnel: tags?[]: string',
  ]);
  assert.deepEqual(changed({}, { ...TUNNEL, 'x-later': true }), ['+ schema Tunnel: object x-later=true']);
});

test('contract: prose and the order of the document are no change', () => {
  const { name, tags } = TUNNEL.properties;
  const described = {
    required: ['name'],
    properties: { tags: { ...tags, description: 'labels' }, name: { ...name, example: 'shop' } },
    type: 'object',
  };
  const operation = { summary: 'Change a tunnel', description: 'Name and tags.', responses: RESPONSES };
  assert.equal(openApiText(document(operation, described)), BEFORE);
});

test('contract: a field that is called as a keyword of prose is a field', () => {
  const titled = { ...TUNNEL, properties: { ...TUNNEL.properties, description: { type: 'string' } } };
  assert.deepEqual(changes(BEFORE, openApiText(document({ responses: RESPONSES }, titled))), [
    '+ schema Tunnel: description?: string',
  ]);
});

test('contract: a command that is gone is named with each of its flags', () => {
  const kept = textOf([{ heading: 'culvert http', lines: ['--quiet', 'usage: [options] <target>'] }]);
  assert.deepEqual(changes(kept, textOf([])), [
    '- culvert http',
    '- culvert http: --quiet',
    '- culvert http: usage: [options] <target>',
  ]);
});

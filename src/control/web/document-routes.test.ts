/**
 * The API's own document, of a running server: whatever a later feature mounts, it must be in it, with examples and the errors that exist.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { NetworkSet } from '../../base/net/addr.ts';
import { API_ERRORS, type ErrorCode } from '../../base/codes/api-errors.ts';
import { silentLog } from '../../base/log.ts';
import { buildApi } from '../core/http/app.ts';
import { AUDIT_ACTIONS } from '../core/rules/audit.ts';
import { type Harness, startHarness } from '../core/testing/harness.ts';
import { Plane } from '../core/testing/plane.ts';

interface Schema {
  readonly $ref?: string;
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly example?: unknown;
  readonly examples?: unknown;
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
}
interface Media {
  readonly schema?: Schema;
  readonly example?: unknown;
  readonly examples?: Readonly<Record<string, { value: { error?: string } }>>;
}
interface Operation {
  readonly summary?: string;
  readonly tags?: readonly string[];
  readonly security?: readonly unknown[];
  readonly requestBody?: { readonly content: Readonly<Record<string, Media>> };
  readonly responses: Readonly<Record<string, { description: string; content?: Readonly<Record<string, Media>> }>>;
}
interface Document {
  readonly openapi: string;
  readonly tags: ReadonlyArray<{ name: string }>;
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

/** Answers of any route at any time: said once, in the description of the document. */
const EVERYWHERE: readonly ErrorCode[] = ['internal'];

let h: Harness;
let document: Document;
let operations: ReadonlyArray<{ name: string; path: string; operation: Operation }>;
before(async () => {
  h = await startHarness();
  document = JSON.parse((await h.call('GET', '/openapi.json')).text) as Document;
  operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      name: `${method.toUpperCase()} ${path}`,
      path,
      operation,
    })),
  );
});
after(() => h.close());

const jsonOf = (content: Readonly<Record<string, Media>> | undefined): Media | undefined =>
  content?.['application/json'];

function resolve(schema: Schema): Schema {
  const name = schema.$ref?.replace('#/components/schemas/', '');
  if (name === undefined) return schema;
  const found = document.components.schemas[name];
  assert.ok(found !== undefined, `${name} is referred to and not there`);
  return found;
}

/** Does the schema say by example what a value looks like? Enumerations and booleans speak for themselves. */
function speaks(schema: Schema): boolean {
  const one = resolve(schema);
  if (one.example !== undefined || one.examples !== undefined) return true;
  if (one.enum !== undefined || one.const !== undefined || one.type === 'boolean') return true;
  if (one.items !== undefined) return speaks(one.items);
  const parts = one.anyOf ?? one.oneOf ?? one.allOf;
  if (parts !== undefined) return parts.some(speaks);
  return one.properties !== undefined && Object.values(one.properties).every(speaks);
}

test('every route that is mounted is in the document', () => {
  const documented = new Set(operations.map(({ name }) => name.replaceAll(/\{(\w+)\}/g, ':$1')));
  const plane = new Plane();
  const app = buildApi({
    ...plane.control,
    version: '',
    writes: plane.control.store,
    discovery: () => undefined,
    publicUrl: () => 'http://api.test',
    trustedProxies: new NetworkSet([]),
    corsOrigins: [],
    authLimit: { burst: 1, refillSeconds: 1 },
    monotonic: () => 0,
    log: silentLog,
  });
  plane.close();
  const mounted = app.routes.filter(({ method }) => method !== 'ALL').map(({ method, path }) => `${method} ${path}`);
  assert.ok(mounted.length > 20, `${mounted.length} routes`);
  assert.deepEqual(
    [...new Set(mounted)].filter((route) => !documented.has(route)),
    [],
  );
});

/** Verbs that summaries begin with; a new one is added here when it is a verb. */
const VERBS = new Set(
  (
    'Accept Add Allow Authorize Bind Change Check Complete Count Create Delete Deliver Disconnect Download End Enroll Exchange Export Finish Get ' +
    'Invite List Lock Log Open Receive Redirect Register Release Remove Rename Replace Replay Request Require Reserve Return Revoke Rotate ' +
    'Send Set Show Start Stop Stream Suspend Switch Test Turn Unbind Unlink Unlock Verify'
  ).split(' '),
);

test('summary: an imperative of at most 60 characters; every operation has a tag that is explained', () => {
  const tags = new Set(document.tags.map(({ name }) => name));
  for (const { name, operation } of operations) {
    const { summary = '' } = operation;
    assert.ok(VERBS.has(summary.split(' ')[0] ?? ''), `${name}: ${summary}`);
    assert.ok(summary.length <= 60 && !/[.;]/.test(summary), `${name}: ${summary}`);
    assert.equal(operation.tags?.length, 1, name);
    assert.ok(tags.has(operation.tags?.[0] ?? ''), `${name}: tag ${operation.tags?.[0]}`);
  }
});

/** Words that have a better name in the field. */
const NOT_OURS =
  /\b(?:whoever|nobody|somebody|person|minted|told|log-in|e-mail|runs? out|shaken hands|mailbox(?:es)?|good for|by themselves)\b/i;

test('descriptions: things and roles have the names of the field', () => {
  const descriptions = JSON.stringify(document).matchAll(/"description":("(?:[^"\\]|\\.)*")/g);
  const texts = Array.from(descriptions, ([, text = '""']) => JSON.parse(text) as string);
  assert.ok(texts.length > 500, `${texts.length} descriptions`);
  assert.deepEqual(
    texts.filter((text) => NOT_OURS.test(text)),
    [],
  );
});

test('every JSON body and answer has an example', () => {
  const silent: string[] = [];
  for (const { name, operation } of operations) {
    const body = jsonOf(operation.requestBody?.content)?.schema;
    if (body !== undefined && !speaks(body)) silent.push(`${name}: body`);
    for (const [status, response] of Object.entries(operation.responses)) {
      const media = jsonOf(response.content);
      if (media?.schema === undefined || name.endsWith('/openapi.json')) continue;
      if (media.example === undefined && media.examples === undefined && !speaks(media.schema))
        silent.push(`${name}: ${status}`);
    }
  }
  assert.deepEqual(silent, []);
});

test('every error code that is documented exists, with its status, and every code is documented', () => {
  const seen = new Set<string>();
  for (const { name, operation } of operations) {
    for (const [status, response] of Object.entries(operation.responses)) {
      if (Number(status) < 400) continue;
      const examples = jsonOf(response.content)?.examples ?? {};
      assert.ok(Object.keys(examples).length > 0, `${name}: ${status} names no code`);
      for (const [code, { value }] of Object.entries(examples)) {
        assert.equal(value.error, code, name);
        assert.equal(API_ERRORS[code as ErrorCode].status, Number(status), `${name}: ${code}`);
        seen.add(code);
      }
    }
  }
  const silent = Object.keys(API_ERRORS).filter((code) => !seen.has(code));
  assert.deepEqual(silent.sort(), [...EVERYWHERE].sort());
});

test('patterns are those of JSON Schema, without the slashes and flags of JavaScript', () => {
  const patterns = [...JSON.stringify(document).matchAll(/"pattern":("(?:[^"\\\\]|\\\\.)*")/g)].map(
    ([, text = '""']) => JSON.parse(text) as string,
  );
  assert.ok(patterns.length > 0);
  for (const pattern of patterns) {
    assert.doesNotMatch(pattern, /^\/|\/[a-z]*$/, pattern);
    assert.ok(new RegExp(pattern, 'u'), pattern);
  }
});

test('routes that check credentials say 401, and those that compute passwords 503', () => {
  for (const path of ['/auth/login', '/auth/login/mfa', '/auth/refresh', '/auth/logout', '/auth/cli/logout']) {
    assert.ok('401' in (document.paths[path]?.['post']?.responses ?? {}), path);
  }
  for (const path of ['/auth/login', '/auth/signup', '/auth/reset', '/auth/password', '/auth/mfa/disable']) {
    assert.ok('503' in (document.paths[path]?.['post']?.responses ?? {}), path);
  }
});

test('errors that follow from the kind of a route are on every route of that kind', () => {
  for (const { name, path, operation } of operations) {
    const statuses = Object.keys(operation.responses);
    const expected = [
      ...(operation.security?.length === 0 ? [] : ['401']),
      ...(path.startsWith('/auth/') ? ['429'] : []),
      ...(operation.requestBody === undefined ? [] : ['400', '413']),
      ...(path.includes('{') ? ['404'] : []),
    ];
    for (const status of expected) assert.ok(statuses.includes(status), `${name} lacks ${status}`);
  }
});

test('the audit actions are listed', () => {
  const event = document.components.schemas['AuditEvent'];
  assert.deepEqual(event?.properties?.['action']?.enum, [...AUDIT_ACTIONS]);
});

test('it is OpenAPI 3.1, the same under /api, and made once', async () => {
  assert.equal(document.openapi, '3.1.0');
  const again = await h.call('GET', '/api/openapi.json');
  assert.equal(again.headers.get('content-type'), 'application/json');
  assert.deepEqual(JSON.parse(again.text), document);
});

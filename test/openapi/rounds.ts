/** What the tester does with one operation: its mistakes, once each, and so many requests that fit. */
import fc from 'fast-check';
import { bodySchema, type NamedOperation, type Parameter } from './document.ts';
import { isObject, mistakesIn } from './mistakes.ts';
import type { ApiTester, Got, Sent } from './tester.ts';
import { objectOf, valueOf } from './values.ts';

/** Codes that say that a request does not fit the document. */
const UNFIT = 'invalid_request';

/** Seconds: the most that any operation waits. */
const MAX_WAIT = 30;

/** Fields whose rule is no JSON Schema: the document has the characters, the description the rule. */
const BEYOND_SCHEMA: ReadonlyMap<string, RegExp> = new Map([
  // Which text is an IP network, what lies within another one or behind another device, and which port is none.
  [
    'extra_allowed_ips',
    /is not an IP network|is inside the network itself|can't be behind a device|^The device .* already has/,
  ],
  ['public_endpoint', /is not an endpoint/],
  // Before or after the present.
  ['expires_at', /must lie ahead/],
  // Of a project with a suffix.
  ['subdomain', /project suffix included/],
]);

/** What is sent here may change who the caller is. */
const ABOUT_CALLERS = /^\/(auth|orgs|superadmin)\//;

export interface Round {
  readonly faults: readonly string[];
  /** Has a request that fits had what it asked for? */
  readonly succeeded: boolean;
}

export interface RoundOptions {
  /** Requests that fit. */
  readonly runs: number;
  readonly seed: number;
  /** Which mistakes are made, by their place; all when not given. */
  readonly picks?: (place: number) => boolean;
}

export async function roundOf(
  tester: ApiTester,
  operation: NamedOperation,
  { runs, seed, picks = () => true }: RoundOptions,
): Promise<Round> {
  let caller = await tester.caller();
  const faults = new Map<string, string>();
  let succeeded = false;
  const good = tester.fitting(operation, caller);
  const judge = async (what: string, change: (fitting: Sent) => Sent, isFit: boolean): Promise<void> => {
    const sent = atOnce(change(tester.fitting(operation, caller)));
    const got = await tester.send(operation, sent, caller);
    const said = [...tester.faults(operation, got), ...(isFit ? refusedFaults(got) : acceptedFaults(got))];
    const told = `${operation.name}: ${what}`;
    for (const fault of said)
      if (!faults.has(`${what} ${fault}`.slice(0, 80)))
        faults.set(`${what} ${fault}`.slice(0, 80), `${told}: ${fault}\n    ${shown(sent)}`);
    if (isFit && got.status < 400) succeeded = true;
    if (got.status < 400 && operation.method === 'DELETE') tester.spend();
    if (got.status === 401 && operation.operation.security?.length !== 0) tester.forget();
    caller = await tester.caller();
  };
  const made = mistakes(tester, operation, good).filter((_, place) => picks(place));
  for (const [what, change] of made) await judge(what, change, false);
  await judge('as it fits', same, true);
  if (!succeeded) {
    // What came before may have used the caller up.
    tester.forget();
    caller = await tester.caller();
    await judge('as it fits', same, true);
  }
  const fit = changes(tester, operation);
  for (const change of fit === undefined ? [] : fc.sample(fit, { numRuns: runs, seed }))
    await judge('fits', change, true);
  if (operation.method !== 'GET' && ABOUT_CALLERS.test(operation.path)) tester.forget();
  return { faults: [...faults.values()], succeeded };
}

type Change = (fitting: Sent) => Sent;

function mistakes(
  tester: ApiTester,
  { operation }: NamedOperation,
  good: Sent,
): ReadonlyArray<readonly [string, Change]> {
  const all: Array<readonly [string, Change]> = [];
  const schema = bodySchema(operation);
  if (schema !== undefined) {
    for (const { what, value } of mistakesIn(tester.schemas, schema, good.body ?? {}))
      all.push([what, (fitting) => ({ ...fitting, body: value })]);
    for (const raw of ['{', 'null', '[]', '"x"', '{"a":1}x', '\u0000', '['.repeat(40)])
      all.push([`body ${raw}`, (fitting) => ({ ...fitting, raw })]);
    if (operation.requestBody?.required === true) {
      all.push(['no body', (fitting) => ({ ...fitting, body: undefined })]);
      all.push(['an empty body', (fitting) => ({ ...fitting, raw: '' })]);
      all.push(['text', (fitting) => ({ ...fitting, contentType: 'text/plain' })]);
    }
  }
  for (const parameter of operation.parameters ?? []) {
    if (parameter.required === true && parameter.in === 'query')
      all.push([
        `${parameter.name} missing`,
        (fitting) => ({ ...fitting, query: without(fitting.query, parameter.name) }),
      ]);
    for (const wrong of wrongTexts(tester, parameter))
      all.push([`${parameter.name} = ${wrong.slice(0, 30)}`, put(parameter, wrong)]);
  }
  return all;
}

/** In a path or query all is text: `5` is an integer there. */
function wrongTexts({ schemas }: ApiTester, { schema }: Parameter): readonly string[] {
  const one = schemas.resolve(schema);
  const isInteger = [one.type].flat().includes('integer');
  return mistakesIn(schemas, one, undefined)
    .map(({ value }) => (typeof value === 'string' || typeof value === 'number' ? String(value) : 'x'))
    .filter((text, i, all) => all.indexOf(text) === i && text !== '')
    .filter((text) => schemas.faults(one, isInteger && /^-?\d+$/.test(text) ? Number(text) : text).length > 0);
}

/** Requests that fit; undefined: there is but one. */
function changes({ schemas }: ApiTester, { operation }: NamedOperation): fc.Arbitrary<Change> | undefined {
  const schema = bodySchema(operation);
  const parts: Array<fc.Arbitrary<Change>> = (operation.parameters ?? [])
    .filter(({ in: where }) => where === 'query')
    .map((parameter) =>
      fc.option(
        valueOf(schemas, parameter.schema).map((value) => put(parameter, String(value))),
        { nil: same },
      ),
    );
  if (schema !== undefined) {
    const made = valueOf(schemas, schema).map(
      (body): Change =>
        (fitting) => ({ ...fitting, body }),
    );
    // One property after another, so that the rest is what the server knows.
    const mixed = fc.tuple(objectOf(schemas, schema), fc.array(fc.nat(50), { minLength: 1, maxLength: 3 })).map(
      ([other, picks]): Change =>
        (fitting) => {
          const names = Object.keys(other);
          const some = picks.map((n) => names[n % Math.max(1, names.length)] ?? '').filter((name) => name !== '');
          const body = {
            ...(isObject(fitting.body) ? fitting.body : {}),
            ...Object.fromEntries(some.map((name) => [name, (other as Record<string, unknown>)[name]])),
          };
          return schemas.faults(schema, body, { open: true }).length === 0 ? { ...fitting, body } : fitting;
        },
    );
    parts.push(fc.oneof(made, { arbitrary: mixed, weight: 3 }));
    if (operation.requestBody?.required !== true)
      parts.push(fc.constantFrom(same, (fitting) => ({ ...fitting, body: undefined })));
  }
  if (parts.length === 0) return undefined;
  return fc.tuple(...parts).map((all) => (fitting) => all.reduce((sent, change) => change(sent), fitting));
}

/** No request is held back by the server for the seconds that it may ask for. */
function atOnce(sent: Sent): Sent {
  const query = isWait(Number(sent.query['wait'])) ? { ...sent.query, wait: '0' } : sent.query;
  const body = isObject(sent.body) && isWait(sent.body['wait']) ? { ...sent.body, wait: 0 } : sent.body;
  return { ...sent, query, body };
}

function isWait(value: unknown): boolean {
  return Number.isInteger(value) && Number(value) > 0 && Number(value) <= MAX_WAIT;
}

const same: Change = (fitting) => fitting;

function put({ name, in: where }: Parameter, value: string): Change {
  return (fitting) => {
    if (where === 'path') return { ...fitting, params: { ...fitting.params, [name]: value } };
    if (where === 'query') return { ...fitting, query: { ...fitting.query, [name]: value } };
    return { ...fitting, headers: { ...fitting.headers, [name]: encodeURIComponent(value) } };
  };
}

function without(values: Readonly<Record<string, string>>, name: string): Record<string, string> {
  const { [name]: _, ...rest } = values;
  return rest;
}

function refusedFaults(got: Got): readonly string[] {
  // Without details: it is as documented, and what it names is not there.
  if (got.status !== 400 || !got.text.includes(`"${UNFIT}"`) || !got.text.includes('"details"')) return [];
  const { details } = JSON.parse(got.text) as { details: ReadonlyArray<{ path: string; message: string }> };
  const unfit = details.filter(
    ({ path, message }) => BEYOND_SCHEMA.get(path.split('.')[0] ?? '')?.test(message) !== true,
  );
  return unfit.length === 0 ? [] : [`refused, though it fits: ${got.text.slice(0, 300)}`];
}

function acceptedFaults({ status }: Got): readonly string[] {
  return status < 400 ? [`accepted with ${status}`] : [];
}

function shown({ params, query, body, raw }: Sent): string {
  return JSON.stringify({ params, query, body: raw ?? body }).slice(0, 600);
}

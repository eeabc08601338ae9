/** A request that fits each operation: the known ones of the sweep, and those that need no bearer. */
import { naming, ROUTES, type Route, rows } from '../control/sweep-routes.ts';
import type { Fixture } from '../control/sweep-fixture.ts';
import type { Person } from '../../src/control/core/testing/team.ts';
import { bodySchema, type NamedOperation } from './document.ts';
import type { Schemas } from './schema.ts';

/** Who sends, and one of each thing. */
export interface Caller {
  readonly person: Person;
  readonly fixture: Fixture;
  /** Of the session, as a browser sends it. */
  readonly cookie: string;
}

export interface Fitting {
  readonly params: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string>>;
  /** Undefined: none is sent. */
  readonly body: unknown;
}

type Known = (caller: Caller) => Partial<Fitting>;

const UNKNOWN_TOKEN = 'q1bW4Y0tV8Jd2c5sZ7mKx9uE3rT6aG1hN0pLfOiQwSe';

/** Of operations without a bearer; those that are left out take nothing. */
const OPEN: Readonly<Record<string, Known>> = {
  'POST /auth/login': ({ person: { email, password } }) => ({ body: { email, password } }),
  'POST /auth/refresh': ({ cookie }) => ({ headers: { cookie } }),
  'POST /auth/logout': ({ cookie }) => ({ headers: { cookie } }),
  'POST /auth/signup': () => ({ body: { email: 'signup@example.test', password: 'a long password', name: 'New' } }),
  'GET /docs/api/{file}': () => ({ params: { file: 'start.js' } }),
  'GET /docs/{page}': () => ({ params: { page: 'agents' } }),
  'GET /app/{page}': () => ({ params: { page: 'tunnels' } }),
  'GET /app/{page}/{id}': ({ fixture }) => ({ params: { page: 'tunnels', id: fixture.tunnel } }),
  'POST /webhooks/{receiver_id}': ({ fixture }) => ({ params: { receiver_id: fixture.receiver }, body: {} }),
  'GET /webhooks/{receiver_id}': ({ fixture }) => ({ params: { receiver_id: fixture.receiver } }),
  'GET /edge-auth/start': ({ fixture }) => ({ query: { tunnel_id: fixture.tunnel } }),
  'GET /edge-auth/callback': () => ({ query: { state: UNKNOWN_TOKEN } }),
  'GET /auth/oauth/{provider}/start': () => ({ params: { provider: 'google' } }),
  'POST /auth/oauth/{provider}/start': () => ({ params: { provider: 'google' } }),
  'GET /auth/oauth/{provider}/callback': () => ({ params: { provider: 'google' }, query: { state: UNKNOWN_TOKEN } }),
  'GET /billing/mock-checkout': () => ({ query: { token: UNKNOWN_TOKEN } }),
};

/** What to send to the operation; without a body of its own here, the example of the document. */
export function fittingOf({ name, path, operation }: NamedOperation, caller: Caller, schemas: Schemas): Fitting {
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, param = '']) => param);
  const known = OPEN[name]?.(caller) ?? ofSweep(name, names, caller.fixture);
  const schema = bodySchema(operation);
  const example = schema === undefined ? undefined : schemas.exampleOf(schema);
  return {
    params: Object.fromEntries(names.map((param) => [param, known.params?.[param] ?? 'none'])),
    query: known.query ?? {},
    headers: known.headers ?? {},
    body: known.body ?? (operation.requestBody?.required === true ? example : undefined),
  };
}

function ofSweep(name: string, names: readonly string[], fixture: Fixture): Partial<Fitting> {
  const route: Route | undefined = name in ROUTES ? rows.find((row) => row.name === name) : undefined;
  if (route === undefined) return {};
  const { ids, body } = naming(route, fixture);
  return {
    params: Object.fromEntries(names.map((param, i) => [param, ids[i] ?? 'none'])),
    query: Object.fromEntries(new URLSearchParams(route.row.query)),
    body: body ?? route.row.body,
  };
}

/**
 * What the rows of the table of limits act on: the API over HTTP with the limits of the default settings, on the clock of a Plane, and one
 * person per plan. Each request comes from an address of its own unless a row says otherwise.
 */
import assert from 'node:assert/strict';
import { cpSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkServerConfig } from '../../../src/config/load.ts';
import type { UserActor } from '../../../src/control/core/rules/actor.ts';
import { type Plan, PLANS } from '../../../src/control/core/rules/plans.ts';
import type { Answer } from '../../../src/control/core/testing/harness.ts';
import { Plane, START, VISIT } from '../../../src/control/core/testing/plane.ts';
import { type PlaneApi, servePlane } from '../../../src/control/core/testing/plane-api.ts';
import { said } from '../../../src/control/core/testing/team.ts';

/** A data folder with the owner of an organization per plan, logged in: copied for each fixture, for passwords take long to compute. */
export interface LimitTemplate {
  readonly dataDir: string;
  readonly people: ReadonlyMap<Plan, Person>;
}

interface Person {
  readonly email: string;
  readonly password: string;
  readonly accessToken: string;
  readonly actor: UserActor;
}

export async function makeLimitTemplate(): Promise<LimitTemplate> {
  const plane = new Plane();
  const { accounts, sessions } = plane.control;
  const people = new Map<Plan, Person>();
  for (const plan of PLANS) {
    const email = `${plan}@example.test`;
    const made = await accounts.createUser({ email, name: '', plan, superadmin: false });
    const password = made.password.reveal();
    const session = await sessions.login({ email, password }, VISIT);
    assert.ok('accessToken' in session);
    const { accessToken } = session;
    const actor = await sessions.authenticate(accessToken, VISIT.ipAddress);
    assert.ok(actor !== undefined);
    people.set(plan, { email, password, accessToken, actor });
  }
  plane.control.close();
  return { dataDir: plane.dataDir, people };
}

export interface Caller extends Person {
  call(method: string, path: string, body?: object): Promise<Answer>;
  /** The body of a request that must succeed. */
  done(method: string, path: string, body?: object): Promise<Answer['body']>;
}

export class LimitFixture {
  readonly plane: Plane;
  readonly #people: LimitTemplate['people'];
  #api: PlaneApi | undefined;
  #sources = 0;

  private constructor({ dataDir, people }: LimitTemplate) {
    const copy = mkdtempSync(join(tmpdir(), 'culvert-'));
    cpSync(dataDir, copy, { recursive: true });
    this.plane = new Plane(copy);
    this.#people = people;
  }

  static async open(template: LimitTemplate): Promise<LimitFixture> {
    const fixture = new LimitFixture(template);
    const { limits } = checkServerConfig('', 'defaults').settings;
    const authLimit = { burst: limits.auth_burst, refillSeconds: limits.auth_refill_seconds };
    fixture.#api = await servePlane(fixture.plane, { authLimit });
    return fixture;
  }

  async close(): Promise<void> {
    await this.#api?.close();
    this.plane.close();
  }

  /** One request; `from`: the number of the address that it comes from. */
  async send(
    method: string,
    path: string,
    { body, as, from = ++this.#sources }: { body?: object; as?: string; from?: number } = {},
  ): Promise<Answer> {
    assert.ok(this.#api !== undefined);
    return this.#api.call(method, path, {
      headers: { 'x-forwarded-for': `2001:db8:${from.toString(16)}::1` },
      ...(body === undefined ? {} : { body }),
      ...(as === undefined ? {} : { as }),
    });
  }

  /** The owner of an organization with this plan. */
  caller(plan: Plan = 'enterprise'): Caller {
    const person = this.#people.get(plan);
    assert.ok(person !== undefined);
    const call: Caller['call'] = (method, path, body) =>
      this.send(method, path, { as: person.accessToken, ...(body === undefined ? {} : { body }) });
    return {
      ...person,
      call,
      done: async (method, path, body) => {
        const answer = await call(method, path, body);
        assert.ok(answer.status < 300, `${method} ${path}: ${answer.text}`);
        return answer.body;
      },
    };
  }

  /** Moves the clock so many milliseconds past the beginning. */
  at(ms: number): void {
    this.plane.now = START + ms;
  }

  /** `ok`, or the code by which an agent with this key is refused. */
  async admitted(key: unknown): Promise<string> {
    const answer = await this.plane.control.link.admit(String(key));
    return answer.ok ? 'ok' : answer.code;
  }

  /** `ok`, or the code by which a claim of an agent with this token is refused. */
  async claimed(tokenId: unknown, subdomain: string, liveTunnelIds: readonly string[] = []): Promise<string> {
    const answer = await this.plane.control.link.claim({
      tokenId: String(tokenId),
      agentId: '00000000-0000-4000-8000-000000000000',
      liveTunnelIds,
      protocol: 'http',
      target: 'localhost:3000',
      localPort: 3000,
      subdomain,
    });
    return answer.ok ? 'ok' : answer.code;
  }
}

/** What a good answer says, or status and code of a refusal. */
export function valueIn(answer: Answer, read: (body: Record<string, unknown>) => unknown): unknown {
  return answer.status < 400 ? read(answer.body) : said(answer);
}

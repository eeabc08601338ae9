/**
 * Whose policy is tested next. A test reads up to a thousand records and makes the loop of a data node work, so that few are under way: organizations
 * take turns at them, each has one at a time and a short line behind it, and so many in a while; so many in a while has a person too, over all of their
 * organizations. A client in a loop delays only itself, and it takes several users to fill the queue. In memory: a restart begins anew. Called by policy-test.ts.
 */
import { Allowance } from '../../../base/limits/allowance.ts';
import type { Clock } from '../../../base/clock.ts';
import { AppError } from '../../../base/errors.ts';
import { RecentMap } from '../../../base/limits/recent-map.ts';

/** Of an organization, and of a person in all of theirs: one behind the other, and then one in three seconds. */
export const TEST_BURST = 10;
export const TESTS_PER_MINUTE = 20;
/** Under way, of all organizations: what a data node takes (data/policy/policy-tester.ts). */
const PLACES = 2;
/** In line: of an organization, behind the one that is under way, and of all. */
export const MAX_QUEUED_OF_ORG = 2;
export const MAX_QUEUED = 64;
/** Longest wait for a turn. */
const MAX_WAIT_MS = 10_000;
/** Organizations and people whose allowance is remembered. What falls out has its burst anew. */
const MAX_KNOWN = 20_000;
const RETRY_AFTER_SECONDS = 2;

/** Whose turn it is to be. */
export interface Entrant {
  readonly orgId: string;
  readonly userId: string;
}

/** The queue of policy tests, fair to organizations. */
export class PolicyTestQueue {
  readonly #clock: Clock;
  readonly #maxWaitMs: number;
  /** By organization and by person; no two have the same id. */
  readonly #allowances = new RecentMap<string, Allowance>({ max: MAX_KNOWN });
  readonly #underWay = new Set<string>();
  /** By organization; the first one is next, and none is empty. */
  readonly #lines = new Map<string, Array<() => void>>();
  #inLine = 0;

  /** `maxWaitMs`: other than 10 s, for tests. */
  constructor(deps: { readonly clock: Clock; readonly maxWaitMs?: number }) {
    this.#clock = deps.clock;
    this.#maxWaitMs = deps.maxWaitMs ?? MAX_WAIT_MS;
  }

  /**
   * Resolves when it is the organization's turn, with what gives the place back; that may be called twice. Throws `rate_limited` (too many of this
   * organization, in a while or in line, or of this person in a while), `unavailable` (too many in all, or its turn did not come in time, or `gone` fired).
   */
  async enter({ orgId, userId }: Entrant, gone: AbortSignal): Promise<() => void> {
    const now = this.#clock.monotonic();
    const ofOrg = this.#allowanceOf(orgId, now);
    const ofPerson = this.#allowanceOf(userId, now);
    if (!ofPerson.hasOne(now)) throw tooOften('You have', ofPerson);
    if (!ofOrg.hasOne(now)) throw tooOften('Your organization has', ofOrg);
    const mustWait = this.#underWay.size >= PLACES || this.#underWay.has(orgId);
    if (mustWait) this.#refuseFull(orgId);
    ofOrg.spend();
    ofPerson.spend();
    if (mustWait) await this.#turn(orgId, gone);
    else this.#underWay.add(orgId);
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      this.#underWay.delete(orgId);
      this.#next();
    };
  }

  #refuseFull(orgId: string): void {
    if ((this.#lines.get(orgId)?.length ?? 0) >= MAX_QUEUED_OF_ORG)
      throw new AppError(
        'rate_limited',
        'Too many policy tests of your organization are waiting. Try again when they are done.',
        { retryAfterSeconds: RETRY_AFTER_SECONDS },
      );
    if (this.#inLine >= MAX_QUEUED) throw tooManyTests();
  }

  /** Resolves with the place taken. */
  #turn(orgId: string, gone: AbortSignal): Promise<void> {
    if (gone.aborted) throw tooManyTests();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const line = this.#lines.get(orgId) ?? [];
    const end = (): void => {
      clearTimeout(timer);
      gone.removeEventListener('abort', giveUp);
      this.#inLine--;
    };
    const goOn = (): void => {
      end();
      resolve();
    };
    const giveUp = (): void => {
      end();
      line.splice(line.indexOf(goOn), 1);
      if (line.length === 0) this.#lines.delete(orgId);
      reject(tooManyTests());
    };
    const timer = setTimeout(giveUp, this.#maxWaitMs);
    gone.addEventListener('abort', giveUp);
    line.push(goOn);
    this.#lines.set(orgId, line);
    this.#inLine++;
    return promise;
  }

  /** A place is free: the first organization in line without one has it, and goes behind all others with what else it waits for. */
  #next(): void {
    for (const [orgId, line] of this.#lines) {
      if (this.#underWay.has(orgId)) continue;
      const goOn = line.shift();
      this.#lines.delete(orgId);
      if (line.length > 0) this.#lines.set(orgId, line);
      this.#underWay.add(orgId);
      return goOn?.();
    }
  }

  #allowanceOf(id: string, nowMs: number): Allowance {
    const known = this.#allowances.get(id);
    if (known !== undefined) return known;
    const allowance = new Allowance({ perSecond: TESTS_PER_MINUTE / 60, burst: TEST_BURST }, nowMs);
    this.#allowances.set(id, allowance);
    return allowance;
  }
}

function tooOften(who: string, { waitMs }: Allowance): AppError {
  return new AppError(
    'rate_limited',
    `${who} tested too many policies: the limit is one every ${60 / TESTS_PER_MINUTE} seconds. Try again in a moment.`,
    { retryAfterSeconds: Math.ceil(waitMs / 1_000) },
  );
}

export function tooManyTests(): AppError {
  return new AppError('unavailable', 'Too many policy tests are running on this server. Try again in a few seconds.', {
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });
}

/** A played ACME authority and a client of it, as the tests of the client need them. */
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { systemClock } from '../../../base/clock.ts';
import { silentLog } from '../../../base/log.ts';
import { type AcmeAccount, AcmeError, type AcmeOrder, type ChallengeAnswer } from './contract.ts';
import { newAccountKey } from './account-key.ts';
import { AcmeAuthority } from './authority.ts';
import { type Play, type PlayedAuthority, playAuthority, sendJson } from '../../../../test/harness/played-authority.ts';

export const NAME = 'shop.example.test';

export interface Fixture {
  readonly played: PlayedAuthority;
  readonly authority: AcmeAuthority;
  readonly account: AcmeAccount;
  /** Calls of the solver: `publish <name>`, `withdraw <name>`. */
  readonly actions: string[];
  order(more?: Partial<AcmeOrder>): AcmeOrder;
}

/** `patienceMs`: under what the test run bears, over what an honest answer takes. */
export async function start(t: TestContext, patienceMs = 5_000): Promise<Fixture> {
  const played = await playAuthority(t);
  const { directoryUrl } = played;
  const options = { directoryUrl, caFile: null, eab: null, log: silentLog, clock: systemClock };
  const actions: string[] = [];
  const solver = {
    publish: async ({ name }: ChallengeAnswer) => void actions.push(`publish ${name}`),
    withdraw: async ({ name }: ChallengeAnswer) => void actions.push(`withdraw ${name}`),
  };
  return {
    played,
    authority: new AcmeAuthority(options, patienceMs),
    account: { accountUrl: `${played.url}/account/1`, key: newAccountKey() },
    actions,
    order: (more = {}) => ({ names: [NAME], challenge: 'http-01', solver, signal: t.signal, ...more }),
  };
}

/** The answer is this. */
export const withJson =
  (value: unknown): Play =>
  (_, response) =>
    sendJson(response, value);

/** What a call fails with; it must. */
export async function failureOf(outcome: Promise<unknown>): Promise<AcmeError> {
  const error: unknown = await outcome.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof AcmeError, `not an error of the client: ${String(error)}`);
  return error;
}

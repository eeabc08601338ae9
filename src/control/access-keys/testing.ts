/** Tokens over HTTP as a test handles them: minted by a person, or by the holder of a bearer. */
import assert from 'node:assert/strict';
import type { Answer } from '../core/testing/harness.ts';
import type { Person } from '../core/testing/team.ts';

/** A token as the API showed it when it was made. */
export interface Key {
  readonly id: string;
  readonly name: string;
  readonly nonce: string;
  readonly kind: string;
  readonly version: number;
  readonly tunnelQuota: number;
  readonly bandwidthLimitMbps: number;
  readonly allowedSubdomains: readonly string[];
  readonly projectSlug: string | null;
  readonly parentNonce: string | null;
  readonly issuedAt: number;
  readonly expiresAt: number;
  readonly graceEndsAt: number | null;
  readonly replacedBy: string | null;
  readonly revoked: boolean;
  readonly monthlyBudgetUsdCents: number | null;
  readonly spentUsdCents: number;
  readonly wireBytesLen: number;
  readonly apiKey: string;
  readonly wireBytes: string;
  readonly subject: string;
  readonly signature: string;
}

/** The token of an answer that must be one. */
export function keyOf(answer: Answer): Key {
  assert.equal(answer.status, 200, answer.text);
  return answer.body as unknown as Key;
}

export async function mint(person: Person, body: object = {}): Promise<Key> {
  return keyOf(await person.call('POST', '/tokens', { name: 'ci', ...body }));
}

export async function mintMaster(person: Person, body: object = {}): Promise<Key> {
  return keyOf(await person.call('POST', '/tokens/master', { name: 'factory', ...body }));
}

/** How the list shows a token now. */
export async function shown(person: Person, { nonce }: Pick<Key, 'nonce'>): Promise<Key> {
  const { body } = await person.call('GET', '/tokens');
  const found = (body as unknown as readonly Key[]).find((one) => one.nonce === nonce);
  assert.ok(found !== undefined, `${nonce} is not listed`);
  return found;
}
